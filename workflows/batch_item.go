package workflows

import (
	"errors"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/batch"
	"axiommind/activities/text"
	"axiommind/schema"
)

// runItem runs an item's session. If another run is processing the session, the item leaves its slot and is ready again
// after a pause.
func (b *batchRun) runItem(ctx workflow.Context, it *batchItem) {
	result, err := startSession(ctx, it)
	var busy *temporal.ChildWorkflowExecutionAlreadyStartedError
	b.changed = true
	switch {
	case !errors.As(err, &busy):
		b.stopped(it)
		b.release(it)
		b.count(ctx, outcomeOf(it, result, err))
	case b.noWait:
		b.stopped(it)
		b.release(it)
		b.count(ctx, schema.BatchOutcome{Index: it.Index, SessionID: it.Input.SessionID, Status: schema.BatchBusy})
	default:
		b.stopped(it)
		b.waiting = append(b.waiting, it)
		_ = workflow.Sleep(ctx, it.wait) // Nothing cancels it.
		it.wait = min(2*it.wait, maxBusy*timingOf(ctx).Busy)
		b.waiting = slices.DeleteFunc(b.waiting, func(w *batchItem) bool { return w == it })
		b.ready = slices.Insert(b.ready, 0, it)
		b.changed = true
	}
}

// startSession runs the session's workflow, which continues alone if the batch ends first.
func startSession(ctx workflow.Context, it *batchItem) (result schema.ProcessSessionResult, err error) {
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: it.id, TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: 24 * time.Hour,
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON, StaticSummary: "process session " + shortID(it.Input.SessionID),
	})
	err = workflow.ExecuteChildWorkflow(child, schema.WorkflowProcessSession, it.Input).Get(ctx, &result)
	return result, err
}

// maxSummaryID bounds the id in a summary. The server accepts 400 bytes of JSON and would refuse the whole batch for a
// longer one.
const maxSummaryID = 50

func shortID(id string) string { return text.Clip(id, maxSummaryID) }

// stopped removes the item from the running ones.
func (b *batchRun) stopped(it *batchItem) {
	b.running = slices.DeleteFunc(b.running, func(r *batchItem) bool { return r == it })
	if it.slow {
		it.slow = false
		b.slow--
	}
}

// release makes the next item of the same session ready.
func (b *batchRun) release(it *batchItem) {
	others := b.sessions[it.id]
	if len(others) == 0 {
		delete(b.sessions, it.id)
		return
	}
	next := others[0]
	next.claimed = true
	b.sessions[it.id] = others[1:]
	b.parked--
	b.ready = slices.Insert(b.ready, 0, next)
}

// outcomeOf returns the outcome of an item's session.
func outcomeOf(it *batchItem, result schema.ProcessSessionResult, err error) schema.BatchOutcome {
	o := schema.BatchOutcome{
		Index: it.Index, SessionID: it.Input.SessionID, BuildID: result.BuildID, Status: result.Status, Counts: result.Counts, Usage: result.Usage,
	}
	if err == nil {
		return o
	}
	var application *temporal.ApplicationError
	var terminated *temporal.TerminatedError
	var late *temporal.TimeoutError
	failed := describeFailure("", err)
	switch {
	case errors.As(err, &application): // The outermost error is the session's own. The errors that it wraps are about single steps.
	case errors.As(err, &terminated):
		failed.Type, failed.Error = schema.ErrorInterrupted, "its workflow was terminated"
	case errors.As(err, &late):
		failed.Type, failed.Error = schema.ErrorInterrupted, "its workflow ran for too long"
	}
	o.Status, o.Error, o.ErrorType = schema.BuildFailed, text.Clip(failed.Error, maxReason), failed.Type
	return o
}

// count adds the outcome of an item.
func (b *batchRun) count(ctx workflow.Context, o schema.BatchOutcome) {
	r := &b.state.Result
	r.Statuses[o.Status]++
	r.Counts = addCounts(r.Counts, o.Counts)
	r.Usage.Add(o.Usage)
	if len(b.pending) == 0 {
		b.pendingSince = workflow.Now(ctx)
	}
	b.pending = append(b.pending, o)
	b.showProgress(ctx)
}

// reportSoon records outcomes in the background once there are reportAtOnce of them, or after a while.
func (b *batchRun) reportSoon(ctx workflow.Context) {
	due := len(b.pending) >= reportAtOnce || len(b.pending) > 0 && workflow.Now(ctx).Sub(b.pendingSince) >= timingOf(ctx).Report
	if !due || b.reporting || b.unreported != nil {
		return
	}
	b.reporting = true
	apart, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(apart, func(ctx workflow.Context) {
		b.unreported = b.report(ctx)
		b.reporting, b.changed = false, true
	})
}

// reportAll records all pending outcomes.
func (b *batchRun) reportAll(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return !b.reporting }); err != nil {
		return err
	}
	for len(b.pending) > 0 {
		if err := b.report(ctx); err != nil {
			return err
		}
	}
	return nil
}

// report records as many pending outcomes as fit into a small payload.
func (b *batchRun) report(ctx workflow.Context) error {
	n, size := 0, 0
	for _, o := range b.pending {
		// In JSON a character may take six bytes.
		size += 600 + 6*(len(o.SessionID)+len(o.Error))
		if n > 0 && size > maxReportBytes {
			break
		}
		n++
	}
	head, err := quickly(storeWork(ctx, "outcomes of sessions"), batches.ReportOutcomes, batch.ReportInput{
		Batch: b.state.Batch, At: b.state.At, Outcomes: slices.Clone(b.pending[:n]), Head: b.state.Head,
	})
	if err != nil {
		return err
	}
	b.state.Head = b.state.Head.Highest(head)
	b.pending, b.pendingSince = b.pending[n:], workflow.Now(ctx)
	return nil
}
