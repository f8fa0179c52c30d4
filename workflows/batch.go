package workflows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/batch"
	"axiommind/activities/text"
	"axiommind/schema"
)

const (
	// slotTime is how long a session may block the ones after it. A session that takes longer gives up its slot and
	// runs alongside them.
	slotTime = 10 * time.Minute
	// maxHeld bounds the sessions that cannot start yet, because another run is processing them or because they are
	// listed several times. At this number no more items are read.
	maxHeld = 200
	// batchEvents is the length of a history at which a run continues as new even while a slow session is running.
	batchEvents = 20_000
	// reportAtOnce is the number of outcomes that are recorded without waiting for more.
	reportAtOnce = 32
	// maxListKills bounds the workers that may die while they list the sessions of a batch.
	maxListKills = 120
	// maxReportBytes bounds the outcomes that are recorded at once.
	maxReportBytes = 44 << 10
)

// Typed nil pointers name the activities.
var batches *batch.Activities

// ImportSessions processes all sessions of a directory, or of a file with several.
func ImportSessions(ctx workflow.Context, in schema.ImportSessionsInput) (schema.BatchResult, error) {
	in.Project, in.User = cmp.Or(in.Project, DefaultProject), cmp.Or(in.User, DefaultUser)
	return batchOf[schema.ImportSessionsInput]{
		list: transcripts.ListSessions, noWait: in.NoWait,
		with: func(s *schema.BatchState) schema.ImportSessionsInput { in.Continued = s; return in },
	}.run(ctx, in, in.Continued)
}

// RetryBuilds retries builds that failed or are incomplete.
func RetryBuilds(ctx workflow.Context, in schema.RetryBuildsInput) (schema.BatchResult, error) {
	return batchOf[schema.RetryBuildsInput]{
		list: builds.ListRetries,
		with: func(s *schema.BatchState) schema.RetryBuildsInput { in.Continued = s; return in },
	}.run(ctx, in, in.Continued)
}

// BackfillSessions extracts from sessions of the log with another extractor.
func BackfillSessions(ctx workflow.Context, in schema.BackfillSessionsInput) (schema.BatchResult, error) {
	return batchOf[schema.BackfillSessionsInput]{
		list: builds.ListBackfill,
		with: func(s *schema.BatchState) schema.BackfillSessionsInput { in.Continued = s; return in },
	}.run(ctx, in, in.Continued)
}

// batchOf is a workflow that lists sessions and processes each by process_session, a few at a time.
type batchOf[In schema.BatchInput] struct {
	list func(context.Context, batch.ListInput[In]) (batch.Listed, error)
	// with returns the input with the state from which the next run continues.
	with func(*schema.BatchState) In
	// noWait skips sessions that another run is processing.
	noWait bool
}

// run lists the items, unless an earlier run has, and processes them. A run whose history grows long continues as new.
// A cancelled run starts no more sessions, but waits for the running ones.
func (w batchOf[In]) run(ctx workflow.Context, in In, continued *schema.BatchState) (schema.BatchResult, error) {
	if err := in.Validate(); err != nil {
		return schema.BatchResult{}, invalidInput(err)
	}
	b := &batchRun{pace: in.Pace(), noWait: w.noWait, sessions: map[string][]*batchItem{}}
	b.pace.AtOnce = cmp.Or(b.pace.AtOnce, schema.DefaultAtOnce)
	if err := workflow.SetQueryHandler(ctx, schema.QueryProgress, b.progress); err != nil {
		return schema.BatchResult{}, fmt.Errorf("set query handler: %w", err)
	}
	switch {
	case continued == nil:
		if err := w.begin(ctx, in, b); err != nil {
			return b.state.Result, describeFailure("list", err).end(err)
		}
	case continued.Batch == "" || continued.Result.Statuses == nil:
		return schema.BatchResult{}, invalidInput(errors.New("continued is the state passed between runs: leave it out"))
	default:
		b.state = *continued
	}
	b.showProgress(ctx)
	if err := b.process(ctx); err != nil {
		return b.state.Result, err
	}
	if b.handsOver {
		state := b.handOver()
		return b.state.Result, workflow.NewContinueAsNewError(ctx, in.Workflow(), w.with(&state))
	}
	return b.state.Result, nil
}

// begin lists the items of a new batch.
func (w batchOf[In]) begin(ctx workflow.Context, in In, b *batchRun) error {
	info := workflow.GetInfo(ctx)
	// A reset does not change the start.
	at := info.WorkflowStartTime.UTC()
	b.state.Batch = schema.HashParts("batch", in.WorkflowID(), info.WorkflowExecution.ID, strconv.FormatInt(at.UnixNano(), 10))[:32]
	b.state.At = at
	b.state.Result = schema.BatchResult{Batch: b.state.Batch, Statuses: map[schema.BuildStatus]int{}}
	b.listing = true
	workflow.SetCurrentDetails(ctx, "Looks for sessions. The list is the stream `"+schema.BatchStream(b.state.Batch)+"`.")
	list := batch.ListInput[In]{Batch: b.state.Batch, At: at, By: in}
	listed, killed, err := callOnce(listWork(ctx, "look for sessions"), w.list, list)
	for killed && list.Killed < maxListKills {
		list.Killed++
		listed, killed, err = callOnce(listWork(ctx, "look for sessions"), w.list, list)
	}
	b.listing = false
	b.state.Result.Items, b.state.Result.PassedOver, b.state.Head = listed.Items, listed.PassedOver, listed.Head
	return err
}

// batchItem is an item that was read and has not ended.
type batchItem struct {
	schema.BatchItem
	// id is that of the session's workflow.
	id string
	// claimed is true for the one item of its session that may run.
	claimed bool
	started time.Time
	// slow is true for an item that runs without a slot.
	slow bool
	// wait is the pause before the next try while another run is processing the session.
	wait time.Duration
}

// batchRun is one run of such a workflow.
type batchRun struct {
	pace   schema.Pace
	noWait bool
	state  schema.BatchState

	listing bool
	// ready are the next items to start, in order.
	ready []*batchItem
	// running are the items that were started.
	running []*batchItem
	// sessions lists, for each session in progress, its other items.
	sessions map[string][]*batchItem
	// parked counts the items in these lists. waiting are the items whose session another run is processing.
	parked  int
	waiting []*batchItem
	// slow counts the running items without a slot.
	slow int

	pending      []schema.BatchOutcome
	pendingSince time.Time
	reporting    bool
	unreported   error

	handsOver bool
	// changed is set by every change that may unblock the run. alarms are the times at which the run checks again.
	changed bool
	alarms  []time.Time
}

// process runs the items to their ends, or until the run should continue as new.
func (b *batchRun) process(ctx workflow.Context) error {
	for ctx.Err() == nil {
		b.changed = false
		b.freeSlots(ctx)
		if b.handsOver = b.long(ctx); !b.handsOver {
			if err := b.startItems(ctx); err != nil && ctx.Err() == nil {
				return describeFailure("read items", err).end(err)
			}
		}
		if len(b.running) == b.slow && (b.handsOver || b.finished()) {
			break
		}
		b.reportSoon(ctx)
		b.setAlarms(ctx)
		if err := workflow.Await(ctx, func() bool { return b.changed }); err != nil {
			break
		}
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	if ctx.Err() != nil {
		// On a timeout the sessions continue alone.
		_, _ = workflow.AwaitWithTimeout(apart, slotTime, func() bool { return len(b.running) == 0 })
	}
	if err := b.reportAll(apart); err != nil {
		return describeFailure("record outcomes", err).end(err)
	}
	return ctx.Err()
}

// finished reports whether all items have ended.
func (b *batchRun) finished() bool {
	return !b.more() && len(b.ready)+len(b.running)+len(b.waiting)+b.parked == 0
}

// more reports whether there are items that have not been read.
func (b *batchRun) more() bool { return b.state.Next < b.state.Result.Items || len(b.state.Left) > 0 }

// long reports whether the history has become so long that another run should continue. While a slow session is
// running, it waits for up to batchEvents events.
func (b *batchRun) long(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() && !b.finished() && (b.slow == 0 || info.GetCurrentHistoryLength() > batchEvents)
}

// handOver returns the state for the next run. That run finds these sessions in progress, waits for them, and then
// processes their new messages.
func (b *batchRun) handOver() schema.BatchState {
	state := b.state
	for _, items := range [][]*batchItem{b.ready, b.running, b.waiting} {
		for _, it := range items {
			state.Left = append(state.Left, it.Index)
		}
	}
	for _, id := range workflow.DeterministicKeys(b.sessions) {
		for _, it := range b.sessions[id] {
			state.Left = append(state.Left, it.Index)
		}
	}
	slices.Sort(state.Left)
	return state
}

// freeSlots takes the slot from items that have used it for too long. There are at most as many slow items as slots.
func (b *batchRun) freeSlots(ctx workflow.Context) {
	for _, it := range b.running {
		if !it.slow && b.slow < b.pace.AtOnce && workflow.Now(ctx).Sub(it.started) >= slotTime {
			it.slow = true
			b.slow++
		}
	}
}

// startItems starts as many items as may run.
func (b *batchRun) startItems(ctx workflow.Context) error {
	for len(b.running)-b.slow < b.pace.AtOnce && !workflow.Now(ctx).Before(b.state.NotBefore) {
		if len(b.ready) == 0 {
			if !b.more() || b.parked+len(b.waiting) >= maxHeld {
				return nil
			}
			if err := b.read(ctx); err != nil {
				return err
			}
			continue
		}
		it := b.ready[0]
		b.ready = b.ready[1:]
		b.take(ctx, it)
	}
	return nil
}

// take starts an item, unless it is refused or its session is in progress.
func (b *batchRun) take(ctx workflow.Context, it *batchItem) {
	if reason, failure := it.refusal(); reason != "" {
		b.count(ctx, schema.BatchOutcome{
			Index: it.Index, SessionID: it.Input.SessionID, Status: schema.BuildFailed, Error: text.Clip(reason, maxReason), ErrorType: failure,
		})
		return
	}
	it.id = it.Input.Key().WorkflowID()
	if others, works := b.sessions[it.id]; works && !it.claimed {
		b.sessions[it.id] = append(others, it)
		b.parked++
		return
	} else if !works {
		b.sessions[it.id], it.claimed = nil, true
	}
	it.started = workflow.Now(ctx)
	if b.pace.PerMinute > 0 {
		b.state.NotBefore = it.started.Add(time.Minute / time.Duration(b.pace.PerMinute))
	}
	b.running = append(b.running, it)
	apart, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(apart, func(ctx workflow.Context) { b.runItem(ctx, it) })
}

// refusal returns the reason why nothing is started for the item and the type of the error.
func (it *batchItem) refusal() (reason, failure string) {
	if it.Refused != "" {
		return it.Refused, cmp.Or(it.RefusedType, schema.ErrorInvalidInput)
	}
	if err := it.Input.Key().Validate(); err != nil {
		return err.Error(), schema.ErrorInvalidInput
	}
	return "", ""
}

// read reads the next items. Items that an earlier run left come first.
func (b *batchRun) read(ctx workflow.Context) error {
	in := batch.NextInput{Batch: b.state.Batch, From: b.state.Next, Most: 200, Page: b.state.Page}
	left := len(b.state.Left) > 0
	if left {
		in.From, in.Page = b.state.Left[0], 0
	}
	next, err := quickly(storeWork(ctx, fmt.Sprintf("items from %d", in.From)), batches.NextItems, in)
	if err != nil {
		return err
	}
	for _, item := range next.Items {
		if left {
			at, found := slices.BinarySearch(b.state.Left, item.Index)
			if !found {
				continue
			}
			b.state.Left = slices.Delete(b.state.Left, at, at+1)
		} else {
			b.state.Next = item.Index + 1
		}
		b.ready = append(b.ready, &batchItem{BatchItem: item, wait: timingOf(ctx).Busy})
	}
	if !left {
		b.state.Page = next.Page
	}
	if len(next.Items) == 0 && (left || !next.More) {
		return fmt.Errorf("batch %q has no item %d, although it holds %d", b.state.Batch, in.From, b.state.Result.Items)
	}
	return nil
}

// setAlarms wakes the run when something becomes due.
func (b *batchRun) setAlarms(ctx workflow.Context) {
	now := workflow.Now(ctx)
	if len(b.pending) > 0 && !b.reporting && b.unreported == nil {
		b.wakeAt(ctx, b.pendingSince.Add(timingOf(ctx).Report))
	}
	if len(b.ready) == 0 && !b.more() {
		return // No item is waiting to start.
	}
	if now.Before(b.state.NotBefore) {
		b.wakeAt(ctx, b.state.NotBefore)
	}
	if at := slices.IndexFunc(b.running, func(it *batchItem) bool { return !it.slow }); at >= 0 && b.slow < b.pace.AtOnce {
		b.wakeAt(ctx, b.running[at].started.Add(slotTime))
	}
}

// wakeAt wakes the run at the time, unless an earlier alarm is set.
func (b *batchRun) wakeAt(ctx workflow.Context, at time.Time) {
	if slices.ContainsFunc(b.alarms, func(alarm time.Time) bool { return !alarm.After(at) }) {
		return
	}
	b.alarms = append(b.alarms, at)
	workflow.Go(ctx, func(ctx workflow.Context) {
		_ = workflow.Sleep(ctx, at.Sub(workflow.Now(ctx))) // Cancelled, the run does not wait for it.
		b.alarms = slices.DeleteFunc(b.alarms, at.Equal)
		b.changed = true
	})
}

func (b *batchRun) progress() (schema.BatchProgress, error) {
	p := schema.BatchProgress{BatchResult: b.state.Result, Listing: b.listing, Done: b.ended()}
	for _, it := range b.running {
		p.Running = append(p.Running, it.Input.SessionID)
	}
	return p, nil
}

// ended counts the items that have ended.
func (b *batchRun) ended() (n int) {
	for _, status := range workflow.DeterministicKeys(b.state.Result.Statuses) {
		n += b.state.Result.Statuses[status]
	}
	return n
}

// showProgress shows the progress of the batch.
func (b *batchRun) showProgress(ctx workflow.Context) {
	r := b.state.Result
	line := fmt.Sprintf("%d of %d sessions", b.ended(), r.Items)
	for _, status := range workflow.DeterministicKeys(r.Statuses) {
		line += fmt.Sprintf(", %d %s", r.Statuses[status], status)
	}
	if r.PassedOver > 0 {
		line += fmt.Sprintf("; %d passed over", r.PassedOver)
	}
	workflow.SetCurrentDetails(ctx, line+fmt.Sprintf(" · %d entries (%d new) · %d model calls. The list is the stream `%s`.",
		r.Counts.Entries, r.Counts.NewEntries, r.Usage.Calls, schema.BatchStream(r.Batch)))
}
