package boundary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// How long to wait before an update is sent again, at first and at most.
const (
	resendFirst = 50 * time.Millisecond
	resendLast  = 2 * time.Second
)

// Writer is a workflow that is the only writer of a stream, and how to start it.
type Writer struct {
	ID, Type string
	Input    schema.WriterInput
	Summary  string
	// Queue is the task queue of the workflow.
	Queue string
}

// WriterOf returns the writer that runs with the input.
func WriterOf(in schema.WriterInput) Writer {
	stream := in.Stream()
	w := Writer{ID: schema.WorkflowID(stream), Type: in.Workflow(), Input: in, Summary: "writes the stream " + stream, Queue: schema.QueueMain}
	if w.Type == schema.WorkflowMemoryQueue {
		w.Queue = schema.QueueMemory
	}
	return w
}

// Wake signals the writer that there is work, and starts it if it does not run. It does not wait for the work.
func (w Writer) Wake(ctx context.Context, c client.Client) error {
	_, err := c.SignalWithStartWorkflow(ctx, w.ID, schema.SignalWake, nil, client.StartWorkflowOptions{
		ID: w.ID, TaskQueue: w.Queue, StaticSummary: w.Summary,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, w.Type, w.Input)
	if err != nil {
		return fmt.Errorf("wake the writer %q: %w", w.ID, err)
	}
	return nil
}

// Request is the argument of an update. It names the writer that does it: the sender sends it there,
// and every other writer refuses it.
type Request interface {
	Writer() schema.WriterInput
	// Validate returns an error if the request itself is invalid.
	Validate() error
}

// Redactor is a request with text that a person wrote. Temporal stores its inputs, so it is sent redacted.
type Redactor interface{ Redacted() Request }

// Update is an update of a writer.
type Update struct {
	// Name is one of the schema.Update constants. A writer answers an update of a known ID with the earlier result.
	Name, ID string
	Arg      Request
}

// Send sends the update to its writer, starting that where it does not run, and waits for the result.
// A workflow takes a few updates at a time, and none while it continues as new: then the update is
// sent again until ctx ends.
func (u Update) Send(ctx context.Context, c client.Client, result any) error {
	if r, is := u.Arg.(Redactor); is {
		u.Arg = r.Redacted()
	}
	w := WriterOf(u.Arg.Writer())
	for wait := resendFirst; ; wait = min(2*wait, resendLast) {
		err := u.sendOnce(ctx, c, w, result)
		if err == nil {
			return nil
		}
		if writerGone(err) {
			if failure := w.failure(ctx, c); failure != nil {
				return failure
			}
		}
		if !resendable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("update %q: %w: %w", w.ID, ctx.Err(), err)
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

func (u Update) sendOnce(ctx context.Context, c client.Client, w Writer, result any) error {
	start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: w.ID, TaskQueue: w.Queue, StaticSummary: w.Summary,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, w.Type, w.Input)
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName: u.Name, UpdateID: u.ID, Args: []any{u.Arg}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, result)
}

// Submit is an activity whose work is done by the writer of its input: it sends the update and waits. The id is unique
// for each attempt, so that a retry does not get the failure of an earlier attempt, even if a new run of the workflow
// resumes an interrupted build.
func Submit[Out any](ctx context.Context, c client.Client, name, buildID string, in Request) (Out, error) {
	return Run(WaitsFor(ctx, in.Writer()), in, func(ctx context.Context, in Request) (out Out, err error) {
		info := activity.GetInfo(ctx)
		id := buildID + "/" + info.WorkflowExecution.RunID + "/" + strconv.Itoa(int(info.Attempt))
		err = Update{Name: name, ID: id, Arg: in}.Send(ctx, c, &out)
		return out, err
	})
}

// failure returns the error of the writer's last run if that run failed: the next one would fail too.
func (w Writer) failure(ctx context.Context, c client.Client) error {
	d, err := c.DescribeWorkflowExecution(ctx, w.ID, "")
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_FAILED {
		return nil //nolint:nilerr // the update is sent again, and tells what is wrong
	}
	run := d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	return c.GetWorkflow(ctx, w.ID, run).GetWithOptions(ctx, nil, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
}

// acceptedByEnded is the type of the server's error for an update that a run accepted and ended before
// it was done.
const acceptedByEnded = "AcceptedUpdateCompletedWorkflow"

// writerGone reports whether the run may have failed: it ended before the update was done, or had no handler for it
// yet. Other errors say nothing about the run, so senders do not ask the server about it.
func writerGone(err error) bool {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Type() == "" || application.Type() == acceptedByEnded
	}
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

// resendable reports whether the writer could not take the update now, or not finish it in the time that
// one call may last. The update is sent again under the same id.
func resendable(err error) bool {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Type() == schema.ErrorDraining || application.Type() == acceptedByEnded
	}
	var exhausted *serviceerror.ResourceExhausted
	var notFound *serviceerror.NotFound
	var unavailable *serviceerror.Unavailable
	var timeout *client.WorkflowUpdateServiceTimeoutOrCanceledError
	return errors.As(err, &timeout) || errors.As(err, &exhausted) || errors.As(err, &notFound) || errors.As(err, &unavailable)
}
