package erase

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// newActivities returns activities for a namespace of a real Temporal.
func newActivities(t *testing.T) *Activities {
	t.Helper()
	namespace, address := stacktest.Namespace(t), stacktest.Temporal(t)
	c, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return &Activities{temporal: c, namespace: namespace, maxDeleting: 3 * time.Minute, pollDeleting: time.Second}
}

// start starts a run that waits until it is cancelled.
func (a *Activities) start(t *testing.T, id, workflowType string) Execution {
	t.Helper()
	run, err := a.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "test"}, workflowType)
	require.NoError(t, err)
	return Execution{id, run.GetRunID()}
}

// work runs the workflows of [Activities.start]. One with the id "by hand" runs a child with the id, which has its
// type.
func (a *Activities) work(t *testing.T, child string) {
	t.Helper()
	w := worker.New(a.temporal, "test", worker.Options{})
	wait := func(ctx workflow.Context) error {
		info := workflow.GetInfo(ctx)
		if info.WorkflowExecution.ID == "by hand" {
			ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: child})
			return workflow.ExecuteChildWorkflow(ctx, info.WorkflowType.Name).Get(ctx, nil)
		}
		if info.WorkflowType.Name == schema.WorkflowForget {
			return nil
		}
		ctx.Done().Receive(ctx, nil)
		return ctx.Err()
	}
	for _, name := range []string{
		schema.WorkflowProcessSession, schema.WorkflowMemoryQueue, schema.WorkflowDeepDream, schema.WorkflowForget,
	} {
		w.RegisterWorkflowWithOptions(wait, workflow.RegisterOptions{Name: name})
	}
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
}

// requireListed waits until Temporal lists n executions of the scope.
func (a *Activities) requireListed(t *testing.T, scope schema.ErasureScope, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		listed, err := a.affectedExecutions(t.Context(), scope)
		return err == nil && len(listed) == n
	}, time.Minute, 50*time.Millisecond)
}

func (a *Activities) requireExists(t *testing.T, e Execution, want bool) {
	t.Helper()
	status, err := a.status(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, want, status != 0, e.WorkflowID)
}

// Temporal still lists a run that has just ended, and keeps its history, for some seconds after a request to delete it.
// An erasure waits for the deletion. It deletes each run of its sessions, running or ended, and none of a session whose
// name only has the same prefix.
func TestExecutionsAreDeleted(t *testing.T) {
	t.Parallel()
	a := newActivities(t)
	session := schema.ErasureScope{Project: "p 'x'", User: "ü/u", SessionID: "s%2F1\x01"}
	longer := session
	longer.SessionID += "2"
	id := session.Session().WorkflowID()
	ended := a.start(t, id, schema.WorkflowProcessSession)
	require.NoError(t, a.temporal.TerminateWorkflow(t.Context(), id, ended.RunID, "test"))
	runs := a.start(t, id, schema.WorkflowProcessSession)
	other := a.start(t, longer.Session().WorkflowID(), schema.WorkflowProcessSession)
	a.requireListed(t, session, 2)
	a.requireListed(t, longer, 1)

	out, err := a.eraseExecutions(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{Executions: 2}, out)
	a.requireExists(t, ended, false)
	a.requireExists(t, runs, false)
	a.requireListed(t, session, 0)
	a.requireExists(t, other, true)

	// A run that began since is found, and so is one that Temporal had not deleted in time. For a query no run is
	// recognized by its id.
	late := a.start(t, id, schema.WorkflowProcessSession)
	a.requireListed(t, session, 1)
	find := func(scope schema.ErasureScope, executions ...Execution) []schema.Leftover {
		s := &search{}
		in := FindInput{Input: Input{ForgetInput: schema.ForgetInput{ErasureScope: scope}}, Executions: executions}
		require.NoError(t, a.findExecutions(t.Context(), in, s))
		return s.found.Left
	}
	require.Equal(t, []schema.Leftover{late.leftover()}, find(session, ended, late))
	text := schema.ErasureScope{Project: session.Project, User: session.User, Query: "a text"}
	require.Empty(t, find(text))
	require.Equal(t, []schema.Leftover{other.leftover()}, find(text, ended, other))

	// A text may be in any session that has begun.
	d := deletion{Activities: a, scope: text, began: time.Now().Add(-time.Hour), requested: map[Execution]bool{}}
	left, err := d.poll(t.Context())
	require.NoError(t, err)
	require.Empty(t, left, "they began later")
	out, err = a.eraseExecutions(t.Context(), text)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{Executions: 2}, out)
	a.requireExists(t, late, false)
	a.requireExists(t, other, false)
}

// Executions that outlast the limit are returned, and a repeated erasure continues with them.
func TestExecutionsOutlastTheLimit(t *testing.T) {
	t.Parallel()
	a := newActivities(t)
	scope := schema.ErasureScope{Project: "p", User: "u", SessionID: "s"}
	e := a.start(t, scope.Session().WorkflowID(), schema.WorkflowProcessSession)
	a.requireListed(t, scope, 1)
	limit := a.maxDeleting
	a.maxDeleting = 0
	out, err := a.eraseExecutions(t.Context(), scope)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{Executions: 1, Left: []Execution{e}}, out)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.eraseExecutions(ctx, scope)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "wait until Temporal has deleted")

	a.maxDeleting = limit
	_, err = a.eraseExecutions(t.Context(), scope)
	require.NoError(t, err)
	require.Eventually(t, func() bool { // It may have left the list before its history was deleted.
		status, err := a.status(t.Context(), e)
		return err == nil && status == 0
	}, time.Minute, 50*time.Millisecond)
}

// A session or a dream that was started under another id is a child of that run, whose history contains the input.
func TestParentsOfErased(t *testing.T) {
	t.Parallel()
	for workflowType, scope := range map[string]schema.ErasureScope{
		schema.WorkflowProcessSession: {Project: "p", User: "u", SessionID: "s"}, schema.WorkflowDeepDream: {User: "u"},
	} {
		t.Run(workflowType, func(t *testing.T) {
			t.Parallel()
			a := newActivities(t)
			child := scope.Session().WorkflowID()
			if workflowType == schema.WorkflowDeepDream {
				child = schema.DeepDreamInput{User: "u"}.WorkflowID()
			}
			a.work(t, child)
			parent := a.start(t, "by hand", workflowType)
			a.requireListed(t, scope, 2)
			out, err := a.eraseExecutions(t.Context(), scope)
			require.NoError(t, err)
			require.Equal(t, ExecutionsErased{Executions: 2}, out)
			a.requireExists(t, parent, false)
		})
	}
}

// The run that sends the summary of a session names its user, and its id does not.
func TestChildrenOfErased(t *testing.T) {
	t.Parallel()
	a := newActivities(t)
	scope := schema.ErasureScope{Project: "p", User: "u", SessionID: "by hand"}
	w := worker.New(a.temporal, "test", worker.Options{})
	session := scope.Session().WorkflowID()
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: "notify/1", ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON})
		return workflow.ExecuteChildWorkflow(ctx, schema.WorkflowNotifySummary).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: schema.WorkflowProcessSession})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil }, workflow.RegisterOptions{Name: schema.WorkflowNotifySummary})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	run := a.start(t, session, schema.WorkflowProcessSession)
	require.NoError(t, a.temporal.GetWorkflow(t.Context(), session, run.RunID).Get(t.Context(), nil))
	a.requireListed(t, scope, 2)
	out, err := a.eraseExecutions(t.Context(), scope)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{Executions: 2}, out)
}

// A schedule that dreams for an erased user would name the user each night.
func TestSchedulesOfErased(t *testing.T) {
	t.Parallel()
	a := newActivities(t)
	create := func(user, agent string) string {
		id := schema.DreamScheduleID(user, agent)
		_, err := a.temporal.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
			ID: id, Spec: client.ScheduleSpec{CronExpressions: []string{"0 3 * * *"}},
			Action: &client.ScheduleWorkflowAction{ID: id, Workflow: schema.WorkflowDeepDream, TaskQueue: "test"},
		})
		require.NoError(t, err)
		return id
	}
	gone := []string{create("ü/u", ""), create("ü/u", "code 'x'\n")}
	kept := []string{create("ü", "u"), create("ü/u2", ""), create("", "")}
	scope := schema.ErasureScope{User: "ü/u"}
	require.Eventually(t, func() bool { // They are listed a little later.
		ids, err := a.schedules(t.Context(), scope)
		return err == nil && len(ids) == len(gone)
	}, time.Minute, 50*time.Millisecond)
	s := &search{}
	require.NoError(t, a.findExecutions(t.Context(), FindInput{Input: Input{ForgetInput: schema.ForgetInput{ErasureScope: scope}}}, s))
	require.Len(t, s.found.Left, 2)
	require.Equal(t, "temporal", s.found.Left[0].Store)
	_, err := a.eraseExecutions(t.Context(), scope)
	require.NoError(t, err)
	for i, id := range append(gone, kept...) {
		_, err := a.temporal.ScheduleClient().GetHandle(t.Context(), id).Describe(t.Context())
		if i < len(gone) {
			require.ErrorAs(t, err, new(*serviceerror.NotFound), id)
		} else {
			require.NoError(t, err, id)
		}
	}
}

// The runs of forget name the erased content. They are deleted by their ids as soon as the result is available, even if
// no list shows yet that they have ended.
func TestDeleteOwnRuns(t *testing.T) {
	t.Parallel()
	a := newActivities(t)
	a.work(t, schema.ForgetWorkflowID)
	run := a.start(t, "by hand", schema.WorkflowForget)
	require.NoError(t, a.temporal.GetWorkflow(t.Context(), run.WorkflowID, run.RunID).Get(t.Context(), nil))
	child, err := a.temporal.DescribeWorkflowExecution(t.Context(), schema.ForgetWorkflowID, "")
	require.NoError(t, err)
	require.NoError(t, DeleteOwnRuns(t.Context(), a.temporal, a.namespace, run))
	for _, e := range []Execution{run, executionOf(child.GetWorkflowExecutionInfo())} {
		require.Eventually(t, func() bool {
			status, err := a.status(t.Context(), e)
			return err == nil && status == 0
		}, time.Minute, 50*time.Millisecond, e.WorkflowID)
	}

	// One that a person started in Temporal's web interface is deleted by the next erasure.
	run = a.start(t, "by hand", schema.WorkflowForget)
	require.NoError(t, a.temporal.GetWorkflow(t.Context(), run.WorkflowID, run.RunID).Get(t.Context(), nil))
	require.Eventually(t, func() bool {
		require.NoError(t, a.deleteEndedErasures(t.Context()))
		status, err := a.status(t.Context(), run)
		return err == nil && status == 0
	}, time.Minute, 50*time.Millisecond)
}

// A queue that an earlier attempt has cancelled starts again, also if another run of it began meanwhile.
func TestCancelledQueueStartsAgain(t *testing.T) {
	t.Parallel()
	a := newActivities(t)
	a.work(t, "")
	scope := schema.ErasureScope{Project: "p", User: "u", SessionID: "s"}
	id := schema.WorkflowID(schema.QueueStream("u", ""))
	first := a.start(t, id, schema.WorkflowMemoryQueue)
	require.NoError(t, a.temporal.CancelWorkflow(t.Context(), id, first.RunID))
	require.Error(t, a.temporal.GetWorkflow(t.Context(), id, first.RunID).Get(t.Context(), nil))
	second := a.start(t, id, schema.WorkflowMemoryQueue)
	a.requireListed(t, scope, 2)
	out, err := a.eraseExecutions(t.Context(), scope)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{Executions: 2}, out)
	a.requireExists(t, first, false)
	a.requireExists(t, second, false)
	d, err := a.temporal.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, d.GetWorkflowExecutionInfo().GetStatus())
}

// A running queue is cancelled, so that it stores its signals. It is started again if one of its sessions is erased,
// but not if its user is.
func TestQueuesOfErased(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		scope  schema.ErasureScope
		starts bool
	}{
		"session": {schema.ErasureScope{Project: "p", User: "u", SessionID: "s"}, true},
		"user":    {schema.ErasureScope{User: "u"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newActivities(t)
			a.work(t, "")
			id := schema.WorkflowID(schema.QueueStream("u", ""))
			queue := a.start(t, id, schema.WorkflowMemoryQueue)
			a.requireListed(t, tt.scope, 1)
			out, err := a.eraseExecutions(t.Context(), tt.scope)
			require.NoError(t, err)
			require.Equal(t, ExecutionsErased{Executions: 1}, out)
			a.requireExists(t, queue, false)
			d, err := a.temporal.DescribeWorkflowExecution(t.Context(), id, "")
			if !tt.starts {
				require.ErrorAs(t, err, new(*serviceerror.NotFound))
				return
			}
			require.NoError(t, err)
			require.NotEqual(t, queue.RunID, d.GetWorkflowExecutionInfo().GetExecution().GetRunId())
		})
	}
}
