package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// batchPaths are the paths through the workflows that process many sessions.
func batchPaths() []path {
	of := func(change func(r *rooms), ids ...string) func() *rooms {
		return with(func(r *rooms) {
			r.batch = batchRoom{items: itemsOf(ids...), pageSize: 10, passedOver: 1}
			if change != nil {
				change(r)
			}
		})
	}
	recorded := schema.ImportSessionsInput{URI: "file:///sessions", AtOnce: 1}
	continued := recorded
	continued.Continued = &schema.BatchState{
		Batch: "b", At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Next: 2, Left: []int{0},
		Result: schema.BatchResult{Batch: "b", Items: 3, Statuses: map[schema.BuildStatus]int{schema.BuildSuccess: 1}},
	}
	holds, cancelled := cancelBatch()
	return []path{
		{name: "import_sessions", start: startBatch(schema.ImportSessionsInput{URI: "file:///sessions"}), rooms: of(nil, "s1", "s2", "s3", "s1")},
		{name: "import_sessions_nothing", start: startBatch(recorded), rooms: of(nil)},
		{name: "import_sessions_refused", start: startBatch(recorded), rooms: of(func(r *rooms) { r.batch.items[0].Refused = "permission denied" }, "s1", "s2")},
		{name: "import_sessions_failure", start: startBatch(recorded), rooms: of(failsFor("AlignSession", "s2"), "s1", "s2", "s3")},
		{name: "import_sessions_busy", start: startBeside(startBatch(recorded)), rooms: of(func(r *rooms) { r.batch.items[0].Input = sessionInput() }, "s1", "s2")},
		{name: "import_sessions_continued", start: startBatch(continued), rooms: of(nil, "s1", "s2", "s3")},
		{name: "import_sessions_cancelled", start: startBatch(recorded), rooms: of(holds, "s1", "s2"), during: cancelled, fails: "canceled"},
		{name: "import_sessions_list_failed", start: startBatch(recorded), rooms: failingIn("ListSessions"), fails: "list: ListSessions can't"},
		{name: "import_sessions_report_failed", start: startBatch(recorded), rooms: of(func(r *rooms) {
			r.failing("ReportOutcomes", schema.ErrorStoreRejected)
		}, "s1"), fails: "record outcomes: ReportOutcomes can't"},
		{name: "retry_builds", start: startBatch(schema.RetryBuildsInput{Failed: true}), rooms: of(nil, "s1", "s2")},
		{name: "retry_builds_list_failed", start: startBatch(schema.RetryBuildsInput{Failed: true}), rooms: failingIn("ListRetries"), fails: "list: ListRetries can't"},
		{name: "backfill_sessions", start: startBatch(schema.BackfillSessionsInput{PerMinute: 100}), rooms: of(nil, "s1", "s2", "s3")},
		{name: "backfill_sessions_list_failed", start: startBatch(schema.BackfillSessionsInput{}), rooms: failingIn("ListBackfill"), fails: "list: ListBackfill can't"},
	}
}

func startBatch(in schema.BatchInput) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: in.WorkflowID(), TaskQueue: schema.QueueMain}, in.Workflow(), in)
		require.NoError(t, err)
		return run
	}
}

// failsFor makes the activity fail for one session. Sessions run one after the other.
func failsFor(name, session string) func(*rooms) {
	return func(r *rooms) {
		r.before = func(ctx context.Context, called string) {
			if called != name {
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.fail, name)
			if strings.HasSuffix(activity.GetInfo(ctx).WorkflowExecution.ID, "/"+session) {
				r.fail[name] = temporal.NewNonRetryableApplicationError(name+" can't", schema.ErrorInternal, nil)
			}
		}
	}
}

// cancelBatch blocks the first session, cancels the batch, and then lets the session continue.
func cancelBatch() (holds func(*rooms), during func(context.Context, *testing.T, client.Client, client.WorkflowRun)) {
	release := make(chan struct{})
	holds = func(r *rooms) {
		r.before = func(_ context.Context, name string) {
			if name == "AlignSession" {
				<-release
			}
		}
	}
	during = func(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun) {
		defer close(release)
		has := func(kind enums.EventType) func() bool { return func() bool { return hasEvent(ctx, t, c, run, kind) } }
		require.Eventually(t, has(enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED), time.Minute, 20*time.Millisecond)
		require.NoError(t, c.CancelWorkflow(ctx, run.GetID(), run.GetRunID()))
		require.Eventually(t, has(enums.EVENT_TYPE_TIMER_STARTED), time.Minute, 20*time.Millisecond)
	}
	return holds, during
}
