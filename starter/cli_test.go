package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/llm/rules"
	"axiommind/activities/retrieve"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/runner"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

func TestMain(m *testing.M) {
	stacktest.Main(m)
}

var (
	// quiet is a logger that discards its lines.
	quiet  = slog.New(slog.DiscardHandler)
	common = []string{"--connect-timeout", "20s"}
)

// cli is the command line with servers, a database and a namespace of its own.
type cli struct {
	servers []string
	project string
	env     map[string]string
	// completion is the timeout of a completion.
	completion time.Duration
	// timing is the timing of workers, see [processing].
	timing schema.Timing
}

// processing returns the durations of a worker whose background work is not tested. None of that work begins before the test
// ends. A pass over a project and the indexing of messages each cost as much as processing the preceding session.
func processing() schema.Timing {
	t := stacktest.Timing()
	t.Graduation, t.Messages, t.Files = time.Hour, time.Hour, time.Hour
	return t
}

// newCLI returns the program with a migrated database and a namespace of its own.
func newCLI(t testing.TB) *cli {
	t.Helper()
	name := stacktest.Namespace(t)
	c := &cli{project: name, completion: 20 * time.Second, timing: processing(), env: map[string]string{"WEAVIATE_API_KEY": stacktest.WeaviateKey(t)}, servers: append([]string{
		"--temporal-address", stacktest.Temporal(t), "--temporal-namespace", name, "--clickhouse-dsn", stacktest.MigratedDatabase(t),
		"--weaviate-url", "http://" + stacktest.Weaviate(t),
	}, common...)}
	dir, err := os.MkdirTemp("", "axiommind-state-") // The directory of t is removed after the first test that shares it.
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c.env["XDG_STATE_HOME"] = dir
	return c
}

// config returns the configuration of a worker for the same servers, with more flags.
func (c *cli) config(t testing.TB, more ...string) service.Config {
	t.Helper()
	var cfg service.Config
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.Flags(flags)
	cfg.WorkerFlags(flags)
	require.NoError(t, flags.Parse(append(append([]string{"--stop-timeout", "2s", "--model", rules.Version}, c.servers...), more...)))
	require.NoError(t, cfg.Load(flags, func(name string) string { return c.env[name] }, ""))
	cfg.Timing = c.timing
	return cfg
}

// work runs a worker until the test ends.
func (c *cli) work(t testing.TB, more ...string) {
	t.Helper()
	cfg := c.config(t, more...)
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- runner.Run(ctx, cfg, quiet, func() { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	select {
	case <-ready:
	case err := <-done:
		done <- nil
		t.Fatalf("the worker ended: %v", err)
	}
}

// eventually waits until done returns true. It asks often at first and less often later, because most conditions query
// servers that are busy making them true.
func eventually(t testing.TB, done func() bool, about ...any) {
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

// output is the result of a command: its exit code, and the text on both streams.
type output struct {
	code     int
	out, err string
}

func (o output) String() string { return fmt.Sprintf("exit %d\n%s\n%s", o.code, o.out, o.err) }

// run runs one command.
func (c *cli) run(args ...string) output { return c.feed("", args...) }

// feed runs a command with the text on its standard input.
func (c *cli) feed(in string, args ...string) output {
	var out, errOut bytes.Buffer
	a := &app{in: strings.NewReader(in), out: &out, errOut: &errOut, getenv: func(name string) string { return c.env[name] }, completion: c.completion}
	code := program(context.Background(), a, append(args, c.servers...))
	return output{code, out.String(), errOut.String()}
}

// process runs starter process for a path in the project.
func (c *cli) process(args ...string) output {
	return c.run(append([]string{"process", "--project", c.project}, args...)...)
}

// decode parses the JSON output of a command that must have succeeded.
func decode[T any](t *testing.T, o output) T {
	t.Helper()
	require.Zero(t, o.code, o)
	var v T
	require.NoError(t, json.Unmarshal([]byte(o.out), &v), o.out)
	return v
}

// write creates a file with the text in a new directory, and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// decision is a sentence that is remembered as a decision.
const decision = "We decided to use ClickHouse for the event log."

// said returns a line of a Claude Code transcript: the nth message of the day.
func said(n int, role, text string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":"u%d","sessionId":"","timestamp":"2026-03-01T09:00:%02dZ","message":{"role":%q,"content":%q}}`+"\n",
		role, n, n, role, text)
}

// down returns a command line whose servers are not running.
func down() *cli {
	return &cli{completion: completionTimeout, env: map[string]string{}, servers: []string{
		"--temporal-address", "127.0.0.1:1", "--clickhouse-dsn", "http://127.0.0.1:1/default", "--weaviate-url", "http://127.0.0.1:1",
		"--connect-timeout", "300ms",
	}}
}

// Invalid input is refused with exit code 2 before any server is contacted.
func TestProcessRefuses(t *testing.T) {
	t.Parallel()
	loop := filepath.Join(t.TempDir(), "loop")
	require.NoError(t, os.Symlink(loop, loop))
	unknown := write(t, "unknown.bin", "\x00\x01\x02 nothing anybody said")
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"no such file":    {[]string{"/no/such/file"}, []string{"/no/such/file", "no such file or directory"}},
		"a device":        {[]string{os.DevNull}, []string{os.DevNull, "is of the system: such files are never read"}},
		"unreadable file": {[]string{loop}, []string{loop, "too many levels of symbolic links"}},
		"unknown format":  {[]string{unknown}, []string{unknown, "--format", "claude-code", "codex", "chatgpt", "text"}},
		"no such format":  {[]string{write(t, "s.jsonl", said(1, "user", decision)), "--format", "word"}, []string{"word", "claude-code"}},
		"no file":         {nil, []string{"process takes 1 argument, not 0: starter process FILE|DIR|-"}},
		"two files":       {[]string{"a", "b"}, []string{"takes 1 argument, not 2"}},
		"unknown flag":    {[]string{"x", "--nonsense"}, []string{"unknown flag: --nonsense; see starter process -h"}},
		"jobs":            {[]string{"x", "--jobs", "0"}, []string{"--jobs 0: want 1 to 64"}},
		"output":          {[]string{"x", "--output", "xml"}, []string{`--output "xml": want one of text, json`}},
		"flush reason":    {[]string{"x", "--flush-reason", "whim"}, []string{`--flush-reason "whim": want one of end, trim, overflow, daily_summary`}},
		"notify":          {[]string{"x", "--notify", "작업"}, []string{"--notify: the workflow id \"작업\"", "printable ASCII"}},
		"session of many": {[]string{filepath.Dir(loop), "--session", "s"}, []string{"--session names one session, and", "is a directory"}},
		"too long a name": {
			[]string{filepath.Dir(loop), "--project", strings.Repeat("가", 60), "--user", strings.Repeat("나", 60)}, []string{"make a workflow id of"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := down().run(append([]string{"process"}, tt.args...)...)
			require.Equal(t, exitUsage, o.code, o)
			require.Empty(t, o.out)
			for _, text := range tt.says {
				require.Contains(t, o.err, text)
			}
		})
	}
}

func TestUnreadableByPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	path := write(t, "s.jsonl", said(1, "user", decision))
	require.NoError(t, os.Chmod(path, 0))
	o := down().run("process", path)
	require.Equal(t, exitUsage, o.code)
	require.Contains(t, o.err, "permission denied")
}

// An unreachable server is named, and the exit code shows that the input is not the cause.
func TestServerDown(t *testing.T) {
	t.Parallel()
	path := write(t, "s.jsonl", said(1, "user", decision))
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"process":      {[]string{"process", path}, "temporal at 127.0.0.1:1"},
		"process DIR":  {[]string{"process", filepath.Dir(path)}, "temporal at 127.0.0.1:1"},
		"search":       {[]string{"search", "x"}, "clickhouse at http://127.0.0.1:1"},
		"builds list":  {[]string{"builds", "list"}, "clickhouse at http://127.0.0.1:1"},
		"builds show":  {[]string{"builds", "show", "x"}, "clickhouse at http://127.0.0.1:1"},
		"builds retry": {[]string{"builds", "retry", "--all-failed"}, "clickhouse at http://127.0.0.1:1"},
		"entry show":   {[]string{"entry", "show", "x"}, "clickhouse at http://127.0.0.1:1"},
		"verify":       {[]string{"verify"}, "clickhouse at http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := down().run(tt.args...)
			require.Equal(t, exitFailed, o.code, o)
			require.Contains(t, o.err, tt.says)
			require.Contains(t, o.err, "go run ./deploy/local up")
		})
	}
}

// Each damaged line of a transcript is reported with its number, and the rest is processed.
func TestDamagedTranscripts(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	for name, tt := range map[string]struct {
		text, reason string
	}{
		"broken line":   {said(1, "user", decision) + `{"type":"user","message":` + "\n" + said(2, "assistant", "Noted."), "line 2: "},
		"NUL byte":      {said(1, "user", decision) + strings.Replace(said(2, "assistant", "No.ted."), ".t", "\x00t", 1), "line 2: "},
		"invalid UTF-8": {said(1, "user", decision) + strings.Replace(said(2, "assistant", "No.ted."), ".t", "\xfft", 1), "line 2: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := strings.ReplaceAll(name, " ", "-")
			o := c.process(write(t, "s.jsonl", tt.text), "--session", session)
			require.Zero(t, o.code, o)
			require.Contains(t, o.out, "success")
			require.Contains(t, o.out, "1 line of the source had to be repaired or left out; see starter builds show")
			builds := decode[[]struct {
				BuildID string `json:"build_id"`
				Counts  schema.BuildCounts
			}](t, c.run("builds", "list", "--session", session, "-o", "json"))
			require.Equal(t, 1, builds[0].Counts.SkippedLines)
			shown := c.run("builds", "show", builds[0].BuildID[:10])
			require.Zero(t, shown.code, shown)
			require.Contains(t, shown.out, tt.reason)
		})
	}
	t.Run("5 MB line", func(t *testing.T) {
		t.Parallel()
		text := said(1, "user", decision) + said(2, "assistant", strings.Repeat("All is well. ", 400_000)) + said(3, "user", "TODO: shorten this.")
		o := c.process(write(t, "s.jsonl", text), "--session", "long-line")
		require.Zero(t, o.code, o)
		require.Contains(t, o.out, "success")
	})
	t.Run("empty session", func(t *testing.T) {
		t.Parallel()
		o := c.process(write(t, "s.json", "[]"), "--session", "empty", "--format", "messages")
		require.Zero(t, o.code, o)
		require.Contains(t, o.out, "empty is empty: nothing to remember in 0 messages")
	})
}

// A session is processed, shown with its proof, and listed by each command in both forms.
func TestProcessAndShow(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	path := write(t, "s.jsonl", said(1, "user", "Hello. "+decision+" Fine?")+said(2, "assistant", "Fine."))
	first := jobsOf(t, c.process(path, "--session", "shown", "-o", "json"))
	require.Len(t, first, 1)
	require.Equal(t, schema.BuildSuccess, first[0].Result.Status)
	require.Equal(t, "claude-code", first[0].Format)

	again := c.process(path, "--session", "shown")
	require.Zero(t, again.code)
	require.Contains(t, again.out, "unchanged")

	found := decode[struct {
		Hits []struct {
			ID string `json:"entry_id"`
		} `json:"hits"`
	}](t, c.run("search", "which", "event", "log?", "--project", c.project, "-o", "json"))
	require.Len(t, found.Hits, 1)
	text := c.run("search", "event log", "--project", c.project, "--explain")
	require.Zero(t, text.code, text)
	require.Contains(t, text.out, "“"+decision+"” — session shown, message 0, bytes 7–54, exact")

	shown := c.run("entry", "show", found.Hits[0].ID[:8], "--project", c.project)
	require.Zero(t, shown.code, shown)
	require.Contains(t, shown.out, "Hello. ⟦"+decision+"⟧ Fine?")
	require.Contains(t, shown.out, "checked against the source")
	entry := decode[struct {
		Proofs []proof `json:"proofs"`
	}](t, c.run("entry", "show", found.Hits[0].ID, "--project", c.project, "-o", "json"))
	require.True(t, entry.Proofs[0].Holds)
	require.Equal(t, decision, entry.Proofs[0].Text)

	other := c.run("entry", "show", found.Hits[0].ID, "--project", "other")
	require.Equal(t, exitUsage, other.code, "I10: no entry of another project is shown")

	list := c.run("builds", "list", "--project", c.project)
	require.Zero(t, list.code, list)
	require.Contains(t, list.out, "success")
	build := decode[map[string]any](t, c.run("builds", "show", first[0].Result.BuildID, "-o", "json"))
	require.Equal(t, "success", build["status"])
	require.Contains(t, c.run("builds", "list", "--session", "nobody's").out, "no build of session nobody's")
	refused := c.run("search", "x", "--project", "nobody's")
	require.Equal(t, exitUsage, refused.code, refused)
	require.Regexp(t, `--project nobody's: there is none; there are: .*`, refused.err)
	refused = c.run("search", "x", "--project", c.project, "--user", "nobody")
	require.Equal(t, exitUsage, refused.code, refused)
	require.Contains(t, refused.err, "--user nobody: there is none in project "+c.project+"; there are: ")
	require.Contains(t, c.run("search", "zzxq", "--project", c.project, "--session", "shown", "--type", "fact,decision").out+" ", "nothing found in project "+c.project)
	o := c.run("search", "zzxq", "--project", c.project, "--session", "nosuch")
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, "--session nosuch: there is none of user default in project "+c.project)

	for _, command := range []string{"tasks", "blocked"} {
		decode[any](t, c.run(command, "--project", c.project, "-o", "json"))
	}
	searchFinds(t, c, path)
}

// searchFinds requires that a search without matches finds nothing, and that equal statements of two sessions are one hit.
func searchFinds(t *testing.T, c *cli, path string) {
	t.Helper()
	for _, text := range []string{"🎉🎉", "-", "asdfgh qwerty", "외계인이 춤을 춥니다"} {
		o := c.run("search", text, "--project", c.project)
		require.Zero(t, o.code, o)
		require.Contains(t, o.out, "nothing found in project "+c.project, text)
	}
	o := c.run("search", "asdfgh", "--project", c.project)
	require.Contains(t, o.out, "memory has a word of the query, and none is near")

	processed := c.process(path, "--session", "shown again")
	require.Zero(t, processed.code)
	o = c.run("search", "event log", "--project", c.project, "--limit", "2")
	require.Equal(t, 1, strings.Count(o.out, ". "+decision+"\n"), "%s after %s", o, processed)
	require.Contains(t, o.out, "“"+decision+"” — session shown, message 0, bytes 7–54, exact")
	require.Contains(t, o.out, "“"+decision+"” — session shown again, message 0, bytes 7–54, exact")
	found := decode[retrieve.Result](t, c.run("search", "event log", "--project", c.project, "-o", "json"))
	require.Len(t, found.Hits, 1)
	require.Len(t, found.Hits[0].Sessions, 2)
	require.Len(t, found.Hits[0].Sessions[1].Evidence, 1)
}

// Standard input is processed like a file, with the same id each time. Its copy is removed after the build, and kept if the
// build failed.
func TestStandardInput(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	text := said(1, "user", decision)
	args := []string{"process", "-", "--project", c.project, "-o", "json"}
	first := jobsOf(t, c.feed(text, args...))
	require.Equal(t, schema.BuildSuccess, first[0].Result.Status)
	again := jobsOf(t, c.feed(text, args...))
	require.Equal(t, schema.BuildUnchanged, again[0].Result.Status)
	require.Equal(t, first[0].Result.SessionID, again[0].Result.SessionID)
	require.NoFileExists(t, first[0].File)
	require.Equal(t, exitFailed, c.feed(text, append(args, "--format", "chatgpt")...).code)
	require.Empty(t, c.copies(t))

	two := strings.ReplaceAll(text, `"sessionId":""`, `"sessionId":"one"`) + strings.ReplaceAll(text, `"sessionId":""`, `"sessionId":"two"`)
	require.Len(t, jobsOf(t, c.feed(two, args...)), 2)
	require.Empty(t, c.copies(t))
	picked := jobsOf(t, c.feed(two, append(args, "--session", "two")...))
	require.Equal(t, "two", picked[0].Result.SessionID)
	require.Contains(t, c.feed(two, append(args, "--session", "three")...).err, `standard input holds 2 sessions, none with the id "three"`)

	// No starter process waits for these: the worker removes the copies.
	require.Zero(t, c.feed(said(1, "user", "We decided to detach."), append(args, "--detach")...).code)
	require.Zero(t, c.feed(said(1, "user", "We decided to wait."), "enqueue", "-", "--project", c.project, "--session", "waits", "--now").code)
	require.NotEmpty(t, c.copies(t))
	eventually(t, func() bool { return len(c.copies(t)) == 0 })
	require.Contains(t, c.run("builds", "list", "--project", c.project).out, "waits")
}

// copies returns the copies of standard input.
func (c *cli) copies(t *testing.T) []string {
	t.Helper()
	paths, err := statedir.Of(func(name string) string { return c.env[name] }).Copies()
	require.NoError(t, err)
	return paths
}

// A key that the provider rejects fails the build after one request, and the variable is named.
func TestRefusedKey(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	gemini := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"error":{"code":401,"message":"API key not valid.","status":"UNAUTHENTICATED"}}`)
	}))
	defer gemini.Close()
	c := newCLI(t)
	c.env["GEMINI_API_KEY"] = "a-refused-key"
	c.work(t, "--model-provider", "gemini", "--model-url", gemini.URL)
	o := c.process(write(t, "s.jsonl", said(1, "user", decision)), "--session", "refused")
	require.Equal(t, exitFailed, o.code, o)
	require.Contains(t, o.out+o.err, "GEMINI_API_KEY")
	require.EqualValues(t, 1, calls.Load(), "a refused key is not tried again")
	require.NotContains(t, o.out+o.err, "a-refused-key")
	list := c.run("builds", "list", "--session", "refused")
	require.Contains(t, list.out, "failed")
	require.Contains(t, list.out, schema.StepExtract)
}

func TestMissingKey(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	err := runner.Run(t.Context(), c.config(t, "--model-provider", "gemini"), quiet, nil)
	require.ErrorContains(t, err, "GEMINI_API_KEY is not set")
	err = runner.Run(t.Context(), c.config(t, "--embedder", "openai"), quiet, nil)
	require.ErrorContains(t, err, "OPENAI_API_KEY is not set")
	o := c.run("search", "x", "--embedder", "gemini")
	require.Equal(t, exitUsage, o.code)
	require.Contains(t, o.err, "GEMINI_API_KEY is not set")
}

// The doctor names a better model than the offline one, and a key that no worker was told to use.
func TestDoctorNamesTheModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		model string
		env   map[string]string
		want  string
	}{
		{"openai/gpt-4.1-mini", nil, "openai/gpt-4.1-mini made the latest build"},
		{"rules/worth-v3", nil, "rules/worth-v3 made the latest build (offline; for a better one: starter help configuration)"},
		{
			"rules/worth-v3", map[string]string{"OPENAI_API_KEY": "k"},
			"rules/worth-v3 made the latest build (offline; OPENAI_API_KEY is set but not used: start the worker with AXIOMMIND_MODEL_PROVIDER=openai)",
		},
	} {
		a := &app{getenv: func(name string) string { return tt.env[name] }}
		require.Equal(t, tt.want, a.modelNote(tt.model))
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	ill := down().run("doctor")
	require.Equal(t, exitFailed, ill.code)
	for _, text := range []string{"!!  clickhouse", "!!  weaviate", "!!  temporal", "ok  embedder", "go run ./deploy/local up", "3 of 4 checks failed"} {
		require.Contains(t, ill.out+ill.err, text)
	}
	c := newCLI(t)
	c.servers[slices.Index(c.servers, "--clickhouse-dsn")+1] = stacktest.Database(t) // This database has no tables.
	idle := c.run("doctor")
	require.Equal(t, exitFailed, idle.code, idle)
	require.Contains(t, idle.out, "!!  worker")
	require.Contains(t, idle.out, "!!  migrations")
	require.Contains(t, idle.out, "go run ./worker")
	c.work(t)
	eventually(t, func() bool { return c.run("doctor").code == exitOK })
	require.Contains(t, c.run("doctor", "--no-queue").out, "memory is switched off (no-queue)")
	checks := decode[[]check](t, c.run("doctor", "-o", "json"))
	for _, check := range checks {
		require.True(t, check.OK, check)
		require.NotEmpty(t, check.Note, check)
	}
}
