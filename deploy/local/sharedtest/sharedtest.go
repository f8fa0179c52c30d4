// Package sharedtest finds test files that are not in the repository: cases that judge a room, and data sets. They
// are next to the checkout, or where a variable says.
package sharedtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Set is a directory of such files.
type Set struct {
	// variable names the directory; without it the directory is at path, above the package that is tested.
	variable, path string
}

// The sets.
var (
	Cases = Set{"AXIOMMIND_CASES", filepath.Join("..", "shared", "cases")}
	Data  = Set{"AXIOMMIND_DATA", filepath.Join("..", "shared", "data")}
	// Models are embedders in the ONNX format.
	Models = Set{"AXIOMMIND_MODELS", filepath.Join("..", "shared", "models")}
)

// Dir returns the directory of the set, or "" where there is none. A directory that the variable names must exist.
func (s Set) Dir(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv(s.variable); dir != "" {
		if !isDir(dir) {
			tb.Fatalf("%s names %q, which is no directory", s.variable, dir)
		}
		return dir
	}
	at, err := os.Getwd()
	if err != nil {
		tb.Fatalf("find %s: %v", s.path, err)
	}
	for {
		if dir := filepath.Join(at, s.path); isDir(dir) {
			return dir
		}
		parent := filepath.Dir(at)
		if parent == at {
			return ""
		}
		at = parent
	}
}

// Path returns the path of a file or directory of the set, or that of the set itself. It skips the test, with the
// reason, where there is no such path.
func (s Set) Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir := s.Dir(tb)
	if dir == "" {
		tb.Skipf("no shared files: set %s, or put them at %s above the package", s.variable, s.path)
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no such shared file: %v", err)
	}
	return path
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
