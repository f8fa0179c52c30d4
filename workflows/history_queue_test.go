package workflows_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// queuePaths are the paths through a queue.
func queuePaths() []path {
	away := temporal.NewApplicationError("connection refused", schema.ErrorStoreUnavailable)
	never := temporal.NewNonRetryableApplicationError("read only", schema.ErrorStoreRejected, nil)
	queued := func(failures ...error) func() *rooms {
		return with(func(r *rooms) { r.ingested.QueuedTo, r.queueRoom.fail = 2, failures })
	}
	return []path{
		{name: "memory_queue", start: startQueue, rooms: queued()},
		{name: "memory_queue_flushed", start: startQueue, rooms: queued(), during: flushQueue},
		{name: "memory_queue_log_fails", start: startQueue, rooms: queued(never, nil, never, nil, never), during: flushQueue},
		{name: "memory_queue_log_away", start: startQueue, rooms: queued(nil, away, away, away, away), during: flushQueue},
		{name: "memory_queue_session_fails", start: startQueue, during: flushQueue, rooms: with(func(r *rooms) {
			r.failing("IngestSession", schema.ErrorSourceUnreadable)
		})},
		{name: "memory_queue_cancelled", start: startQueue, rooms: queued(), during: cancelQueue, fails: "canceled"},
		{name: "memory_queue_failed", start: startQueueAs("by-hand"), fails: `the queue of this user and agent is the workflow "queue/u/"`},
		{name: "memory_queue_reset", start: startQueue, rooms: queued(), during: flushQueue, then: resetInTheMiddle},
		{name: "memory_queue_continued", long: true, start: startQueue, rooms: queued(), during: flushQueue},
		{name: "memory_queue_next", long: true, last: true, start: startQueue, rooms: queued(), during: flushQueue},
	}
}

// startQueue enqueues two contexts of a session, and one of another.
func startQueue(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	return startQueueAs(schema.WorkflowID(schema.QueueStream("u", "")))(ctx, t, c)
}

func startQueueAs(id string) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		var run client.WorkflowRun
		for i, thread := range []string{"s1", "s1", "s2"} {
			q := schema.QueuedContext{
				ID: fmt.Sprint("c", i), Scope: schema.Scope{Project: "p", User: "u"}, Thread: thread, At: time.Unix(1e9, 0).UTC(), Debounce: 2 * time.Second,
				Messages: []schema.InlineMessage{{Role: "user", Content: fmt.Sprint("message ", i)}},
			}
			var err error
			run, err = c.SignalWithStartWorkflow(ctx, id, schema.SignalEnqueue, q, client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain},
				schema.WorkflowMemoryQueue, q.Queue())
			require.NoError(t, err)
			if id == "by-hand" {
				break
			}
		}
		return run
	}
}

// flushQueue flushes a queue. It sends the update again if the run continues as new.
func flushQueue(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun) {
	i := 0
	require.EventuallyWithT(t, func(tries *assert.CollectT) {
		i++
		handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID: run.GetID(), UpdateName: schema.UpdateFlush, UpdateID: fmt.Sprint("flush", i), Args: []any{schema.FlushInput{User: "u"}},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = handle.Get(ctx, nil)
		}
		assert.NoError(tries, err)
	}, time.Minute, 300*time.Millisecond, "the queue is not flushed")
}

// cancelQueue cancels a queue once a context has arrived.
func cancelQueue(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun) {
	flushQueue(ctx, t, c, run)
	cancel(ctx, t, c, run)
}
