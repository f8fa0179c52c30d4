package main_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"axiommind/schema"
)

// idempotency resets the run to just after IngestSession, and to so many other points.
func idempotency(t *testing.T, others int) {
	t.Helper()
	b := newBench(t)
	b.start(t)
	in := b.input("twice", write(t, filepath.Join(t.TempDir(), "s.jsonl"),
		said(1, "user", decision), said(2, "assistant", "Noted."), said(3, "user", "I prefer tabs over spaces."),
		said(4, "user", "TODO: write the report."), said(5, "user", "The deploy is blocked by PROJ-7.")))
	run, err := b.submit(t.Context(), in)
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), nil))
	b.awaitGraduated(t.Context(), t)
	before := b.once(t)
	for _, table := range []string{"events", "vector_outbox", "edges"} {
		require.NotEmpty(t, before[table], table)
	}

	require.Equal(t, schema.BuildUnchanged, b.process(t, in).Status)
	require.Equal(t, before, b.once(t))

	points := b.workflowTasks(t, run)
	at := slices.IndexFunc(points, func(p resetPoint) bool { return p.activity == "IngestSession" })
	for _, point := range some(t, points, others, points[at]) {
		again, err := b.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
			Namespace:         b.cfg.TemporalNamespace,
			WorkflowExecution: &common.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()},
			Reason:            "do it again", RequestId: uuid.NewString(), WorkflowTaskFinishEventId: point.id,
		})
		require.NoError(t, err)
		repeated := b.Temporal.GetWorkflow(t.Context(), run.GetID(), again.GetRunId())
		require.NoError(t, repeated.Get(t.Context(), nil), "reset after %s", point.activity)
		require.Equal(t, before, b.once(t), "reset after %s", point.activity)
		t.Logf("survived: reset after %s", point.activity)
	}
}

// once returns the rows of the log and of every projection, after checking that no event, edge or job exists twice.
func (b *bench) once(t *testing.T) map[string][]string {
	t.Helper()
	rows := b.rows(t)
	for table, key := range map[string]string{
		"events": "dedupe_key", "events_raw": "dedupe_key", "vector_outbox": "tuple(item_kind, item_id, embedding_version)",
		"edges": "tuple(src_type, src_id, rel_type, dst_type, dst_id)",
	} {
		twice := column(t, b.ClickHouse, "SELECT toString("+key+") FROM "+table+" GROUP BY "+key+" HAVING count() > 1")
		require.Empty(t, twice, table)
	}
	return rows
}

// resetPoint is the workflow task that followed an activity.
type resetPoint struct {
	id       int64
	activity string
}

// workflowTasks are the points of a run's history to which it can be reset.
func (b *bench) workflowTasks(t *testing.T, run client.WorkflowRun) []resetPoint {
	t.Helper()
	var points []resetPoint
	names := map[int64]string{}
	last := ""
	it := b.Temporal.GetWorkflowHistory(context.WithoutCancel(t.Context()), run.GetID(), run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		switch event.GetEventType() {
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			names[event.GetEventId()] = event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
		case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			last = names[event.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()]
		case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			// OpenBuild does not know the build any more once it is finished: before it the session is
			// another one, which is unchanged.
			if last != "" && !strings.HasPrefix(last, "CloseBuild") {
				points = append(points, resetPoint{event.GetEventId(), last})
			}
		}
	}
	seen := map[string]bool{}
	for _, p := range points {
		seen[p.activity] = true
	}
	for _, activity := range []string{"IngestSession", "IndexSession"} {
		require.True(t, seen[activity], activity)
	}
	// One workflow task may follow both.
	require.True(t, seen["SubmitTasks"] || seen["SubmitMemory"])
	return points
}
