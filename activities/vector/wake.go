package vector

import (
	"context"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// lookAgain is how often a session that waits for its vectors checks the state of their writer.
const lookAgain = 2 * time.Second

func wake(ctx context.Context, c client.Client, w boundary.Writer) (client.WorkflowRun, error) {
	options := client.StartWorkflowOptions{
		ID: w.ID, TaskQueue: schema.QueueMain, StaticSummary: w.Summary,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}
	run, err := c.SignalWithStartWorkflow(ctx, w.ID, schema.SignalWake, nil, options, w.Type, w.Input)
	if err != nil {
		return nil, fmt.Errorf("wake the writer %q: %w", w.ID, err)
	}
	return run, nil
}

// watch keeps a collection's writer running and notices if it fails.
type watch struct {
	temporal client.Client
	writer   boundary.Writer
	run      client.WorkflowRun
	looked   time.Time
}

// look wakes the writer if it is not running. If a run has failed, it returns the run's error. If the run itself
// waits to retry, the returned error is retryable.
func (w *watch) look(ctx context.Context) error {
	if w.run == nil {
		return w.wake(ctx)
	}
	if time.Since(w.looked) < lookAgain {
		return nil
	}
	w.looked = time.Now()
	d, err := w.temporal.DescribeWorkflowExecution(ctx, w.run.GetID(), w.run.GetRunID())
	if err != nil {
		return fmt.Errorf("look at the writer %q: %w", w.writer.ID, err)
	}
	switch status := d.GetWorkflowExecutionInfo().GetStatus(); status {
	case enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		for _, activity := range d.GetPendingActivities() {
			failure := activity.GetLastFailure()
			info := failure.GetApplicationFailureInfo()
			if info == nil || activity.GetState() != enums.PENDING_ACTIVITY_STATE_SCHEDULED {
				continue // It works, or was lost with a worker that died.
			}
			return temporal.NewApplicationError(fmt.Sprintf("the writer %q waits to make attempt %d: %s",
				w.writer.ID, activity.GetAttempt(), failure.GetMessage()), info.GetType())
		}
		return nil
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return w.wake(ctx)
	case enums.WORKFLOW_EXECUTION_STATUS_FAILED:
		return w.run.GetWithOptions(ctx, nil, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
	default:
		return temporal.NewApplicationError(fmt.Sprintf("the writer %q was ended from outside: %s", w.writer.ID, status), schema.ErrorVectorUnavailable)
	}
}

func (w *watch) wake(ctx context.Context) (err error) {
	w.looked = time.Now()
	w.run, err = wake(ctx, w.temporal, w.writer)
	return err
}

// Enqueuer passes a stream's requests to the collection's writer. It does not wait for the writer.
type Enqueuer struct {
	log       Log
	projector *OutboxProjector
	outbox    *Outbox
	temporal  client.Client
	writer    boundary.Writer
}

// NewEnqueuer returns an enqueuer for the projector's collection.
func NewEnqueuer(log Log, projector *OutboxProjector, temporal client.Client) *Enqueuer {
	return &Enqueuer{
		log: log, projector: projector, outbox: NewOutbox(projector.conn, projector.version), temporal: temporal,
		writer: boundary.WriterOf(schema.VectorWriterInput{Collection: schema.VectorCollection(projector.version)}),
	}
}

// Enqueue brings the outbox up to date with the stream, and wakes the writer if that added rows. If an earlier
// attempt died after it added the rows, a retry adds none. So a retry wakes the writer if any row is pending. First
// attempts do not check this, because it reads every row of the collection.
func (e *Enqueuer) Enqueue(ctx context.Context, stream string) error {
	progress, err := e.log.Project(ctx, e.projector, stream)
	if err != nil {
		return err
	}
	if progress.Events > 0 {
		_, err = wake(ctx, e.temporal, e.writer)
		return err
	}
	if activity.IsActivity(ctx) && activity.GetInfo(ctx).Attempt == 1 {
		return nil
	}
	return e.WakePending(ctx)
}

// WakePending wakes the writer if any row is pending.
func (e *Enqueuer) WakePending(ctx context.Context) error {
	pending, err := e.outbox.pending(ctx)
	if err != nil || !pending {
		return err
	}
	_, err = wake(ctx, e.temporal, e.writer)
	return err
}
