package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/build"
	"axiommind/activities/derive"
	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/workflows/stategraph"
)

// windowsAtOnce bounds how many model calls of one session run at a time.
const windowsAtOnce = 4

var models *llm.Activities

// extract asks the model about every window without a complete answer of its extractor, one plan of windows at a time.
// It derives the entries once all answers are stored. The steps after it only count the result.
func (p *processSession) extract(ctx workflow.Context, s sessionState) (stategraph.Update, error) {
	b, start := p.build(s), workflow.Now(ctx)
	in := derive.First(b, p.input.AskGivenUp, p.started)
	for {
		summary := "windows, quotes, entries, obligations"
		if len(in.Answered) > 0 {
			summary = fmt.Sprintf("%d windows", len(in.Answered))
		}
		result, err := p.derive(ctx, summary, in)
		if err != nil {
			return p.notDerived(in, err), err
		}
		in.Head, in.Before = in.Head.Highest(result.Head), derive.Before{More: result.Plan.More, Recorded: result.Plan.Recorded}
		windows, recorded := result.Plan.Windows, result.Plan.Recorded
		p.progress.WindowsDone, p.progress.WindowsTotal = recorded.Windows, recorded.Windows+len(windows)
		if len(windows) == 0 {
			p.timed(ctx, start, result.Metrics)
			return p.derived(in.Head, result), nil
		}
		b.Head = in.Head
		if in.Answered, err = p.ask(ctx, b, windows); err != nil {
			return p.notDerived(in, err), err
		}
	}
}

// derive derives the entries, unless the step ingest has done it.
func (p *processSession) derive(ctx workflow.Context, summary string, in derive.Input) (derive.Result, error) {
	if first := p.first; first != nil {
		p.first = nil
		return *first, nil
	}
	return call(storeWork(ctx, summary), derives.DeriveEntries, in)
}

// timed keeps the metrics of the derived steps.
func (p *processSession) timed(ctx workflow.Context, start time.Time, metrics []schema.StepMetric) {
	p.derivedIn = map[string]schema.StepMetric{}
	if len(metrics) == 0 {
		return
	}
	for _, m := range spread(measured(ctx, schema.StepExtract, start, nil).LatencyMS, metrics) {
		p.derivedIn[m.Step] = m
	}
}

// notDerived returns the state after a failure. It counts the usage of the answers, which cost money all the same.
// Stored answers are not asked for again.
func (p *processSession) notDerived(in derive.Input, err error) stategraph.Update {
	total := in.Before.Recorded
	if f := detailsOf(err); f.Recorded != nil {
		total = *f.Recorded
	} else {
		for _, w := range in.Answered {
			total.Usage.Add(w.Usage)
		}
	}
	return stategraph.Update{sessionCounts.Add(p.counted(extracted(total))), sessionUsage.Add(total.Usage), sessionHead.Add(in.Head)}
}

func extracted(total llm.RecordResult) schema.BuildCounts {
	return schema.BuildCounts{Windows: total.Windows, Rejected: total.Rejected, Quarantined: total.Unfinished(), GivenUp: total.GivenUp}
}

// derived returns the state after the entries have been derived.
func (p *processSession) derived(head schema.StreamHead, result derive.Result) stategraph.Update {
	total := result.Plan.Recorded
	update := stategraph.Update{
		sessionCounts.Add(p.counted(extracted(total))), sessionUsage.Add(total.Usage), sessionHead.Add(head), sessionDerived.Set(result),
	}
	if result.Empty {
		update = append(update, sessionStatus.Set(schema.BuildEmpty))
	}
	return update
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
// error it asks about no more of them, because the others would most likely fail in the same way.
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

// rejected returns the reason and the type of a failure if the error says that the model has no usable answer.
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

// askWindow asks about one window, and once more if the answer can't be read. A window with an unusable answer is
// quarantined. An error means that the model can't be asked at all.
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
