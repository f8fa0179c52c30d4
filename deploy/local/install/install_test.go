package install

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEntryIsBuiltOnce(t *testing.T) {
	t.Parallel()
	cache := Cache{Dir: t.TempDir()}
	var builds atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			dir, err := cache.entry(t.Context(), "thing", func(string) {}, func(dir string) error {
				builds.Add(1)
				return os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644)
			})
			if err == nil {
				_, err = os.Stat(filepath.Join(dir, "file"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 1, builds.Load())
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	t.Parallel()
	cache := Cache{Dir: t.TempDir()}
	broken := errors.New("broken")
	build := func(err error) func(string) error {
		return func(dir string) error {
			if _, statErr := os.Stat(filepath.Join(dir, "half")); statErr == nil {
				return errors.New("the rest of an earlier build is there")
			}
			return errors.Join(os.WriteFile(filepath.Join(dir, "half"), nil, 0o644), err)
		}
	}
	_, err := cache.entry(t.Context(), "thing", func(string) {}, build(broken))
	require.ErrorIs(t, err, broken)
	dir, err := cache.entry(t.Context(), "thing", func(string) {}, build(nil))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "half"))
}

func TestUnusedEntriesAreRemoved(t *testing.T) {
	t.Parallel()
	cache := Cache{Dir: t.TempDir()}
	build := func(string) error { return nil }
	old, err := cache.entry(t.Context(), "old", func(string) {}, build)
	require.NoError(t, err)
	used, err := cache.entry(t.Context(), "used", func(string) {}, build)
	require.NoError(t, err)
	past := time.Now().Add(-2 * unusedFor)
	broken := filepath.Join(cache.Dir, "old"+buildSuffix)
	require.NoError(t, os.Mkdir(broken, 0o700))
	foreign := []string{"outbox", "watch", "spool", "сервер \"'", "launcher"} // Of other programs, or of older versions.
	for i, name := range foreign {
		foreign[i] = filepath.Join(cache.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Join(foreign[i], "aside"), 0o700))
	}
	for _, dir := range append([]string{old, used, broken}, foreign...) {
		require.NoError(t, os.Chtimes(dir, past, past))
	}
	_, err = cache.entry(t.Context(), "used", func(string) {}, build)
	require.NoError(t, err)
	_, err = cache.entry(t.Context(), "new", func(string) {}, build)
	require.NoError(t, err)
	require.NoDirExists(t, old)
	require.NoDirExists(t, broken)
	require.DirExists(t, used)
	for _, dir := range foreign {
		require.DirExists(t, filepath.Join(dir, "aside"))
	}
}

func TestWaitingForTheLockCanBeGivenUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(t.Context(), path, func() {})
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Lock(ctx, path, cancel)
	require.ErrorIs(t, err, context.Canceled)
}

func archive(t *testing.T, name, content string) (path, integrity string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "package.tgz")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	files := tar.NewWriter(z)
	require.NoError(t, files.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644}))
	_, err = files.Write([]byte(content))
	require.NoError(t, errors.Join(err, files.Close(), z.Close(), f.Close()))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha512.New()
	sum.Write(whole)
	return path, integrityOf(sum)
}

func TestExtractLibrary(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "lib")
	path, integrity := archive(t, "package/libchdb.so", "engine")
	require.ErrorContains(t, extractLibrary(path, target, "sha512-other"), "checksum")
	require.NoFileExists(t, target)
	require.NoError(t, extractLibrary(path, target, integrity))
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "engine", string(text))

	path, integrity = archive(t, "package/README.md", "no library")
	require.ErrorContains(t, extractLibrary(path, target, integrity), "find the library")
}

func TestVersionsAreThoseOfTheModules(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	require.NoError(t, err)
	for _, tool := range []tool{temporal, weaviate} {
		mod, sum, err := readModule(filepath.Join(root, "deploy", "local", tool.name))
		require.NoError(t, err)
		require.Contains(t, string(mod), tool.module+" "+tool.version)
		require.Contains(t, string(sum), tool.module+" "+tool.version+" h1:")
	}
}

func TestModuleRootOutsideACheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Cache{Dir: t.TempDir()}.Temporal(t.Context(), nil)
	require.ErrorIs(t, err, ErrNoSource)
}
