// Package door delivers contexts to a queue: by one signal, or through a directory while Temporal is down. Agent hooks use
// it, and a hook starts on each of the agent's turns. So the package imports little.
package door

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"axiommind/schema"
)

// ErrFull is returned for a context that a queue does not take, because too much waits there.
var ErrFull = errors.New("the queue is full")

// Send enqueues the context, and starts its queue if that does not run. It waits for Temporal only, not for a worker or a
// model. A context that is sent again counts once.
//
// In the same round trip it asks whether the queue is full. If so, it returns an [ErrFull]. The queue decides for itself,
// so the context may be admitted nevertheless.
func Send(ctx context.Context, c client.Client, q schema.QueuedContext) error {
	full := make(chan bool, 1)
	if q.Admitted() {
		full <- false
	} else {
		go func() { full <- isFull(ctx, c, workflowID(q)) }()
	}
	if err := Signal(ctx, c, q); err != nil {
		return err
	}
	if <-full {
		return fmt.Errorf("enqueue for %s: %w: %d sessions or more wait, and this one may be left out; give it again when some are "+
			"processed (starter queue shows them), it counts once", q.User, ErrFull, schema.QueueNearlyFull)
	}
	return nil
}

// skipFullQueues returns a function that sends contexts, but none to a queue that is full: it asks a queue before its first
// signal. It is for contexts that are sent again and again, because each signal stays in the history of the queue.
func skipFullQueues(c client.Client) func(context.Context, schema.QueuedContext) error {
	full := map[string]bool{}
	return func(ctx context.Context, q schema.QueuedContext) error {
		if !q.Admitted() {
			id := workflowID(q)
			is, asked := full[id]
			if !asked {
				is = isFull(ctx, c, id)
				full[id] = is
			}
			if is {
				return fmt.Errorf("enqueue for %s: %w: %d sessions or more wait (starter queue shows them)", q.User, ErrFull, schema.QueueNearlyFull)
			}
		}
		return Signal(ctx, c, q)
	}
}

func workflowID(q schema.QueuedContext) string { return schema.WorkflowID(q.Queue().Stream()) }

// Signal is [Send] without the question whether the queue is full. It is for hooks, which have no time for it, and whose
// transcripts are enqueued again after the agent's next turn.
func Signal(ctx context.Context, c client.Client, q schema.QueuedContext) error {
	if err := q.Validate(); err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	in := q.Queue()
	id := schema.WorkflowID(in.Stream())
	_, err := c.SignalWithStartWorkflow(ctx, id, schema.SignalEnqueue, q, client.StartWorkflowOptions{
		ID: id, TaskQueue: schema.QueueMemory, StaticSummary: "queue of " + q.User,
	}, schema.WorkflowMemoryQueue, in)
	var refused *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &refused) && refused.Message == signalsLimit:
		return fmt.Errorf("enqueue for %s: %w: 10,000 contexts wait, and no worker takes them: start one", q.User, ErrFull)
	case err != nil:
		return fmt.Errorf("enqueue for %s: %w", q.User, err)
	}
	return nil
}

// signalsLimit is the server's error when a run takes no more signals.
const signalsLimit = "exceeded workflow execution limit for signal events"

// isFull reports whether the queue says that it is full. It returns false for a queue that can't be asked.
func isFull(ctx context.Context, c client.Client, id string) (full bool) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return false
	}
	p := d.GetWorkflowExecutionInfo().GetMemo().GetFields()[schema.QueueMemoFull]
	return p != nil && converter.GetDefaultDataConverter().FromPayload(p, &full) == nil && full
}
