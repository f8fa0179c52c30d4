package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"axiommind/schema"
)

const (
	watchEvery = 250 * time.Millisecond
	// answerTimeout is the timeout of a question to Temporal about a running session.
	answerTimeout = 5 * time.Second
)

// progress shows how far the work is: a bar on a terminal, else a line now and then.
type progress struct {
	a   *app
	mu  sync.Mutex
	bar *progressbar.ProgressBar
	// told holds the messages already shown. Each is shown once.
	told map[string]bool

	// For the lines that are printed where no bar is drawn.
	unit         string
	ready, total int
	// uncounted is true while nothing is known to count. doing is what is done at the moment, where that is told.
	uncounted   bool
	doing       string
	began       time.Time
	watched     map[string]asker
	stop, ended chan struct{}
}

// asker asks a session how far it is.
type asker func(context.Context) (text string, ok bool)

// newProgress starts counting up to the total. The unit is such as "sessions done".
func (a *app) newProgress(total int, unit string) *progress {
	p := &progress{
		a: a, told: map[string]bool{}, unit: unit, total: total, began: time.Now(),
		watched: map[string]asker{}, stop: make(chan struct{}), ended: make(chan struct{}),
	}
	switch {
	case a.interactive:
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(a.drawn), progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetPredictTime(false))
	case a.quiet > 0:
		go p.report()
		return p
	}
	close(p.ended)
	return p
}

// report prints a line about the progress at each interval.
func (p *progress) report() {
	defer close(p.ended)
	ticker := time.NewTicker(p.a.quiet)
	defer ticker.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-p.stop
		cancel()
	}()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			if line := p.line(ctx); ctx.Err() == nil {
				_, _ = fmt.Fprintln(p.a.errOut, line)
			}
		}
	}
}

// line describes the progress of all the work and of each running session.
func (p *progress) line(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	p.mu.Lock()
	line := fmt.Sprintf("%.0fs: %d of %d %s", time.Since(p.began).Seconds(), p.ready, p.total, p.unit)
	if p.uncounted {
		line = fmt.Sprintf("%.0fs", time.Since(p.began).Seconds())
	}
	if p.doing != "" {
		line += "; " + p.doing
	}
	watched := maps.Clone(p.watched)
	p.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(watched)) {
		if text, ok := watched[id](ctx); ok {
			line += "; " + text
		}
	}
	return line
}

// watch follows a session until stop is called. It shows the current step and why an activity is retried.
func (p *progress) watch(ctx context.Context, c client.Client, workflowID string, j *job) (stop func()) {
	p.mu.Lock()
	p.watched[workflowID] = func(ctx context.Context) (string, bool) { return state(ctx, c, workflowID, j) }
	p.mu.Unlock()
	ended := everyTick(ctx, func(ctx context.Context) { p.look(ctx, c, workflowID, j) })
	return func() {
		ended()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watched, workflowID)
	}
}

// everyTick calls look now and then until stop is called, which waits for its end.
func everyTick(ctx context.Context, look func(context.Context)) (stop func()) {
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
				look(ctx)
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
		if text, ok := state(ctx, c, workflowID, j); ok {
			p.describe(text)
		}
	}
	p.explain(ctx, c, workflowID, j)
}

// state asks a session for its current step.
func state(ctx context.Context, c client.Client, workflowID string, j *job) (text string, ok bool) {
	var state schema.Progress
	value, err := c.QueryWorkflow(ctx, workflowID, "", schema.QueryProgress)
	if err != nil || value.Get(&state) != nil {
		return "", false
	}
	text = fmt.Sprintf("%s · %s", oneLine(j.Input.SessionID, 24), state.Step)
	asks := state.Step == schema.StepExtract || state.SessionID == "" // A dream has no session.
	if asks && state.WindowsTotal > 0 {
		text += fmt.Sprintf(" %d/%d", state.WindowsDone, state.WindowsTotal)
	}
	return text, true
}

// describe sets the text before the bar.
func (p *progress) describe(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Describe(text)
	}
}

// explain says why activities are retried, once for each reason: those of the session, and those of a writer that
// the session waits for.
func (p *progress) explain(ctx context.Context, c client.Client, workflowID string, j *job) {
	for _, activity := range p.pendingActivities(ctx, c, workflowID) {
		p.retried(j.Input.SessionID, activity)
		writer := writerOf(activity)
		if writer == "" {
			continue
		}
		for _, work := range p.pendingActivities(ctx, c, writer) {
			p.retried(writer, work)
		}
	}
}

// pendingActivities returns those of a workflow. If Temporal does not answer it says so, because the wait for the
// result does not.
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
		p.tell(fmt.Sprintf("%s: %s is tried again: %s", unbroken(who), activity.GetActivityType().GetName(),
			oneLine(plainWords(reason), maxErrorLine)))
	}
}

// writerOf is the id of the workflow that does the work of an activity, as its heartbeat says; empty when
// the activity does it itself.
func writerOf(activity *workflow.PendingActivityInfo) string {
	var says schema.Heartbeat
	err := converter.GetDefaultDataConverter().FromPayloads(activity.GetHeartbeatDetails(), &says)
	if err != nil {
		return "" // It says nothing yet.
	}
	return says.WaitsFor
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
	p.ready++
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

// reached sets how much is done. With aside the bar is cleared, because something is about to be printed.
func (p *progress) reached(ready int, aside bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = ready
	if p.bar == nil {
		return
	}
	_ = p.bar.Set(min(ready, p.total))
	if aside {
		_ = p.bar.Clear()
	}
}

// at shows what is being done, and how far it is: what is counted may change from one part of the work to the next. A
// total of 0 is unknown.
func (p *progress) at(doing string, ready, total int, unit string) {
	p.describe(doing)
	p.mu.Lock()
	p.doing, p.unit, p.uncounted = doing, unit, total == 0
	p.mu.Unlock()
	if total > 0 {
		p.expect(total)
		p.reached(ready, false)
	}
}

// expect sets how much there is to do, once that is known.
func (p *progress) expect(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total == total {
		return
	}
	p.total = total
	if p.bar != nil {
		p.bar.ChangeMax(total)
	}
}

func (p *progress) finish() {
	close(p.stop)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
