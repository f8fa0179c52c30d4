package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// maxBusy bounds the pause before a retry to start a workflow whose id another run has, in units of the first pause.
const maxBusy = 30

// hasID reports whether the run has the workflow id.
func hasID(ctx workflow.Context, id string) bool {
	return workflow.GetInfo(ctx).WorkflowExecution.ID == id
}

// runAsOwner runs the same workflow as a child with the id that makes it the only run of its kind. If another run has
// the id, the child is started after it, because that run may have begun before the latest input was stored.
func runAsOwner[Out, In any](ctx workflow.Context, id, summary string, in In) (Out, error) {
	workflowType := workflow.GetInfo(ctx).WorkflowType.Name
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: id, TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: 24 * time.Hour, StaticSummary: summary,
	})
	first := timingOf(ctx).Busy
	for wait := first; ; wait = min(2*wait, maxBusy*first) {
		workflow.SetCurrentDetails(ctx, "Runs as the child workflow `"+id+"`.")
		var result Out
		err := workflow.ExecuteChildWorkflow(child, workflowType, in).Get(ctx, &result)
		var running *temporal.ChildWorkflowExecutionAlreadyStartedError
		if !errors.As(err, &running) {
			return result, err
		}
		workflow.SetCurrentDetails(ctx, "Waits for the run of `"+id+"` that is already running.")
		if err := workflow.Sleep(ctx, wait); err != nil {
			return result, err
		}
		// Each try records the whole input. Inline messages fill a history in an hour or two.
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return result, workflow.NewContinueAsNewError(ctx, workflowType, in)
		}
	}
}

// serveProgress answers QueryProgress with the current progress.
func serveProgress(ctx workflow.Context, progress *schema.Progress) error {
	err := workflow.SetQueryHandler(ctx, schema.QueryProgress, func() (schema.Progress, error) { return *progress, nil })
	if err != nil {
		return fmt.Errorf("set query handler: %w", err)
	}
	return nil
}
