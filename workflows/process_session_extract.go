package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/workflows/stategraph"
)

// windowsAtOnce bounds how many model calls of one session run at a time.
const windowsAtOnce = 4

var models *llm.Activities

// extract asks the model about every window that has no whole answer of its extractor yet, a plan of windows
// at a time. What a plan yielded is recorded before the next one is made, which goes on with what failed. A plan of a
// local model is done when it is made.
func (p *processSession) extract(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	b := p.build(s)
	var total llm.RecordResult
	for {
		planIn := llm.PlanInput{
			SessionKey: p.input.Key(), BuildID: b.BuildID, Extractor: b.Spec.Extractor, At: p.started, Head: b.Head,
			AskGivenUp: p.input.AskGivenUp, Statement: b.Statement,
		}
		plan, err := call(storeWork(ctx, "windows"), models.PlanWindows, planIn)
		if err != nil {
			return nil, err
		}
		total = plan.Recorded
		b.Head = b.Head.Highest(total.Head)
		p.progress.WindowsDone, p.progress.WindowsTotal = total.Windows, total.Windows+len(plan.Windows)
		answered, err := p.ask(ctx, b, plan.Windows)
		if err != nil {
			return nil, err
		}
		open := false
		if len(answered) > 0 {
			recordIn := llm.RecordInput{
				SessionKey: p.input.Key(), BuildID: b.BuildID,
				Extractor: b.Spec.Extractor, Windows: answered, At: p.started, Head: b.Head,
			}
			summary := fmt.Sprintf("%d windows", len(answered))
			result, err := call(storeWork(ctx, summary), models.RecordExtraction, recordIn)
			if err != nil {
				return nil, err
			}
			total.Add(result)
			b.Head = b.Head.Highest(result.Head)
			open = result.Open()
		}
		if !plan.More && !open {
			break
		}
	}
	counts := schema.BuildCounts{
		Windows: total.Windows, Rejected: total.Rejected, Quarantined: total.Unfinished(), GivenUp: total.GivenUp,
	}
	update := stategraph.Update{sessionCounts.Add(p.counted(counts)), sessionUsage.Add(total.Usage), sessionHead.Add(b.Head)}
	// A later build may have extractions of an earlier one to align although it added none.
	if total.Entries == 0 && counts.Quarantined == 0 && b.First {
		update = append(update, sessionStatus.Set(schema.BuildEmpty))
	}
	return update, nil
}

// ask asks about the windows, a few at a time, and returns the answers in the windows' order.
func (p *processSession) ask(ctx workflow.Context, b build.Opened, windows []schema.Window) ([]llm.AnsweredWindow, error) {
	return each(ctx, windows, func(ctx workflow.Context, w schema.Window) (llm.AnsweredWindow, error) {
		in := llm.ExtractInput{
			SessionKey: p.input.Key(), BuildID: b.BuildID, Extractor: b.Spec.Extractor, Window: w, Head: b.Head,
		}
		answered, err := askWindow(ctx, in)
		p.progress.WindowsDone++
		return answered, err
	})
}

// each asks a model about each of the windows, a few at a time, and returns the answers in the windows' order. After an
// error it asks about no more of them: what one window waited for in vain, the others would too.
func each[Window, Answer any](
	ctx workflow.Context, windows []Window, ask func(workflow.Context, Window) (Answer, error),
) ([]Answer, error) {
	answers := make([]Answer, len(windows))
	errs := make([]error, len(windows))
	failed := false
	slots := workflow.NewSemaphore(ctx, windowsAtOnce)
	group := workflow.NewWaitGroup(ctx)
	for i := range windows {
		if err := slots.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		if failed {
			break
		}
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			defer slots.Release(1)
			answers[i], errs[i] = ask(ctx, windows[i])
			failed = failed || errs[i] != nil
		})
	}
	group.Wait(ctx)
	return answers, errors.Join(errs...)
}

// rejected returns why a model has no answer of use to a question, and the type of the failure, if that is what the
// error says.
func rejected(err error) (reason, failureType string, ok bool) {
	var application *temporal.ApplicationError
	if !errors.As(err, &application) {
		return "", "", false
	}
	switch application.Type() {
	case schema.ErrorModelTooLong, schema.ErrorModelBlocked, schema.ErrorModelCut, schema.ErrorModelRejected, schema.ErrorModelMalformed:
		return application.Message(), application.Type(), true
	default:
		return "", "", false
	}
}

// askWindow asks about one window, and once more when the answer can't be read. A window whose
// answer is of no use is quarantined; an error means that the model can't be asked at all.
func askWindow(ctx workflow.Context, in llm.ExtractInput) (llm.AnsweredWindow, error) {
	out := llm.AnsweredWindow{Window: in.Window}
	for _, summary := range []string{"messages", "repair: messages"} {
		summary = fmt.Sprintf("%s %d to %d", summary, in.Window.First, in.Window.Last)
		result, err := call(modelWork(ctx, summary), models.ExtractWindow, in)
		out.Usage.Add(result.Usage)
		reason, failureType, unusable := rejected(err)
		switch {
		case unusable:
			out.Quarantined, out.QuarantinedType = reason, failureType
			return out, nil
		case err != nil:
			return out, err
		case result.Refused != "":
			out.Quarantined, out.QuarantinedType = result.Refused, result.RefusedType
			return out, nil
		}
		out.Keys = append(out.Keys, result.Key)
		if result.Unreadable == "" {
			return out, nil
		}
		in.RepairOf, in.Reason = result.Key, result.Unreadable
	}
	out.Quarantined, out.QuarantinedType = in.Reason, schema.ErrorModelUnreadable
	return out, nil
}
