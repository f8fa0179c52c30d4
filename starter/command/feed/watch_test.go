package feed_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/worker/statedir"
)

// watching is a watch that runs until it is stopped.
type watching struct {
	mu       sync.Mutex
	out, err bytes.Buffer
	stop     func() int
}

type locked struct {
	w  *watching
	to *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.to.Write(p)
}

// text returns the output so far.
func (w *watching) text() (out, err string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String(), w.err.String()
}

func watch(c *commandtest.CLI, t *testing.T, args ...string) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w, ended := &watching{}, make(chan int, 1)
	a := &command.App{In: strings.NewReader(""), Out: locked{w, &w.out}, ErrOut: locked{w, &w.err}, Getenv: func(name string) string { return c.Env[name] }}
	args = append(append([]string{"watch", "--interval", "50ms", "--project", c.Project}, args...), c.Servers...)
	go func() { ended <- program.Main(ctx, a, args) }()
	w.stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { w.stop() })
	return w
}

// says waits until the text has been printed n times.
func (w *watching) says(t *testing.T, n int, text string) {
	t.Helper()
	commandtest.Eventually(t, func() bool {
		out, err := w.text()
		return strings.Count(out+err, text) >= n
	}, "%q: %s %s", text, &w.out, &w.err)
}

// begun waits until the initial state of the files is stored.
func (w *watching) begun(t *testing.T) {
	t.Helper()
	w.says(t, 1, "state is kept in ")
	_, told := w.text()
	_, path, _ := strings.Cut(strings.TrimSpace(told), "state is kept in ")
	commandtest.Eventually(t, func() bool {
		_, err := os.Stat(strings.TrimSpace(strings.SplitN(path, "\n", 2)[0]))
		return err == nil
	})
}

// looked waits until a new file in the directory was scanned. Then all earlier files were scanned, too.
func (w *watching) looked(t *testing.T, dir, name string) {
	t.Helper()
	putIn(t, dir, name+".jsonl", commandtest.Said(1, "user", commandtest.Decision), "")
	w.says(t, 1, "("+filepath.Join(dir, name+".jsonl")+")")
}

func putIn(t *testing.T, dir, name, text, session string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(strings.ReplaceAll(text, `"sessionId":""`, fmt.Sprintf(`"sessionId":%q`, session)))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return path
}

// Changed sessions are enqueued one by one, and unchanged ones are not, even across a restart.
func TestWatch(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	old := putIn(t, dir, "old.jsonl", commandtest.Said(1, "user", commandtest.Decision), "old")
	putIn(t, dir, "two.jsonl", commandtest.Said(1, "user", "Hello."), "left")
	putIn(t, dir, "two.jsonl", commandtest.Said(2, "user", "Hello."), "grows")
	elsewhere := putIn(t, t.TempDir(), "linked.jsonl", commandtest.Said(1, "user", commandtest.Decision), "linked")
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "link.jsonl")))
	w := watch(c, t, dir)
	w.begun(t)

	name := `deep/é "q" 세션` + commandtest.Turn + ".jsonl"
	putIn(t, dir, name, commandtest.Said(1, "user", commandtest.Decision), "new")
	w.says(t, 1, "new is enqueued, to be processed by ")
	putIn(t, dir, name, commandtest.Said(2, "assistant", "Noted."), "new")
	w.says(t, 2, "new is enqueued, to be processed by ")
	putIn(t, dir, "old.jsonl", commandtest.Said(2, "user", "And the index?"), "old")
	w.says(t, 1, "old is enqueued")
	recently := strings.ReplaceAll(commandtest.Said(3, "user", "Now it is decided."), "2026-03-01T09:00:03Z", time.Now().UTC().Format(time.RFC3339))
	putIn(t, dir, "two.jsonl", recently, "grows")
	w.says(t, 1, "grows is enqueued")
	putIn(t, dir, "notes.bin", "\x00\x01\x02 nothing", "")
	w.says(t, 1, "skipped "+filepath.Join(dir, "notes.bin")+": it is not a transcript of a known format")
	putIn(t, dir, "notes.bin", "\x03", "")
	require.NoError(t, os.Chtimes(old, time.Now(), time.Now()))
	gone := putIn(t, dir, "gone.jsonl", commandtest.Said(1, "user", commandtest.Decision), "gone")
	require.NoError(t, os.Remove(gone))
	w.looked(t, dir, "mark-1")
	require.Equal(t, command.ExitOK, w.stop())
	out, told := w.text()
	require.Equal(t, 5, strings.Count(out, "is enqueued"), "a file that is only touched is not: %s", out)
	require.Equal(t, 1, strings.Count(told, "skipped "), told)
	require.NotContains(t, out+told, "left")
	require.NotContains(t, out+told, "linked")
	commandtest.RequireHarmless(t, commandtest.Output{Code: command.ExitOK, Out: out, Err: told})

	// A restart enqueues only the changes since the stop.
	putIn(t, dir, "old.jsonl", commandtest.Said(3, "user", "The index is next."), "old")
	putIn(t, dir, "two.jsonl", commandtest.Said(4, "user", "Again."), "left")
	w = watch(c, t, dir, "-o", "json")
	w.says(t, 1, `"session_id":"old"`)
	w.says(t, 1, `"session_id":"left"`)
	w.stop()
	out, _ = w.text()
	require.Equal(t, 2, strings.Count(out, `"session_id"`), out)

	// For another user it is another memory.
	w = watch(c, t, dir, "--user", "bob", "--since", "1h")
	w.says(t, 1, "old is enqueued")
	w.says(t, 1, "grows is enqueued")
	w.looked(t, dir, "mark-2")
	w.stop()
	out, told = w.text()
	require.NotContains(t, out, "left is", "its messages are older")
	require.Contains(t, told, "skipped "+filepath.Join(dir, "notes.bin"))
}

// If Temporal is unreachable and the outbox can't be written, watch continues. It enqueues the changes when Temporal is
// back, even after a restart.
func TestWatchWhileTemporalIsAway(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	away := commandtest.Down()
	away.Project, away.Env = c.Project, c.Env
	outbox := statedir.Of(func(name string) string { return c.Env[name] }).Path(statedir.Outbox)
	require.NoError(t, os.MkdirAll(filepath.Dir(outbox), 0o700))
	require.NoError(t, os.WriteFile(outbox, nil, 0o600))
	w := watch(away, t, dir)
	w.begun(t)
	putIn(t, dir, "a.jsonl", commandtest.Said(1, "user", commandtest.Decision), "a")
	w.says(t, 1, "1 session waits: tried again")
	require.Equal(t, command.ExitOK, w.stop())
	out, told := w.text()
	require.Empty(t, out)
	require.Equal(t, 1, strings.Count(told, "tried again"), told)
	w = watch(c, t, dir)
	w.says(t, 1, "a is enqueued")
	require.Equal(t, command.ExitOK, w.stop())
}

// Mistakes are refused with exit code 2, and nothing is watched if memory is switched off.
func TestWatchRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for says, args := range map[string][]string{
		"no such file or directory":          {"/no/such/dir"},
		"watch takes at least 1 argument":    {},
		"--interval 1ms: want 50ms to 1h0m0": {dir, "--interval", "1ms"},
		`--since "often"`:                    {dir, "--since", "often"},
		"--debounce 2h0m0s":                  {dir, "--debounce", "2h"},
		`--format "word"`:                    {dir, "--format", "word"},
	} {
		o := commandtest.Down().Run(append([]string{"watch"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, says)
	}
	o := commandtest.Down().Run("watch", dir, "--no-queue")
	require.Equal(t, commandtest.Output{Code: command.ExitOK, Out: "", Err: "memory is switched off (no-queue): nothing is watched\n"}, o)
}
