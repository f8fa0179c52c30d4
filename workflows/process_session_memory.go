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

// updateMemory passes the session's facts, the answers that end older facts, and a summary of the new messages to the
// memory's writer. A session with more windows than fit into one plan is flushed in several parts.
func (p *processSession) updateMemory(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	b := p.build(s)
	in := tier.FlushRequest{
		SessionKey: p.input.Key(), BuildID: b.BuildID, At: p.started, Facts: sessionCounts.Get(s).Facts > 0,
		Flush: p.input.Flush, Head: b.Head,
	}
	messages := sessionCounts.Get(s).Messages
	if messages == 0 && !in.Facts {
		return nil, nil
	}
	var usage schema.Usage
	for flushed := 0; ; flushed = in.Messages {
		plan, asked, err := p.askForMemory(ctx, &in, tier.SummaryInput{
			SessionKey: in.SessionKey, BuildID: b.BuildID, Messages: messages, Stated: b.Statement != nil, Head: in.Head,
		})
		usage.Add(asked)
		if err == nil {
			var result tier.SessionResult
			if result, err = call(storeWork(ctx, "facts, daily record"), memories.SubmitMemory, in); err == nil {
				err = p.notify(ctx, result)
			}
		}
		if err != nil || !plan.More || plan.Messages <= flushed {
			return stategraph.Update{sessionUsage.Add(usage), sessionHead.Add(in.Head)}, err
		}
		in.Facts = false
	}
}

// askForMemory plans one part of the input for the memory's writer, asks the model about it, and completes in. The
// usage is that of all answers received, also after an error.
func (p *processSession) askForMemory(
	ctx workflow.Context, in *tier.FlushRequest, planIn tier.SummaryInput,
) (plan tier.SummaryPlan, usage schema.Usage, err error) {
	plan, err = quickly(storeWork(ctx, "windows to summarize"), memories.PlanSummary, planIn)
	if err != nil {
		return plan, usage, err
	}
	in.Messages, in.Head = plan.Messages, in.Head.Highest(plan.Head)
	in.Windows, err = p.summarize(ctx, *in, plan.Windows)
	for _, w := range in.Windows {
		usage.Add(w.Usage)
	}
	if err != nil {
		return plan, usage, err
	}
	in.Review, err = p.review(ctx, *in, plan.Review)
	if in.Review != nil {
		for _, x := range in.Review.Answers {
			usage.Add(x.Usage)
		}
	}
	return plan, usage, err
}

// summarize asks the model about the windows, a few at a time, and returns the summaries in the windows' order.
func (p *processSession) summarize(ctx workflow.Context, in tier.FlushRequest, windows []tier.SummaryWindow) ([]tier.SummarizedWindow, error) {
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

// review asks the model which facts of the memory are no longer true, a few questions at a time. A question without an
// answer removes nothing.
func (p *processSession) review(ctx workflow.Context, in tier.FlushRequest, plan *tier.ReviewPlan) (*tier.Reviewed, error) {
	if plan == nil {
		return nil, nil
	}
	out := &tier.Reviewed{Shown: plan.Shown}
	var err error
	out.Answers, err = each(ctx, plan.Questions(), func(ctx workflow.Context, q tier.ReviewQuestion) (tier.ReviewAnswer, error) {
		summary := fmt.Sprintf("facts that messages %d to %d end", q.First, q.Last)
		answer, err := call(modelWork(ctx, summary), memories.ReviewFacts, tier.ReviewInput{
			SessionKey: in.SessionKey, BuildID: in.BuildID, Shown: plan.Shown, Question: q, Head: in.Head,
		})
		if reason, _, ok := rejected(err); ok {
			return tier.ReviewAnswer{ReviewQuestion: q, Refused: reason}, nil
		}
		return answer, err
	})
	return out, err
}

// notify starts the workflow that sends the summary, if there is one and a receiver is set, and does not wait for its
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
