package privacy_test

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
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
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
func typing(c *commandtest.CLI, screen *os.File, args ...string) commandtest.Output {
	var out, errOut bytes.Buffer
	a := &command.App{In: screen, Out: &out, ErrOut: &errOut, Getenv: func(name string) string { return c.Env[name] }, Completion: c.Completion}
	code := program.Main(context.Background(), a, append(args, c.Servers...))
	return commandtest.Output{Code: code, Out: out.String(), Err: errOut.String()}
}

// Forget takes the exact session name, and never a session whose name only begins with it. That is also true for a repeated
// command, as after an error, and for a mistyped name. Only a person at a terminal is offered the longer name, and must type
// it in full.
func TestForgetTakesWholeNames(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	// Vectors are rebuilt for all users of an embedder. No other test uses this one.
	embedder := httptest.NewServer(http.HandlerFunc(commandtest.Embed))
	t.Cleanup(embedder.Close)
	c.Env["OPENAI_API_KEY"] = "any"
	c.Servers = append(slices.Clone(c.Servers), "--embedder", "openai", "--embedder-model", c.Project, "--embedder-url", embedder.URL+"/v1", "--embedder-dimensions", "8")
	c.Timing = stacktest.Timing()
	cfg := c.Config(t)
	c.Work(t, "--eraser-dsn", cfg.ClickHouseDSN, "--memory-root", t.TempDir())
	said := map[string]string{
		"standup-1":        commandtest.Said(1, "user", "We decided to keep the minutes on paper."),
		"standup-12 'x'/ü": commandtest.Said(1, "user", "I prefer tea over coffee in the morning."),
	}
	for session, line := range said {
		require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", line), "--session", session).Code)
	}
	forget := func(session string, more ...string) commandtest.Output {
		return c.Run(append([]string{"forget", "--project", c.Project, "--session", session}, more...)...)
	}
	sessions := func() (ids []string) {
		for _, b := range commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--project", c.Project, "-o", "json")) {
			ids = append(ids, b.SessionID)
		}
		return ids
	}
	all := []string{"standup-1", "standup-12 'x'/ü"} // The forgotten one comes first.
	require.ElementsMatch(t, all, sessions())

	// A mistyped name erases nothing, with or without confirmation.
	for _, more := range [][]string{{"--yes"}, {}} {
		o := forget("standup-", more...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Empty(t, o.Out)
	}
	o := forget("standup-12", "--yes")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "--session standup-12: user default has no such session in project "+c.Project+`, and nothing was erased: did you mean --session 'standup-12 '\''x'\''/ü'?`)
	for _, typed := range [][]string{{"standup"}, {"standup-12", "no"}, {all[1], "standup-12"}} {
		o = typing(c, terminal(t, typed...), "forget", "--project", c.Project, "--session", "standup-12")
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, "nothing was changed")
		require.Equal(t, typed[0] == all[1], strings.Contains(o.Out, "session "+all[1]+" of user default in project "+c.Project), o)
		require.Equal(t, typed[0] == "standup-12", strings.Contains(o.Out, "the log holds nothing of it"), o)
	}
	require.ElementsMatch(t, all, sessions())

	// The exact name is taken even if another name begins with it, and the erased items are printed.
	o = forget("standup-1", "--yes")
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Err, "erasing from every store:\n  session standup-1 of user default in project "+c.Project+"\n  1 session\n  1 message\n")
	require.Contains(t, o.Out, "forgotten (erasure ")
	require.ElementsMatch(t, all[1:], sessions())

	// A repeated command searches for leftovers and erases nothing.
	o = forget("standup-1", "--yes")
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Err, "this session was forgotten at ")
	require.Equal(t, "every store was searched by name: nothing of it is left; the fingerprints of its texts were destroyed after the check that found nothing\n", o.Out)
	require.ElementsMatch(t, all[1:], sessions())
	require.Len(t, commandtest.Decode[[]schema.Erasure](t, c.Run("forget", "list", "-o", "json")), 1)
}
