package workflows

import (
	"fmt"
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
// it is woken, or a failed row falls due, until nothing is left. Asked by an update, it compares the
// collection with the log and repairs what has drifted.
func VectorWriter(ctx workflow.Context, in schema.VectorWriterInput) error {
	if want := schema.WorkflowID(schema.VectorStream(in.Collection)); workflow.GetInfo(ctx).WorkflowExecution.ID != want {
		return temporal.NewNonRetryableApplicationError("start it with the workflow id "+want, schema.ErrorInvalidInput, nil)
	}
	v := &vectorWriter{
		collection: in.Collection,
		wake:       workflow.GetSignalChannel(ctx, schema.SignalWake), asked: workflow.NewBufferedChannel(ctx, maxUpdates),
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, schema.UpdateReconcile, v.reconcile, workflow.UpdateHandlerOptions{Validator: v.admit})
	if err != nil {
		return fmt.Errorf("set update handler: %w", err)
	}
	for {
		v.drain(ctx)
		var result vector.Result
		call := vectorWork(ctx, "index what is pending")
		if err := workflow.ExecuteActivity(call, vectors.IndexPending, vector.IndexInput{Collection: in.Collection, Limit: indexAtOnce}).Get(ctx, &result); err != nil {
			if ended := v.answer(ctx); ended != nil {
				return ended
			}
			return err // As it is: an error around it would be another type.
		}
		if result.Remaining == 0 && !v.awaitWork(ctx, result.NextRetry) && workflow.AllHandlersFinished(ctx) {
			return nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			if err := v.answer(ctx); err != nil { // The new run begins with all that is due.
				return err
			}
			return workflow.NewContinueAsNewError(ctx, schema.WorkflowVectorWriter, in)
		}
	}
}

type vectorWriter struct {
	collection string
	wake       workflow.ReceiveChannel
	asked      workflow.Channel
}

// admit refuses what is of another collection: its workflow alone writes its stream.
func (v *vectorWriter) admit(in vector.ReconcileInput) error {
	if in.Collection != v.collection {
		return wrongWriter(schema.VectorStream(in.Collection))
	}
	return nil
}

// reconcile waits until nothing else is written, and then for the comparison.
func (v *vectorWriter) reconcile(ctx workflow.Context, in vector.ReconcileInput) (vector.Report, error) {
	var report vector.Report
	r := &request{run: func(ctx workflow.Context) error {
		return workflow.ExecuteActivity(vectorWork(ctx, "compare with the log"), vectors.ReconcileCollection, in).Get(ctx, &report)
	}}
	v.asked.Send(ctx, r)
	if err := workflow.Await(ctx, func() bool { return r.finished }); err != nil {
		return report, err
	}
	return report, r.err
}

// answer does what updates have asked for, before the run ends: an update whose run is gone is told
// nothing of use.
func (v *vectorWriter) answer(ctx workflow.Context) error {
	v.drain(ctx)
	return workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

// drain takes all wakes as one, and does what updates have asked for.
func (v *vectorWriter) drain(ctx workflow.Context) {
	for v.wake.ReceiveAsync(nil) {
	}
	for {
		var r *request
		if !v.asked.ReceiveAsync(&r) {
			return
		}
		v.finish(ctx, r)
	}
}

func (v *vectorWriter) finish(ctx workflow.Context, r *request) {
	r.err = r.run(ctx)
	r.finished = true
}

// awaitWork waits for a wake, an update, or a failed row to fall due, and reports false when none
// comes.
func (v *vectorWriter) awaitWork(ctx workflow.Context, nextRetry time.Time) bool {
	wait := idleTime
	if !nextRetry.IsZero() {
		wait = max(nextRetry.Sub(workflow.Now(ctx)), time.Second)
	}
	timerCtx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	work := !nextRetry.IsZero()
	workflow.NewSelector(ctx).
		AddReceive(v.wake, func(c workflow.ReceiveChannel, _ bool) {
			c.ReceiveAsync(nil)
			work = true
		}).
		AddReceive(v.asked, func(c workflow.ReceiveChannel, _ bool) {
			var r *request
			c.Receive(ctx, &r)
			v.finish(ctx, r)
			work = true
		}).
		AddFuture(workflow.NewTimer(timerCtx, wait), func(f workflow.Future) {
			if f.Get(ctx, nil) != nil {
				work = false // Cancelled.
			}
		}).
		Select(ctx)
	return work
}
