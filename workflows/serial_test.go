package workflows_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// update is one update of a test and what became of it.
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

// serialWriter is a workflow that is the only writer of a stream and does what updates ask for.
type serialWriter struct {
	workflow string
	id       string
	in       any
	// activity is what an update of a session calls.
	activity string
}

var serialWriters = []serialWriter{
	{schema.WorkflowProjectTasks, schema.WorkflowID(schema.ProjectStream("p")), schema.ProjectTasksInput{Project: "p"}, "ResolveTasks"},
	{schema.WorkflowMemoryWriter, schema.WorkflowID(schema.MemoryStream("u", "a")), schema.MemoryWriterInput{User: "u", Agent: "a"}, "UpdateFacts"},
}

// sessionNamed is an update's argument, as either writer reads it.
func sessionNamed(id string) map[string]string {
	return map[string]string{"session_id": id, "project": "p", "user": "u", "agent": "a"}
}

func (w serialWriter) run(env *testsuite.TestWorkflowEnvironment) error {
	env.ExecuteWorkflow(w.workflow, w.in)
	return env.GetWorkflowError()
}

func forEachWriter(t *testing.T, check func(t *testing.T, w serialWriter)) {
	for _, w := range serialWriters {
		t.Run(w.workflow, func(t *testing.T) {
			t.Parallel()
			check(t, w)
		})
	}
}

// Updates are done one after the other, in the order they came; the writer ends once nothing came for
// the idle time.
func TestSerialWriterKeepsOrder(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
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
		require.Len(t, r.order(), 5)
		for i, in := range r.inputs[w.activity] {
			data, err := json.Marshal(in)
			require.NoError(t, err)
			require.Contains(t, string(data), `"session_id":"`+string(rune('a'+i))+`"`)
		}
		for _, u := range updates {
			require.True(t, u.accepted)
			require.NoError(t, u.err)
			require.NotNil(t, u.result)
		}
	})
}

// A failed or refused update is the sender's alone: the writer goes on.
func TestSerialWriterOutlivesRefusal(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
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
		require.Equal(t, []string{w.activity, w.activity}, r.order())
	})
}

// A writer takes nothing of another scope, and says which writer does without naming its own scope.
func TestSerialWriterRefusesAnotherScope(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
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
				env.UpdateWorkflow(schema.UpdateSession, fmt.Sprint("session ", i), updates[i].callbacks(), scope)
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
			// A command without a project is refused as such.
			require.Regexp(t, schema.ErrorScopeMismatch+"|"+schema.ErrorInvalidInput, u.err.Error())
			require.NotContains(t, u.err.Error(), w.id+`"`)
		}
		require.ErrorContains(t, updates[0].err, schema.ErrorScopeMismatch)
		require.ErrorContains(t, commands[0].err, schema.ErrorScopeMismatch)
		require.Empty(t, r.order())
	})
}

func TestSerialWriterContinuesAsNew(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		r := newRooms()
		env := newEnvironment(r, w.id)
		var u update
		env.RegisterDelayedCallback(func() {
			env.SetContinueAsNewSuggested(true)
			env.UpdateWorkflow(schema.UpdateSession, "1", u.callbacks(), sessionNamed("a"))
		}, time.Second)
		err := w.run(env)
		require.True(t, workflow.IsContinueAsNewError(err), "%v", err)
		require.NoError(t, u.err)
		require.Len(t, r.order(), 1)
	})
}

func TestSerialWriterRefusesAnotherID(t *testing.T) {
	t.Parallel()
	forEachWriter(t, func(t *testing.T, w serialWriter) {
		require.ErrorContains(t, w.run(newEnvironment(newRooms(), "by-hand")), "start it with the workflow id "+w.id)
	})
}
