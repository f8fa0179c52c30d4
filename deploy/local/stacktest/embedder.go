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

// Embedder returns the directory of the local embedder, fetched if it is not in the cache. If it is not
// available, the test is skipped. On CI it fails instead, unless there is no embedder for the platform.
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
