package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/activities/llm/rules"
	"axiommind/schema"
)

// buildsOf returns the ids of the session's builds in order.
func (c *cli) buildsOf(t *testing.T, session string) (ids []string) {
	t.Helper()
	o := c.run("builds", "list", "--project", c.project, "--session", session, "-o", "json")
	require.Zero(t, o.code, o)
	runs := decode[[]build.Run](t, o)
	for i := range runs {
		ids = append(ids, runs[len(runs)-1-i].BuildID)
	}
	return ids
}

// The command line replays a build without a worker or a model. There is no difference until a row is tampered with. Two
// builds of one session can be compared, builds of two sessions can't.
func TestReplayAndDiffCommands(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	path := write(t, "s.jsonl", said(1, "user", decision)+said(2, "assistant", "TODO: write the page on \u202e로그."))
	require.Zero(t, c.process(path, "--session", "a'b").code)
	require.Zero(t, c.process(path, "--session", "a'b", "--include-tools").code)
	require.Zero(t, c.process(path, "--session", "other").code)
	ids, others := c.buildsOf(t, "a'b"), c.buildsOf(t, "other")
	require.Len(t, ids, 2)

	o := c.run("builds", "replay", ids[0][:10])
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "no model asked")
	require.Contains(t, o.out, "differ     none\n")
	require.Contains(t, o.out, "left out   source, tasks, facts, daily record, vectors: they depend")
	replayed := decode[build.Replayed](t, c.run("builds", "replay", ids[1], "-o", "json"))
	require.Equal(t, ids[1], replayed.BuildID)
	require.Empty(t, replayed.Differences)
	require.NotNil(t, replayed.Differences)
	require.Equal(t, []string{"source", "tasks", "facts", "daily record", "vectors"}, replayed.NotCompared)

	conn, _ := c.logOf(t)
	require.NoError(t, conn.Exec(t.Context(), `INSERT INTO entries_raw SELECT * REPLACE ('tampered' AS title, version + 1 AS version)
		FROM entries_raw FINAL WHERE build_id = ? AND entry_type = 'decision'`, ids[0]))
	o = c.run("builds", "replay", ids[0])
	require.Equal(t, exitFailed, o.code, o)
	require.Contains(t, o.err, "1 event or row differs")
	require.Contains(t, o.out, "    recorded  “tampered”\n    replayed  “"+decision+"”\n")

	o = c.run("builds", "diff", ids[0], ids[1][:8])
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "A        build "+short(ids[0]))
	require.Contains(t, o.out, "prompt "+llm.PromptVersion)
	require.Contains(t, o.out, "0 entries only in A, 0 only in B, 0 changed, 2 the same\n")
	d := decode[build.Diff](t, c.run("builds", "diff", ids[0], ids[1], "-o", "json"))
	require.True(t, d.B.Extractor.Tools)
	require.Equal(t, 2, d.Same)
	o = c.run("builds", "diff", ids[0], others[0])
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, "the builds are of different sessions")
	require.Contains(t, o.err, `session "a'b"`)
}

// A backfill is planned without a worker, refuses a worker with another extractor, and does nothing if no session needs it.
func TestBackfillCommand(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	path := write(t, "s.jsonl", said(1, "user", decision))
	require.Zero(t, c.process(path, "--session", "a").code)
	for _, wrong := range [][]string{
		{"--extractor", "gemini"}, {"--extractor", "/x"}, {"--rate", "0"}, {"--rate", "-1"}, {"--jobs", "0"}, {"--dry-run"},
		{"--dry-run", "--detach", "--extractor", "a/b"}, {"--since", "soon"},
	} {
		o := c.run(append([]string{"backfill"}, wrong...)...)
		require.Equal(t, exitUsage, o.code, "%q: %s", wrong, o)
	}
	plan := func(extractor string, more ...string) backfillPlan {
		o := c.run(append([]string{"backfill", "--dry-run", "--extractor", extractor, "--project", c.project, "-o", "json"}, more...)...)
		require.Zero(t, o.code, o)
		return decode[backfillPlan](t, o)
	}
	planned := plan("gemini/gemini-2.5/flash")
	require.Equal(t, "gemini-2.5/flash", planned.Extractor.Model)
	require.Len(t, planned.Sessions, 1)
	require.Equal(t, "a", planned.Sessions[0].SessionID)
	require.Equal(t, rules.Version, planned.Sessions[0].Extractor.Model)
	require.Empty(t, plan("rules/"+rules.Version).Sessions)
	require.Empty(t, plan("gemini/x", "--since", time.Now().UTC().AddDate(1, 0, 0).Format(time.DateOnly)).Sessions)
	require.Len(t, plan("gemini/x", "--since", "2026-02-28").Sessions, 1)
	o := c.run("backfill", "--dry-run", "--extractor", "gemini/x")
	require.Contains(t, o.out, "would extract from 1 session with gemini/x, prompt "+llm.PromptVersion+"\n")

	o = c.run("backfill", "--extractor", "gemini/x", "--project", c.project)
	require.Equal(t, exitFailed, o.code, o)
	require.Contains(t, o.err, `extractor "gemini/x": this worker extracts with "rules/`+rules.Version+`"`)
	o = c.run("backfill", "--extractor", "rules/"+rules.Version, "--project", c.project)
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "nothing to do: ")
	o = c.run("backfill", "--project", c.project, "--detach", "--rate", "60")
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "to see its progress: starter backfill --project="+c.project+" --rate=60\n")
}

// The text output shows the result of each session, and how many entries are superseded in total.
func TestPrintBackfill(t *testing.T) {
	t.Parallel()
	r := backfillReport{Sessions: []backfilledSession{
		{Status: schema.BuildSuccess, Counts: schema.BuildCounts{NewEntries: 3, SupersededEntries: 2, RestoredEntries: 1}, Usage: schema.Usage{Calls: 2, CostUSD: 0.5}},
		{Status: schema.BuildFailed, Error: "no key"},
	}}
	r.Sessions[0].SessionID = "a\nb"
	var out strings.Builder
	require.NoError(t, r.print(&out))
	require.Contains(t, out.String(), "extracted from 2 sessions (1 failed, 1 success): 3 entries new, 2 superseded, 1 active again\nmodel: 2 calls, 0 tokens in, 0 out, $0.5000\n")
	require.Contains(t, out.String(), "no key")
	require.EqualError(t, r.outcome(), "1 of 2 sessions failed; see starter builds list --status failed")
}
