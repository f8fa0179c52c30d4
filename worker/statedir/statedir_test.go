package statedir

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asHolder has the test's program hold a directory of temporary files until its input ends.
const asHolder = "AXIOMMIND_TEST_STATE"

func init() {
	dir := os.Getenv(asHolder)
	if dir == "" {
		return
	}
	if _, err := Dir(dir).Start(); err != nil {
		panic(err)
	}
	held, err := os.MkdirTemp("", "transcript-*")
	if err != nil {
		panic(err)
	}
	_ = os.WriteFile(filepath.Join(held, "copy.db"), []byte("unredacted"), 0o600)
	_, _ = os.Stdout.WriteString(held + "\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

func TestOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		goos string
		env  map[string]string
		want string
	}{
		"XDG":        {"linux", map[string]string{"HOME": "/home/안나", "XDG_STATE_HOME": "/s \"'/"}, "/s \"'/axiommind"},
		"home":       {"linux", map[string]string{"HOME": "/home/안나"}, "/home/안나/.local/state/axiommind"},
		"relative":   {"freebsd", map[string]string{"HOME": "/h", "XDG_STATE_HOME": "here"}, "/h/.local/state/axiommind"},
		"no home":    {"linux", nil, ""},
		"XDG alone":  {"linux", map[string]string{"XDG_STATE_HOME": "/s"}, "/s/axiommind"},
		"macOS":      {"darwin", map[string]string{"HOME": "/Users/a", "XDG_STATE_HOME": "/s"}, "/Users/a/Library/Application Support/axiommind"},
		"Windows":    {"windows", map[string]string{"LocalAppData": "/c"}, "/c/axiommind/state"},
		"no profile": {"windows", map[string]string{"HOME": "/h"}, ""},
	} {
		dir := of(tt.goos, func(name string) string { return tt.env[name] })
		require.Equal(t, Dir(filepath.FromSlash(tt.want)), dir, name)
	}
	require.Empty(t, Dir("").Path(Outbox))
	end, err := Dir("").Start()
	require.NoError(t, err)
	end()
}

// A killed process leaves copies of its sources. The next one that starts removes them, and none of a process that lives.
func TestTemporaryFilesOfTheDeadAreRemoved(t *testing.T) {
	t.Parallel()
	dir := Dir(t.TempDir())
	start := func() (held string, kill func()) {
		exe, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), asHolder+"="+string(dir))
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line := make([]byte, 4096)
		n, err := out.Read(line)
		require.NoError(t, err)
		return strings.TrimSpace(string(line[:n])), func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = in.Close()
		}
	}
	first, kill := start()
	require.True(t, strings.HasPrefix(first, dir.Path(temp)), first)
	info, err := os.Stat(dir.Path(temp))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	second, killSecond := start()
	require.FileExists(t, filepath.Join(first, "copy.db"), "its process lives")
	kill()
	require.FileExists(t, filepath.Join(first, "copy.db"))
	third, killThird := start()
	require.NoDirExists(t, filepath.Dir(first))
	killThird()
	left, err := dir.Clear()
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoDirExists(t, filepath.Dir(third))
	require.FileExists(t, filepath.Join(second, "copy.db"))
	killSecond()
	_, err = dir.Clear()
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Dir(second))
}

func TestDropStdin(t *testing.T) {
	t.Parallel()
	dir := Dir(filepath.Join(t.TempDir(), "상태 #1"))
	one, two := filepath.Join(dir.Path(Stdin), "stdin-1", "a"), filepath.Join(dir.Path(Stdin), "stdin-1", "b")
	key := dir.Path(SourceKey)
	uri := func(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
	require.NoError(t, os.MkdirAll(filepath.Dir(one), 0o700))
	for _, name := range []string{one, two, key} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	for _, other := range []string{"", "\x00", uri(key), uri(filepath.Dir(one)), uri(filepath.Dir(one) + "/../../source.key"), uri("/")} {
		dir.DropStdin(other)
	}
	Dir("").DropStdin(uri(one))
	require.FileExists(t, key)
	paths, err := dir.Copies()
	require.NoError(t, err)
	require.Equal(t, []string{one, two}, paths)
	dir.DropStdin(uri(one))
	require.FileExists(t, two)
	dir.DropStdin(uri(two))
	require.NoDirExists(t, filepath.Dir(two))
}

func TestOldCopiesOfStandardInputAreRemoved(t *testing.T) {
	t.Parallel()
	dir := Dir(t.TempDir())
	for name, age := range map[string]time.Duration{"old": StdinAge + time.Hour, "young": StdinAge - time.Hour} {
		path := filepath.Join(dir.Path(Stdin), name)
		require.NoError(t, os.MkdirAll(path, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(path, "1"), nil, 0o600))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, then, then))
	}
	dir.sweepStdin(time.Now().Add(-StdinAge))
	require.NoDirExists(t, filepath.Join(dir.Path(Stdin), "old"))
	require.FileExists(t, filepath.Join(dir.Path(Stdin), "young", "1"))
}
