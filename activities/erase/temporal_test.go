package erase

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// A run that has just ended is listed for some seconds after Temporal was told to delete it. The erasure waits for that, so that
// the search does not tell of it, and waits for no run of another session whose name begins alike.
func TestDeletedExecutionsAreWaitedFor(t *testing.T) {
	t.Parallel()
	namespace, address := stacktest.Namespace(t), stacktest.Temporal(t)
	c, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer c.Close()
	a := &Activities{temporal: c, namespace: namespace}
	scope := schema.ErasureScope{Project: "p 'x'", User: "ü/u", SessionID: "s%2F1\x01"}
	other := scope
	other.SessionID += "2"
	for _, id := range []string{scope.Session().WorkflowID(), other.Session().WorkflowID()} {
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "none"}, schema.WorkflowProcessSession)
		require.NoError(t, err)
		require.NoError(t, c.TerminateWorkflow(t.Context(), id, run.GetRunID(), "test"))
	}
	count := func(scope schema.ErasureScope) int {
		ids, err := a.executionsOf(t.Context(), scope)
		require.NoError(t, err)
		return len(ids)
	}
	require.Eventually(t, func() bool { return count(scope) == 1 && count(other) == 1 }, time.Minute, 50*time.Millisecond, "both are listed")

	require.NoError(t, a.executions(t.Context(), "", func(w *workflow.WorkflowExecutionInfo) {
		if erases(scope, w.GetExecution().GetWorkflowId()) {
			require.NoError(t, a.deleteExecution(t.Context(), w))
		}
	}))
	require.NoError(t, a.awaitDeleted(t.Context(), scope))
	require.Zero(t, count(scope))
	require.Equal(t, 1, count(other))

	scope.SessionID, scope.Query = "", "a text"
	require.Zero(t, count(scope), "sessions in which a text was go on")
}
