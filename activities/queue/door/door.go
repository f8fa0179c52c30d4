// Package door is how contexts get to a queue: by one signal, or by way of a directory while Temporal is away. It is what a
// hook of an agent needs, which starts for each of the agent's turns. So it imports little.
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

// Send enqueues the context, and starts its queue where that does not run. It waits for Temporal alone: not for a worker,
// and not for a model. A context that is sent again counts once.
//
// The memo that says whether the queue is full is asked for at the same time, so that all is one round trip. The error is
// then an [ErrFull]; the queue judges by itself, so that the context may be admitted nevertheless.
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

// polite returns a function that sends contexts, and none to a queue that is full: a queue is asked before its first signal. It
// is for contexts that are sent again and again, as each signal stays in the history of the queue.
func polite(c client.Client) func(context.Context, schema.QueuedContext) error {
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

// Signal is [Send] without asking whether the queue is full. It is for hooks, which have no time for that, and whose
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

// signalsLimit is what the server says when a run takes no more signals.
const signalsLimit = "exceeded workflow execution limit for signal events"

// isFull reports whether the queue says that it is full. One that can't be asked says nothing.
func isFull(ctx context.Context, c client.Client, id string) (full bool) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return false
	}
	p := d.GetWorkflowExecutionInfo().GetMemo().GetFields()[schema.QueueMemoFull]
	return p != nil && converter.GetDefaultDataConverter().FromPayload(p, &full) == nil && full
}
