package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/text"
	"axiommind/activities/tier"
	"axiommind/schema"
)

const (
	// maxFailures bounds the failures in the result, and maxReason the bytes of each reason.
	maxFailures = 20
	maxReason   = 400
)

// DreamNight dreams of all memories with new content, a few at a time. A failed dream stops no other one. Memories come
// in pages, and each page is a run of its own.
func DreamNight(ctx workflow.Context, in schema.DreamNightInput) (schema.DreamNightResult, error) {
	in.AtOnce = cmp.Or(in.AtOnce, schema.DreamsAtOnce)
	if err := validateNight(in); err != nil {
		return schema.DreamNightResult{}, invalidInput(err)
	}
	n := &dreamNight{in: in, result: in.Done}
	page, err := n.find(ctx)
	if err != nil {
		return n.result, describeFailure("find memories", err).end(err)
	}
	n.in.Date, n.result.Date = page.Date, page.Date
	n.showProgress(ctx)
	if err := n.dreamOf(ctx, page.Memories); err != nil {
		return n.result, err
	}
	if page.Next == "" {
		return n.result, nil
	}
	n.in.After, n.in.Done = page.Next, n.result
	return n.result, workflow.NewContinueAsNewError(ctx, schema.WorkflowDreamNight, n.in)
}

func validateNight(in schema.DreamNightInput) error {
	switch {
	case in.AtOnce < 1 || in.AtOnce > schema.MaxDreamsAtOnce:
		return fmt.Errorf("at_once %d: want 1 to %d", in.AtOnce, schema.MaxDreamsAtOnce)
	case in.LookbackDays < 0 || in.LookbackDays > schema.MaxLookbackDays:
		return fmt.Errorf("lookback_days %d: want 0 to %d", in.LookbackDays, schema.MaxLookbackDays)
	case in.Date == "":
		return nil
	}
	if _, err := time.Parse(schema.DateLayout, in.Date); err != nil {
		return fmt.Errorf("date %q: want a day like 2006-01-02", in.Date)
	}
	return nil
}

// dreamNight is one run: a page of the memories of a night.
type dreamNight struct {
	in     schema.DreamNightInput
	result schema.DreamNightResult
}

// find returns the page of memories and the date of the night.
func (n *dreamNight) find(ctx workflow.Context) (tier.Found, error) {
	return call(storeWork(ctx, "find memories"), memories.FindMemories, tier.FindInput{
		At: dueAt(ctx), Now: workflow.Now(ctx).UTC(), Date: n.in.Date, LookbackDays: n.in.LookbackDays, Force: n.in.Force, After: n.in.After,
	})
}

// dreamOf dreams of the memories. If the run is cancelled, it starts no more dreams and lets the running ones continue
// alone.
func (n *dreamNight) dreamOf(ctx workflow.Context, memories []tier.Memory) error {
	running := 0
	apart, _ := workflow.NewDisconnectedContext(ctx)
	for _, m := range memories {
		if err := workflow.Await(ctx, func() bool { return running < n.in.AtOnce }); err != nil {
			return err
		}
		running++
		workflow.Go(apart, func(ctx workflow.Context) {
			result, err := n.dream(ctx, m)
			running--
			n.count(m, result, err)
			n.showProgress(ctx)
		})
	}
	return workflow.Await(ctx, func() bool { return running == 0 })
}

func (n *dreamNight) dream(ctx workflow.Context, m tier.Memory) (result schema.DeepDreamResult, err error) {
	in := schema.DeepDreamInput{User: m.User, Agent: m.Agent, Date: n.in.Date, LookbackDays: n.in.LookbackDays, Force: n.in.Force}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: in.WorkflowID(), TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: schema.DreamTime,
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON, StaticSummary: "dream of " + in.Writer().Stream(),
	})
	err = workflow.ExecuteChildWorkflow(child, schema.WorkflowDeepDream, in).Get(ctx, &result)
	return result, err
}

// count adds a dream that ended to the result.
func (n *dreamNight) count(m tier.Memory, d schema.DeepDreamResult, err error) {
	r := &n.result
	r.Memories++
	r.Usage.Add(d.Usage)
	var running *temporal.ChildWorkflowExecutionAlreadyStartedError
	switch {
	case errors.As(err, &running):
		r.Skipped++
		r.Running++
	case err != nil:
		r.Failed++
		n.failed(m, describeFailure("", err).Error)
	case d.Status == schema.DreamCommitted:
		r.Committed++
	case d.Status == schema.DreamUnchanged:
		r.Unchanged++
	case d.Status == schema.DreamIsRefused:
		r.Refused++
		n.failed(m, d.Reason)
	default:
		r.Skipped++
	}
}

// failed keeps the first failures.
func (n *dreamNight) failed(m tier.Memory, reason string) {
	if len(n.result.Failures) == maxFailures {
		return
	}
	n.result.Failures = append(n.result.Failures, schema.DreamFailure{User: m.User, Agent: m.Agent, Reason: text.Clip(reason, maxReason)})
}

// showProgress shows the progress of the night.
func (n *dreamNight) showProgress(ctx workflow.Context) {
	lines := []string{n.result.Line()}
	for _, f := range n.result.Failures {
		lines = append(lines, fmt.Sprintf("- `%s`: %s", schema.MemoryStream(f.User, f.Agent), f.Reason))
	}
	workflow.SetCurrentDetails(ctx, strings.Join(lines, "\n"))
}
