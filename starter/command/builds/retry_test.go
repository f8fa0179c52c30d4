package builds_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/builds"
	"axiommind/starter/command/commandtest"
)

// An invalid retry or filter is refused with exit code 2 before any server is contacted.
func TestRetryRefuses(t *testing.T) {
	t.Parallel()
	for given, says := range map[string]string{
		"retry":                                  "name builds, or give --all-failed, --partial or both",
		"retry abcd --all-failed":                "not both",
		"retry abcd --partial":                   "not both",
		"retry abcd --project p":                 "leave these flags out",
		"retry abcd --since 7d":                  "leave these flags out",
		"retry --partial --class setup":          "--class selects among failed builds: give --all-failed",
		"retry --all-failed --class bad":         `--class "bad": want one of passing, setup, input, ours`,
		"retry --all-failed --force":             "--force is for named builds",
		"retry --all-failed --jobs 0":            "--jobs 0: want 1 to 64",
		"retry --all-failed --jobs 65":           "--jobs 65: want 1 to 64",
		"retry --all-failed --since soon":        `--since "soon": want a span like 7d or 12h`,
		"retry --all-failed --dry-run --detach":  "--dry-run starts nothing",
		"list --class bad":                       `--class "bad": want one of passing, setup, input, ours`,
		"list --class setup --status success":    "--class selects among failed builds: leave out --status success",
		"list --since 1x":                        `--since "1x": want a span like 7d or 12h`,
		"retry " + strings.Repeat("abcd ", 1001): "1001 builds are named: name 1000 at most, or use --all-failed",
	} {
		o := commandtest.Down().Run(append([]string{"builds"}, strings.Fields(given)...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%.60s: %s", given, o)
		require.Contains(t, o.Err, says)
		require.Empty(t, o.Out)
	}
	o := commandtest.Down().Run("builds", "retry", "--all-failed")
	require.Equal(t, command.ExitFailed, o.Code)
	require.Contains(t, o.Err, "clickhouse at http://127.0.0.1:1")
}

// A failed build shows advice. A retry that cannot succeed is not started. Once the cause is fixed, the suggested retry
// creates a new build, whatever characters the names contain.
func TestRetryFromTheCommandLine(t *testing.T) {
	t.Parallel()
	gemini := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"error":{"code":401,"message":"API key not valid.","status":"UNAUTHENTICATED"}}`)
	}))
	defer gemini.Close()
	c := commandtest.NewCLI(t)
	c.Project += ` 프로젝트/'a' "b"`
	c.Env["GEMINI_API_KEY"] = "a-refused-key"
	sessions := []string{`세션 'x'/"y" \ %2F`, "-- ?"}
	t.Run("a worker whose key is refused", func(t *testing.T) {
		c.Work(t, "--model-provider", "gemini", "--model-url", gemini.URL)
		for _, session := range sessions {
			o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", session, "--user", `u'1`)
			require.Equal(t, command.ExitFailed, o.Code, o)
		}
	})
	failed := commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--class", "setup", "--project", c.Project, "--since", "1h", "-o", "json"))
	require.Len(t, failed, 2)
	require.Equal(t, schema.ErrorModelRefused, failed[0].ErrorType)
	require.Equal(t, schema.FailureSetup, failed[0].Class)
	for filter, says := range map[string]string{
		"--class passing": "no build that failed with class passing", "--since 2999-01-01": "no build since 2999-01-01", "--status success": "no build with status success",
	} {
		require.Contains(t, c.Run(append([]string{"builds", "list"}, strings.Fields(filter)...)...).Out, says)
	}
	one := failed[0]
	list := c.Run("builds", "list", "--project", c.Project)
	require.Contains(t, list.Out, "CLASS")
	require.Contains(t, list.Out, "setup")

	shown := c.Run("builds", "show", one.BuildID)
	require.Zero(t, shown.Code, shown)
	for _, text := range []string{
		"kind       setup, ModelRefused\n", "remedy     " + build.Hint(schema.ErrorModelRefused), "retry      starter builds retry " + one.BuildID,
		"workflow   " + one.WorkflowID() + " in namespace ",
	} {
		require.Contains(t, shown.Out, text)
	}
	linked := commandtest.Decode[builds.ShownBuild](t, c.Run("builds", "show", one.BuildID, "--temporal-ui", "http://ui.example/temporal/", "-o", "json"))
	parsed, err := url.Parse(linked.Workflow.URL)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(linked.Workflow.URL, "http://ui.example/temporal/namespaces/"+c.Servers[3]+"/"))
	require.True(t, strings.HasSuffix(parsed.Path, "/workflows/"+one.WorkflowID()), parsed.Path)
	require.Equal(t, strings.Count(one.WorkflowID(), "/")-strings.Count(one.WorkflowID(), "%2F"),
		strings.Count(one.WorkflowID(), "/")-strings.Count(linked.Workflow.URL, "%252F"), "what is escaped in the id stays so")

	dry := c.Run("builds", "retry", "--all-failed", "--dry-run", "--project", c.Project)
	require.Zero(t, dry.Code, dry)
	require.Contains(t, dry.Out, "would retry 0 builds\nleft alone 2 builds:\n  2, such as ")
	require.Contains(t, dry.Out, "(setup): ModelRefused: "+build.Hint(schema.ErrorModelRefused)+"; then --class setup")
	plan := commandtest.Decode[builds.RetryPlan](t, c.Run("builds", "retry", "--all-failed", "--class", "setup,ours", "--dry-run", "--project", c.Project, "-o", "json"))
	require.Len(t, plan.Builds, 2)
	require.Empty(t, plan.LeftAlone)
	require.Len(t, commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--project", c.Project, "-o", "json")), 2, "nothing was started")

	c.Work(t)
	none := c.Run("builds", "retry", "--all-failed", "--project", c.Project)
	require.Zero(t, none.Code, none)
	require.Contains(t, none.Out, "nothing to retry\nleft alone 2 builds:\n")
	again := commandtest.Decode[builds.RetryReport](t, c.Run("builds", "retry", one.BuildID[:13], "-o", "json"))
	require.Len(t, again.Builds, 1)
	require.Equal(t, one.BuildID, again.Builds[0].BuildID)
	require.Equal(t, schema.BuildSuccess, again.Builds[0].Status)
	require.Equal(t, build.ID(one.SessionKey, 2), again.Builds[0].NewBuildID)
	require.Equal(t, 1, again.Builds[0].Counts.NewEntries)
	for id, says := range map[string]string{
		one.BuildID[:13]:           "a later build of the session, " + again.Builds[0].NewBuildID + ", ended with success: there is nothing to retry",
		again.Builds[0].NewBuildID: "it ended with success: there is nothing to retry",
		"ffffffff-ffff":            "no such build",
	} {
		o := c.Run("builds", "retry", id)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, says)
	}
	require.Contains(t, c.Run("builds", "show", one.BuildID).Out, "no retry   a later build of the session, "+again.Builds[0].NewBuildID)
	rest := c.Run("builds", "retry", "--all-failed", "--class=setup", "--session", failed[1].SessionID, "--since", "1d")
	require.Zero(t, rest.Code, rest)
	require.Contains(t, rest.Out, "retried 1 build (1 success)\n")
	require.Contains(t, rest.Out, command.ShortID(build.ID(failed[1].SessionKey, 2)))
}

// A retry that resumed an interrupted build created no new one. Any other retry names its new build.
func TestRetryGoesOn(t *testing.T) {
	t.Parallel()
	item := func(index int, session string) schema.BatchItem {
		key := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: session}
		return schema.BatchItem{Index: index, Input: schema.ProcessSessionInput{Project: "p", User: "u", SessionID: session, Retry: build.ID(key, 1)}}
	}
	broke, failed := item(0, "중단 '1'"), item(1, "failed")
	made := build.ID(failed.Input.Key(), 2)
	report, err := builds.ReportRetry(t.Context(), nil, batch.Report{
		Items: []schema.BatchItem{broke, failed},
		Outcomes: map[int]schema.BatchOutcome{
			0: {BuildID: broke.Input.Retry, Status: schema.BuildSuccess}, 1: {BuildID: made, Status: schema.BuildSuccess},
		},
	})
	require.NoError(t, err)
	require.Equal(t, []any{true, "", false, made}, []any{
		report.Builds[0].GoesOn, report.Builds[0].NewBuildID, report.Builds[1].GoesOn, report.Builds[1].NewBuildID,
	})
	var out strings.Builder
	report.Print(&out)
	require.Regexp(t, command.ShortID(broke.Input.Retry)+` +중단 '1' +success +goes on +0`, out.String())
	require.Regexp(t, command.ShortID(failed.Input.Retry)+` +failed +success +`+command.ShortID(made)+` +0`, out.String())
	require.NoError(t, report.Outcome(true))
}

// Wrong input is only retried with --force, and a repeated failure is reported.
func testRetryOfWrongInput(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	c.Work(t, "--source-root", filepath.Dir(path))
	tc, err := client.Dial(client.Options{HostPort: c.Servers[1], Namespace: c.Servers[3], Logger: commandtest.Quiet})
	require.NoError(t, err)
	defer tc.Close()
	uri := "file://" + (&url.URL{Path: path}).EscapedPath()
	require.NoError(t, os.Remove(path))
	in := schema.ProcessSessionInput{URI: uri, Project: c.Project, User: "u", SessionID: "wrong"}
	run, err := tc.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: in.Key().WorkflowID(), TaskQueue: schema.QueueMain}, schema.WorkflowProcessSession, in)
	require.NoError(t, err)
	require.Error(t, run.Get(t.Context(), nil))
	found := commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--project", c.Project, "-o", "json"))
	require.Len(t, found, 1)
	require.Equal(t, schema.ErrorSourceUnreadable, found[0].ErrorType)
	o := c.Run("builds", "retry", found[0].BuildID)
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "the same input fails again; mend the source, then add --force")
	o = c.Run("builds", "retry", found[0].BuildID, "--force")
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out, command.ShortID(build.ID(found[0].SessionKey, 2)), "the retry is a build of its own")
	require.Contains(t, o.Err, "1 of 1 build failed")
	require.NoError(t, os.WriteFile(path, []byte(commandtest.Said(1, "user", commandtest.Decision)), 0o600))
	mended := commandtest.Decode[builds.RetryReport](t, c.Run("builds", "retry", build.ID(found[0].SessionKey, 2), "--force", "-o", "json"))
	require.Equal(t, build.ID(found[0].SessionKey, 3), mended.Builds[0].NewBuildID)
	require.Equal(t, schema.BuildSuccess, mended.Builds[0].Status)
}

// A build without a running workflow is listed as interrupted, and one with a running workflow as running. Without Temporal
// both are listed as running. A retry takes only the interrupted one.
func testInterruptedBuilds(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	conn, err := clickhouse.Connect(t.Context(), c.Config(t).ClickHouseDSN, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = clickhouse.Migrate(t.Context(), conn)
	require.NoError(t, err)
	log := projection.New(conn, eventlog.Options{})
	tc, err := client.Dial(client.Options{HostPort: c.Servers[1], Namespace: c.Servers[3], Logger: commandtest.Quiet})
	require.NoError(t, err)
	defer tc.Close()
	var keys []schema.SessionKey
	for i, session := range []string{`gone '\' "`, `runs '\' "`} {
		key := schema.SessionKey{Scope: schema.Scope{Project: c.Project, User: `u\'`}, SessionID: session}
		keys = append(keys, key)
		started, err := build.Opened{BuildID: build.ID(key, 1), SessionKey: key, Ordinal: 1}.
			Started(schema.Source{URI: "file:///s.jsonl"}).Event(time.Now().Add(-time.Hour))
		require.NoError(t, err)
		_, err = log.Append(t.Context(), key.Stream(), []schema.Event{started})
		require.NoError(t, err)
		_, err = log.Project(t.Context(), build.NewProjector(conn), key.Stream())
		require.NoError(t, err)
		run, err := tc.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: key.WorkflowID(), TaskQueue: "nobody"}, schema.WorkflowProcessSession)
		require.NoError(t, err)
		if i == 0 {
			require.NoError(t, tc.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "test"))
		}
	}
	statuses := func(c *commandtest.CLI) map[string]schema.BuildStatus {
		out := map[string]schema.BuildStatus{}
		for _, r := range commandtest.Decode[[]build.Run](t, c.Run("builds", "list", "--project", c.Project, "-o", "json")) {
			out[r.SessionID] = r.Status
		}
		return out
	}
	// Temporal lists started and ended workflows with a delay.
	commandtest.Eventually(t, func() bool {
		s := statuses(c)
		return s[keys[0].SessionID] == build.StatusInterrupted && s[keys[1].SessionID] == schema.BuildRunning
	})
	shown := c.Run("builds", "show", build.ID(keys[0], 1))
	require.Contains(t, shown.Out, "status     interrupted\nkind       passing: its workflow ended without recording how\n")
	require.Contains(t, shown.Out, "retry      starter builds retry "+build.ID(keys[0], 1))
	require.Contains(t, c.Run("builds", "show", build.ID(keys[1], 1)).Out, "status     running\nno retry   it is running\n")
	for filter, want := range map[string]int{
		"--status failed": 0, "--status interrupted": 0, "--class passing": 0, "--status failed --class passing": 0,
		"--status interrupted --class passing": 0, "--status running": 1,
	} {
		found := commandtest.Decode[[]build.Run](t, c.Run(append([]string{"builds", "list", "--project", c.Project, "-o", "json"}, strings.Fields(filter)...)...))
		require.Len(t, found, 1, filter)
		require.Equal(t, build.ID(keys[want], 1), found[0].BuildID, filter)
	}
	require.Contains(t, c.Run("builds", "list", "--status", "interrupted", "--class", "setup").Out, "no build with status interrupted that failed with class setup")
	plan := commandtest.Decode[builds.RetryPlan](t, c.Run("builds", "retry", "--all-failed", "--dry-run", "--project", c.Project, "-o", "json"))
	require.Len(t, plan.Builds, 1)
	require.Equal(t, build.ID(keys[0], 1), plan.Builds[0].BuildID)
	require.Equal(t, []builds.SkippedBuild{{BuildID: build.ID(keys[1], 1), Reason: "it is running"}}, plan.LeftAlone)

	alone := *c
	alone.Servers = append([]string{}, c.Servers...)
	alone.Servers[1] = "127.0.0.1:1"
	require.Equal(t, map[string]schema.BuildStatus{keys[0].SessionID: schema.BuildRunning, keys[1].SessionID: schema.BuildRunning}, statuses(&alone))
	require.Contains(t, alone.Run("builds", "list").Err, "Temporal cannot be asked which builds were interrupted")
	require.Contains(t, alone.Run("builds", "retry", "--all-failed", "--dry-run").Out, "it runs, or was interrupted: Temporal cannot be asked which")
	none := alone.Run("builds", "list", "--status", "interrupted")
	require.Equal(t, command.ExitFailed, none.Code, none)
	require.Contains(t, none.Err, "temporal at 127.0.0.1:1")
	require.Empty(t, none.Out)
}
