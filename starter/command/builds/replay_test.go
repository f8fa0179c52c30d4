package builds_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/activities/llm/rules"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/builds"
	"axiommind/starter/command/commandtest"
)

// The command line replays a build without a worker or a model. There is no difference until a row is tampered with. Two
// builds of one session can be compared, builds of two sessions can't.
func TestReplayAndDiffCommands(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(2, "assistant", "TODO: write the page on \u202e로그."))
	require.Zero(t, c.Process(path, "--session", "a'b").Code)
	require.Zero(t, c.Process(path, "--session", "a'b", "--include-tools").Code)
	require.Zero(t, c.Process(path, "--session", "other").Code)
	ids, others := c.BuildsOf(t, "a'b"), c.BuildsOf(t, "other")
	require.Len(t, ids, 2)

	o := c.Run("builds", "replay", ids[0][:10])
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "no model asked")
	require.Contains(t, o.Out, "differ     none\n")
	require.Contains(t, o.Out, "left out   source, tasks, facts, daily record, vectors: they depend")
	replayed := commandtest.Decode[build.Replayed](t, c.Run("builds", "replay", ids[1], "-o", "json"))
	require.Equal(t, ids[1], replayed.BuildID)
	require.Empty(t, replayed.Differences)
	require.NotNil(t, replayed.Differences)
	require.Equal(t, []string{"source", "tasks", "facts", "daily record", "vectors"}, replayed.NotCompared)

	conn, _ := c.LogOf(t)
	require.NoError(t, conn.Exec(t.Context(), `INSERT INTO entries_raw SELECT * REPLACE ('tampered' AS title, version + 1 AS version)
		FROM entries_raw FINAL WHERE build_id = ? AND entry_type = 'decision'`, ids[0]))
	o = c.Run("builds", "replay", ids[0])
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, "1 event or row differs")
	require.Contains(t, o.Out, "    recorded  “tampered”\n    replayed  “"+commandtest.Decision+"”\n")

	o = c.Run("builds", "diff", ids[0], ids[1][:8])
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "A        build "+command.ShortID(ids[0]))
	require.Contains(t, o.Out, "prompt "+llm.PromptVersion)
	require.Contains(t, o.Out, "0 entries only in A, 0 only in B, 0 changed, 2 the same\n")
	d := commandtest.Decode[build.Diff](t, c.Run("builds", "diff", ids[0], ids[1], "-o", "json"))
	require.True(t, d.B.Extractor.Tools)
	require.Equal(t, 2, d.Same)
	o = c.Run("builds", "diff", ids[0], others[0])
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "the builds are of different sessions")
	require.Contains(t, o.Err, `session "a'b"`)
}

// A backfill is planned without a worker, refuses a worker with another extractor, and does nothing if no session needs it.
func TestBackfillCommand(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	require.Zero(t, c.Process(path, "--session", "a").Code)
	for _, wrong := range [][]string{
		{"--extractor", "gemini"}, {"--extractor", "/x"}, {"--rate", "0"}, {"--rate", "-1"}, {"--jobs", "0"}, {"--dry-run"},
		{"--dry-run", "--detach", "--extractor", "a/b"}, {"--since", "soon"},
	} {
		o := c.Run(append([]string{"backfill"}, wrong...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", wrong, o)
	}
	plan := func(extractor string, more ...string) builds.BackfillPlan {
		o := c.Run(append([]string{"backfill", "--dry-run", "--extractor", extractor, "--project", c.Project, "-o", "json"}, more...)...)
		require.Zero(t, o.Code, o)
		return commandtest.Decode[builds.BackfillPlan](t, o)
	}
	planned := plan("gemini/gemini-2.5/flash")
	require.Equal(t, "gemini-2.5/flash", planned.Extractor.Model)
	require.Len(t, planned.Sessions, 1)
	require.Equal(t, "a", planned.Sessions[0].SessionID)
	require.Equal(t, rules.Version, planned.Sessions[0].Extractor.Model)
	require.Empty(t, plan("rules/"+rules.Version).Sessions)
	require.Empty(t, plan("gemini/x", "--since", time.Now().UTC().AddDate(1, 0, 0).Format(time.DateOnly)).Sessions)
	require.Len(t, plan("gemini/x", "--since", "2026-02-28").Sessions, 1)
	o := c.Run("backfill", "--dry-run", "--extractor", "gemini/x")
	require.Contains(t, o.Out, "would extract from 1 session with gemini/x, prompt "+llm.PromptVersion+"\n")

	o = c.Run("backfill", "--extractor", "gemini/x", "--project", c.Project)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, `extractor "gemini/x": this worker extracts with "rules/`+rules.Version+`"`)
	o = c.Run("backfill", "--extractor", "rules/"+rules.Version, "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "nothing to do: ")
	o = c.Run("backfill", "--project", c.Project, "--detach", "--rate", "60")
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "to see its progress: starter backfill --project="+c.Project+" --rate=60\n")
}

// The text output shows the result of each session, and how many entries are superseded in total.
func TestPrintBackfill(t *testing.T) {
	t.Parallel()
	r := builds.BackfillReport{Sessions: []builds.BackfilledSession{
		{Status: schema.BuildSuccess, Counts: schema.BuildCounts{NewEntries: 3, SupersededEntries: 2, RestoredEntries: 1}, Usage: schema.Usage{Calls: 2, CostUSD: 0.5}},
		{Status: schema.BuildFailed, Error: "no key"},
	}}
	r.Sessions[0].SessionID = "a\nb"
	var out strings.Builder
	r.Print(&out)
	require.Contains(t, out.String(), "extracted from 2 sessions (1 failed, 1 success): 3 entries new, 2 superseded, 1 active again\nmodel: 2 calls, 0 tokens in, 0 out, $0.5000\n")
	require.Contains(t, out.String(), "no key")
	require.EqualError(t, r.Outcome(), "1 of 2 sessions failed; see starter builds list --status failed")
}
