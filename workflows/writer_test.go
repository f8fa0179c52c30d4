package workflows_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// update is one update of a test with its outcome.
type update struct {
	accepted bool
	err      error
	result   any
}

func (u *update) callbacks() *testsuite.TestUpdateCallback {
	return &testsuite.TestUpdateCallback{
		OnAccept:   func() { u.accepted = true },
		OnReject:   func(err error) { u.err = err },
		OnComplete: func(result any, err error) { u.result, u.err = result, err },
	}
}

// serialWriter is a workflow that is the only writer of a stream.
type serialWriter struct {
	workflow string
	id       string
	in       any
	// update is an update that the writer accepts, with its argument, and activity the activity that does it.
	update   string
	arg      func(id string) any
	activity string
}

var (
	projectTasks = serialWriter{
		workflow: schema.WorkflowProjectTasks, id: schema.WorkflowID(schema.ProjectStream("p")), in: schema.ProjectTasksInput{Project: "p"},
		update: schema.UpdateSession, arg: func(id string) any { return sessionNamed(id) }, activity: "ResolveTasks",
	}
	memoryWriter = serialWriter{
		workflow: schema.WorkflowMemoryWriter, id: schema.WorkflowID(schema.MemoryStream("u", "a")), in: schema.MemoryWriterInput{User: "u", Agent: "a"},
		update: schema.UpdateSession, arg: func(id string) any { return sessionNamed(id) }, activity: "UpdateMemory",
	}
	vectorWriter = serialWriter{
		workflow: schema.WorkflowVectorWriter, id: schema.WorkflowID(schema.VectorStream(collection)), in: schema.VectorWriterInput{Collection: collection},
		update: schema.UpdateReconcile, arg: func(string) any { return vector.ReconcileInput{Collection: collection} }, activity: "ReconcileCollection",
	}
)

var serialWriters = []serialWriter{projectTasks, memoryWriter, graduation, vectorWriter}

// sessionNamed is an update's argument, as either writer reads it.
func sessionNamed(id string) map[string]string {
	return map[string]string{"session_id": id, "project": "p", "user": "u", "agent": "a"}
}

// taking returns the writer with another update that it accepts.
func (w serialWriter) taking(update string, arg any) serialWriter {
	w.update, w.arg = update, func(string) any { return arg }
	return w
}

func (w serialWriter) run(env *testsuite.TestWorkflowEnvironment) error {
	env.ExecuteWorkflow(w.workflow, w.in)
	return env.GetWorkflowError()
}

func (w serialWriter) send(env *testsuite.TestWorkflowEnvironment, id string, u *update) {
	env.UpdateWorkflow(w.update, id, u.callbacks(), w.arg(id))
}

// forEachWriter runs the check for every writer.
func forEachWriter(t *testing.T, check func(t *testing.T, w serialWriter)) {
	for _, w := range serialWriters {
		t.Run(w.workflow, func(t *testing.T) {
			t.Parallel()
			check(t, w)
		})
	}
}

// forEachSessionWriter runs the check for the writers that get notes from sessions.
func forEachSessionWriter(t *testing.T, check func(t *testing.T, w serialWriter)) {
	for _, w := range []serialWriter{projectTasks, memoryWriter} {
		t.Run(w.workflow, func(t *testing.T) {
			t.Parallel()
			check(t, w)
		})
	}
}

// Updates are done one after the other, in the order of arrival. The writer ends once nothing has arrived for the idle
// time.
func TestSerialWriterKeepsOrder(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		updates := make([]update, 5)
		env.RegisterDelayedCallback(func() {
			for i := range updates {
				id := string(rune('a' + i))
				env.UpdateWorkflow(schema.UpdateSession, id, updates[i].callbacks(), sessionNamed(id))
			}
		}, time.Second)
		begin := env.Now()
		require.NoError(t, w.run(env))
		require.GreaterOrEqual(t, env.Now().Sub(begin), time.Minute)
		require.Equal(t, []string{"a", "b", "c", "d", "e"}, slices.Concat(r.batches(t, w.activity)...))
		for _, u := range updates {
			require.True(t, u.accepted)
			require.NoError(t, u.err)
			require.NotNil(t, u.result)
		}
	})
}

// A failed or refused update fails for its sender alone. The writer continues.
func TestSerialWriterOutlivesRefusal(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms().failing(w.activity, schema.ErrorTaskRefused)
		env := newEnvironment(r, w.id)
		var first, second, invalid update
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(schema.UpdateSession, "1", first.callbacks(), sessionNamed("a"))
			env.UpdateWorkflow(schema.UpdateCommand, "2", invalid.callbacks(), map[string]string{})
		}, time.Second)
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(schema.UpdateSession, "3", second.callbacks(), sessionNamed("b"))
		}, 2*time.Second)
		require.NoError(t, w.run(env))
		for _, u := range []update{first, second} {
			var application *temporal.ApplicationError
			require.ErrorAs(t, u.err, &application)
			require.Equal(t, schema.ErrorTaskRefused, application.Type())
		}
		require.False(t, invalid.accepted)
		require.ErrorContains(t, invalid.err, schema.ErrorInvalidInput)
		require.Equal(t, []string{w.activity, w.activity}, r.turns())
	})
}

// A writer refuses updates of another scope, and names the right writer without naming its own scope.
func TestSerialWriterRefusesAnotherScope(t *testing.T) {
	t.Parallel()
	forEachSessionWriter(t, func(t *testing.T, w serialWriter) {
		scopes := []map[string]any{
			{"project": "프로젝트/2", "user": "사용자", "agent": "a"},
			{"project": "P", "user": "u", "agent": ""},
			{},
		}
		r := newRooms()
		env := newEnvironment(r, w.id)
		updates := make([]update, len(scopes))
		commands := make([]update, len(scopes))
		env.RegisterDelayedCallback(func() {
			for i, scope := range scopes {
				session := map[string]any{"session_id": "s"}
				maps.Copy(session, scope)
				env.UpdateWorkflow(schema.UpdateSession, fmt.Sprint("session ", i), updates[i].callbacks(), session)
				command := map[string]any{
					"request_id": "r", "actor": "ann", "at": time.Unix(0, 0), "task_id": "t", "status": "done", "op": "delete", "fact_id": "f",
				}
				maps.Copy(command, scope)
				env.UpdateWorkflow(schema.UpdateCommand, fmt.Sprint("command ", i), commands[i].callbacks(), command)
			}
		}, time.Second)
		require.NoError(t, w.run(env))
		for i, u := range append(updates, commands...) {
			require.False(t, u.accepted, "%d", i)
			// One without a project or a user is refused as such.
			require.Regexp(t, schema.ErrorScopeMismatch+"|"+schema.ErrorInvalidInput, u.err.Error())
			require.NotContains(t, u.err.Error(), w.id+`"`)
		}
		require.ErrorContains(t, updates[0].err, schema.ErrorScopeMismatch)
		require.ErrorContains(t, commands[0].err, schema.ErrorScopeMismatch)
		require.Empty(t, r.turns())
	})
}

// An update that arrives while the run is about to end is done by it. No update is lost in between.
func TestSerialWriterContinuesAsNew(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		var u update
		env.RegisterDelayedCallback(func() {
			env.SetContinueAsNewSuggested(true)
			w.send(env, "1", &u)
		}, time.Second)
		err := w.run(env)
		require.True(t, workflow.IsContinueAsNewError(err), "%v", err)
		require.NoError(t, u.err)
		require.Equal(t, 1, count(r.order(), w.activity))
	})
}

// While the run does its admitted updates before it continues as new, it refuses others with the request to send them
// again.
func TestSerialWriterDrains(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		var first, second, late update
		release, calls := make(chan struct{}), 0
		r.before = func(_ context.Context, name string) {
			if name == w.activity && count(r.order(), name) == 1 {
				<-release
			}
		}
		env.RegisterDelayedCallback(func() {
			w.send(env, "1", &first)
			w.send(env, "2", &second)
		}, time.Second)
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			if info.ActivityType.Name != w.activity {
				return
			}
			if calls++; calls == 1 {
				env.SetContinueAsNewSuggested(true)
				return
			}
			env.RegisterDelayedCallback(func() {
				w.send(env, "3", &late)
				close(release)
			}, time.Millisecond)
		})
		require.True(t, workflow.IsContinueAsNewError(w.run(env)))
		require.NoError(t, first.err)
		require.NoError(t, second.err)
		require.False(t, late.accepted)
		require.ErrorContains(t, late.err, schema.ErrorDraining)
		require.Equal(t, 2, count(r.order(), w.activity))
	})
}

// A run ends in time although an update is always pending.
func TestSerialWriterBoundsItsRun(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		sent, done := 0, 0
		var send func()
		send = func() {
			if sent++; sent > 700 {
				return
			}
			id := fmt.Sprint(sent)
			env.UpdateWorkflow(w.update, id, &testsuite.TestUpdateCallback{
				OnAccept: func() {},
				OnReject: func(err error) { require.ErrorContains(t, err, schema.ErrorDraining) },
				OnComplete: func(any, error) {
					done++
					send()
				},
			}, w.arg(id))
		}
		env.RegisterDelayedCallback(func() {
			for range 5 {
				send()
			}
		}, time.Second)
		err := w.run(env)
		require.True(t, workflow.IsContinueAsNewError(err), "%v", err)
		require.GreaterOrEqual(t, done, 500)
		require.Less(t, done, 510)
	})
}

// Updates that arrive before a timer fires leave no timer behind, because each would cost a useless task.
func TestSerialWriterLeavesNoTimer(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		env := newEnvironment(newRooms(), w.id)
		updates := make([]update, 3)
		for i := range updates {
			env.RegisterDelayedCallback(func() { w.send(env, fmt.Sprint(i), &updates[i]) }, time.Duration(i+1)*time.Second)
		}
		running := map[string]bool{}
		env.SetOnTimerScheduledListener(func(id string, _ time.Duration) { running[id] = true })
		env.SetOnTimerCanceledListener(func(id string) { delete(running, id) })
		fired := 0
		env.SetOnTimerFiredListener(func(id string) {
			delete(running, id)
			fired++
		})
		require.NoError(t, w.run(env))
		require.Empty(t, running)
		require.Equal(t, 1, fired)
	})
}

// A query returns a writer's current update and its pending ones.
func TestSerialWriterQueue(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		ask := func() (q schema.WriterQueue) {
			value, err := env.QueryWorkflow(schema.QueryQueue)
			require.NoError(t, err)
			require.NoError(t, value.Get(&q))
			return q
		}
		updates := make([]update, 3)
		env.RegisterDelayedCallback(func() {
			for i := range updates {
				w.send(env, fmt.Sprint(i), &updates[i])
			}
		}, time.Second)
		var seen []schema.WriterQueue
		env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
			if info.ActivityType.Name == w.activity {
				seen = append(seen, ask())
			}
		})
		require.NoError(t, w.run(env))
		require.Equal(t, schema.WriterQueue{Running: seen[0].Running, Waiting: seen[0].Waiting}, seen[0])
		require.Len(t, seen[0].Waiting, 2)
		for _, q := range seen {
			require.NotEmpty(t, q.Running)
			running := 1
			if strings.HasSuffix(q.Running, "and 1 more") {
				running = 2
			}
			require.Equal(t, 3, q.Done+running+len(q.Waiting))
		}
		require.Equal(t, schema.WriterQueue{Waiting: []string{}, Done: 3}, ask())
	})
}

// A cancelled writer ends as cancelled.
func TestSerialWriterCancel(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		env := newEnvironment(newRooms(), w.id)
		begin := env.Now()
		env.RegisterDelayedCallback(env.CancelWorkflow, 5*time.Second)
		var cancelled *temporal.CanceledError
		require.ErrorAs(t, w.run(env), &cancelled)
		require.Less(t, env.Now().Sub(begin), 30*time.Second)
	})
}

// Whenever updates and wakes arrive, every update is done, and pending rows are indexed after the last of them.
func TestVectorWriterLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, w := newRooms(), vectorWriter
		r.pending = []vector.Result{{More: true}, {Failed: 1, NextRetry: time.Now()}}
		env := newEnvironment(r, w.id)
		at := rapid.SliceOfN(rapid.IntRange(0, 130), 1, 12).Draw(t, "seconds of updates")
		at[0] = min(at[0], 50)
		updates := make([]update, len(at))
		for i, second := range at {
			env.RegisterDelayedCallback(func() { w.send(env, fmt.Sprint(i), &updates[i]) }, time.Duration(second)*time.Second)
		}
		for _, second := range rapid.SliceOfN(rapid.IntRange(0, 130), 0, 6).Draw(t, "seconds of wakes") {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(schema.SignalWake, nil) }, time.Duration(second)*time.Second)
		}
		require.NoError(t, w.run(env))
		accepted := 0
		for _, u := range updates {
			if u.accepted { // The others arrived after the end.
				accepted++
				require.NoError(t, u.err)
				require.NotNil(t, u.result)
			}
		}
		order := r.order()
		require.NotZero(t, accepted)
		require.Equal(t, accepted, count(order, w.activity))
		require.Equal(t, "IndexPending", order[len(order)-1])
		require.Empty(t, r.pending)
	})
}

func TestSerialWriterRefusesAnotherID(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		require.ErrorContains(t, w.run(newEnvironment(newRooms(), "by-hand")), "start it with the workflow id "+strconv.Quote(w.id))
	})
}
