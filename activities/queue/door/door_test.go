package door_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/queue/door"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// signals counts the signals of a queue.
func signals(t *testing.T, c client.Client, q schema.QueuedContext) (n int) {
	t.Helper()
	events := c.GetWorkflowHistory(t.Context(), schema.WorkflowID(q.Queue().Stream()), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)
		if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			n++
		}
	}
	return n
}

// A queue that says it is full is not signalled with each look at the spool. Contexts that it admits
// nevertheless, and those of other queues, are delivered.
func TestWatchAsksBeforeItSends(t *testing.T) {
	t.Parallel()
	c, err := client.Dial(client.Options{HostPort: stacktest.Temporal(t), Namespace: stacktest.Namespace(t)})
	require.NoError(t, err)
	defer c.Close()
	s := spool(t)
	full := contextOf("1", "a")
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: schema.WorkflowID(full.Queue().Stream()), TaskQueue: "nothing polls it", Memo: map[string]any{schema.QueueMemoFull: true},
	}, schema.WorkflowMemoryQueue, full.Queue())
	require.NoError(t, err)
	require.NoError(t, s.Put(full))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		door.Watch(ctx, s, c, 10*time.Millisecond, slog.New(slog.DiscardHandler))
		close(ended)
	}()
	delivered := func(q schema.QueuedContext) {
		t.Helper()
		require.NoError(t, s.Put(q))
		require.Eventually(t, func() bool { return length(t, s) == 1 }, time.Minute, 10*time.Millisecond, "the one for the full queue stays")
	}
	for _, id := range []string{"2", "3", "4"} { // Each takes another look at the spool.
		other := contextOf(id, "b")
		other.User = "bob " + id
		delivered(other)
		require.Equal(t, 1, signals(t, c, other))
	}
	require.Zero(t, signals(t, c, full))
	urgent := contextOf("5", "c")
	urgent.Now = true
	delivered(urgent)
	require.Equal(t, 1, signals(t, c, urgent))
	stop()
	<-ended
}
