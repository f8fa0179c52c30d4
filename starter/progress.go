package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	// watchEvery is the interval at which a workflow is queried.
	watchEvery = 250 * time.Millisecond
	// answerTimeout is the timeout of a request to Temporal about a running session.
	answerTimeout = 5 * time.Second
)

// progress shows the progress of the work: a bar on a terminal, else a line at intervals.
type progress struct {
	a   *app
	mu  sync.Mutex
	bar *progressbar.ProgressBar
	// told contains the messages already shown. Each is shown once.
	told map[string]bool

	// For the lines that are printed if no bar is drawn. A total of 0 is unknown.
	unit         string
	ready, total int
	// doing is the current step, if known.
	doing       string
	began       time.Time
	watched     map[string]progressQuery
	stop, ended chan struct{}
}

// progressQuery queries the progress of a workflow.
type progressQuery func(context.Context) (text string, ok bool)

// newProgress starts counting units, such as "sessions done", up to the total. A total of 0 shows only that the work
// continues.
func (a *app) newProgress(total int, unit string) *progress {
	p := &progress{
		a: a, told: map[string]bool{}, unit: unit, total: total, began: time.Now(),
		watched: map[string]progressQuery{}, stop: make(chan struct{}), ended: make(chan struct{}),
	}
	switch {
	case a.interactive:
		p.bar = a.newBar(total)
	case a.quiet > 0:
		go p.report()
		return p
	}
	close(p.ended)
	return p
}

// newBar draws a bar. For an unknown total it draws a spinner without numbers, which turns at each update.
func (a *app) newBar(total int) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.drawn), progressbar.OptionSetWidth(24), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(false),
	}
	if total == 0 {
		return progressbar.NewOptions(-1, append(options, progressbar.OptionSetSpinnerChangeInterval(0))...)
	}
	return progressbar.NewOptions(total, append(options, progressbar.OptionShowCount())...)
}

// report prints a progress line at each interval.
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
	watched := maps.Clone(p.watched)
	p.mu.Unlock()
	var says []string
	for _, id := range slices.Sorted(maps.Keys(watched)) {
		if text, ok := watched[id](ctx); ok {
			says = append(says, text)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing != "" {
		says = slices.Insert(says, 0, p.doing)
	}
	if p.total > 0 {
		says = slices.Insert(says, 0, fmt.Sprintf("%d of %d %s", p.ready, p.total, p.unit))
	}
	line := fmt.Sprintf("%.0fs", time.Since(p.began).Seconds())
	if len(says) > 0 {
		line += ": " + strings.Join(says, "; ")
	}
	return line
}

// watch shows the progress of a session until stop is called: the current step and why an activity is retried.
func (p *progress) watch(ctx context.Context, c client.Client, workflowID string, j *job) (stop func()) {
	return p.follow(ctx, workflowID, watchEvery,
		func(ctx context.Context) (string, bool) { return state(ctx, c, workflowID, j) },
		func(ctx context.Context) { p.look(ctx, c, workflowID, j) })
}

// follow calls look at each interval until stop is called, and calls ask for each printed line.
func (p *progress) follow(ctx context.Context, workflowID string, every time.Duration, ask progressQuery, look func(context.Context)) (stop func()) {
	p.mu.Lock()
	p.watched[workflowID] = ask
	p.mu.Unlock()
	ended := everyTick(ctx, every, look)
	return func() {
		ended()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watched, workflowID)
	}
}

// everyTick calls look at each interval until stop is called. stop waits until look has returned.
func everyTick(ctx context.Context, every time.Duration, look func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(every)
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

// state queries a session for its current step.
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

// explain shows why activities are retried, each reason once: those of the session, and those of a writer that the session
// waits for.
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

// pendingActivities returns the pending activities of a workflow. If Temporal does not answer it prints that, because the
// wait for the result does not.
func (p *progress) pendingActivities(ctx context.Context, c client.Client, workflowID string) []*workflow.PendingActivityInfo {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	d, err := c.DescribeWorkflowExecution(ctx, workflowID, "")
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	if errors.As(err, &unavailable) || errors.As(err, &late) {
		p.printOnce("temporal at " + p.a.cfg.TemporalAddress + " does not answer; waiting for it")
	}
	if err != nil {
		return nil
	}
	return d.GetPendingActivities()
}

// retried prints why an activity is retried, once for each reason.
func (p *progress) retried(who string, activity *workflow.PendingActivityInfo) {
	if reason := activity.GetLastFailure().GetMessage(); reason != "" {
		p.printOnce(fmt.Sprintf("%s: %s is tried again: %s", unbroken(who), activity.GetActivityType().GetName(),
			oneLine(plainWords(reason), maxErrorLine)))
	}
}

// writerOf returns the id of the workflow that executes an activity's work, as its heartbeat reports. It is empty if the
// activity does the work itself.
func writerOf(activity *workflow.PendingActivityInfo) string {
	var says schema.Heartbeat
	err := converter.GetDefaultDataConverter().FromPayloads(activity.GetHeartbeatDetails(), &says)
	if err != nil {
		return "" // There is no heartbeat yet.
	}
	return says.WaitsFor
}

// printOnce prints a message, once.
func (p *progress) printOnce(text string) {
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

// done counts a unit of work.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready++
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

// reached sets the count of finished units. With aside it clears the bar, because other output follows.
func (p *progress) reached(ready int, aside bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = ready
	if p.bar == nil {
		return
	}
	if p.total > 0 {
		_ = p.bar.Set(min(ready, p.total))
	}
	if aside {
		_ = p.bar.Clear()
	}
}

// at shows the current step and its progress. The unit may change from one step to the next. A total of 0 is unknown.
func (p *progress) at(doing string, ready, total int, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.total
	p.doing, p.unit, p.ready, p.total = doing, unit, ready, total
	switch {
	case p.bar == nil:
		return
	case (before == 0) != (total == 0):
		_ = p.bar.Finish()
		p.bar = p.a.newBar(total)
	case before != total:
		p.bar.ChangeMax(total)
	}
	p.bar.Describe(doing)
	if total > 0 {
		_ = p.bar.Set(min(ready, total))
	}
}

// finish removes the bar, or stops the lines.
func (p *progress) finish() {
	close(p.stop)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
