package feed

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
)

// A database changes in its write-ahead log first. A directory that can't be listed does not remove files from the state.
func TestWatchScan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	db := write("state.db", "x")
	write("state.db-wal", "log")
	write("state.db-shm", "index")
	w := &watcher{app: &command.App{ErrOut: &bytes.Buffer{}}, roots: []string{dir}, told: map[string]bool{}}
	before, whole := w.scan(t.Context())
	require.True(t, whole)
	require.Len(t, before, 1)
	write("state.db-wal", "log and more")
	after, _ := w.scan(t.Context())
	require.NotEqual(t, before[db], after[db])
	w.roots = append(w.roots, filepath.Join(dir, "gone"))
	_, whole = w.scan(t.Context())
	require.False(t, whole)
}

// BenchmarkWatchScan scans ten thousand files.
func BenchmarkWatchScan(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		name := filepath.Join(dir, fmt.Sprint(i%100), fmt.Sprint(i))
		_ = os.MkdirAll(filepath.Dir(name), 0o700)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	w := &watcher{app: &command.App{ErrOut: &bytes.Buffer{}}, roots: []string{dir}, told: map[string]bool{}}
	for b.Loop() {
		if found, _ := w.scan(b.Context()); len(found) != 10_000 {
			b.Fatal(len(found))
		}
	}
}
