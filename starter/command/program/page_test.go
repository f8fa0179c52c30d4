package program_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/progress"
)

// Every list can be read to its end with the offsets that it prints, page by page, each row once.
func testListsPageAlike(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := c.Project + "-user"
	var text strings.Builder
	for i, noun := range []string{"coffee", "keyboards", "mountains"} {
		text.WriteString(commandtest.Said(3*i, "user", "I prefer quiet "+noun+"."))
		text.WriteString(commandtest.Said(3*i+1, "assistant", "TODO: write the page on "+noun+"."))
		text.WriteString(commandtest.Said(3*i+2, "assistant", "The report on "+noun+" is blocked by the review of "+noun+"."))
	}
	for i := range 3 {
		o := c.Run("process", commandtest.Write(t, "s.jsonl", text.String()), "--project", c.Project, "--user", user, "--session", fmt.Sprintf("%s-%d", c.Project, i))
		require.Zero(t, o.Code, o)
	}
	for _, noun := range []string{"coffee", "keyboards", "mountains"} {
		o := c.Run("condition", "resolve", "the review of "+noun, "https://example.com/"+noun, "--project", c.Project)
		require.Zero(t, o.Code, o)
	}
	inProject := []string{"--project", c.Project}
	for name, args := range map[string][]string{
		"builds list": inProject, "tasks": inProject, "blocked": inProject, "conditions resolved": inProject, "facts": {"--user", user},
		"facts list": {"--user", user, "--all"}, "facts history": {"--user", user},
	} {
		command := append(strings.Fields(name), args...)
		all := commandtest.Decode[[]json.RawMessage](t, c.Run(append(command, "-o", "json")...))
		require.GreaterOrEqual(t, len(all), 3, name)
		whole := c.Run(append(command, "--limit", fmt.Sprint(len(all)))...)
		require.NotContains(t, whole.Out, "there are more", name)
		var paged []json.RawMessage
		for offset := 0; ; offset += 2 {
			at := []string{"--limit", "2", "--offset", fmt.Sprint(offset)}
			rows := c.Run(append(append(command, "-o", "json"), at...)...)
			paged = append(paged, commandtest.Decode[[]json.RawMessage](t, rows)...)
			people := c.Run(append(command, at...)...)
			require.Zero(t, people.Code, people)
			closing := fmt.Sprintf("there are more: add --offset %d\n", offset+2)
			if offset+2 >= len(all) {
				require.NotContains(t, people.Out, "there are more", name)
				require.Empty(t, rows.Err, name)
				break
			}
			require.True(t, strings.HasSuffix(people.Out, closing), "%s: %s", name, people)
			require.Equal(t, closing, rows.Err, "programs read the rows alone")
		}
		require.Equal(t, all, paged, name)
		past := c.Run(append(command, "--offset", "900")...)
		require.Zero(t, past.Code)
		require.Equal(t, "nothing is left after the first 900\n", past.Out, name)
	}
	otherListsPage(t, c, user)
	emptyListsSayOfWhat(t, c)
	none := c.Run("context", "--user", user, "--max-tokens", "1")
	require.Zero(t, none.Code)
	require.Empty(t, none.Out, "it is no part of a prompt")
	require.Equal(t, "none of 3 facts of user "+user+" fits in 1 token; raise --max-tokens\n", none.Err)
	require.Equal(t, "nothing is remembered of user nobody\n", c.Run("context", "--user", "nobody").Err)
}

func otherListsPage(t *testing.T, c *commandtest.CLI, user string) {
	t.Helper()
	asOf := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	all := commandtest.Decode[[]json.RawMessage](t, c.Run("tasks", "--project", c.Project, "--as-of", asOf, "-o", "json"))
	second := commandtest.Decode[[]json.RawMessage](t, c.Run("tasks", "--project", c.Project, "--as-of", asOf, "--limit", "1", "--offset", "1", "-o", "json"))
	require.Equal(t, all[1:2], second)

	search := []string{"search", "page report quiet coffee keyboards mountains", "--project", c.Project, "--user", user}
	first, next := c.Run(append(search, "--limit", "2")...), c.Run(append(search, "--limit", "2", "--offset", "2")...)
	require.True(t, strings.HasSuffix(first.Out, "there are more: add --offset 2\n"), first)
	require.True(t, strings.HasPrefix(next.Out, "3. "), next)

	// The next page does not skip hits that exceeded the token limit.
	tight := c.Run(append(search, "--limit", "2", "--max-tokens", "5")...)
	require.Contains(t, tight.Out, "2 hits are left out for --max-tokens 5\n")
	require.Equal(t, "the first hit alone needs more: give more tokens\n", tight.Err)
	cursor := commandtest.Decode[struct{ Next string }](t, c.Run(append(search, "--limit", "1", "-o", "json")...)).Next
	half := c.Run(append(search, "--limit", "3", "--max-tokens", "90", "--cursor", cursor)...)
	require.Regexp(t, `^there are more: ask again with --limit [12], or with more tokens\n$`, half.Err, half.Out)
}

// emptyListsSayOfWhat checks that an empty list names its filters.
func emptyListsSayOfWhat(t *testing.T, c *commandtest.CLI) {
	t.Helper()
	for want, args := range map[string][]string{
		"no build of session s in project p with status failed\n":                          {"builds", "list", "--session", "s", "--project", "p", "--status", "failed"},
		"no build in project " + c.Project + " for user u by agent a with status failed\n": {"builds", "list", "--project", c.Project, "--user", "u", "--agent", "a", "--status", "failed"},
		"no tasks in project p\n":                                              {"tasks", "--project", "p"},
		"no task with status cancelled in project p\n":                         {"tasks", "--project", "p", "--status", "cancelled"},
		"no task blocked by something unknown in project p as of 2001-01-01\n": {"tasks", "--project", "p", "--placeholder", "--as-of", "2001-01-01"},
		"nothing is blocked in project p as of 2001-01-01\n":                   {"blocked", "--project", "p", "--as-of", "2001-01-01"},
		"no condition is resolved in project p\n":                              {"conditions", "resolved", "--project", "p"},
		"nothing is remembered of user u by agent a\n":                         {"facts", "--user", "u", "--agent", "a"},
	} {
		require.Equal(t, want, c.Run(args...).Out)
	}
}

// Only before the first build is a person told how to begin.
func TestNoBuildsYet(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	require.Equal(t, "no builds yet; process a transcript with: starter process FILE\n", c.Run("builds", "list").Out)
	require.Equal(t, "no build with status running\n", c.Run("builds", "list", "--status", "running").Out)
}

// If no bar is drawn, a line at each interval shows the progress and the running sessions.
func TestProgressInLines(t *testing.T) {
	t.Parallel()
	errOut := &commandtest.LiveOutput{}
	people := &text.Writer{To: errOut}
	a := &command.App{ErrOut: people, Quiet: time.Millisecond}
	p := progress.New(a, 40, "sessions done")
	p.Done()
	commandtest.Eventually(t, func() bool { return strings.Contains(errOut.String(), "0s: 1 of 40 sessions done\n") })
	p.Finish()
	end := errOut.String()
	silent := progress.New((&command.App{ErrOut: people}), 1, "files read")
	silent.Finish()
	require.Equal(t, end, errOut.String())
}

// The progress of a slow session names its step.
func TestProgressNamesTheStep(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	var out, errOut bytes.Buffer
	a := &command.App{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(name string) string { return c.Env[name] }, Quiet: 20 * time.Millisecond}
	args := append([]string{"process", commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--project", c.Project, "--session", "slow"}, c.Servers...)
	require.Zero(t, program.Main(t.Context(), a, args), errOut.String())
	require.Regexp(t, `(?m)^\d+s: 0 of 1 sessions done; slow · [a-z_]+$`, errOut.String())
}

// A given timeout is kept, whether longer or shorter. Only the default is short.
func TestConnectTimeoutIsKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		env  string
		want time.Duration
	}{
		"default":  {[]string{"facts"}, "", command.Patience},
		"doctor":   {[]string{"doctor"}, "", command.DoctorPatience},
		"flag":     {[]string{"facts", "--connect-timeout", "5m"}, "", 5 * time.Minute},
		"variable": {[]string{"doctor"}, "2m", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // No server is contacted, but the configuration is loaded.
			a := &command.App{
				In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{},
				Getenv: func(name string) string {
					if name == "AXIOMMIND_CONNECT_TIMEOUT" {
						return tt.env
					}
					return ""
				},
			}
			program.Main(ctx, a, append(tt.args, commandtest.Down().Servers[:6]...))
			require.Equal(t, tt.want, a.Cfg.ConnectTimeout)
			given := tt.env != "" || slices.Contains(tt.args, "--connect-timeout")
			require.Equal(t, given, a.Cfg.RefusedTimeout == 0, "a server that is not running is waited for only if told so")
		})
	}
}

// A server that accepts connections and never answers delays a command by no more than its timeout.
func TestServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	address := listener.Addr().String()
	c := &commandtest.CLI{Env: map[string]string{}, Servers: []string{
		"--temporal-address", address, "--clickhouse-dsn", "http://" + address + "/default", "--weaviate-url", "http://" + address,
		"--connect-timeout", "300ms",
	}}
	o := c.Run("doctor")
	require.Equal(t, command.ExitFailed, o.Code)
	require.Equal(t, 3, strings.Count(o.Out, "no answer in time"), o)
}
