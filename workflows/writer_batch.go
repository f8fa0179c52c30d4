package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// Bounds of a batch. maxBatchBytes keeps an activity's input well below the size limit of payloads.
const (
	maxBatch      = 32
	maxBatchBytes = 48 << 10
)

// batchUpdate is an update that a writer does in batches: one activity does all consecutive pending updates of the
// kind. Each gets an outcome of its own.
type batchUpdate[Arg boundary.Request, Result any] struct {
	// name is one of the schema.Update constants.
	name string
	// title describes one update for people.
	title func(Arg) string
	// activity returns one outcome for each item. Its error is the error of all of them.
	activity func(context.Context, boundary.Batch[Arg]) (boundary.Outcomes[Result], error)
	// options are those of the activity, such as storeWork.
	options func(ctx workflow.Context, summary string) workflow.Context
	// due returns the time of background work that follows from the result. Nil means never.
	due func(Result) time.Time
}

// handle registers the update's handler.
func (u batchUpdate[Arg, Result]) handle(ctx workflow.Context, q *updateQueue) error {
	return handleUpdate[Arg, Result](ctx, q, u.name, func(arg Arg) request {
		return request{title: u.title(arg), turn: turn{key: u.name, do: u.do}, size: jsonSize(arg)}
	})
}

// do does the updates in order. After an error it is unknown how many of their events are in the log.
func (u batchUpdate[Arg, Result]) do(ctx workflow.Context, q *updateQueue, requests []*request) {
	in := boundary.Batch[Arg]{Head: q.head, Items: make([]Arg, len(requests))}
	for i, r := range requests {
		in.Items[i], _ = r.arg.(Arg)
	}
	out, err := call(u.options(ctx, q.running), u.activity, in)
	if err == nil && len(out.Items) != len(requests) {
		message := fmt.Sprintf("the batch of %d updates has %d outcomes", len(requests), len(out.Items))
		err = temporal.NewNonRetryableApplicationError(message, schema.ErrorInternal, nil)
	}
	if err != nil {
		q.head = schema.StreamHead{}
		for _, r := range requests {
			r.err = err
		}
		return
	}
	q.head = out.Head
	for i, r := range requests {
		r.result, r.err = out.Items[i].Result, out.Items[i].Failed.Err()
		if u.due != nil {
			q.dueBy(u.due(out.Items[i].Result))
		}
	}
}

// jsonSize returns the size of the value in a payload.
func jsonSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return maxBatchBytes // It gets a turn of its own, and the call of its activity fails.
	}
	return len(data)
}
