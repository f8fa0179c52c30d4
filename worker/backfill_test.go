package main_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// backfill runs the workflow, or waits for the run that is at it.
func (b *bench) backfill(t *testing.T, in schema.BackfillSessionsInput) client.WorkflowRun {
	t.Helper()
	run, err := b.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: in.WorkflowID(), TaskQueue: schema.QueueMain,
	}, schema.WorkflowBackfillSessions, in)
	require.NoError(t, err)
	return run
}

func (b *bench) backfilled(t *testing.T, in schema.BackfillSessionsInput) (result schema.BatchResult) {
	t.Helper()
	require.NoError(t, b.backfill(t, in).Get(t.Context(), &result))
	return result
}

// statuses counts the entries of the bench by status, and requires that their successors are active.
func (b *bench) statuses(t *testing.T) map[schema.Status]int {
	t.Helper()
	rows, err := entry.NewReader(b.ClickHouse).Read(t.Context(), entry.InProject(b.project), entry.Whole)
	require.NoError(t, err)
	byID := map[string]entry.Row{}
	out := map[schema.Status]int{}
	for _, r := range rows {
		byID[r.ID] = r
		out[r.Status]++
	}
	for _, r := range rows {
		if r.Status == schema.StatusSuperseded {
			require.Equal(t, schema.StatusActive, byID[r.SupersededBy].Status, r.Title)
			require.Equal(t, r.SessionID, byID[r.SupersededBy].SessionID)
		} else {
			require.Empty(t, r.SupersededBy)
		}
	}
	return out
}

// backfillWithAnotherModel replays so many of the builds.
func backfillWithAnotherModel(t *testing.T, sessions, replays int) {
	t.Helper()
	m := newModel(t)
	m.get(true)
	b := newBench(t)
	rules := buildWorker(t, b)
	other := rules
	other.cfg.Model, other.cfg.WindowBytes = m.config(), 1<<10
	kill := rules.start(t)
	dir := t.TempDir()
	for i := range sessions {
		text := fmt.Sprintf("We decided to use ClickHouse for log %d. Ann agreed to that at once.", i)
		b.process(t, b.input(fmt.Sprintf("s'%d", i), write(t, filepath.Join(dir, fmt.Sprint(i, ".jsonl")), said(1, "user", text))))
	}
	require.Equal(t, map[schema.Status]int{schema.StatusActive: sessions}, b.statuses(t))

	run := b.backfill(t, schema.BackfillSessionsInput{Extractor: "openai/test-model"})
	err := run.Get(t.Context(), nil)
	require.ErrorContains(t, err, `extractor "openai/test-model": this worker extracts with "rules/`)
	require.Zero(t, b.backfilled(t, schema.BackfillSessionsInput{Extractor: ""}).Items, "all are of this extractor")
	kill()

	kill = other.start(t)
	in := schema.BackfillSessionsInput{Extractor: "openai/test-model", Project: b.project, AtOnce: 1}
	run = b.backfill(t, in)
	eventually(t, func() bool { return m.calls() > 0 })
	kill()
	kill = other.start(t)
	var result schema.BatchResult
	require.NoError(t, run.Get(t.Context(), &result))
	require.Equal(t, sessions, result.Items)
	require.Equal(t, map[schema.BuildStatus]int{schema.BuildSuccess: sessions}, result.Statuses)
	require.Equal(t, map[schema.Status]int{schema.StatusActive: sessions, schema.StatusSuperseded: sessions}, b.statuses(t))
	require.Zero(t, b.backfilled(t, in).Items, "nothing is left")
	ids := b.buildIDs(t)
	require.Len(t, ids, 2*sessions)
	b.awaitIndexed(t)
	b.requireRanked(t, schema.StatusActive, schema.StatusSuperseded)
	b.requireDiff(t, ids)
	kill()

	kill = rules.start(t)
	t.Cleanup(kill)
	require.Equal(t, sessions, b.backfilled(t, schema.BackfillSessionsInput{}).Items)
	require.Equal(t, map[schema.Status]int{schema.StatusActive: sessions, schema.StatusSuperseded: sessions}, b.statuses(t))
	restored := column(t, b.ClickHouse, "SELECT JSONExtractString(payload_json, 'status') FROM events WHERE event_type = 'entry_status_set' ORDER BY stream, seq")
	require.Len(t, restored, 3*sessions)
	if inCampaign(t) {
		b.requireSame(t, some(t, b.buildIDs(t), replays)...)
	}
	b.awaitGraduated(t.Context(), t)
	before := b.rows(t)
	b.rebuild(t)
	require.Equal(t, before, b.rows(t), "I3")
	t.Logf("survived: worker killed in a backfill of %d sessions", sessions)
}

// requireRanked checks that search returns the statuses in that order for a session, and by default omits superseded
// entries.
func (b *bench) requireRanked(t *testing.T, want ...schema.Status) {
	t.Helper()
	searcher := retrieve.NewSearcher(b.ClickHouse, b.Weaviate, b.Embedder, retrieve.Options{})
	ranked := func(superseded bool) (got []schema.Status) {
		found, err := searcher.Search(t.Context(), retrieve.Query{Text: "use ClickHouse for log 1", Project: b.project, User: "u", Superseded: superseded})
		require.NoError(t, err)
		for _, hit := range found.Hits {
			if hit.SessionID == "s'1" {
				got = append(got, hit.Status)
			}
		}
		return got
	}
	require.Equal(t, want, ranked(true))
	require.Equal(t, slices.DeleteFunc(want, func(s schema.Status) bool { return s == schema.StatusSuperseded }), ranked(false))
}

// requireDiff compares the builds of one session by both extractors, and those of two sessions.
func (b *bench) requireDiff(t *testing.T, ids []string) {
	t.Helper()
	pair := column(t, b.ClickHouse, "SELECT build_id FROM build_runs WHERE session_id = 's\\'1' ORDER BY ordinal")
	require.Len(t, pair, 2)
	d, err := build.Compare(t.Context(), b.ClickHouse, pair[0][:12], pair[1])
	require.NoError(t, err)
	require.Equal(t, "rules", d.A.Extractor.Provider)
	require.Equal(t, "test-model", d.B.Extractor.Model)
	require.Empty(t, d.OnlyA)
	require.Empty(t, d.OnlyB)
	require.Len(t, d.Changed, 1)
	require.Equal(t, "title", d.Changed[0].Fields[0].Name)
	require.Contains(t, d.Changed[0].Fields[0].B, "Ann agreed")
	require.Equal(t, 1, d.B.Counts.SupersededEntries)
	require.NotEmpty(t, d.B.Steps)
	for _, id := range ids {
		if id != pair[0] && id != pair[1] {
			_, err := build.Compare(t.Context(), b.ClickHouse, pair[0], id)
			require.ErrorIs(t, err, build.ErrOtherSession)
			return
		}
	}
}
