package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The files of the memory stand in the home of whoever runs the worker, for their eyes alone, unless a root is given.
func TestMemoryRoot(t *testing.T) {
	home := filepath.Join(t.TempDir(), "우리집 #1")
	t.Setenv("HOME", home)
	root, err := (&Config{}).memoryRoot(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	info, err := os.Stat(filepath.Join(home, ".axiommind", "memory"))
	require.NoError(t, err)
	require.True(t, info.IsDir())
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	given := filepath.Join(t.TempDir(), "given")
	other, err := (&Config{MemoryRoot: given}).memoryRoot(t.Context())
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.DirExists(t, given)
	_, err = (&Config{MemoryRoot: "ftp://x"}).memoryRoot(t.Context())
	require.ErrorContains(t, err, "want a directory")
}
