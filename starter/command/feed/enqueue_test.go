package feed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/feed"
)

// Mistakes are refused with exit code 2 before any server is contacted.
func TestEnqueueRefuses(t *testing.T) {
	t.Parallel()
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	for _, tt := range []struct {
		in   string
		args []string
		says string
	}{
		{"", []string{"enqueue", "/no/such/file"}, "no such file"},
		{"", []string{"enqueue", filepath.Dir(path)}, "is a directory: give a file, or have it watched: starter watch DIR"},
		{"", []string{"enqueue", "-"}, "standard input is empty"},
		{"", []string{"enqueue", path, "--debounce", "0s"}, "--debounce 0s: want more than 0, and at most 1h0m0s"},
		{"", []string{"enqueue", path, "--debounce", "2h"}, "--debounce 2h0m0s"},
		{"", []string{"enqueue", path, "--max-wait", "25h"}, "--max-wait 25h0m0s: want more than 0, and at most 24h0m0s"},
		{"", []string{"enqueue", path, "--flush-reason", "whim"}, `--flush-reason "whim": want one of end`},
		{"", []string{"enqueue", path, "--format", "word"}, `--format "word": want one of`},
		{"", []string{"enqueue", commandtest.Write(t, "x", "\x00\x01"), "--user", "u"}, "--format"},
		{"", []string{"enqueue", "-", "--messages"}, "--messages needs --session"},
		{"", []string{"enqueue", "-", "--messages", "--session", "s", "--format", "text"}, "messages have none"},
		{"", []string{"enqueue", "-", "--messages", "--session", "s", "--include-tools"}, "messages hold no tool calls"},
		{" \n", []string{"enqueue", "-", "--messages", "--session", "s"}, "holds no message"},
		{`{"content":"x"}`, []string{"enqueue", "-", "--messages", "--session", "s"}, `line 1 of "-" is no message of role and content: one of them is missing`},
		{`{"role":"user"}`, []string{"enqueue", "-", "--messages", "--session", "s"}, "one of them is missing"},
		{`{"role":"user","content":""}` + "\nHello", []string{"enqueue", "-", "--messages", "--session", "s"}, `line 2 of "-" is no message of role and content`},
		{`{"role":"user","content":"x","text":"y"}`, []string{"enqueue", "-", "--messages", "--session", "s"}, `unknown field "text"`},
		{`{"role":"robot","content":"x"}`, []string{"enqueue", "-", "--messages", "--session", "s"}, `role "robot" is not user`},
		{"", []string{"queue", "show", "x"}, "queue show takes no arguments"},
		{"", []string{"queue", "--user", ""}, "--user is empty"},
		{"", []string{"queue", "flush", "--user", "a\nb"}, "holds a control character"},
		{"", []string{"queue", "flush", "--session", "a\x1b"}, "holds a control character"},
	} {
		c := commandtest.Down()
		c.Env["XDG_STATE_HOME"] = t.TempDir()
		o := c.Feed(tt.in, tt.args...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", tt.args, o)
		require.Contains(t, o.Err, tt.says, "%q", tt.args)
		require.Empty(t, o.Out)
		commandtest.RequireHarmless(t, o)
	}
	for _, args := range [][]string{{"enqueue", path}, {"queue"}, {"queue", "flush"}, {"queue", "flush", "--no-wait"}} {
		o := commandtest.Down().Run(args...)
		require.Equal(t, command.ExitFailed, o.Code, o)
		require.Contains(t, o.Err, "temporal at 127.0.0.1:1")
		require.Contains(t, o.Err, "go run ./deploy/local up")
	}
}

// If memory is switched off, enqueue and queue flush do nothing and print a notice. That is no failure.
func TestNoQueue(t *testing.T) {
	t.Parallel()
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	c := commandtest.Down()
	o := c.Run("enqueue", path, "--no-queue")
	require.Equal(t, commandtest.Output{Code: command.ExitOK, Out: "memory is switched off (no-queue): nothing was enqueued\n", Err: ""}, o)
	flushed := "memory is switched off (no-queue): nothing is processed, and the backlog is kept\n"
	for _, args := range [][]string{{"queue", "flush", "--no-queue"}, {"queue", "flush", "--no-queue", "--no-wait"}} {
		require.Equal(t, commandtest.Output{Code: command.ExitOK, Out: flushed, Err: ""}, c.Run(args...))
	}
	c.Env["AXIOMMIND_NO_QUEUE"] = "true"
	require.True(t, commandtest.Decode[feed.EnqueueReport](t, c.Run("enqueue", path, "-o", "json")).Disabled)
}

// Sessions are enqueued, listed as pending, and processed on demand.
func TestQueue(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := `ann "/` + commandtest.Turn + c.Project
	run := func(in string, args ...string) commandtest.Output {
		t.Helper()
		o := c.Feed(in, append(args, "--user", user)...)
		commandtest.RequireHarmless(t, o)
		return o
	}
	ok := func(in string, args ...string) string {
		t.Helper()
		o := run(in, args...)
		require.Equal(t, command.ExitOK, o.Code, "%q: %s", args, o)
		return o.Out
	}
	require.Contains(t, ok("", "queue"), "does not run: nothing was enqueued lately")
	require.Equal(t, "null\n", ok("", "queue", "show", "-o", "json"))
	require.Contains(t, ok("", "queue", "flush"), "nothing waited in the queue of user ann")

	two := strings.ReplaceAll(commandtest.Said(1, "user", commandtest.Decision), `"sessionId":""`, `"sessionId":"one"`) +
		strings.ReplaceAll(commandtest.Said(2, "user", "I prefer quiet keyboards."), `"sessionId":""`, `"sessionId":"two"`)
	wait := []string{"--debounce", "1h", "--max-wait", "2h", "--project", c.Project}
	told := ok("", append([]string{"enqueue", commandtest.Write(t, "two.jsonl", two)}, wait...)...)
	require.Contains(t, told, "one is enqueued, to be processed by ")
	require.Contains(t, told, "two is enqueued, to be processed by ")
	ok(`{"role":"user","content":"That's wrong: we decided to use Temporal for every workflow.","id":"m1"}`+"\n",
		append([]string{"enqueue", "-", "--messages", "--session", "three " + commandtest.Turn}, wait...)...)
	state := commandtest.Decode[*schema.QueueState](t, run("", "queue", "-o", "json"))
	require.Equal(t, 3, state.Threads)
	shown := ok("", "queue")
	for _, part := range []string{"3 sessions wait in the queue of user ann", "three <U+202E>gnp.exe<U+202C>", "a correction", c.Project} {
		require.Contains(t, shown, part)
	}

	require.Equal(t, "processed 1 session\n", ok("", "queue", "flush", "--session", "one", "--project", c.Project))
	require.Equal(t, 2, commandtest.Decode[schema.QueueState](t, run("", "queue", "-o", "json")).Threads)
	require.Equal(t, "processed 2 sessions\n", ok("", "queue", "flush"))
	shown = ok("", "queue", "show")
	require.Contains(t, shown, "nothing waits in the queue of user ann")
	require.Contains(t, shown, "last: session ")
	require.Contains(t, ok("", "search", "quiet keyboards", "--project", c.Project), "quiet keyboards")

	// A session that can't be processed is reported by name.
	gone := commandtest.Write(t, "gone.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	ok("", append([]string{"enqueue", gone, "--session", "gone"}, wait...)...)
	require.NoError(t, os.Remove(gone))
	failed := run("", "queue", "flush")
	require.Equal(t, command.ExitFailed, failed.Code, failed)
	require.Contains(t, failed.Out, "session gone of project "+c.Project+": failed")
	require.Contains(t, failed.Err, "1 of 1 session failed; see starter builds list --status failed")
	require.Contains(t, ok("", "queue", "flush", "--no-wait"), "is processed now; see it with: starter queue")

	many := ok("Ann: Hello.\nBob: We decided to use Weaviate.\n", "enqueue", "-", "--format", "text", "--session", "spooled", "--now", "--project", c.Project)
	require.Contains(t, many, "spooled is enqueued, to be processed at once\n")
	commandtest.Eventually(t, func() bool {
		o := run("", "queue", "-o", "json")
		if strings.Contains(o.Err, "no answer in time") { // A busy machine answers late.
			return false
		}
		last := commandtest.Decode[schema.QueueState](t, o).Last
		return last != nil && last.Thread == "spooled" && last.Status == schema.BuildSuccess
	})
}
