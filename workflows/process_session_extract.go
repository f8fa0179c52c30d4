package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/workflows/stategraph"
)

// windowsAtOnce bounds how many model calls of one session run at a time.
const windowsAtOnce = 4

var models *llm.Activities

// extract asks the model about every window that its extractor has not seen, a plan of windows at a
// time. What a plan yielded is recorded before the next one is made.
func (p *processSession) extract(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	b := sessionOpened.Get(s)
	var total schema.BuildCounts
	var used schema.Usage
	extracted := 0
	for {
		var plan llm.PlanResult
		planIn := llm.PlanInput{SessionKey: p.input.Key(), Extractor: b.Spec.Extractor}
		if err := workflow.ExecuteActivity(storeWork(ctx, "windows"), models.PlanWindows, planIn).Get(ctx, &plan); err != nil {
			return nil, err
		}
		p.progress.WindowsTotal += len(plan.Windows)
		answered, u, err := p.ask(ctx, b.BuildID, b.Spec.Extractor, plan.Windows)
		if err != nil {
			return nil, err
		}
		used.Add(u)
		if len(answered) > 0 {
			var result llm.RecordResult
			recordIn := llm.RecordInput{
				SessionKey: p.input.Key(), BuildID: b.BuildID,
				Extractor: b.Spec.Extractor, Windows: answered, At: p.started,
			}
			summary := fmt.Sprintf("%d windows", len(answered))
			if err := workflow.ExecuteActivity(storeWork(ctx, summary), models.RecordExtraction, recordIn).Get(ctx, &result); err != nil {
				return nil, err
			}
			extracted += result.Entries
			total.Windows += len(answered)
			total.Rejected += result.Rejected
			total.Quarantined += result.Quarantined + result.Truncated
		}
		if !plan.More {
			break
		}
	}
	update := stategraph.Update{sessionCounts.Add(p.counted(total)), sessionUsage.Add(used)}
	// A build that takes up a broken one may have extractions to align although it added none.
	if extracted == 0 && b.First {
		end := schema.BuildEmpty
		if total.Quarantined > 0 {
			return update, nil
		}
		update = append(update, sessionStatus.Set(end))
	}
	return update, nil
}

// ask asks about the windows, a few at a time, and returns the answers in the windows' order.
func (p *processSession) ask(ctx workflow.Context, buildID string, extractor schema.Extractor, windows []schema.Window) ([]llm.AnsweredWindow, schema.Usage, error) {
	answered := make([]llm.AnsweredWindow, len(windows))
	used := make([]schema.Usage, len(windows))
	errs := make([]error, len(windows))
	slots := workflow.NewSemaphore(ctx, windowsAtOnce)
	group := workflow.NewWaitGroup(ctx)
	for i := range windows {
		if err := slots.Acquire(ctx, 1); err != nil {
			return nil, schema.Usage{}, err
		}
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			defer slots.Release(1)
			in := llm.ExtractInput{
				SessionKey: p.input.Key(), BuildID: buildID, Extractor: extractor, Window: windows[i],
			}
			answered[i], used[i], errs[i] = askWindow(ctx, in)
			p.progress.WindowsDone++
		})
	}
	group.Wait(ctx)
	var sum schema.Usage
	for i := range used {
		sum.Add(used[i])
	}
	return answered, sum, errors.Join(errs...)
}

// askWindow asks about one window, and once more when the answer can't be read. A window whose
// answer is of no use is quarantined; an error means that the model can't be asked at all.
func askWindow(ctx workflow.Context, in llm.ExtractInput) (llm.AnsweredWindow, schema.Usage, error) {
	out := llm.AnsweredWindow{Window: in.Window}
	var used schema.Usage
	for _, summary := range []string{"messages", "repair: messages"} {
		summary = fmt.Sprintf("%s %d to %d", summary, in.Window.First, in.Window.Last)
		var result llm.ExtractResult
		err := workflow.ExecuteActivity(modelWork(ctx, summary), models.ExtractWindow, in).Get(ctx, &result)
		used.Add(result.Usage)
		var application *temporal.ApplicationError
		switch {
		case errors.As(err, &application) && application.Type() == schema.ErrorModelRejected:
			out.Quarantined = application.Message()
			return out, used, nil
		case err != nil:
			return out, used, err
		case result.Refused != "":
			out.Quarantined = result.Refused
			return out, used, nil
		}
		out.Keys = append(out.Keys, result.Key)
		if result.Unreadable == "" {
			return out, used, nil
		}
		in.RepairOf, in.Reason = result.Key, result.Unreadable
	}
	out.Quarantined = in.Reason
	return out, used, nil
}
