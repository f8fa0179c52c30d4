package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/worker/service"
)

// The files of the memory are in the home of the user who runs the worker, readable by that user alone, unless a root
// is given.
func TestMemoryRoot(t *testing.T) {
	home := filepath.Join(t.TempDir(), "우리집 #1")
	t.Setenv("HOME", home)
	root, err := memoryRoot(t.Context(), &service.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	info, err := os.Stat(filepath.Join(home, ".axiommind", "memory"))
	require.NoError(t, err)
	require.True(t, info.IsDir())
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	given := filepath.Join(t.TempDir(), "given")
	other, err := memoryRoot(t.Context(), &service.Config{MemoryRoot: given})
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.DirExists(t, given)
	_, err = memoryRoot(t.Context(), &service.Config{MemoryRoot: "ftp://x"})
	require.ErrorContains(t, err, "want a directory")
}
