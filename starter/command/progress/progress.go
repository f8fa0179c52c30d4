// Package progress starts workflows and shows their progress.
package progress

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
	memory "axiommind/starter/client"
	"axiommind/starter/command"
)

// Job is one session to process and its result.
type Job struct {
	File   string                      `json:"file"`
	Input  schema.ProcessSessionInput  `json:"-"`
	Format string                      `json:"format"`
	Result schema.ProcessSessionResult `json:"result"`
	// Error is the reason why the session failed.
	Error string `json:"error,omitempty"`
	// Refused is true if no workflow was started for the session.
	Refused bool
	// Signals are the signals in its last messages.
	Signals memory.Signals
}

const (
	// WatchEvery is the interval at which a workflow is queried.
	WatchEvery = 250 * time.Millisecond
	// AnswerTimeout is the timeout of a request to Temporal about a running session.
	AnswerTimeout = 5 * time.Second
)

// Progress shows the progress of the work: a bar on a terminal, else a line at intervals.
type Progress struct {
	a   *command.App
	mu  sync.Mutex
	bar *progressbar.ProgressBar
	// printed contains the messages already shown. Each is shown once.
	printed map[string]bool

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

// New starts counting units, such as "sessions done", up to the total. A total of 0 shows only that the work
// continues.
func New(a *command.App, total int, unit string) *Progress {
	p := &Progress{
		a: a, printed: map[string]bool{}, unit: unit, total: total, began: time.Now(),
		watched: map[string]progressQuery{}, stop: make(chan struct{}), ended: make(chan struct{}),
	}
	switch {
	case a.Interactive:
		p.bar = newBar(a, total)
	case a.Quiet > 0:
		go p.report()
		return p
	}
	close(p.ended)
	return p
}

// newBar draws a bar. For an unknown total it draws a spinner without numbers, which turns at each update.
func newBar(a *command.App, total int) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(a.Drawn), progressbar.OptionSetWidth(24), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(false),
	}
	if total == 0 {
		return progressbar.NewOptions(-1, append(options, progressbar.OptionSetSpinnerChangeInterval(0))...)
	}
	return progressbar.NewOptions(total, append(options, progressbar.OptionShowCount())...)
}

// report prints a progress line at each interval.
func (p *Progress) report() {
	defer close(p.ended)
	ticker := time.NewTicker(p.a.Quiet)
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
			if line := p.Line(ctx); ctx.Err() == nil {
				_, _ = fmt.Fprintln(p.a.ErrOut, line)
			}
		}
	}
}

// Line describes the progress of all the work and of each running session.
func (p *Progress) Line(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
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

// Watch shows the progress of a session until stop is called: the current step and why an activity is retried.
func (p *Progress) Watch(ctx context.Context, c client.Client, workflowID string, j *Job) (stop func()) {
	return p.Follow(ctx, workflowID, WatchEvery,
		func(ctx context.Context) (string, bool) { return state(ctx, c, workflowID, j) },
		func(ctx context.Context) { p.look(ctx, c, workflowID, j) })
}

// Follow calls look at each interval until stop is called, and calls ask for each printed line.
func (p *Progress) Follow(ctx context.Context, workflowID string, every time.Duration, ask progressQuery, look func(context.Context)) (stop func()) {
	p.mu.Lock()
	p.watched[workflowID] = ask
	p.mu.Unlock()
	ended := EveryTick(ctx, every, look)
	return func() {
		ended()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watched, workflowID)
	}
}

// EveryTick calls look at each interval until stop is called. stop waits until look has returned.
func EveryTick(ctx context.Context, every time.Duration, look func(context.Context)) (stop func()) {
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

func (p *Progress) look(ctx context.Context, c client.Client, workflowID string, j *Job) {
	if p.bar != nil {
		if text, ok := state(ctx, c, workflowID, j); ok {
			p.Describe(text)
		}
	}
	p.Explain(ctx, c, workflowID, j)
}

// state queries a session for its current step.
func state(ctx context.Context, c client.Client, workflowID string, j *Job) (text string, ok bool) {
	var state schema.Progress
	value, err := c.QueryWorkflow(ctx, workflowID, "", schema.QueryProgress)
	if err != nil || value.Get(&state) != nil {
		return "", false
	}
	text = fmt.Sprintf("%s · %s", command.OneLine(j.Input.SessionID, 24), state.Step)
	asks := state.Step == schema.StepExtract || state.SessionID == "" // A dream has no session.
	if asks && state.WindowsTotal > 0 {
		text += fmt.Sprintf(" %d/%d", state.WindowsDone, state.WindowsTotal)
	}
	return text, true
}

// Describe sets the text before the bar.
func (p *Progress) Describe(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Describe(text)
	}
}

// Explain shows why activities are retried, each reason once: those of the session, and those of a writer that the session
// waits for.
func (p *Progress) Explain(ctx context.Context, c client.Client, workflowID string, j *Job) {
	for _, activity := range p.PendingActivities(ctx, c, workflowID) {
		p.Retried(j.Input.SessionID, activity)
		writer := WriterOf(activity)
		if writer == "" {
			continue
		}
		for _, work := range p.PendingActivities(ctx, c, writer) {
			p.Retried(writer, work)
		}
	}
}

// PendingActivities returns the pending activities of a workflow. If Temporal does not answer it prints that, because the
// wait for the result does not.
func (p *Progress) PendingActivities(ctx context.Context, c client.Client, workflowID string) []*workflow.PendingActivityInfo {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	d, err := c.DescribeWorkflowExecution(ctx, workflowID, "")
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	if errors.As(err, &unavailable) || errors.As(err, &late) {
		p.PrintOnce("temporal at " + p.a.Cfg.TemporalAddress + " does not answer; waiting for it")
	}
	if err != nil {
		return nil
	}
	return d.GetPendingActivities()
}

// Retried prints why an activity is retried, once for each reason.
func (p *Progress) Retried(who string, activity *workflow.PendingActivityInfo) {
	if reason := activity.GetLastFailure().GetMessage(); reason != "" {
		p.PrintOnce(fmt.Sprintf("%s: %s is tried again: %s", command.Unbroken(who), activity.GetActivityType().GetName(),
			command.OneLine(command.PlainWords(reason), command.MaxErrorLine)))
	}
}

// WriterOf returns the id of the workflow that executes an activity's work, as its heartbeat reports. It is empty if the
// activity does the work itself.
func WriterOf(activity *workflow.PendingActivityInfo) string {
	var says schema.Heartbeat
	err := converter.GetDefaultDataConverter().FromPayloads(activity.GetHeartbeatDetails(), &says)
	if err != nil {
		return "" // There is no heartbeat yet.
	}
	return says.WaitsFor
}

// PrintOnce prints a message, once.
func (p *Progress) PrintOnce(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.printed[text] {
		return
	}
	p.printed[text] = true
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = fmt.Fprintln(p.a.ErrOut, text)
}

// Done counts a unit of work.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready++
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

// Reached sets the count of finished units. With aside it clears the bar, because other output follows.
func (p *Progress) Reached(ready int, aside bool) {
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

// At shows the current step and its progress. The unit may change from one step to the next. A total of 0 is unknown.
func (p *Progress) At(doing string, ready, total int, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.total
	p.doing, p.unit, p.ready, p.total = doing, unit, ready, total
	switch {
	case p.bar == nil:
		return
	case (before == 0) != (total == 0):
		_ = p.bar.Finish()
		p.bar = newBar(p.a, total)
	case before != total:
		p.bar.ChangeMax(total)
	}
	p.bar.Describe(doing)
	if total > 0 {
		_ = p.bar.Set(min(ready, total))
	}
}

// Finish removes the bar, or stops the lines.
func (p *Progress) Finish() {
	close(p.stop)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
