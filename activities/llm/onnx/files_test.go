package onnx_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/onnx"
)

const (
	pinnedName = "libonnxruntime.so." + onnx.Version
	otherName  = "libonnxruntime.so.9.9.9"
)

// putLibrary writes a file with the name of a library where the wheel has it.
func putLibrary(t *testing.T, dir, name string) string {
	t.Helper()
	write(t, filepath.Join(dir, "onnxruntime", "capi"), map[string]string{name: "library"})
	return filepath.Join(dir, "onnxruntime", "capi", name)
}

// TestNothingIsLoadedFromTheWorkingDirectory: without a directory, or with a relative one, no library and no model of the
// directory that a program is started in is loaded.
func TestNothingIsLoadedFromTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, map[string]string{"model.onnx": "", "tokenizer.json": ""})
	putLibrary(t, dir, otherName)
	putLibrary(t, filepath.Join(dir, "onnxruntime-"+onnx.Version), otherName)
	putLibrary(t, filepath.Join(dir, "axiommind", "onnxruntime-"+onnx.Version), otherName)
	require.False(t, onnx.IsModel(""))
	_, err := onnx.FindLibraryIn("", "", "linux-amd64")
	require.ErrorIs(t, err, onnx.ErrNoRuntime)
	_, err = onnx.FindLibraryIn(".", "", "linux-amd64")
	require.ErrorContains(t, err, "absolute path")
	_, err = onnx.FindLibraryIn("sub", "", "linux-amd64")
	require.ErrorIs(t, err, onnx.ErrNoRuntime)
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	_, err = onnx.FindLibrary("")
	require.ErrorIs(t, err, onnx.ErrNoRuntime)
	require.NoFileExists(t, filepath.Join(dir, "axiommind", "onnxruntime-"+onnx.Version+".verified"))
}

// TestOtherLibraries: a library without a pin is taken from the directory that was named, and from no other.
func TestOtherLibraries(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), `a "dir" [x]*`)
	dir, next := filepath.Join(root, "model"), filepath.Join(root, "onnxruntime-"+onnx.Version)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	putLibrary(t, next, otherName)
	_, err := onnx.FindLibraryIn(dir, "", "linux-amd64")
	require.ErrorIs(t, err, onnx.ErrNoRuntime)
	require.ErrorContains(t, err, "--only-binary=:all: --python-version 3.12")
	own := putLibrary(t, dir, otherName)
	found, err := onnx.FindLibraryIn(dir, "", "linux-amd64")
	require.NoError(t, err)
	require.Equal(t, own, found)
}

// TestPinIsOfThePlatform: the library of another platform has the same name, and is not damaged.
func TestPinIsOfThePlatform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := putLibrary(t, dir, pinnedName)
	found, err := onnx.FindLibraryIn(dir, "", "linux-arm64")
	require.NoError(t, err)
	require.Equal(t, own, found)
	_, err = onnx.FindLibraryIn(dir, "", "linux-amd64")
	require.ErrorContains(t, err, "is damaged")
}
