package feed_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/retrieve"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/operation"
	"axiommind/starter/command/show"
	"axiommind/worker/runner"
	"axiommind/worker/statedir"
)

func TestMain(m *testing.M) {
	stacktest.Main(m)
}

// Invalid input is refused with exit code 2 before any server is contacted.
func TestProcessRefuses(t *testing.T) {
	t.Parallel()
	loop := filepath.Join(t.TempDir(), "loop")
	require.NoError(t, os.Symlink(loop, loop))
	unknown := commandtest.Write(t, "unknown.bin", "\x00\x01\x02 nothing anybody said")
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"no such file":    {[]string{"/no/such/file"}, []string{"/no/such/file", "no such file or directory"}},
		"a device":        {[]string{os.DevNull}, []string{os.DevNull, "is of the system: such files are never read"}},
		"unreadable file": {[]string{loop}, []string{loop, "too many levels of symbolic links"}},
		"unknown format":  {[]string{unknown}, []string{unknown, "--format", "claude-code", "codex", "chatgpt", "text"}},
		"no such format":  {[]string{commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--format", "word"}, []string{"word", "claude-code"}},
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
			o := commandtest.Down().Run(append([]string{"process"}, tt.args...)...)
			require.Equal(t, command.ExitUsage, o.Code, o)
			require.Empty(t, o.Out)
			for _, text := range tt.says {
				require.Contains(t, o.Err, text)
			}
		})
	}
}

func TestUnreadableByPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	require.NoError(t, os.Chmod(path, 0))
	o := commandtest.Down().Run("process", path)
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, "permission denied")
}

// An unreachable server is named, and the exit code shows that the input is not the cause.
func TestServerDown(t *testing.T) {
	t.Parallel()
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
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
			o := commandtest.Down().Run(tt.args...)
			require.Equal(t, command.ExitFailed, o.Code, o)
			require.Contains(t, o.Err, tt.says)
			require.Contains(t, o.Err, "go run ./deploy/local up")
		})
	}
}

// Each damaged line of a transcript is reported with its number, and the rest is processed.
func TestDamagedTranscripts(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	for name, tt := range map[string]struct {
		text, reason string
	}{
		"broken line":   {commandtest.Said(1, "user", commandtest.Decision) + `{"type":"user","message":` + "\n" + commandtest.Said(2, "assistant", "Noted."), "line 2: "},
		"NUL byte":      {commandtest.Said(1, "user", commandtest.Decision) + strings.Replace(commandtest.Said(2, "assistant", "No.ted."), ".t", "\x00t", 1), "line 2: "},
		"invalid UTF-8": {commandtest.Said(1, "user", commandtest.Decision) + strings.Replace(commandtest.Said(2, "assistant", "No.ted."), ".t", "\xfft", 1), "line 2: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := strings.ReplaceAll(name, " ", "-")
			o := c.Process(commandtest.Write(t, "s.jsonl", tt.text), "--session", session)
			require.Zero(t, o.Code, o)
			require.Contains(t, o.Out, "success")
			require.Contains(t, o.Out, "1 line of the source had to be repaired or left out; see starter builds show")
			builds := commandtest.Decode[[]struct {
				BuildID string `json:"build_id"`
				Counts  schema.BuildCounts
			}](t, c.Run("builds", "list", "--session", session, "-o", "json"))
			require.Equal(t, 1, builds[0].Counts.SkippedLines)
			shown := c.Run("builds", "show", builds[0].BuildID[:10])
			require.Zero(t, shown.Code, shown)
			require.Contains(t, shown.Out, tt.reason)
		})
	}
	t.Run("5 MB line", func(t *testing.T) {
		t.Parallel()
		text := commandtest.Said(1, "user", commandtest.Decision) + commandtest.Said(2, "assistant", strings.Repeat("All is well. ", 400_000)) + commandtest.Said(3, "user", "TODO: shorten this.")
		o := c.Process(commandtest.Write(t, "s.jsonl", text), "--session", "long-line")
		require.Zero(t, o.Code, o)
		require.Contains(t, o.Out, "success")
	})
	t.Run("empty session", func(t *testing.T) {
		t.Parallel()
		o := c.Process(commandtest.Write(t, "s.json", "[]"), "--session", "empty", "--format", "messages")
		require.Zero(t, o.Code, o)
		require.Contains(t, o.Out, "empty is empty: nothing to remember in 0 messages")
	})
}

// A session is processed, shown with its proof, and listed by each command in both forms.
func TestProcessAndShow(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "Hello. "+commandtest.Decision+" Fine?")+commandtest.Said(2, "assistant", "Fine."))
	first := commandtest.JobsOf(t, c.Process(path, "--session", "shown", "-o", "json"))
	require.Len(t, first, 1)
	require.Equal(t, schema.BuildSuccess, first[0].Result.Status)
	require.Equal(t, "claude-code", first[0].Format)

	again := c.Process(path, "--session", "shown")
	require.Zero(t, again.Code)
	require.Contains(t, again.Out, "unchanged")

	found := commandtest.Decode[struct {
		Hits []struct {
			ID string `json:"entry_id"`
		} `json:"hits"`
	}](t, c.Run("search", "which", "event", "log?", "--project", c.Project, "-o", "json"))
	require.Len(t, found.Hits, 1)
	text := c.Run("search", "event log", "--project", c.Project, "--explain")
	require.Zero(t, text.Code, text)
	require.Contains(t, text.Out, "“"+commandtest.Decision+"” — session shown, message 0, bytes 7–54, exact")

	shown := c.Run("entry", "show", found.Hits[0].ID[:8], "--project", c.Project)
	require.Zero(t, shown.Code, shown)
	require.Contains(t, shown.Out, "Hello. ⟦"+commandtest.Decision+"⟧ Fine?")
	require.Contains(t, shown.Out, "checked against the source")
	entry := commandtest.Decode[struct {
		Proofs []show.Proof `json:"proofs"`
	}](t, c.Run("entry", "show", found.Hits[0].ID, "--project", c.Project, "-o", "json"))
	require.True(t, entry.Proofs[0].Holds)
	require.Equal(t, commandtest.Decision, entry.Proofs[0].Text)

	other := c.Run("entry", "show", found.Hits[0].ID, "--project", "other")
	require.Equal(t, command.ExitUsage, other.Code, "I10: no entry of another project is shown")

	list := c.Run("builds", "list", "--project", c.Project)
	require.Zero(t, list.Code, list)
	require.Contains(t, list.Out, "success")
	build := commandtest.Decode[map[string]any](t, c.Run("builds", "show", first[0].Result.BuildID, "-o", "json"))
	require.Equal(t, "success", build["status"])
	require.Contains(t, c.Run("builds", "list", "--session", "nobody's").Out, "no build of session nobody's")
	refused := c.Run("search", "x", "--project", "nobody's")
	require.Equal(t, command.ExitUsage, refused.Code, refused)
	require.Regexp(t, `--project nobody's: there is none; there are: .*`, refused.Err)
	refused = c.Run("search", "x", "--project", c.Project, "--user", "nobody")
	require.Equal(t, command.ExitUsage, refused.Code, refused)
	require.Contains(t, refused.Err, "--user nobody: there is none in project "+c.Project+"; there are: ")
	require.Contains(t, c.Run("search", "zzxq", "--project", c.Project, "--session", "shown", "--type", "fact,decision").Out+" ", "nothing found in project "+c.Project)
	o := c.Run("search", "zzxq", "--project", c.Project, "--session", "nosuch")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "--session nosuch: there is none of user default in project "+c.Project)

	for _, command := range []string{"tasks", "blocked"} {
		commandtest.Decode[any](t, c.Run(command, "--project", c.Project, "-o", "json"))
	}
	searchFinds(t, c, path)
}

// searchFinds requires that a search without matches finds nothing, and that equal statements of two sessions are one hit.
func searchFinds(t *testing.T, c *commandtest.CLI, path string) {
	t.Helper()
	for _, text := range []string{"🎉🎉", "-", "asdfgh qwerty", "외계인이 춤을 춥니다"} {
		o := c.Run("search", text, "--project", c.Project)
		require.Zero(t, o.Code, o)
		require.Contains(t, o.Out, "nothing found in project "+c.Project, text)
	}
	o := c.Run("search", "asdfgh", "--project", c.Project)
	require.Contains(t, o.Out, "memory has a word of the query, and none is near")

	processed := c.Process(path, "--session", "shown again")
	require.Zero(t, processed.Code)
	o = c.Run("search", "event log", "--project", c.Project, "--limit", "2")
	require.Equal(t, 1, strings.Count(o.Out, ". "+commandtest.Decision+"\n"), "%s after %s", o, processed)
	require.Contains(t, o.Out, "“"+commandtest.Decision+"” — session shown, message 0, bytes 7–54, exact")
	require.Contains(t, o.Out, "“"+commandtest.Decision+"” — session shown again, message 0, bytes 7–54, exact")
	found := commandtest.Decode[retrieve.Result](t, c.Run("search", "event log", "--project", c.Project, "-o", "json"))
	require.Len(t, found.Hits, 1)
	require.Len(t, found.Hits[0].Sessions, 2)
	require.Len(t, found.Hits[0].Sessions[1].Evidence, 1)
}

// Standard input is processed like a file, with the same id each time. Its copy is removed after the build, and kept if the
// build failed.
func TestStandardInput(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	text := commandtest.Said(1, "user", commandtest.Decision)
	args := []string{"process", "-", "--project", c.Project, "-o", "json"}
	first := commandtest.JobsOf(t, c.Feed(text, args...))
	require.Equal(t, schema.BuildSuccess, first[0].Result.Status)
	again := commandtest.JobsOf(t, c.Feed(text, args...))
	require.Equal(t, schema.BuildUnchanged, again[0].Result.Status)
	require.Equal(t, first[0].Result.SessionID, again[0].Result.SessionID)
	require.NoFileExists(t, first[0].File)
	require.Equal(t, command.ExitFailed, c.Feed(text, append(args, "--format", "chatgpt")...).Code)
	require.Empty(t, copies(c, t))

	two := strings.ReplaceAll(text, `"sessionId":""`, `"sessionId":"one"`) + strings.ReplaceAll(text, `"sessionId":""`, `"sessionId":"two"`)
	require.Len(t, commandtest.JobsOf(t, c.Feed(two, args...)), 2)
	require.Empty(t, copies(c, t))
	picked := commandtest.JobsOf(t, c.Feed(two, append(args, "--session", "two")...))
	require.Equal(t, "two", picked[0].Result.SessionID)
	require.Contains(t, c.Feed(two, append(args, "--session", "three")...).Err, `standard input holds 2 sessions, none with the id "three"`)

	// No starter process waits for these: the worker removes the copies.
	require.Zero(t, c.Feed(commandtest.Said(1, "user", "We decided to detach."), append(args, "--detach")...).Code)
	require.Zero(t, c.Feed(commandtest.Said(1, "user", "We decided to wait."), "enqueue", "-", "--project", c.Project, "--session", "waits", "--now").Code)
	require.NotEmpty(t, copies(c, t))
	commandtest.Eventually(t, func() bool { return len(copies(c, t)) == 0 })
	require.Contains(t, c.Run("builds", "list", "--project", c.Project).Out, "waits")
}

// copies returns the copies of standard input.
func copies(c *commandtest.CLI, t *testing.T) []string {
	t.Helper()
	paths, err := statedir.Of(func(name string) string { return c.Env[name] }).Copies()
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
	c := commandtest.NewCLI(t)
	c.Env["GEMINI_API_KEY"] = "a-refused-key"
	c.Work(t, "--model-provider", "gemini", "--model-url", gemini.URL)
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", "refused")
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out+o.Err, "GEMINI_API_KEY")
	require.EqualValues(t, 1, calls.Load(), "a refused key is not tried again")
	require.NotContains(t, o.Out+o.Err, "a-refused-key")
	list := c.Run("builds", "list", "--session", "refused")
	require.Contains(t, list.Out, "failed")
	require.Contains(t, list.Out, schema.StepExtract)
}

func TestMissingKey(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	err := runner.Run(t.Context(), c.Config(t, "--model-provider", "gemini"), commandtest.Quiet, nil)
	require.ErrorContains(t, err, "GEMINI_API_KEY is not set")
	err = runner.Run(t.Context(), c.Config(t, "--embedder", "openai"), commandtest.Quiet, nil)
	require.ErrorContains(t, err, "OPENAI_API_KEY is not set")
	o := c.Run("search", "x", "--embedder", "gemini")
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, "GEMINI_API_KEY is not set")
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
		{"rules/worth-v4", nil, "rules/worth-v4 made the latest build (offline; for a better one: starter help configuration)"},
		{
			"rules/worth-v4", map[string]string{"OPENAI_API_KEY": "k"},
			"rules/worth-v4 made the latest build (offline; OPENAI_API_KEY is set but not used: start the worker with AXIOMMIND_MODEL_PROVIDER=openai)",
		},
	} {
		a := &command.App{Getenv: func(name string) string { return tt.env[name] }}
		require.Equal(t, tt.want, operation.ModelNote(a, tt.model))
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	ill := commandtest.Down().Run("doctor")
	require.Equal(t, command.ExitFailed, ill.Code)
	for _, text := range []string{"!!  clickhouse", "!!  weaviate", "!!  temporal", "ok  embedder", "go run ./deploy/local up", "3 of 4 checks failed"} {
		require.Contains(t, ill.Out+ill.Err, text)
	}
	c := commandtest.NewCLI(t)
	c.Servers[slices.Index(c.Servers, "--clickhouse-dsn")+1] = stacktest.Database(t) // This database has no tables.
	idle := c.Run("doctor")
	require.Equal(t, command.ExitFailed, idle.Code, idle)
	require.Contains(t, idle.Out, "!!  worker")
	require.Contains(t, idle.Out, "!!  migrations")
	require.Contains(t, idle.Out, "go run ./worker")
	c.Work(t)
	commandtest.Eventually(t, func() bool { return c.Run("doctor").Code == command.ExitOK })
	require.Contains(t, c.Run("doctor", "--no-queue").Out, "memory is switched off (no-queue)")
	checks := commandtest.Decode[[]command.Check](t, c.Run("doctor", "-o", "json"))
	for _, check := range checks {
		require.True(t, check.OK, check)
		require.NotEmpty(t, check.Note, check)
	}
}
