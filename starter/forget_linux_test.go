package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"axiommind/activities/build"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// terminal opens a terminal with the lines as its input.
func terminal(t *testing.T, lines ...string) *os.File {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = keyboard.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	_, err = keyboard.WriteString(strings.Join(lines, "\n") + "\n")
	require.NoError(t, err)
	return screen
}

// typing runs a command at a terminal.
func (c *cli) typing(screen *os.File, args ...string) output {
	var out, errOut bytes.Buffer
	a := &app{in: screen, out: &out, errOut: &errOut, getenv: func(name string) string { return c.env[name] }, completion: c.completion}
	code := program(context.Background(), a, append(args, c.servers...))
	return output{code, out.String(), errOut.String()}
}

// Forget takes the exact session name, and never a session whose name only begins with it. That is also true for a repeated
// command, as after an error, and for a mistyped name. Only a person at a terminal is offered the longer name, and must type
// it in full.
func TestForgetTakesWholeNames(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	// Vectors are rebuilt for all users of an embedder. No other test uses this one.
	embedder := httptest.NewServer(http.HandlerFunc(embed))
	t.Cleanup(embedder.Close)
	c.env["OPENAI_API_KEY"] = "any"
	c.servers = append(slices.Clone(c.servers), "--embedder", "openai", "--embedder-model", c.project, "--embedder-url", embedder.URL+"/v1", "--embedder-dimensions", "8")
	c.timing = stacktest.Timing()
	cfg := c.config(t)
	c.work(t, "--eraser-dsn", cfg.ClickHouseDSN, "--memory-root", t.TempDir())
	said := map[string]string{
		"standup-1":        said(1, "user", "We decided to keep the minutes on paper."),
		"standup-12 'x'/ü": said(1, "user", "I prefer tea over coffee in the morning."),
	}
	for session, line := range said {
		require.Zero(t, c.process(write(t, "s.jsonl", line), "--session", session).code)
	}
	forget := func(session string, more ...string) output {
		return c.run(append([]string{"forget", "--project", c.project, "--session", session}, more...)...)
	}
	sessions := func() (ids []string) {
		for _, b := range decode[[]build.Run](t, c.run("builds", "list", "--project", c.project, "-o", "json")) {
			ids = append(ids, b.SessionID)
		}
		return ids
	}
	all := []string{"standup-1", "standup-12 'x'/ü"} // The forgotten one comes first.
	require.ElementsMatch(t, all, sessions())

	// A mistyped name erases nothing, with or without confirmation.
	for _, more := range [][]string{{"--yes"}, {}} {
		o := forget("standup-", more...)
		require.Equal(t, exitUsage, o.code, o)
		require.Empty(t, o.out)
	}
	o := forget("standup-12", "--yes")
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, "--session standup-12: user default has no such session in project "+c.project+`, and nothing was erased: did you mean --session 'standup-12 '\''x'\''/ü'?`)
	for _, typed := range [][]string{{"standup"}, {"standup-12", "no"}, {all[1], "standup-12"}} {
		o = c.typing(terminal(t, typed...), "forget", "--project", c.project, "--session", "standup-12")
		require.Equal(t, exitUsage, o.code, o)
		require.Contains(t, o.err, "nothing was changed")
		require.Equal(t, typed[0] == all[1], strings.Contains(o.out, "session "+all[1]+" of user default in project "+c.project), o)
		require.Equal(t, typed[0] == "standup-12", strings.Contains(o.out, "the log holds nothing of it"), o)
	}
	require.ElementsMatch(t, all, sessions())

	// The exact name is taken even if another name begins with it, and the erased items are printed.
	o = forget("standup-1", "--yes")
	require.Zero(t, o.code, o)
	require.Contains(t, o.err, "erasing from every store:\n  session standup-1 of user default in project "+c.project+"\n  1 session\n  1 message\n")
	require.Contains(t, o.out, "forgotten (erasure ")
	require.ElementsMatch(t, all[1:], sessions())

	// A repeated command searches for leftovers and erases nothing.
	o = forget("standup-1", "--yes")
	require.Zero(t, o.code, o)
	require.Contains(t, o.err, "this session was forgotten at ")
	require.Equal(t, "every store was searched by name: nothing of it is left; the fingerprints of its texts were destroyed after the check that found nothing\n", o.out)
	require.ElementsMatch(t, all[1:], sessions())
	require.Len(t, decode[[]schema.Erasure](t, c.run("forget", "list", "-o", "json")), 1)
}
