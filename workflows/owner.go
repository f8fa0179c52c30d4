package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// How often a workflow is tried whose id another run has.
const (
	busyFirst = time.Second
	busyLast  = 30 * time.Second
)

// owned is a workflow that writes a session's stream, under the id that makes it the only one.
type owned struct{ workflowType, id, summary string }

// runAs runs the workflow as a child, after a run that has its id already: that one may have begun before there
// was all that there is now.
func runAs[Out, In any](ctx workflow.Context, w owned, in In) (Out, error) {
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: w.id, TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: 24 * time.Hour, StaticSummary: w.summary,
	})
	for wait := busyFirst; ; wait = min(2*wait, busyLast) {
		workflow.SetCurrentDetails(ctx, "Runs as the child workflow `"+w.id+"`.")
		var result Out
		err := workflow.ExecuteChildWorkflow(child, w.workflowType, in).Get(ctx, &result)
		var running *temporal.ChildWorkflowExecutionAlreadyStartedError
		if !errors.As(err, &running) {
			return result, err
		}
		workflow.SetCurrentDetails(ctx, "Waits for the run of `"+w.id+"` that is at this session already.")
		if err := workflow.Sleep(ctx, wait); err != nil {
			return result, err
		}
		// Each try holds the whole input: messages given with it fill a history in an hour or two.
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return result, workflow.NewContinueAsNewError(ctx, w.workflowType, in)
		}
	}
}
