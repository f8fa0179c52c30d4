package main_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"

	"axiommind/schema"
	"axiommind/worker/runner/runnertest"
)

// A worker that has memory switched off processes no queue: neither its backlog, nor contexts that others send meanwhile. A
// worker with memory switched on processes all of it.
func TestQueueSwitchedOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	stop := b.start(t)
	before := b.queued("ann", `before "1"/프`, "1", decision)
	before.Debounce = time.Hour
	b.enqueue(t, before)
	id := schema.WorkflowID(schema.QueueStream("ann", ""))
	eventually(t, func() bool {
		value, err := b.Temporal.QueryWorkflow(t.Context(), id, "", schema.QueryState)
		var state schema.QueueState
		return err == nil && value.Get(&state) == nil && state.Threads == 1
	})
	stop()

	b.cfg.NoQueue = true
	var logged runnertest.Log
	stop = b.startLogging(t, slog.New(slog.NewTextHandler(&logged, nil)))
	meanwhile := b.queued("ann", "meanwhile", "2", "I prefer tabs over spaces.")
	meanwhile.Now = true
	b.enqueue(t, meanwhile)
	other := b.queued("bob", "other", "3", "I prefer tabs over spaces.")
	other.Now = true
	b.enqueue(t, other)
	direct := b.input("direct", "")
	direct.Messages = []schema.InlineMessage{{Role: "user", Content: decision}}
	require.Equal(t, schema.BuildSuccess, b.process(t, direct).Status, "sessions that come by no queue go on")
	require.Contains(t, logged.String(), "memory is switched off")
	require.Empty(t, b.texts(t, "ann", before.Thread))
	require.Empty(t, b.texts(t, "ann", meanwhile.Thread))
	require.Empty(t, b.texts(t, "bob", other.Thread))
	history := b.Temporal.GetWorkflowHistory(t.Context(), schema.WorkflowID(schema.QueueStream("bob", "")), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e, err := history.Next()
		require.NoError(t, err)
		require.NotEqual(t, enums.EVENT_TYPE_WORKFLOW_TASK_STARTED, e.GetEventType(), "no worker has taken the queue")
	}
	stop()

	b.cfg.NoQueue = false
	b.start(t)
	require.Empty(t, b.flushQueue(t, "ann").Failed)
	require.Empty(t, b.flushQueue(t, "bob").Failed)
	require.Equal(t, []string{decision}, b.texts(t, "ann", before.Thread))
	require.Equal(t, []string{"I prefer tabs over spaces."}, b.texts(t, "ann", meanwhile.Thread))
	require.Equal(t, []string{"I prefer tabs over spaces."}, b.texts(t, "bob", other.Thread))
}
