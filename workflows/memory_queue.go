package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/queue"
	"axiommind/schema"
)

const (
	// queueEvents is the length of a history at which a queue continues as new, and queueSessions is how many sessions
	// one run processes.
	queueEvents   = 4000
	queueSessions = 1000
	// queueBytes is the size of a history at which a queue continues as new even if it has processed nothing.
	queueBytes = 24 << 20
	// maxTries is how often a session with a passing failure is tried. The pause before the next try doubles, up to
	// lastTries times the first.
	maxTries  = 8
	lastTries = 60
	// maxAgain bounds the failures that one run passes to the next. For the others the count of tries starts again.
	maxAgain = 100
	// maxShown bounds the sessions in the answer to a query.
	maxShown = 100
)

var queues *queue.Activities

// MemoryQueue receives contexts of one user and agent by the signal [schema.SignalEnqueue], waits until no more arrive,
// and has their sessions processed one after the other. It stores a context before anything else, so the log contains
// all pending items and a lost run loses nothing.
//
// The queue is processed as a whole, as the requirement demands: when nothing has arrived for the debounce time of the
// last context, when a context has waited for its maximum time, or when a context asks for it. A statement that asks
// for it is processed alone.
func MemoryQueue(ctx workflow.Context, in schema.MemoryQueueInput) error {
	if err := (schema.FlushInput{User: in.User, Agent: in.Agent}).Validate(); err != nil {
		return invalidInput(err)
	}
	if id := schema.WorkflowID(in.Stream()); !hasID(ctx, id) {
		return invalidInput(fmt.Errorf("the queue of this user and agent is the workflow %q: signal that one", id))
	}
	q := &memoryQueue{
		input: in, threads: map[queueKey]*queuedThread{}, again: map[queueKey]schema.QueueRetry{},
		contexts: workflow.GetSignalChannel(ctx, schema.SignalEnqueue), tries: timingOf(ctx).Tries,
	}
	if c := in.Continued; c != nil {
		q.since, q.notBefore, q.last = c.Since, c.NotBefore, c.Last
		for _, a := range c.Again {
			q.again[queueKey{a.Project, a.Thread}] = a
		}
	}
	if err := q.recall(ctx); err != nil {
		return err
	}
	if err := q.serve(ctx); err != nil {
		return err
	}
	// Received contexts are stored even if the run is cancelled.
	apart, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		ctx.Done().Receive(ctx, nil)
		q.cancelled, q.changed = true, true
	})
	q.load(apart)
	q.loaded = true
	workflow.Go(apart, q.receive)
	if handsOver := q.run(apart); !handsOver {
		return ctx.Err()
	}
	in.Continued = q.handOver()
	return workflow.NewContinueAsNewError(ctx, schema.WorkflowMemoryQueue, in)
}

type queueKey struct{ project, thread string }

// queuedThread is a session that is pending or in progress.
type queuedThread struct {
	// QueuedThread contains the pending contexts.
	schema.QueuedThread
	// taken contains the contexts of the session in progress, and session is its future, or nil if it is not in
	// progress.
	taken   schema.QueuedThread
	session workflow.ChildWorkflowFuture
	// batch is true if the session is processed in the current pass over the queue.
	batch bool
	// tries counts its failures, and notBefore is the time of the next try.
	tries     int
	notBefore time.Time
	// wait is the pause while another run processes the session.
	wait time.Duration
	// most bounds how many contexts the session gets at once, to find the one that can't be read. 0 means no bound.
	most int
}

// memoryQueue is one run of a queue.
type memoryQueue struct {
	input    schema.MemoryQueueInput
	contexts workflow.ReceiveChannel
	// threads are all sessions that are pending or in progress. order lists the pending ones in the order of their last
	// contexts.
	threads map[queueKey]*queuedThread
	order   []*queuedThread
	// running are the sessions in progress. Others wait only for the last one, because those before it are slow.
	// settling counts the sessions whose end is being recorded.
	running  []*queuedThread
	settling int

	head  schema.StreamHead
	since uint64
	// quietAt is the end of the debounce time of the last context.
	quietAt time.Time
	// notBefore is when the next session may start.
	notBefore time.Time
	last      *schema.QueueResult
	// tries is the first pause after a passing failure.
	tries time.Duration
	// again are the failures from an earlier run.
	again   map[queueKey]schema.QueueRetry
	flushes []*flushing
	// done counts the sessions that this run processed, and refused the contexts that it refused.
	done, refused int
	full          bool
	// storing is true while received contexts are being stored, at positions after storedTo. closing is true once the
	// run accepts no more updates. loaded is true once the pending contexts are known.
	storing, closing, cancelled, loaded bool
	storedTo                            uint64
	// changed is set by every change that may unblock the run. alarm is the next time at which the run checks again.
	changed bool
	alarm   time.Time
}

// run processes due sessions until the queue is idle or the run is cancelled. It returns true if the run has grown so
// long that another one should follow. No signal is then left unread.
func (q *memoryQueue) run(ctx workflow.Context) (handsOver bool) {
	for {
		q.changed = false
		if q.cancelled || q.isLong(ctx) {
			q.drain(ctx)
			q.leave()
			return !q.cancelled
		}
		now := workflow.Now(ctx)
		q.fire(now)
		if t := q.next(now); t != nil {
			q.process(ctx, t)
			continue
		}
		q.publishFull(ctx)
		q.showState(ctx)
		at := q.wakeAt()
		idle := at.IsZero() && len(q.running) == 0
		if idle {
			at = now.Add(timingOf(ctx).Idle)
		}
		if !at.IsZero() {
			q.setAlarm(ctx, at)
		}
		_ = workflow.Await(ctx, func() bool { return q.changed }) // Nothing cancels it.
		if idle && !q.alarm.After(workflow.Now(ctx)) && q.isIdle(ctx) {
			return false
		}
	}
}

// isIdle reports whether nothing is left to do and no signal is unread.
func (q *memoryQueue) isIdle(ctx workflow.Context) bool {
	return len(q.threads) == 0 && !q.storing && q.contexts.Len() == 0 && workflow.AllHandlersFinished(ctx)
}

// isLong reports whether another run should follow. It ignores the server's suggestion if the run has processed nothing
// and its history is small: a large backlog makes the server suggest it at once, so runs would follow each other
// without progress.
func (q *memoryQueue) isLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return q.done >= queueSessions || info.GetCurrentHistoryLength() >= queueEvents ||
		info.GetContinueAsNewSuggested() && (q.done > 0 || info.GetCurrentHistorySize() >= queueBytes)
}

// drain stores all received contexts and accepts no more updates, because signals that a run leaves unread are lost.
func (q *memoryQueue) drain(ctx workflow.Context) {
	q.closing = true
	_ = workflow.Await(ctx, func() bool {
		return !q.storing && q.settling == 0 && q.contexts.Len() == 0 && workflow.AllHandlersFinished(ctx)
	}) // Nothing cancels it.
}

// dueAt returns when the queue is processed, or zero if nothing is pending.
func (q *memoryQueue) dueAt() (at time.Time) {
	for _, t := range q.order {
		if due := q.dueOf(t); t.waits() && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	return at
}

// dueOf returns the time at which the session triggers the queue, or at which it is retried.
func (q *memoryQueue) dueOf(t *queuedThread) time.Time {
	switch {
	case !t.notBefore.IsZero():
		return t.notBefore
	case t.Now:
		return t.LastAt
	case t.Due.Before(q.quietAt):
		return t.Due
	default:
		return q.quietAt
	}
}

// fire starts the processing of pending sessions that are due. A failed session waits for its time and is then retried
// alone. A statement that is due at once also runs alone.
func (q *memoryQueue) fire(now time.Time) {
	due := func(t *queuedThread) bool { return t.waits() && t.notBefore.IsZero() && !q.dueOf(t).After(now) }
	all := slices.ContainsFunc(q.order, func(t *queuedThread) bool { return due(t) && !t.Alone() })
	for _, t := range q.order {
		if t.waits() && (all || due(t) || !t.notBefore.IsZero()) {
			t.batch = t.batch || !t.notBefore.After(now)
		}
	}
}

// next returns the session to process now: a requested one, else one that has waited for its maximum time, else the one
// whose last context is the oldest.
func (q *memoryQueue) next(now time.Time) (first *queuedThread) {
	if now.Before(q.notBefore) {
		return nil
	}
	for _, t := range q.order {
		if t.waits() && t.batch && (first == nil || t.urgency(now) > first.urgency(now)) {
			first = t
		}
	}
	return first
}

// waits reports whether the session can be processed. Later contexts of a session in progress can't.
func (t *queuedThread) waits() bool { return t.session == nil }

func (t *queuedThread) urgency(now time.Time) int {
	switch {
	case t.Now:
		return 2
	case !t.Due.After(now):
		return 1
	default:
		return 0
	}
}

// wakeAt returns when the run has something to do, or zero if nothing is scheduled.
func (q *memoryQueue) wakeAt() time.Time {
	if slices.ContainsFunc(q.order, func(t *queuedThread) bool { return t.waits() && t.batch }) {
		return q.notBefore
	}
	return q.dueAt()
}

// setAlarm wakes the run at the time, unless an earlier alarm is set. A timer is not postponed when another context
// arrives: the run wakes too early and sets the next one. That costs two events for many contexts.
func (q *memoryQueue) setAlarm(ctx workflow.Context, at time.Time) {
	now := workflow.Now(ctx)
	if q.alarm.After(now) && !at.Before(q.alarm) {
		return
	}
	q.alarm = at
	workflow.Go(ctx, func(ctx workflow.Context) {
		_ = workflow.Sleep(ctx, max(at.Sub(now), time.Millisecond)) // Nothing cancels it.
		q.changed = true
	})
}

// lowWatermark returns the position up to which nothing is pending. It does not count the contexts of the session that
// has ended, if one is given.
func (q *memoryQueue) lowWatermark(ended *queuedThread) uint64 {
	up := q.head.Seq
	if q.storing {
		up = min(up, q.storedTo) // Contexts that are being stored may be before events that another activity has appended since.
	}
	for _, t := range q.order {
		up = min(up, t.Positions[0]-1)
	}
	for _, t := range q.running {
		if t != ended {
			up = min(up, t.taken.Positions[0]-1)
		}
	}
	return max(up, q.since)
}

// recall restores the memo that the previous run set for senders.
func (q *memoryQueue) recall(ctx workflow.Context) error {
	told := workflow.GetInfo(ctx).Memo.GetFields()[schema.QueueMemoFull]
	if told == nil {
		return nil
	}
	if err := converter.GetDefaultDataConverter().FromPayload(told, &q.full); err != nil {
		return fmt.Errorf("read the memo: %w", err)
	}
	return nil
}

// publishFull tells senders by the memo whether the queue accepts contexts of other sessions.
func (q *memoryQueue) publishFull(ctx workflow.Context) {
	full := len(q.threads) >= schema.QueueNearlyFull || q.full && len(q.threads) >= schema.QueueNearlyFull*9/10
	if full == q.full {
		return
	}
	q.full = full
	if err := workflow.UpsertMemo(ctx, map[string]any{schema.QueueMemoFull: full}); err != nil {
		workflow.GetLogger(ctx).Error("senders are not told whether the queue is full", "reason", err)
	}
}

// showState shows the state of the queue.
func (q *memoryQueue) showState(ctx workflow.Context) {
	line := fmt.Sprintf("%d sessions wait", len(q.order))
	if at := q.dueAt(); !at.IsZero() {
		line += ", next at " + at.UTC().Format(time.RFC3339)
	}
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("%s · %d processed by this run", line, q.done))
}

// handOver returns the state that the next run needs in addition to the log.
func (q *memoryQueue) handOver() *schema.QueueContinued {
	c := &schema.QueueContinued{Since: q.lowWatermark(nil), NotBefore: q.notBefore, Last: q.last}
	for _, t := range q.order {
		if t.batch {
			c.FiringTo = max(c.FiringTo, t.Positions[0])
		}
		if t.tries > 0 && len(c.Again) < maxAgain {
			c.Again = append(c.Again, t.failure())
		}
	}
	return c
}

func (t *queuedThread) failure() schema.QueueRetry {
	return schema.QueueRetry{Project: t.Project, Thread: t.Thread, Attempts: t.tries, At: t.notBefore}
}

// sortOrder sorts the pending sessions by their last contexts.
func (q *memoryQueue) sortOrder() {
	last := func(t *queuedThread) uint64 { return t.Positions[len(t.Positions)-1] }
	slices.SortStableFunc(q.order, func(a, b *queuedThread) int { return cmp.Compare(last(a), last(b)) })
}
