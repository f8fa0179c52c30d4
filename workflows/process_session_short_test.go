package workflows_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate"
	"axiommind/activities/llm"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/transcript"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// The writer of tasks is not asked if a session has nothing for it, and the build's metrics have no such step. The
// memory's writer is asked whenever there are messages, which are flushed.
func TestProcessSessionAsksWritersForWhomThereIsSomething(t *testing.T) {
	t.Parallel()
	memory := []string{"PlanSummary", "SummarizeSession", "SubmitMemory"}
	for name, tt := range map[string]struct {
		notes, facts int
		asked        []string
	}{
		"both":    {2, 1, append(slices.Clone(memory), "SubmitTasks")},
		"notes":   {1, 0, append(slices.Clone(memory), "SubmitTasks")},
		"facts":   {0, 3, memory},
		"neither": {0, 0, memory},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.materialized.TaskNotes, r.materialized.Facts = tt.notes, tt.facts
			result, err := process(t, r, sessionInput())
			require.NoError(t, err)
			require.Equal(t, schema.BuildSuccess, result.Status)
			want := []string{"OpenBuild", "IngestSession", "PlanWindows", "ExtractWindow", "RecordExtraction", "AlignSession", "MaterializeEntries", "CheckEntries"}
			want = append(append(want, tt.asked...), "ProjectSession", "WakeGraduation", "IndexSession", "CloseBuild")
			require.Equal(t, want, r.order())
			require.Equal(t, tt.facts > 0, inputsOf[tier.FlushRequest](r, "SubmitMemory")[0].Facts)
			var steps []string
			for _, m := range inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished.Metrics {
				require.True(t, m.Success)
				steps = append(steps, m.Step)
			}
			require.Equal(t, tt.notes > 0, count(steps, schema.StepTasks) == 1)
			require.Equal(t, 1, count(steps, schema.StepMemory))
			require.Equal(t, 1, count(steps, schema.StepProject))
		})
	}
}

// Each step gets the head of the session's stream from the steps before it.
func TestProcessSessionHandsOnTheHead(t *testing.T) {
	t.Parallel()
	r := newRooms()
	_, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, at(0), inputsOf[transcript.IngestInput](r, "IngestSession")[0].Build.Head)
	require.Equal(t, at(0), inputsOf[llm.PlanInput](r, "PlanWindows")[0].Head, "the same append")
	require.Equal(t, at(2), inputsOf[llm.ExtractInput](r, "ExtractWindow")[0].Head)
	require.Equal(t, at(2), inputsOf[llm.RecordInput](r, "RecordExtraction")[0].Head)
	require.Equal(t, at(4), inputsOf[evidence.AlignInput](r, "AlignSession")[0].Head)
	require.Equal(t, at(5), inputsOf[entry.MaterializeInput](r, "MaterializeEntries")[0].Head)
	require.Equal(t, at(7), inputsOf[graduate.CheckInput](r, "CheckEntries")[0].Head)
	require.Equal(t, at(9), inputsOf[task.ResolveRequest](r, "SubmitTasks")[0].Head)
	require.Equal(t, at(9), inputsOf[tier.SummaryInput](r, "PlanSummary")[0].Head)
	require.Equal(t, at(9), inputsOf[tier.SummarizeInput](r, "SummarizeSession")[0].Head)
	require.Equal(t, at(9), inputsOf[tier.FlushRequest](r, "SubmitMemory")[0].Head)
	require.Equal(t, at(9), inputsOf[build.ProjectInput](r, "ProjectSession")[0].Head)
	require.Equal(t, at(9), inputsOf[vector.IndexRequest](r, "IndexSession")[0].Head)
	require.Equal(t, at(9), inputsOf[build.CloseInput](r, "CloseBuild")[0].Build.Head)
}

// A plan without windows is done, because the model answered where the plan was made.
func TestProcessSessionLocalModel(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.windows = 0
	r.recordedBefore = llm.RecordResult{Windows: 3, Entries: 2, Rejected: 1, Usage: schema.Usage{Calls: 3}, Head: at(4)}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, 3, result.Counts.Windows)
	require.Equal(t, 1, result.Counts.Rejected)
	require.Equal(t, 3, result.Usage.Calls)
	require.Equal(t, at(4), inputsOf[evidence.AlignInput](r, "AlignSession")[0].Head)
	require.NotContains(t, r.order(), "ExtractWindow")
	require.NotContains(t, r.order(), "RecordExtraction")
	require.Equal(t, 1, count(r.order(), "PlanWindows"), "the ingest derives")
	require.NotContains(t, r.order(), "ProjectSession", "the ingest projects")
	var ran []string
	for _, m := range inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished.Metrics {
		ran = append(ran, m.Step)
	}
	require.Equal(t, []string{"open_build", "ingest", "extract", "align", "materialize", "check", "resolve_tasks", "update_memory", "project", "index"}, ran)
}

// A session that the ingest could not publish is published by its step.
func TestProcessSessionPublishes(t *testing.T) {
	t.Parallel()
	var unknown schema.StreamHead
	for name, tt := range map[string]struct {
		change func(*rooms)
		want   string
	}{
		"refused": {func(r *rooms) { r.unpublished = true }, "PublishSession"},
		"of unknown head": {func(r *rooms) {
			r.opened.Head, r.ingested.Head, r.aligned.Head, r.materialized.Head, r.checked.Head = unknown, unknown, unknown, unknown, unknown
		}, "ProjectSession"},
		"not the end": {func(r *rooms) { r.windows = 1 }, "ProjectSession"},
	} {
		r := newRooms()
		r.windows = 0
		r.recordedBefore = llm.RecordResult{Windows: 3, Entries: 2}
		tt.change(r)
		result, err := process(t, r, sessionInput())
		require.NoError(t, err, name)
		require.Equal(t, schema.BuildSuccess, result.Status, name)
		require.Equal(t, 1, count(r.order(), tt.want), name)
		require.Equal(t, 1, count(r.order(), "PublishSession")+count(r.order(), "ProjectSession"), name)
	}

	r := newRooms().failing("PublishSession", schema.ErrorStoreRejected)
	r.windows, r.unpublished, r.recordedBefore = 0, true, llm.RecordResult{Windows: 3, Entries: 2}
	_, err := process(t, r, sessionInput())
	requireFailure(t, err, schema.StepProject, "PublishSession", schema.ErrorStoreRejected)
	require.Equal(t, 1, count(r.order(), "PublishSession"))
	require.Equal(t, 1, inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished.Counts.NewEntries, "a retry goes on from there")

	// Builds that do not come to that step.
	empty := newRooms()
	empty.windows, empty.opened.First = 0, true
	failed := newRooms().failing("SubmitMemory", schema.ErrorStoreRejected)
	resumed := newRooms().resuming(schema.StepIndex, schema.BuildCounts{})
	for _, r := range []*rooms{empty, failed, resumed} {
		r.unpublished = true
		_, err := process(t, r, sessionInput())
		require.Equal(t, r == failed, err != nil)
		require.Equal(t, 1, count(r.order(), "PublishSession"))
	}
}

// Bookkeeping is done within the workflow task, unless the store is unavailable. It then becomes an activity that
// Temporal shows and retries.
func TestProcessSessionBookkeeping(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"IdentifySession", "OpenBuild", "PlanSummary", "ProjectSession", "WakeGraduation", "CloseBuild"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := sessionInput()
			in.SessionID, in.URI, in.Messages = "", "", []schema.InlineMessage{{Role: "user", Content: "hello"}}
			r := newRooms()
			_, err := process(t, r, in)
			require.NoError(t, err)
			require.Equal(t, []bool{true}, r.within[name])

			r = newRooms()
			away := temporal.NewApplicationError("connection refused", schema.ErrorStoreUnavailable)
			r.fail[name] = away
			r.before = func(ctx context.Context, called string) {
				if info := activity.GetInfo(ctx); called == name && !info.IsLocalActivity && info.Attempt == 4 {
					r.mu.Lock()
					defer r.mu.Unlock()
					delete(r.fail, name)
				}
			}
			result, err := process(t, r, in)
			require.NoError(t, err)
			require.Equal(t, schema.BuildSuccess, result.Status)
			require.Equal(t, []bool{true, true, true, false, false, false, false}, r.within[name])
		})
	}
}
