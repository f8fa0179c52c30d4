package workflows

import (
	"errors"
	"fmt"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/workflows/stategraph"
)

// updateMemory hands the session's facts, and a summary of its new messages, to the memory's writer. A session of more
// windows than one plan holds is flushed in several parts.
func (p *processSession) updateMemory(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	b := p.build(s)
	in := tier.SessionInput{
		SessionKey: p.input.Key(), BuildID: b.BuildID, At: p.started, Facts: sessionCounts.Get(s).Facts > 0,
		Flush: p.input.Flush, Head: b.Head,
	}
	messages := sessionCounts.Get(s).Messages
	if messages == 0 && !in.Facts {
		return nil, nil
	}
	var usage schema.Usage
	for flushed := 0; ; flushed = in.Messages {
		planIn := tier.SummaryInput{SessionKey: in.SessionKey, Messages: messages, Stated: b.Statement != nil, Head: in.Head}
		plan, err := quickly(storeWork(ctx, "windows to summarize"), memories.PlanSummary, planIn)
		if err != nil {
			return stategraph.Update{sessionUsage.Add(usage)}, err
		}
		in.Messages = plan.Messages
		if in.Windows, err = p.summarize(ctx, in, plan.Windows); err != nil {
			return stategraph.Update{sessionUsage.Add(usage)}, err
		}
		for _, w := range in.Windows {
			usage.Add(w.Usage)
		}
		result, err := call(storeWork(ctx, "facts, daily record"), memories.SubmitMemory, in)
		if err == nil {
			err = p.notify(ctx, result)
		}
		if err != nil || !plan.More || plan.Messages <= flushed {
			return stategraph.Update{sessionUsage.Add(usage)}, err
		}
		in.Facts = false
	}
}

// summarize asks the model about the windows, a few at a time, and returns the summaries in the windows' order.
func (p *processSession) summarize(ctx workflow.Context, in tier.SessionInput, windows []tier.SummaryWindow) ([]tier.SummarizedWindow, error) {
	return each(ctx, windows, func(ctx workflow.Context, w tier.SummaryWindow) (tier.SummarizedWindow, error) {
		summary := fmt.Sprintf("summary of messages %d to %d", w.First, w.Last)
		out, err := call(modelWork(ctx, summary), memories.SummarizeSession, tier.SummarizeInput{
			SessionKey: in.SessionKey, BuildID: in.BuildID, Window: w, Head: in.Head,
		})
		if reason, _, ok := rejected(err); ok {
			return tier.SummarizedWindow{SummaryWindow: w, Refused: reason}, nil
		}
		return out, err
	})
}

// notify starts the workflow that sends the summary, if there is one and somebody wants it, and does not wait for its
// end.
func (p *processSession) notify(ctx workflow.Context, result tier.SessionResult) error {
	if result.Flushed == "" || !result.Notify && p.input.Notify == "" {
		return nil
	}
	in := schema.NotifySummaryInput{
		User: p.input.User, Agent: p.input.Agent, EventID: result.Flushed, Workflow: p.input.Notify,
	}
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: in.WorkflowID(), TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: 2 * notifyTime,
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		StaticSummary:         "sends the summary of session " + p.input.SessionID,
	})
	err := workflow.ExecuteChildWorkflow(ctx, schema.WorkflowNotifySummary, in).GetChildWorkflowExecution().Get(ctx, nil)
	var running *temporal.ChildWorkflowExecutionAlreadyStartedError
	if errors.As(err, &running) {
		return nil
	}
	return err
}
