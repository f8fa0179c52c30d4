package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// notifyTime is how long the receivers of a summary may be unavailable.
const notifyTime = 24 * time.Hour

// NotifySummary sends a new summary of a daily record to the webhook of the worker's settings, and as a signal to a
// workflow if the input names one. It fails if one of them does not get it.
func NotifySummary(ctx workflow.Context, in schema.NotifySummaryInput) error {
	if in.EventID == "" {
		return invalidInput(errors.New("give event_id: the summary to send"))
	}
	if err := schema.CheckWorkflowID(in.Workflow); err != nil {
		return invalidInput(fmt.Errorf("workflow: %w", err))
	}
	send := func(summary string, activity func(context.Context, schema.NotifySummaryInput) error) workflow.Future {
		return workflow.ExecuteActivity(notifyWork(ctx, summary), activity, in)
	}
	receivers := []workflow.Future{send("webhook", memories.SendWebhook)}
	if in.Workflow != "" {
		receivers = append(receivers, send("signal to "+in.Workflow, memories.SignalSummary))
	}
	var failed error
	for _, r := range receivers {
		if err := r.Get(ctx, nil); failed == nil {
			failed = err
		}
	}
	var application *temporal.ApplicationError
	if errors.As(failed, &application) {
		return temporal.NewNonRetryableApplicationError(application.Message(), application.Type(), failed)
	}
	return failed
}
