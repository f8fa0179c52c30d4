// Package commandtest runs the program in tests: with servers, a database and a namespace of its own.
package commandtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm/rules"
	"axiommind/activities/projection"
	"axiommind/activities/retrieve"
	"axiommind/activities/task"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/program"
	"axiommind/worker/runner/runnertest"
	"axiommind/worker/service"
)

// BuildsOf returns the ids of the session's builds in order.
func (c *CLI) BuildsOf(t *testing.T, session string) (ids []string) {
	t.Helper()
	o := c.Run("builds", "list", "--project", c.Project, "--session", session, "-o", "json")
	require.Zero(t, o.Code, o)
	runs := Decode[[]build.Run](t, o)
	for i := range runs {
		ids = append(ids, runs[len(runs)-1-i].BuildID)
	}
	return ids
}

var (
	// Quiet is a logger that discards its lines.
	Quiet  = slog.New(slog.DiscardHandler)
	common = []string{"--connect-timeout", "20s"}
)

// CLI is the command line with servers, a database and a namespace of its own.
type CLI struct {
	Servers []string
	Project string
	Env     map[string]string
	// Completion is the timeout of a completion.
	Completion time.Duration
	// Timing is the timing of workers, see [processing].
	Timing schema.Timing
}

// processing returns the durations of a worker whose background work is not tested. None of that work begins before the test
// ends. A pass over a project and the indexing of messages each cost as much as processing the preceding session.
func processing() schema.Timing {
	t := stacktest.Timing()
	t.Graduation, t.Messages, t.Files = time.Hour, time.Hour, time.Hour
	return t
}

// NewCLI returns the program with a migrated database and a namespace of its own.
func NewCLI(t testing.TB) *CLI {
	t.Helper()
	name := stacktest.Namespace(t)
	c := &CLI{Project: name, Completion: 20 * time.Second, Timing: processing(), Env: map[string]string{"WEAVIATE_API_KEY": stacktest.WeaviateKey(t)}, Servers: append([]string{
		"--temporal-address", stacktest.Temporal(t), "--temporal-namespace", name, "--clickhouse-dsn", stacktest.MigratedDatabase(t),
		"--weaviate-url", "http://" + stacktest.Weaviate(t),
	}, common...)}
	dir, err := os.MkdirTemp("", "axiommind-state-") // The directory of t is removed after the first test that shares it.
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c.Env["XDG_STATE_HOME"] = dir
	return c
}

// Config returns the configuration of a worker for the same servers, with more flags.
func (c *CLI) Config(t testing.TB, more ...string) service.Config {
	t.Helper()
	var cfg service.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	require.NoError(t, flags.Parse(append(append([]string{"--stop-timeout", "2s", "--model", rules.Version}, c.Servers...), more...)))
	require.NoError(t, cfg.Load(flags, func(name string) string { return c.Env[name] }, ""))
	cfg.Timing = c.Timing
	return cfg
}

// Work runs a worker until the test ends.
func (c *CLI) Work(t testing.TB, more ...string) {
	t.Helper()
	runnertest.Start(t, c.Config(t, more...), Quiet)
}

// Eventually waits until done returns true. It asks often at first and less often later, because most conditions query
// servers that are busy making them true.
func Eventually(t testing.TB, done func() bool, about ...any) {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for pause := 20 * time.Millisecond; !done(); pause = min(2*pause, 500*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-timeout:
			require.FailNow(t, "it has not come to be in time", about...)
		}
	}
}

// Output is the result of a command: its exit code, and the text on both streams.
type Output struct {
	Code     int
	Out, Err string
}

func (o Output) String() string { return fmt.Sprintf("exit %d\n%s\n%s", o.Code, o.Out, o.Err) }

// Run runs one command.
func (c *CLI) Run(args ...string) Output { return c.Feed("", args...) }

// Feed runs a command with the text on its standard input.
func (c *CLI) Feed(in string, args ...string) Output {
	var out, errOut bytes.Buffer
	a := &command.App{In: strings.NewReader(in), Out: &out, ErrOut: &errOut, Getenv: func(name string) string { return c.Env[name] }, Completion: c.Completion}
	code := program.Main(context.Background(), a, append(args, c.Servers...))
	return Output{code, out.String(), errOut.String()}
}

// Process runs starter process for a path in the project.
func (c *CLI) Process(args ...string) Output {
	return c.Run(append([]string{"process", "--project", c.Project}, args...)...)
}

// Decode parses the JSON output of a command that must have succeeded.
func Decode[T any](t *testing.T, o Output) T {
	t.Helper()
	require.Zero(t, o.Code, o)
	var v T
	require.NoError(t, json.Unmarshal([]byte(o.Out), &v), o.Out)
	return v
}

// Write creates a file with the text in a new directory, and returns its path.
func Write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Decision is a sentence that is remembered as a decision.
const Decision = "We decided to use ClickHouse for the event log."

// Said returns a line of a Claude Code transcript: the nth message of the day.
func Said(n int, role, text string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":"u%d","sessionId":"","timestamp":"2026-03-01T09:00:%02dZ","message":{"role":%q,"content":%q}}`+"\n",
		role, n, n, role, text)
}

// Down returns a command line whose servers are not running.
func Down() *CLI {
	return &CLI{Completion: command.CompletionTimeout, Env: map[string]string{}, Servers: []string{
		"--temporal-address", "127.0.0.1:1", "--clickhouse-dsn", "http://127.0.0.1:1/default", "--weaviate-url", "http://127.0.0.1:1",
		"--connect-timeout", "300ms",
	}}
}

// Completed returns the values that a shell gets, with their descriptions, and cobra's directive.
func Completed(t *testing.T, o Output) (values map[string]string, directive string) {
	t.Helper()
	require.Equal(t, command.ExitOK, o.Code, o)
	require.Empty(t, o.Err)
	lines := strings.Split(strings.TrimSuffix(o.Out, "\n"), "\n")
	values = map[string]string{}
	for _, line := range lines[:len(lines)-1] {
		value, description, _ := strings.Cut(line, "\t")
		require.NotContains(t, values, value)
		values[value] = description
	}
	return values, lines[len(lines)-1]
}

// Complete requests completions as a shell does, with the servers in the environment.
func (c *CLI) Complete(args ...string) Output {
	for i := 0; i < len(c.Servers); i += 2 {
		c.Env["AXIOMMIND_"+strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(c.Servers[i], "--"), "-", "_"))] = c.Servers[i+1]
	}
	servers := c.Servers
	c.Servers = nil
	defer func() { c.Servers = servers }()
	return c.Run(append([]string{"__complete"}, args...)...)
}

// FirstHit returns the first entry that a search finds.
func (c *CLI) FirstHit(t *testing.T, query string, flags ...string) retrieve.Hit {
	t.Helper()
	found := Decode[retrieve.Result](t, c.Run(append([]string{"search", query, "--project", c.Project, "-o", "json"}, flags...)...))
	require.NotEmpty(t, found.Hits)
	return found.Hits[0]
}

// EntryOf reads an entry of the project by its title.
func (c *CLI) EntryOf(t *testing.T, title string) entry.Row {
	t.Helper()
	conn, err := clickhouse.Connect(t.Context(), c.Config(t).ClickHouseDSN, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.InProject(c.Project), entry.Whole)
	require.NoError(t, err)
	i := slices.IndexFunc(rows, func(r entry.Row) bool { return r.Title == title })
	require.GreaterOrEqual(t, i, 0, "no entry %q among %+v", title, rows)
	return rows[i]
}

// Offline runs a command without servers.
func Offline(args ...string) Output {
	var out, errOut bytes.Buffer
	a := &command.App{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
	code := program.Main(context.Background(), a, args)
	return Output{code, out.String(), errOut.String()}
}

// Commands returns the commands that run.
func Commands() []*cobra.Command {
	return slices.Collect(command.Leaves((&command.App{Groups: program.Groups()}).Tree()))
}

// asStarter makes the test binary run as starter, so that a client starts the same program as a person.
const asStarter = "AXIOMMIND_TEST_STARTER"

func init() {
	if os.Getenv(asStarter) != "" {
		os.Exit(program.Run())
	}
}

// Starter returns the program as a separate process with its own state.
func (c *CLI) Starter(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], append(args, c.Servers...)...) //nolint:noctx // The test stops it.
	command.Env = append(os.Environ(), asStarter+"=1", "XDG_STATE_HOME="+t.TempDir())
	for name, value := range c.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

// App returns starter as a server program has it: with its settings loaded.
func (c *CLI) App(t *testing.T) *command.App {
	t.Helper()
	a := &command.App{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard, Exact: io.Discard, Drawn: io.Discard, Output: command.OutputText,
		Getenv: func(name string) string { return c.Env[name] }, Cfg: c.Config(t)}
	t.Cleanup(a.Close)
	return a
}

// Begin runs a command that shows its progress at each interval, until it ends or is stopped.
func (c *CLI) Begin(t testing.TB, interval time.Duration, args ...string) (says *LiveOutput, stop func(), ended chan int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	says, ended = &LiveOutput{}, make(chan int, 1)
	a := &command.App{In: strings.NewReader(""), Out: says, ErrOut: says, Getenv: func(name string) string { return c.Env[name] }, Quiet: interval}
	go func() { ended <- program.Main(ctx, a, append(args, c.Servers...)) }()
	return says, stop, ended
}

// LiveOutput is the output of a program so far: it can be read while the program runs.
type LiveOutput struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *LiveOutput) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *LiveOutput) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TaskOf returns the task of the project with the title.
func (c *CLI) TaskOf(t *testing.T, title string) task.View {
	t.Helper()
	for _, v := range Decode[[]task.View](t, c.Run("tasks", "--project", c.Project, "-o", "json")) {
		if v.Task.Title == title {
			return v
		}
	}
	require.Fail(t, "no such task", "%q in\n%s", title, c.Run("tasks", "--project", c.Project).Out)
	return task.View{}
}

// LogOf opens the command line's event log.
func (c *CLI) LogOf(t testing.TB) (driver.Conn, *projection.Store) {
	t.Helper()
	conn, err := service.ConnectClickHouse(t.Context(), c.Config(t), Quiet)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn, projection.New(conn, eventlog.Options{})
}
