package boundary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// Limits of how an update is tried again while its workflow has no room for it.
const (
	updateFirst = 50 * time.Millisecond
	updateLast  = 2 * time.Second
)

// Writer is the workflow that alone writes a stream, and how to start it.
type Writer struct {
	ID, Type string
	Input    any
	Summary  string
}

// TaskWriter is the writer of a project's tasks.
func TaskWriter(project string) Writer {
	return Writer{
		ID: schema.WorkflowID(schema.ProjectStream(project)), Type: schema.WorkflowProjectTasks,
		Input: schema.ProjectTasksInput{Project: project}, Summary: "writes the tasks of " + project,
	}
}

// MemoryWriter is the writer of what is remembered of a user by an agent.
func MemoryWriter(user, agent string) Writer {
	return Writer{
		ID: schema.WorkflowID(schema.MemoryStream(user, agent)), Type: schema.WorkflowMemoryWriter,
		Input: schema.MemoryWriterInput{User: user, Agent: agent}, Summary: "writes the memory of " + user,
	}
}

// VectorWriter is the writer of a collection.
func VectorWriter(collection string) Writer {
	return Writer{
		ID: schema.WorkflowID(schema.VectorStream(collection)), Type: schema.WorkflowVectorWriter,
		Input: schema.VectorWriterInput{Collection: collection}, Summary: "writes the vectors of " + collection,
	}
}

// Update sends an update to the writer, starting it where it does not run, and waits for the result.
// A workflow takes a few updates at a time, and none while it continues as new: then the update is
// sent again until ctx ends. A nil arg is none.
func (w Writer) Update(ctx context.Context, c client.Client, name, id string, arg, result any) error {
	for wait := updateFirst; ; wait = min(2*wait, updateLast) {
		err := w.updateOnce(ctx, c, name, id, arg, result)
		if err == nil {
			return nil
		}
		if gone(err) {
			if failure := w.failure(ctx, c); failure != nil {
				return failure
			}
		}
		if !busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("update %q: %w: %w", w.ID, ctx.Err(), err)
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

func (w Writer) updateOnce(ctx context.Context, c client.Client, name, id string, arg, result any) error {
	var args []any
	if arg != nil {
		args = []any{arg}
	}
	start := c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: w.ID, TaskQueue: schema.QueueMain, StaticSummary: w.Summary,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, w.Type, w.Input)
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName: name, UpdateID: id, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, result)
}

// failure is the error of the writer's last run where that failed: it would fail the next one too.
func (w Writer) failure(ctx context.Context, c client.Client) error {
	d, err := c.DescribeWorkflowExecution(ctx, w.ID, "")
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_FAILED {
		return nil //nolint:nilerr // the update is sent again, and tells what is wrong
	}
	run := d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	return c.GetWorkflow(ctx, w.ID, run).GetWithOptions(ctx, nil, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
}

// acceptedByGone is the type of the server's error for an update that a run took and did not finish.
const acceptedByGone = "AcceptedUpdateCompletedWorkflow"

// gone reports whether the run may have failed: it ended before the update did, or had no handler for it
// yet. A crowd of senders that waits for its turn must not ask the server about it each time.
func gone(err error) bool {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Type() == "" || application.Type() == acceptedByGone
	}
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

// busy reports whether the workflow is there but could not take the update now, or not finish it
// while one call may last: sent again under its id, the update is waited for on.
func busy(err error) bool {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Type() == schema.ErrorDraining || application.Type() == acceptedByGone
	}
	var exhausted *serviceerror.ResourceExhausted
	var notFound *serviceerror.NotFound
	var unavailable *serviceerror.Unavailable
	var timeout *client.WorkflowUpdateServiceTimeoutOrCanceledError
	return errors.As(err, &timeout) || errors.As(err, &exhausted) || errors.As(err, &notFound) || errors.As(err, &unavailable)
}
