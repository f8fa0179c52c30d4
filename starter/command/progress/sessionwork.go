package progress

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// SessionWork is a workflow that writes a session's stream, and its input.
type SessionWork struct {
	schema.SessionKey
	Workflow, Summary string
	Input             any
}

// Start starts the workflow under the id, with search attributes if the server supports them.
func (w SessionWork) Start(ctx context.Context, c client.Client, id string) (client.WorkflowRun, error) {
	options := client.StartWorkflowOptions{
		ID: id, TaskQueue: schema.QueueMain,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowExecutionTimeout:                 24 * time.Hour,
		StaticSummary:                            w.Summary,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(schema.AttributeProject).ValueSet(w.Project),
			temporal.NewSearchAttributeKeyKeyword(schema.AttributeSession).ValueSet(w.SessionID)),
	}
	run, err := c.ExecuteWorkflow(ctx, options, w.Workflow, w.Input)
	var invalid *serviceerror.InvalidArgument
	if errors.As(err, &invalid) {
		options.TypedSearchAttributes = temporal.SearchAttributes{}
		return c.ExecuteWorkflow(ctx, options, w.Workflow, w.Input)
	}
	return run, err
}

// StartAfter starts the workflow while another run has the session's id. It uses a unique id, and the workflow itself waits
// for the other run.
func (w SessionWork) StartAfter(ctx context.Context, c client.Client) (client.WorkflowRun, error) {
	return w.Start(ctx, c, w.WorkflowID()+"/after/"+uuid.NewString())
}
