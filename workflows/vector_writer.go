package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/vector"
	"axiommind/schema"
)

const (
	// indexAtOnce is how many outbox rows one activity works on.
	indexAtOnce = 512
	// idleTime is how long the writer of a collection waits for more before it ends; the next wake
	// starts it again.
	idleTime = time.Minute
)

// VectorWriter is the only writer of a collection and of its stream: it works on the outbox whenever
// it is woken, or a failed row falls due, until nothing is left.
func VectorWriter(ctx workflow.Context, in schema.VectorWriterInput) error {
	if want := schema.VectorWorkflowID(in.Collection); workflow.GetInfo(ctx).WorkflowExecution.ID != want {
		return temporal.NewNonRetryableApplicationError("start it with the workflow id "+want, schema.ErrorInvalidInput, nil)
	}
	wake := workflow.GetSignalChannel(ctx, schema.SignalWake)
	for {
		drain(wake)
		var result vector.Result
		call := vectorWork(ctx, "index what is pending")
		if err := workflow.ExecuteActivity(call, vectors.IndexPending, vector.IndexInput{Limit: indexAtOnce}).Get(ctx, &result); err != nil {
			return err
		}
		if result.Remaining == 0 && !awaitWork(ctx, wake, result.NextRetry) {
			return nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			drain(wake) // The new run begins with all that is due.
			return workflow.NewContinueAsNewError(ctx, VectorWriter, in)
		}
	}
}

func drain(channel workflow.ReceiveChannel) {
	for channel.ReceiveAsync(nil) {
	}
}

// awaitWork waits for a wake or for a failed row to fall due, and reports false when neither comes.
func awaitWork(ctx workflow.Context, wake workflow.ReceiveChannel, nextRetry time.Time) bool {
	wait := idleTime
	if !nextRetry.IsZero() {
		wait = max(nextRetry.Sub(workflow.Now(ctx)), time.Second)
	}
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	work := !nextRetry.IsZero()
	workflow.NewSelector(ctx).
		AddReceive(wake, func(c workflow.ReceiveChannel, _ bool) {
			c.ReceiveAsync(nil)
			work = true
		}).
		AddFuture(workflow.NewTimer(ctx, wait), func(f workflow.Future) {
			if f.Get(ctx, nil) != nil {
				work = false // Cancelled.
				return
			}
			// A wake that came together with the end of the wait counts.
			work = wake.ReceiveAsync(nil) || work
		}).
		Select(ctx)
	return work
}
