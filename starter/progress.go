package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/llm"
	"axiommind/schema"
)

const (
	watchEvery = 250 * time.Millisecond
	// answerTimeout is how long Temporal may take to say how a session is.
	answerTimeout = 5 * time.Second
)

// progress draws how far the sessions are, when a person watches.
type progress struct {
	a   *app
	mu  sync.Mutex
	bar *progressbar.ProgressBar
	// told keeps the reasons that were shown, so that each is shown once.
	told map[string]bool
}

func (a *app) newProgress(sessions int) *progress {
	p := &progress{a: a, told: map[string]bool{}}
	if a.live {
		p.bar = progressbar.NewOptions(sessions, progressbar.OptionSetWriter(a.errOut), progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetPredictTime(false))
	}
	return p
}

// watch follows a session until stop is called: its step, and why something is tried again.
func (p *progress) watch(ctx context.Context, c client.Client, workflowID string, j *job) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				p.look(ctx, c, workflowID, j)
			}
		}
	}()
	return func() {
		cancel()
		<-finished
	}
}

func (p *progress) look(ctx context.Context, c client.Client, workflowID string, j *job) {
	if p.bar != nil {
		var state schema.Progress
		if value, err := c.QueryWorkflow(ctx, workflowID, "", schema.QueryProgress); err == nil && value.Get(&state) == nil {
			p.session(j, state)
		}
	}
	p.explain(ctx, c, workflowID, j)
}

func (p *progress) session(j *job, state schema.Progress) {
	text := fmt.Sprintf("%s · %s", oneLine(j.Input.SessionID, 24), state.Step)
	if state.Step == schema.StepExtract && state.WindowsTotal > 0 {
		text += fmt.Sprintf(" %d/%d", state.WindowsDone, state.WindowsTotal)
	}
	p.describe(text)
}

// describe says what is being done.
func (p *progress) describe(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Describe(text)
	}
}

// explain says, once for each reason, what a session waits for: one of its own activities, or one of
// the writer that an activity has handed its work to.
func (p *progress) explain(ctx context.Context, c client.Client, workflowID string, j *job) {
	for _, activity := range p.pendingActivities(ctx, c, workflowID) {
		name := activity.GetActivityType().GetName()
		p.retried(j.Input.SessionID, activity)
		writer := p.writerOf(ctx, name, j.Input)
		if writer == "" {
			continue
		}
		for _, work := range p.pendingActivities(ctx, c, writer) {
			p.retried(writer, work)
		}
	}
}

// pendingActivities are those of a workflow. That Temporal is away is told: the wait for the result goes
// on in silence.
func (p *progress) pendingActivities(ctx context.Context, c client.Client, workflowID string) []*workflow.PendingActivityInfo {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	d, err := c.DescribeWorkflowExecution(ctx, workflowID, "")
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	if errors.As(err, &unavailable) || errors.As(err, &late) {
		p.tell("temporal at " + p.a.cfg.TemporalAddress + " does not answer; waiting for it")
	}
	if err != nil {
		return nil
	}
	return d.GetPendingActivities()
}

func (p *progress) retried(who string, activity *workflow.PendingActivityInfo) {
	if reason := activity.GetLastFailure().GetMessage(); reason != "" {
		p.tell(fmt.Sprintf("%s: %s is tried again: %s", who, activity.GetActivityType().GetName(), reason))
	}
}

// writerOf is the workflow that does the work of an activity, empty when the activity does it itself.
func (p *progress) writerOf(ctx context.Context, activity string, in schema.ProcessSessionInput) string {
	switch activity {
	case "SubmitTasks":
		return schema.WorkflowID(schema.ProjectStream(in.Project))
	case "SubmitFacts":
		return schema.WorkflowID(schema.MemoryStream(in.User, in.Agent))
	case "IndexSession":
		embedder, err := llm.NewEmbedder(ctx, p.a.cfg.Embedder)
		if err != nil {
			return "" // The worker has a key that this program was not given.
		}
		return schema.WorkflowID(schema.VectorStream(schema.VectorCollection(embedder.Version())))
	default:
		return ""
	}
}

func (p *progress) tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told[text] {
		return
	}
	p.told[text] = true
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = fmt.Fprintln(p.a.errOut, text)
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
