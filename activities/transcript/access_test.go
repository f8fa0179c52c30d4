package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

const secret = "User: the secret\nAssistant: kept\n"

// place is a directory with a root in it, and a home that the root is not in.
type place struct{ dir, root, home string }

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := place{dir, filepath.Join(dir, "뿌리 root'"), filepath.Join(dir, "home")}
	require.NoError(t, os.Mkdir(p.root, 0o700))
	require.NoError(t, os.Mkdir(p.home, 0o700))
	return p
}

func (p place) options() AccessOptions {
	return AccessOptions{Roots: []string{p.root}, AgentsOf: p.home, KeyFile: filepath.Join(p.dir, "cache", "source.key")}
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func link(t *testing.T, target, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(target, path))
	return path
}

func access(t *testing.T, o AccessOptions) *Access {
	t.Helper()
	a, err := NewAccess(o)
	require.NoError(t, err)
	return a
}

// requireRefused requires that a URI is refused for good, and returns why.
func requireRefused(t *testing.T, a *Access, in schema.ProcessSessionInput, failureType string) string {
	t.Helper()
	_, _, err := a.ReadSource(t.Context(), in)
	require.Error(t, err, in.URI)
	var failure boundary.Failure
	require.ErrorAs(t, err, &failure, in.URI)
	require.Equal(t, failureType, failure.FailureType(), "%v", err)
	require.False(t, failure.Retryable())
	require.NotContains(t, err.Error(), "the secret")
	return err.Error()
}

func requireRead(t *testing.T, a *Access, in schema.ProcessSessionInput) {
	t.Helper()
	sessions, source, err := a.ReadSource(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, in.URI, source.URI)
	require.Len(t, sessions[0].Messages, 2)
}

func uriOf(t *testing.T, path string) schema.ProcessSessionInput {
	t.Helper()
	uri, err := FileURI(path)
	require.NoError(t, err)
	return schema.ProcessSessionInput{URI: uri}
}

// Files in the roots are read, by any path that leads there.
func TestAccessInRoots(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := put(t, filepath.Join(p.root, "세션 #1?%41.txt"), secret)
	byLink := link(t, p.root, filepath.Join(p.dir, "link"))
	link(t, file, filepath.Join(p.root, "inside"))
	requireRead(t, access(t, p.options()), uriOf(t, file))
	requireRead(t, access(t, p.options()), schema.ProcessSessionInput{URI: file})
	requireRead(t, access(t, p.options()), uriOf(t, filepath.Join(p.root, "inside")))
	requireRead(t, access(t, p.options()), uriOf(t, filepath.Join(byLink, "inside")))
	requireRead(t, access(t, AccessOptions{Roots: []string{byLink}}), uriOf(t, file))
	requireRead(t, access(t, AccessOptions{Roots: []string{file}}), uriOf(t, file))
	requireRead(t, access(t, AccessOptions{Roots: []string{"/"}}), uriOf(t, file))
	requireRead(t, access(t, AccessOptions{Roots: []string{p.root + "/../" + filepath.Base(p.root) + "/"}}), uriOf(t, file))

	_, err := NewAccess(AccessOptions{Roots: []string{""}})
	require.ErrorContains(t, err, "a root is empty")
	late := access(t, AccessOptions{Roots: []string{filepath.Join(p.dir, "late")}})
	requireRead(t, late, uriOf(t, put(t, filepath.Join(p.dir, "late", "s.txt"), secret)))
}

// A file outside is refused in any spelling, and the answer is the same whether it exists or not.
func TestAccessOutside(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, p.options())
	outside := put(t, filepath.Join(p.dir, "밖", "secret.txt"), secret)
	put(t, p.root+"-beside/secret.txt", secret)
	for _, path := range []string{
		outside, p.root + "-beside/secret.txt", p.root + "/../밖/secret.txt", p.root + "/x/../../밖/secret.txt",
		p.dir + "//밖/./secret.txt", "/etc/shadow", "/etc/passwd", "/../etc/passwd", p.dir,
	} {
		requireRefused(t, a, schema.ProcessSessionInput{URI: path}, schema.ErrorSourceForbidden)
		requireRefused(t, a, schema.ProcessSessionInput{URI: (&url.URL{Scheme: "file", Path: path}).String()}, schema.ErrorSourceForbidden)
		requireRefused(t, a, schema.ProcessSessionInput{URI: "file://localhost" + everyByte(path)}, schema.ErrorSourceForbidden)
	}
	for _, relative := range []string{"access.go", "../../go.mod"} {
		requireRefused(t, a, schema.ProcessSessionInput{URI: relative}, schema.ErrorSourceForbidden)
	}
	reason := requireRefused(t, a, uriOf(t, outside), schema.ErrorSourceForbidden)
	require.Contains(t, reason, "start the worker with --source-root "+quoteArgument(filepath.Dir(outside)))
	require.NoError(t, os.Remove(outside))
	require.Equal(t, reason, requireRefused(t, a, uriOf(t, outside), schema.ErrorSourceForbidden))
	require.NoError(t, os.RemoveAll(filepath.Dir(outside)))
	require.Equal(t, reason, requireRefused(t, a, uriOf(t, outside), schema.ErrorSourceForbidden))

	none := access(t, AccessOptions{})
	requireRefused(t, none, uriOf(t, put(t, filepath.Join(p.root, "s.txt"), secret)), schema.ErrorSourceForbidden)
	reason = requireRefused(t, a, uriOf(t, filepath.Join(p.root, "gone.txt")), schema.ErrorSourceUnreadable)
	require.Contains(t, reason, "no such file or directory")
}

// everyByte percent-encodes a path but for its first slash.
func everyByte(path string) string {
	var b strings.Builder
	for i := range len(path) {
		fmt.Fprintf(&b, "%%%02X", path[i])
	}
	return "/" + strings.TrimPrefix(b.String(), "%2F")
}

func TestAccessBadURI(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := put(t, filepath.Join(p.root, "s.txt"), secret)
	a := access(t, AccessOptions{Roots: []string{"/"}})
	for _, uri := range []string{
		"http://localhost/etc/passwd", "file://evil.example/etc/passwd", "file://", "file:///a%zz", "file:///a%00b", "a\x00b",
		"FTP://x/y", "file://" + strings.ReplaceAll(file, " ", "%20") + "?x", "file:///etc/passwd#s", "://",
	} {
		requireRefused(t, a, schema.ProcessSessionInput{URI: uri}, schema.ErrorInvalidInput)
	}
}

// Links out of a root lead nowhere, and the reason names the missing root.
func TestAccessLinks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, p.options())
	outside := put(t, filepath.Join(p.dir, "outside", "secret.txt"), secret)
	for name, target := range map[string]string{
		"to a file": outside, "to a file by a relative path": "../outside/secret.txt", "to passwd": "/etc/passwd",
		"to shadow": "/etc/shadow",
	} {
		path := link(t, target, filepath.Join(p.root, name))
		reason := requireRefused(t, a, uriOf(t, path), schema.ErrorSourceForbidden)
		require.Contains(t, reason, "leads to")
	}
	link(t, filepath.Dir(outside), filepath.Join(p.root, "dir"))
	reason := requireRefused(t, a, uriOf(t, filepath.Join(p.root, "dir", "secret.txt")), schema.ErrorSourceForbidden)
	require.Contains(t, reason, "--source-root "+quoteArgument(filepath.Dir(outside)))
	link(t, filepath.Join(p.root, "dir"), filepath.Join(p.root, "chain"))
	requireRefused(t, a, uriOf(t, filepath.Join(p.root, "chain", "secret.txt")), schema.ErrorSourceForbidden)
	link(t, "circle", filepath.Join(p.root, "circle"))
	requireRefused(t, a, uriOf(t, filepath.Join(p.root, "circle")), schema.ErrorSourceUnreadable)
}

// Files that the kernel generates are refused to everyone, by any path.
func TestSystemFilesAreNeverRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("/proc and /sys are Linux's")
	}
	p := newPlace(t)
	everything := access(t, AccessOptions{Roots: []string{"/", "/proc", "/sys", "/dev"}, KeyFile: p.options().KeyFile})
	stdin, err := os.Open(put(t, filepath.Join(p.root, "s.txt"), secret))
	require.NoError(t, err)
	defer func() { _ = stdin.Close() }()
	inside := put(t, filepath.Join(p.root, "inside.txt"), secret)
	for i, path := range []string{
		"/proc/self/environ", "/proc/self/root/etc/passwd", "/proc/self/cwd/access.go", "/proc/1/environ", "/proc/kcore",
		"/proc/self/fd/0", fmt.Sprintf("/proc/self/fd/%d", stdin.Fd()), fmt.Sprintf("/dev/fd/%d", stdin.Fd()),
		"/dev/stdin", "/dev/zero", "/dev/null", "/dev/random", "/dev/tty", "/sys/kernel/notes", "/sys/power/state", "/etc/mtab",
		"/proc/self/root" + inside, "//proc//self/./environ", "/etc/../proc/self/environ",
	} {
		if path == "/etc/mtab" {
			if target, err := os.Readlink(path); err != nil || !strings.Contains(target, "proc") {
				continue
			}
		}
		byLink := link(t, path, filepath.Join(p.root, fmt.Sprint("link ", i)))
		for _, in := range []schema.ProcessSessionInput{{URI: path, Format: "text"}, {URI: byLink, Format: "text"}} {
			_, _, err := everything.ReadSource(t.Context(), in)
			require.Error(t, err, in.URI)
			_, _, err = ReadSource(t.Context(), in.URI, in.Format)
			require.Error(t, err, in.URI)
			if in.URI == path || strings.HasPrefix(path, "/proc/self/environ") || strings.HasPrefix(path, "/dev/zero") {
				requireRefused(t, everything, in, schema.ErrorSourceForbidden)
			}
		}
	}
}

// Nothing but a regular file is opened: a pipe without a writer would block for ever.
func TestOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, p.options())
	pipe := filepath.Join(p.root, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	short, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(short)) })
	socket, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(short, "s"))
	require.NoError(t, err)
	defer func() { _ = socket.Close() }()
	require.NoError(t, os.Rename(filepath.Join(short, "s"), filepath.Join(p.root, "socket")))
	for path, kind := range map[string]string{
		pipe: "a pipe", link(t, pipe, filepath.Join(p.root, "link")): "a pipe",
		filepath.Join(p.root, "socket"): "a socket", p.root: "a directory",
	} {
		reason := requireRefused(t, a, uriOf(t, path), schema.ErrorSourceUnreadable)
		require.Contains(t, reason, "is "+kind+", not a regular file")
		_, _, err := ReadSource(t.Context(), path, "")
		require.ErrorContains(t, err, "is "+kind+", not a regular file")
	}
}

// A huge file is refused before it is read, and before it is copied.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	text, database := put(t, filepath.Join(p.root, "s.txt"), secret), put(t, filepath.Join(p.root, "s.db"), sqliteMagic)
	require.NoError(t, errors.Join(os.Truncate(text, 1<<40), os.Truncate(database, 1<<40)))
	require.NoError(t, os.Chmod(text, 0o644)) //nolint:gosec // Else it may be a key.
	requireRefused(t, access(t, p.options()), uriOf(t, text), schema.ErrorUnknownFormat)
	for _, in := range []schema.ProcessSessionInput{uriOf(t, database), {URI: text, Format: "text"}, {URI: text, Format: "sqlite"}} {
		reason := requireRefused(t, access(t, p.options()), in, schema.ErrorSourceUnreadable)
		require.Contains(t, reason, format.ErrTooLarge.Error())
	}
}

// The directories of agents in the home are roots, and files next to them are in none.
func TestAccessAgents(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, AccessOptions{AgentsOf: p.home})
	for _, f := range format.All() {
		for _, pattern := range f.Dirs {
			path := filepath.Join(p.home, strings.ReplaceAll(pattern, "*", "이름 1"))
			if strings.Contains(filepath.Base(pattern), ".") && !strings.HasPrefix(filepath.Base(pattern), ".") || f.Name == "aider" {
				requireRead(t, a, uriOf(t, put(t, path, secret)))
				requireRefused(t, a, uriOf(t, put(t, path+".key", secret)), schema.ErrorSourceForbidden)
			} else {
				requireRead(t, a, uriOf(t, put(t, filepath.Join(path, "a", "b.txt"), secret)))
			}
		}
	}
	for _, credentials := range []string{
		".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".openclaw/agents/main/agent/auth-profiles.json",
		".hermes/.env", ".hermes/profiles/x/.env", ".ssh/id_ed25519", ".aws/credentials", ".local/share/opencode/auth.json", ".bash_history",
	} {
		requireRefused(t, a, uriOf(t, put(t, filepath.Join(p.home, credentials), secret)), schema.ErrorSourceForbidden)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(p.home, ".claude/projects")))
	put(t, filepath.Join(p.dir, "dotfiles", "s.txt"), secret)
	link(t, filepath.Join(p.dir, "dotfiles"), filepath.Join(p.home, ".claude/projects"))
	requireRead(t, a, uriOf(t, filepath.Join(p.home, ".claude/projects/s.txt")))
}

// However a path changes between the check and the opening, the opened file is the checked one.
func TestReplacedBetweenLookAndOpen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, p.options())
	outside := filepath.Dir(put(t, filepath.Join(p.dir, "outside", "s.txt"), "outside"))
	for name, replace := range map[string]func(file string){
		"the file by a link": func(file string) {
			require.NoError(t, os.Remove(file))
			link(t, filepath.Join(outside, "s.txt"), file)
		},
		"its directory by a link": func(file string) {
			require.NoError(t, os.Rename(filepath.Dir(file), filepath.Dir(file)+" moved"))
			link(t, outside, filepath.Dir(file))
		},
		"the file by another": func(file string) {
			require.NoError(t, os.Rename(filepath.Join(outside, "s.txt"), file))
		},
		"the file by a pipe": func(file string) {
			require.NoError(t, os.Remove(file))
			require.NoError(t, syscall.Mkfifo(file, 0o600))
		},
	} {
		file := put(t, filepath.Join(p.root, name, "s.txt"), "judged")
		f, err := a.resolve(file, schema.ProcessSessionInput{})
		require.NoError(t, err)
		replace(file)
		if opened, err := f.open(); err == nil {
			text, err := io.ReadAll(opened)
			require.NoError(t, err)
			require.Equal(t, "judged", string(text), name)
			require.NoError(t, opened.Close())
		}
		f.close()
	}
}

// While a directory of the root turns into a link to the outside and back, nothing of the outside is read.
func TestRaceOfLinks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, p.options())
	outside := put(t, filepath.Join(p.dir, "outside", "s.txt"), secret)
	inside := put(t, filepath.Join(p.dir, "inside", "s.txt"), "User: fine\nAssistant: fine\n")
	path := filepath.Join(p.root, "dir", "s.txt")
	require.NoError(t, os.Mkdir(filepath.Join(p.root, "real"), 0o700))
	require.NoError(t, os.Link(inside, filepath.Join(p.root, "real", "s.txt")))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for _, target := range []string{filepath.Dir(outside), "real"} {
				_ = os.Symlink(target, filepath.Join(p.root, "next"))
				_ = os.Rename(filepath.Join(p.root, "next"), filepath.Join(p.root, "dir"))
			}
		}
	}()
	read, refused := 0, 0
	for i := 0; i < 20000 && (i < 500 || read == 0 || refused == 0); i++ {
		sessions, _, err := a.ReadSource(ctx, schema.ProcessSessionInput{URI: path})
		if err != nil {
			refused++
			continue
		}
		read++
		require.Equal(t, "fine", sessions[0].Messages[0].Text)
	}
	cancel()
	<-done
	require.Positive(t, read)
	require.Positive(t, refused)
}
