package erase

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// erasing is what erases from a namespace of a real Temporal.
func erasing(t *testing.T) *Activities {
	t.Helper()
	namespace, address := stacktest.Namespace(t), stacktest.Temporal(t)
	c, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return &Activities{temporal: c, namespace: namespace}
}

// start starts a run that no worker takes. It ends it unless it is to go on.
func (a *Activities) start(t *testing.T, id, workflowType string, goesOn bool) *common.WorkflowExecution {
	t.Helper()
	run, err := a.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "none"}, workflowType)
	require.NoError(t, err)
	if !goesOn {
		require.NoError(t, a.temporal.TerminateWorkflow(t.Context(), id, run.GetRunID(), "test"))
	}
	return &common.WorkflowExecution{WorkflowId: id, RunId: run.GetRunID()}
}

func (a *Activities) listed(t *testing.T, scope schema.ErasureScope) (runs []string) {
	t.Helper()
	all, err := a.holding(t.Context(), scope, time.Now())
	require.NoError(t, err)
	for _, w := range all {
		runs = append(runs, w.GetExecution().GetRunId())
	}
	return runs
}

func (a *Activities) has(t *testing.T, w *common.WorkflowExecution) bool {
	t.Helper()
	has, err := a.hasExecution(t.Context(), w)
	require.NoError(t, err)
	return has
}

// Temporal lists a run that has just ended, and keeps its history, for some seconds after it was told to delete it. An erasure waits
// for that. It deletes each run of its sessions, whether that goes on or has ended, and none whose name begins alike or that begins
// later.
func TestExecutionsAreGone(t *testing.T) {
	t.Parallel()
	a := erasing(t)
	session := schema.ErasureScope{Project: "p 'x'", User: "ü/u", SessionID: "s%2F1\x01"}
	text := schema.ErasureScope{Project: "p 'x'", User: "ü/u", Query: "a text"}
	longer := session
	longer.SessionID += "2"
	id := session.Session().WorkflowID()
	first := a.start(t, id, schema.WorkflowProcessSession, false)
	second := a.start(t, id, schema.WorkflowProcessSession, true)
	other := a.start(t, longer.Session().WorkflowID(), schema.WorkflowProcessSession, true)
	require.Eventually(t, func() bool { return len(a.listed(t, session)) == 2 && len(a.listed(t, longer)) == 1 }, time.Minute, 50*time.Millisecond)

	out, err := a.eraseExecutions(t.Context(), session, time.Minute)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{Executions: 2}, out)
	require.Empty(t, a.listed(t, session))
	require.False(t, a.has(t, first))
	require.False(t, a.has(t, second))
	require.True(t, a.has(t, other))

	before := time.Now()
	late := a.start(t, id, schema.WorkflowProcessSession, true)
	require.Eventually(t, func() bool { return len(a.listed(t, session)) == 1 }, time.Minute, 50*time.Millisecond)
	early, err := a.holding(t.Context(), session, before)
	require.NoError(t, err)
	require.Empty(t, early, "it began later")

	// What holds a text is not known by its id: all sessions go.
	out, err = a.eraseExecutions(t.Context(), text, time.Minute)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{Executions: 2}, out)
	require.False(t, a.has(t, late))
	require.False(t, a.has(t, other))
}

// What Temporal does not delete in time is told.
func TestExecutionsAreLeft(t *testing.T) {
	t.Parallel()
	a := erasing(t)
	scope := schema.ErasureScope{Project: "p", User: "u", SessionID: "s"}
	w := a.start(t, scope.Session().WorkflowID(), schema.WorkflowProcessSession, true)
	require.Eventually(t, func() bool { return len(a.listed(t, scope)) == 1 }, time.Minute, 50*time.Millisecond)
	out, err := a.eraseExecutions(t.Context(), scope, 0)
	require.NoError(t, err)
	require.Equal(t, ExecutionsErased{
		Executions: 1, Left: []schema.Leftover{{Store: "temporal", Place: fmt.Sprintf("%s, run %s", w.GetWorkflowId(), w.GetRunId())}},
	}, out)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = a.eraseExecutions(ctx, scope, time.Minute)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "wait until Temporal has deleted")
}

// The queue of a user is started again when one of its sessions is erased, and not when the user is.
func TestQueuesOfErased(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]schema.ErasureScope{
		"session": {Project: "p", User: "u", SessionID: "s"},
		"user":    {User: "u"},
	} {
		a := erasing(t)
		id := schema.WorkflowID(schema.QueueStream("u", ""))
		queue := a.start(t, id, schema.WorkflowMemoryQueue, true)
		require.Eventually(t, func() bool { return len(a.listed(t, scope)) == 1 }, time.Minute, 50*time.Millisecond, name)
		ended := make(chan error)
		go func() { // No worker has the queue end.
			assert.Eventually(t, func() bool {
				d, err := a.temporal.DescribeWorkflowExecution(t.Context(), id, queue.GetRunId())
				return assert.NoError(t, err) && d.GetWorkflowExtendedInfo().GetCancelRequested()
			}, time.Minute, 20*time.Millisecond)
			ended <- a.temporal.TerminateWorkflow(t.Context(), id, queue.GetRunId(), "test")
		}()
		out, err := a.eraseExecutions(t.Context(), scope, time.Minute)
		require.NoError(t, err, name)
		require.NoError(t, <-ended, name)
		require.Equal(t, ExecutionsErased{Executions: 1}, out, name)
		again, err := a.temporal.DescribeWorkflowExecution(t.Context(), id, "")
		if name == "user" {
			require.Error(t, err, name)
			continue
		}
		require.NoError(t, err, name)
		require.NotEqual(t, queue.GetRunId(), again.GetWorkflowExecutionInfo().GetExecution().GetRunId())
	}
}
