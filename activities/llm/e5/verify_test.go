package e5

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDamagedFilesAreRefused(t *testing.T) {
	t.Parallel()
	damagedFilesAreRefused(t, rand.IntN(3))
}

// Damaged files are refused before they are loaded: a process that maps truncated weights dies without a word. The damage
// is at the beginning (0), within (1) or at the end (2).
func damagedFilesAreRefused(t *testing.T, places ...int) {
	t.Helper()
	original, err := find(install(t))
	require.NoError(t, err)
	dir := t.TempDir()
	copied := files{}
	for _, part := range []struct {
		from string
		to   *string
	}{{original.library, &copied.library}, {original.weights, &copied.weights}, {original.threads, &copied.threads}} {
		raw, err := os.ReadFile(part.from)
		require.NoError(t, err)
		*part.to = filepath.Join(dir, filepath.Base(part.from))
		require.NoError(t, os.WriteFile(*part.to, raw, 0o600))
	}
	stamp := filepath.Join(dir, `a "stamp"`, "한")
	require.NoError(t, verify(copied, stamp))
	require.FileExists(t, stamp)
	require.NoError(t, verify(copied, stamp))

	for name, path := range map[string]string{"weights": copied.weights, "library": copied.library, "threads": copied.threads} {
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, place := range places {
			at := []int{0, len(good) / 3, len(good) - 1}[place]
			bad := append([]byte(nil), good...)
			bad[at] ^= 1
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			// A write within the resolution of the clock of files would leave the time as it was.
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Duration(at+1)*time.Second)))
			require.ErrorContains(t, verify(copied, stamp), "is damaged", "%s at %d", name, at)
		}
		require.NoError(t, os.WriteFile(path, good[:len(good)/2], 0o600))
		require.ErrorContains(t, verify(copied, stamp), "bytes", name)
		require.NoError(t, os.WriteFile(path, good, 0o600))
		require.NoError(t, verify(copied, stamp))
	}
	require.NoError(t, verify(copied, ""), "where nothing can be noted, files are read each time")
	own := copied
	own.library = filepath.Join(dir, "_engine.of-ones-own.so")
	require.NoError(t, verify(own, ""), "the known texts speak for it")
}

func BenchmarkVerify(b *testing.B) {
	f, err := find(install(b))
	require.NoError(b, err)
	for name, stamp := range map[string]string{"read": "", "noted": filepath.Join(b.TempDir(), "stamp")} {
		b.Run(name, func(b *testing.B) {
			require.NoError(b, verify(f, stamp))
			for b.Loop() {
				require.NoError(b, verify(f, stamp))
			}
		})
	}
}
