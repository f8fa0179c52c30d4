package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/task"
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

func runProjectTasks(env *testsuite.TestWorkflowEnvironment) error {
	env.ExecuteWorkflow(schema.WorkflowProjectTasks, schema.ProjectTasksInput{Project: "p"})
	return env.GetWorkflowError()
}

func projectEnvironment(r *rooms) *testsuite.TestWorkflowEnvironment {
	return newEnvironment(r, schema.ProjectWorkflowID("p"))
}

// Updates of one project are done one after the other, in the order they came; the writer ends once
// nothing came for the idle time.
func TestProjectTasksInOrder(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.resolved = task.Result{Events: 4}
	env := projectEnvironment(r)
	updates := make([]update, 5)
	env.RegisterDelayedCallback(func() {
		for i := range updates {
			in := task.SessionInput{Project: "p", SessionID: string(rune('a' + i))}
			env.UpdateWorkflow(schema.UpdateSession, in.SessionID, updates[i].callbacks(), in)
		}
	}, time.Second)
	require.NoError(t, runProjectTasks(env))
	for i, in := range inputsOf[task.SessionInput](r, "ResolveTasks") {
		require.Equal(t, string(rune('a'+i)), in.SessionID)
	}
	for _, u := range updates {
		require.True(t, u.accepted)
		require.NoError(t, u.err)
		require.Equal(t, task.Result{Events: 4}, u.result)
	}
	require.Len(t, r.order(), 5)
}

// A refused update is the sender's alone: the writer goes on.
func TestProjectTasksRefusal(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("ResolveTasks", schema.ErrorTaskRefused)
	env := projectEnvironment(r)
	var first, second, invalid update
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(schema.UpdateSession, "1", first.callbacks(), task.SessionInput{Project: "p"})
		env.UpdateWorkflow(schema.UpdateCommand, "2", invalid.callbacks(), task.Command{})
	}, time.Second)
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(schema.UpdateSession, "3", second.callbacks(), task.SessionInput{Project: "p"})
	}, 2*time.Second)
	require.NoError(t, runProjectTasks(env))
	for _, u := range []update{first, second} {
		var application *temporal.ApplicationError
		require.ErrorAs(t, u.err, &application)
		require.Equal(t, schema.ErrorTaskRefused, application.Type())
	}
	require.False(t, invalid.accepted)
	require.ErrorContains(t, invalid.err, schema.ErrorInvalidInput)
	require.Equal(t, []string{"ResolveTasks", "ResolveTasks"}, r.order())
}

func TestProjectTasksContinuesAsNew(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := projectEnvironment(r)
	var u update
	env.RegisterDelayedCallback(func() {
		env.SetContinueAsNewSuggested(true)
		env.UpdateWorkflow(schema.UpdateSession, "1", u.callbacks(), task.SessionInput{Project: "p"})
	}, time.Second)
	err := runProjectTasks(env)
	require.True(t, workflow.IsContinueAsNewError(err), "%v", err)
	require.NoError(t, u.err)
	require.Len(t, r.order(), 1)
}

func TestProjectTasksRefusesAnotherID(t *testing.T) {
	t.Parallel()
	err := runProjectTasks(newEnvironment(newRooms(), "by-hand"))
	require.ErrorContains(t, err, "start it with the workflow id project/p")
}
