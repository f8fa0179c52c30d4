package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/boundary"
	"axiommind/activities/fact"
	"axiommind/activities/task"
	"axiommind/schema"
)

// sendAll sends an update for each session at once. While the writer does the first one the others wait.
func (w serialWriter) sendAll(r *rooms, ids ...string) (run func() error, updates []update) {
	env := newEnvironment(r, w.id)
	updates = make([]update, len(ids))
	env.RegisterDelayedCallback(func() {
		for i, id := range ids {
			env.UpdateWorkflow(schema.UpdateSession, fmt.Sprint(i), updates[i].callbacks(), sessionNamed(id))
		}
	}, time.Second)
	return func() error { return w.run(env) }, updates
}

func named(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("세션/%d \"a\"", i))
	}
	return ids
}

// Pending updates are done at once, in the order of arrival, as many as one activity may take. The head of the stream
// is passed from batch to batch.
func TestBatch(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r, ids := newRooms(), named(70)
		run, updates := w.sendAll(r, ids...)
		require.NoError(t, run())
		require.Equal(t, [][]string{ids[:1], ids[1:33], ids[33:65], ids[65:]}, r.batches(t, w.activity))
		for i := range updates {
			require.NoError(t, updates[i].err)
			require.NotNil(t, updates[i].result)
		}
		require.Equal(t, []schema.StreamHead{{}, {Known: true, Seq: 1}, {Known: true, Seq: 33}, {Known: true, Seq: 65}}, r.heads(w.activity))
	})
}

// Long names make smaller batches: an activity's input stays below the bound of payloads.
func TestBatchBytes(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		var ids []string
		for i := range 60 {
			ids = append(ids, fmt.Sprint(strings.Repeat("<", 190), i)) // Each < is 6 bytes of JSON.
		}
		run, updates := w.sendAll(r, ids...)
		require.NoError(t, run())
		for _, u := range updates {
			require.NoError(t, u.err)
		}
		batches := r.batches(t, w.activity)
		require.Equal(t, ids, slices.Concat(batches...))
		require.Greater(t, len(batches[1]), 30)
		require.Greater(t, len(batches), 2)
		require.Less(t, r.largest, 50<<10)
	})
}

// Each update has its own outcome, whatever the outcomes of the others in the batch.
func TestBatchOutcomes(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		r.resolved, r.remembered.Facts = task.Result{Events: 7}, fact.Result{Events: 7}
		refused := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u", Agent: "a"}, SessionID: "2"}
		r.refused = map[string]*boundary.Failed{refused.Stream(): {Type: schema.ErrorTaskRefused, Message: `task "x" is done`}}
		run, updates := w.sendAll(r, "0", "1", "2", "3")
		require.NoError(t, run())
		require.Equal(t, [][]string{{"0"}, {"1", "2", "3"}}, r.batches(t, w.activity))
		for i, u := range updates {
			if i != 2 {
				require.NoError(t, u.err)
				require.Contains(t, fmt.Sprintf("%+v", u.result), "Events:7")
				continue
			}
			application, ok := u.err.(*temporal.ApplicationError) //nolint:errorlint // the outermost counts
			require.True(t, ok, "%T", u.err)
			require.Equal(t, schema.ErrorTaskRefused, application.Type())
			require.Equal(t, `task "x" is done`, application.Message())
			require.True(t, application.NonRetryable())
		}
	})
}

// A batch that fails as a whole fails each of its updates with the activity's error. The writer continues, and no
// longer trusts its head of the stream.
func TestBatchFails(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		r.before = func(_ context.Context, name string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.fail, name)
			if len(r.inputs[name]) == 1 {
				r.fail[name] = temporal.NewNonRetryableApplicationError("can't", schema.ErrorStoreRejected, nil)
			}
		}
		env := newEnvironment(r, w.id)
		updates := make([]update, 4)
		env.RegisterDelayedCallback(func() {
			for i := range 3 {
				w.send(env, fmt.Sprint(i), &updates[i])
			}
		}, time.Second)
		env.RegisterDelayedCallback(func() { w.send(env, "3", &updates[3]) }, 10*time.Second)
		require.NoError(t, w.run(env))
		require.Equal(t, [][]string{{"0"}, {"1", "2"}, {"3"}}, r.batches(t, w.activity))
		for i, u := range updates {
			if i == 0 || i == 3 {
				require.NoError(t, u.err)
				continue
			}
			var application *temporal.ApplicationError
			require.ErrorAs(t, u.err, &application)
			require.Equal(t, schema.ErrorStoreRejected, application.Type())
		}
		require.Equal(t, []schema.StreamHead{{}, {Known: true, Seq: 1}, {}}, r.heads(w.activity))
	})
}

// An activity that drops an update is a bug. No update gets the outcome of another.
func TestBatchForgets(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		r.forgets = true
		run, updates := w.sendAll(r, "0", "1", "2")
		require.NoError(t, run())
		for _, u := range updates {
			var application *temporal.ApplicationError
			require.ErrorAs(t, u.err, &application)
			require.Equal(t, schema.ErrorInternal, application.Type())
		}
	})
}

// A command is done by itself in its turn, and later updates are not done before it. The writer does not know the head
// of the stream after it.
func TestBatchKeepsOrderAcrossKinds(t *testing.T) {
	t.Parallel()
	commands := map[string]string{schema.WorkflowProjectTasks: "RunTaskCommand", schema.WorkflowMemoryWriter: "RunFactCommand"}
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		updates := make([]update, 7)
		env.RegisterDelayedCallback(func() {
			for i := range updates {
				if i != 3 {
					w.send(env, fmt.Sprint(i), &updates[i])
					continue
				}
				env.UpdateWorkflow(schema.UpdateCommand, "3", updates[3].callbacks(), map[string]any{
					"project": "p", "user": "u", "agent": "a", "request_id": "r", "actor": "ann", "at": time.Unix(0, 0),
					"task_id": "t", "status": "done", "op": "delete", "fact_id": "f",
				})
			}
		}, time.Second)
		require.NoError(t, w.run(env))
		for _, u := range updates {
			require.NoError(t, u.err)
		}
		require.Equal(t, []string{w.activity, w.activity, commands[w.workflow], w.activity}, r.turns())
		require.Equal(t, [][]string{{"0"}, {"1", "2"}, {"4", "5", "6"}}, r.batches(t, w.activity))
		require.Equal(t, []schema.StreamHead{{}, {Known: true, Seq: 1}, {}}, r.heads(w.activity))
	})
}

// Updates that were admitted before the run continues as new are done by it, also in one batch.
func TestBatchDrains(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			if info.ActivityType.Name == w.activity {
				env.SetContinueAsNewSuggested(true)
			}
		})
		updates := make([]update, 4)
		env.RegisterDelayedCallback(func() {
			for i := range updates {
				w.send(env, fmt.Sprint(i), &updates[i])
			}
		}, time.Second)
		require.True(t, workflow.IsContinueAsNewError(w.run(env)))
		for _, u := range updates {
			require.NoError(t, u.err)
		}
		require.Equal(t, [][]string{{"0"}, {"1", "2", "3"}}, r.batches(t, w.activity))
	})
}
