package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text"
)

// Every list can be read to its end with the offsets that it prints, page by page, each row once.
func testListsPageAlike(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	user := c.project + "-user"
	var text strings.Builder
	for i, noun := range []string{"coffee", "keyboards", "mountains"} {
		text.WriteString(said(3*i, "user", "I prefer quiet "+noun+"."))
		text.WriteString(said(3*i+1, "assistant", "TODO: write the page on "+noun+"."))
		text.WriteString(said(3*i+2, "assistant", "The report on "+noun+" is blocked by the review of "+noun+"."))
	}
	for i := range 3 {
		o := c.run("process", write(t, "s.jsonl", text.String()), "--project", c.project, "--user", user, "--session", fmt.Sprintf("%s-%d", c.project, i))
		require.Zero(t, o.code, o)
	}
	for _, noun := range []string{"coffee", "keyboards", "mountains"} {
		o := c.run("condition", "resolve", "the review of "+noun, "https://example.com/"+noun, "--project", c.project)
		require.Zero(t, o.code, o)
	}
	inProject := []string{"--project", c.project}
	for name, args := range map[string][]string{
		"builds list": inProject, "tasks": inProject, "blocked": inProject, "conditions resolved": inProject, "facts": {"--user", user},
		"facts list": {"--user", user, "--all"}, "facts history": {"--user", user},
	} {
		command := append(strings.Fields(name), args...)
		all := decode[[]json.RawMessage](t, c.run(append(command, "-o", "json")...))
		require.GreaterOrEqual(t, len(all), 3, name)
		whole := c.run(append(command, "--limit", fmt.Sprint(len(all)))...)
		require.NotContains(t, whole.out, "there are more", name)
		var paged []json.RawMessage
		for offset := 0; ; offset += 2 {
			at := []string{"--limit", "2", "--offset", fmt.Sprint(offset)}
			rows := c.run(append(append(command, "-o", "json"), at...)...)
			paged = append(paged, decode[[]json.RawMessage](t, rows)...)
			people := c.run(append(command, at...)...)
			require.Zero(t, people.code, people)
			closing := fmt.Sprintf("there are more: add --offset %d\n", offset+2)
			if offset+2 >= len(all) {
				require.NotContains(t, people.out, "there are more", name)
				require.Empty(t, rows.err, name)
				break
			}
			require.True(t, strings.HasSuffix(people.out, closing), "%s: %s", name, people)
			require.Equal(t, closing, rows.err, "programs read the rows alone")
		}
		require.Equal(t, all, paged, name)
		past := c.run(append(command, "--offset", "900")...)
		require.Zero(t, past.code)
		require.Equal(t, "nothing is left after the first 900\n", past.out, name)
	}
	otherListsPage(t, c, user)
	emptyListsSayOfWhat(t, c)
	none := c.run("context", "--user", user, "--max-tokens", "1")
	require.Zero(t, none.code)
	require.Empty(t, none.out, "it is no part of a prompt")
	require.Equal(t, "none of 3 facts of user "+user+" fits in 1 token; raise --max-tokens\n", none.err)
	require.Equal(t, "nothing is remembered of user nobody\n", c.run("context", "--user", "nobody").err)
}

func otherListsPage(t *testing.T, c *cli, user string) {
	t.Helper()
	asOf := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	all := decode[[]json.RawMessage](t, c.run("tasks", "--project", c.project, "--as-of", asOf, "-o", "json"))
	second := decode[[]json.RawMessage](t, c.run("tasks", "--project", c.project, "--as-of", asOf, "--limit", "1", "--offset", "1", "-o", "json"))
	require.Equal(t, all[1:2], second)

	search := []string{"search", "page report quiet coffee keyboards mountains", "--project", c.project, "--user", user}
	first, next := c.run(append(search, "--limit", "2")...), c.run(append(search, "--limit", "2", "--offset", "2")...)
	require.True(t, strings.HasSuffix(first.out, "there are more: add --offset 2\n"), first)
	require.True(t, strings.HasPrefix(next.out, "3. "), next)

	// The next page does not skip hits that exceeded the token limit.
	tight := c.run(append(search, "--limit", "2", "--max-tokens", "5")...)
	require.Contains(t, tight.out, "2 hits are left out for --max-tokens 5\n")
	require.Equal(t, "the first hit alone needs more: give more tokens\n", tight.err)
	cursor := decode[struct{ Next string }](t, c.run(append(search, "--limit", "1", "-o", "json")...)).Next
	half := c.run(append(search, "--limit", "3", "--max-tokens", "90", "--cursor", cursor)...)
	require.Regexp(t, `^there are more: ask again with --limit [12], or with more tokens\n$`, half.err, half.out)
}

// emptyListsSayOfWhat checks that an empty list names its filters.
func emptyListsSayOfWhat(t *testing.T, c *cli) {
	t.Helper()
	for want, args := range map[string][]string{
		"no build of session s in project p with status failed\n":                          {"builds", "list", "--session", "s", "--project", "p", "--status", "failed"},
		"no build in project " + c.project + " for user u by agent a with status failed\n": {"builds", "list", "--project", c.project, "--user", "u", "--agent", "a", "--status", "failed"},
		"no tasks in project p\n":                                              {"tasks", "--project", "p"},
		"no task with status cancelled in project p\n":                         {"tasks", "--project", "p", "--status", "cancelled"},
		"no task blocked by something unknown in project p as of 2001-01-01\n": {"tasks", "--project", "p", "--placeholder", "--as-of", "2001-01-01"},
		"nothing is blocked in project p as of 2001-01-01\n":                   {"blocked", "--project", "p", "--as-of", "2001-01-01"},
		"no condition is resolved in project p\n":                              {"conditions", "resolved", "--project", "p"},
		"nothing is remembered of user u by agent a\n":                         {"facts", "--user", "u", "--agent", "a"},
	} {
		require.Equal(t, want, c.run(args...).out)
	}
}

// Only before the first build is a person told how to begin.
func TestNoBuildsYet(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	require.Equal(t, "no builds yet; process a transcript with: starter process FILE\n", c.run("builds", "list").out)
	require.Equal(t, "no build with status running\n", c.run("builds", "list", "--status", "running").out)
}

// If no bar is drawn, a line at each interval shows the progress and the running sessions.
func TestProgressInLines(t *testing.T) {
	t.Parallel()
	errOut := &lockedBuffer{}
	people := &text.Writer{To: errOut}
	a := &app{errOut: people, quiet: time.Millisecond}
	p := a.newProgress(40, "sessions done")
	p.done()
	eventually(t, func() bool { return strings.Contains(errOut.String(), "0s: 1 of 40 sessions done\n") })
	p.finish()
	end := errOut.String()
	silent := (&app{errOut: people}).newProgress(1, "files read")
	silent.finish()
	require.Equal(t, end, errOut.String())
}

// The progress of a slow session names its step.
func TestProgressNamesTheStep(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	var out, errOut bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errOut: &errOut, getenv: func(name string) string { return c.env[name] }, quiet: 20 * time.Millisecond}
	args := append([]string{"process", write(t, "s.jsonl", said(1, "user", decision)), "--project", c.project, "--session", "slow"}, c.servers...)
	require.Zero(t, program(t.Context(), a, args), errOut.String())
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
		"default":  {[]string{"facts"}, "", patience},
		"doctor":   {[]string{"doctor"}, "", doctorPatience},
		"flag":     {[]string{"facts", "--connect-timeout", "5m"}, "", 5 * time.Minute},
		"variable": {[]string{"doctor"}, "2m", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // No server is contacted, but the configuration is loaded.
			a := &app{
				in: strings.NewReader(""), out: &bytes.Buffer{}, errOut: &bytes.Buffer{},
				getenv: func(name string) string {
					if name == "AXIOMMIND_CONNECT_TIMEOUT" {
						return tt.env
					}
					return ""
				},
			}
			program(ctx, a, append(tt.args, down().servers[:6]...))
			require.Equal(t, tt.want, a.cfg.ConnectTimeout)
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
	c := &cli{env: map[string]string{}, servers: []string{
		"--temporal-address", address, "--clickhouse-dsn", "http://" + address + "/default", "--weaviate-url", "http://" + address,
		"--connect-timeout", "300ms",
	}}
	o := c.run("doctor")
	require.Equal(t, exitFailed, o.code)
	require.Equal(t, 3, strings.Count(o.out, "no answer in time"), o)
}

// lockedBuffer is a buffer that can be read while it is written to.
type lockedBuffer struct {
	mu   sync.Mutex
	held bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held.String()
}
