package sharedtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked runs in a test of its own, which may be skipped or fail, and reports how it ended.
type asked struct {
	testing.TB
	skipped, failed bool
}

func (a *asked) Helper()               {}
func (a *asked) Skipf(string, ...any)  { a.skipped = true; panic(a) }
func (a *asked) Fatalf(string, ...any) { a.failed = true; panic(a) }

func ask(t *testing.T, do func(tb testing.TB) string) (path string, a *asked) {
	t.Helper()
	a = &asked{TB: t}
	defer func() {
		if p := recover(); p != nil && p != any(a) {
			panic(p)
		}
	}()
	return do(a), a
}

func TestVariable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "자료 'x'")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "locomo"), 0o700))
	t.Setenv("AXIOMMIND_DATA", dir)
	path, a := ask(t, func(tb testing.TB) string { return Data.Path(tb, "locomo") })
	require.Equal(t, filepath.Join(dir, "locomo"), path)
	require.False(t, a.skipped || a.failed)
	require.Equal(t, dir, Data.Path(t))
	_, a = ask(t, func(tb testing.TB) string { return Data.Path(tb, "absent", "file.json") })
	require.True(t, a.skipped)
	t.Setenv("AXIOMMIND_DATA", filepath.Join(dir, "absent"))
	_, a = ask(t, func(tb testing.TB) string { return Data.Path(tb) })
	require.True(t, a.failed, "a variable that names nothing is a mistake and skips no test")
}

func TestAboveThePackage(t *testing.T) {
	root := t.TempDir()
	pkg := filepath.Join(root, "checkout", "activities", "room")
	require.NoError(t, os.MkdirAll(pkg, 0o700))
	t.Chdir(pkg)
	t.Setenv("AXIOMMIND_CASES", "")
	require.Empty(t, Cases.Dir(t))
	_, a := ask(t, func(tb testing.TB) string { return Cases.Path(tb) })
	require.True(t, a.skipped)
	at := filepath.Join(root, "shared", "cases")
	require.NoError(t, os.MkdirAll(at, 0o700))
	found, err := filepath.EvalSymlinks(Cases.Path(t))
	require.NoError(t, err)
	want, err := filepath.EvalSymlinks(at)
	require.NoError(t, err)
	require.Equal(t, want, found)
}
