package stacktest

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"axiommind/deploy/local/install"
)

// installed fetches the local embedder once for a test binary.
var installed = sync.OnceValues(func() (string, error) {
	cache, err := install.DefaultCache()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return cache.Embedder(ctx, nil)
})

// Embedder returns the directory of the local embedder, fetched when it is not in the cache. Where it can't be had, the test is
// skipped; on CI it fails then, unless there is none for the platform.
func Embedder(t testing.TB) string {
	t.Helper()
	dir, err := installed()
	switch {
	case err == nil:
	case os.Getenv("CI") != "" && !errors.Is(err, install.ErrNoEmbedder):
		t.Fatalf("this test needs the local embedder: %v", err)
	default:
		t.Skipf("this test needs the local embedder: %v", err)
	}
	return dir
}
