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
	// queueEvents is the length of a history at which a queue hands over, and queueSessions is how many sessions one run
	// processes.
	queueEvents   = 4000
	queueSessions = 1000
	// queueBytes is the size of a history at which a queue hands over though it has processed nothing.
	queueBytes = 24 << 20
	// maxTries is how often a session is tried whose failure may pass. The pause before the next try doubles, up to
	// lastTries times the first.
	maxTries  = 8
	lastTries = 60
	// maxAgain bounds the failures that one run hands to the next. Of others the tries are counted anew.
	maxAgain = 100
	// maxShown bounds the sessions in the answer to a query.
	maxShown = 100
)

var queues *queue.Activities

// MemoryQueue takes contexts of one user and agent by the signal [schema.SignalEnqueue], waits until no more come, and has
// their sessions processed, one after the other. A context is stored before anything else is done with it: what waits is
// what the log says, and a run that is lost loses nothing.
//
// The queue is processed as a whole, as the requirement has it: when nothing came for the time that the last context says,
// when one has waited for as long as it may, or when one asks for it. A statement that asks for it is processed alone.
func MemoryQueue(ctx workflow.Context, in schema.MemoryQueueInput) error {
	if err := (schema.FlushInput{User: in.User, Agent: in.Agent}).Validate(); err != nil {
		return invalidInput(err)
	}
	if id := schema.WorkflowID(in.Stream()); !hasID(ctx, id) {
		return invalidInput(fmt.Errorf("the queue of this user and agent is the workflow %q: signal that one", id))
	}
	q := &memoryQueue{
		input: in, threads: map[queueKey]*queuedThread{}, again: map[queueKey]schema.QueueAgain{},
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
	// What came is stored even if the run is cancelled.
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

// queuedThread is a session that waits, or that is processed.
type queuedThread struct {
	// QueuedThread holds what waits.
	schema.QueuedThread
	// taken holds the contexts that were taken for the session at work, and session is its future, nil if it is not at work.
	taken   schema.QueuedThread
	session workflow.ChildWorkflowFuture
	// batch is true if the session is to be processed in the present go.
	batch bool
	// tries counts its failures, and notBefore is when it is tried again.
	tries     int
	notBefore time.Time
	// wait is how long to wait while another run processes the session.
	wait time.Duration
	// most bounds how many contexts the session is given at once, to find the one that can't be read. 0 means no bound.
	most int
}

// memoryQueue is one run of a queue.
type memoryQueue struct {
	input    schema.MemoryQueueInput
	contexts workflow.ReceiveChannel
	// threads are all sessions that wait or are processed. order are those that wait, in the order in which their last
	// contexts came.
	threads map[queueKey]*queuedThread
	order   []*queuedThread
	// atWork are the sessions at work. Others wait for the last one only: those before it are slow. settling counts the slow
	// ones whose end is being recorded.
	atWork   []*queuedThread
	settling int

	head  schema.StreamHead
	since uint64
	// quietAt is when nothing came for as long as the last context says.
	quietAt time.Time
	// notBefore is when the next session may start.
	notBefore time.Time
	last      *schema.QueueResult
	// tries is the pause before the first try after a failure that may pass.
	tries time.Duration
	// again are failures that an earlier run has seen.
	again   map[queueKey]schema.QueueAgain
	flushes []*flushing
	// done counts the sessions that this run processed, refused the contexts that it refused.
	done, refused int
	full          bool
	// storing is true while contexts that came are stored, which stand after storedTo. closing is true once the run takes no
	// more updates.
	// loaded is true once what waits is known.
	storing, closing, cancelled, loaded bool
	storedTo                            uint64
	// changed is set by whatever may let the run go on. alarm is the next time at which it looks again.
	changed bool
	alarm   time.Time
}

// run processes what is due until nothing came for a while, or until the run is cancelled. It returns true when the run has
// grown so long that another one should follow. Then nothing is left unread.
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
		q.tellFull(ctx)
		q.tell(ctx)
		at := q.wakeAt()
		idle := at.IsZero() && len(q.atWork) == 0
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

// isIdle reports whether nothing is left to do, and nothing was left unread.
func (q *memoryQueue) isIdle(ctx workflow.Context) bool {
	return len(q.threads) == 0 && !q.storing && q.contexts.Len() == 0 && workflow.AllHandlersFinished(ctx)
}

// isLong reports whether another run should follow. What waits is a part of the history, and may be so much that the server
// suggests it at once: a run that had processed nothing would be followed by one that does the same.
func (q *memoryQueue) isLong(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return q.done >= queueSessions || info.GetCurrentHistoryLength() >= queueEvents ||
		info.GetContinueAsNewSuggested() && (q.done > 0 || info.GetCurrentHistorySize() >= queueBytes)
}

// drain stores what came, and takes no more updates: what a run leaves unread is lost.
func (q *memoryQueue) drain(ctx workflow.Context) {
	q.closing = true
	_ = workflow.Await(ctx, func() bool {
		return !q.storing && q.settling == 0 && q.contexts.Len() == 0 && workflow.AllHandlersFinished(ctx)
	}) // Nothing cancels it.
}

// dueAt is when the queue is processed, zero if nothing waits.
func (q *memoryQueue) dueAt() (at time.Time) {
	for _, t := range q.order {
		if due := q.dueOf(t); t.waits() && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	return at
}

// dueOf is when the session makes the queue be processed, or when it is tried again.
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

// fire begins to process what waits, if it is due. A session that failed waits for its time, and then is tried alone, and so is
// a statement that is due at once.
func (q *memoryQueue) fire(now time.Time) {
	due := func(t *queuedThread) bool { return t.waits() && t.notBefore.IsZero() && !q.dueOf(t).After(now) }
	all := slices.ContainsFunc(q.order, func(t *queuedThread) bool { return due(t) && !t.Alone() })
	for _, t := range q.order {
		if t.waits() && (all || due(t) || !t.notBefore.IsZero()) {
			t.batch = t.batch || !t.notBefore.After(now)
		}
	}
}

// next returns the session to process now: one that is asked for, else one that has waited for as long as it may, else the
// one whose last context came first.
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

// waits reports whether the session can be processed: the later contexts of one at work can't.
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

// wakeAt is when the run has something to do, zero if it waits for nothing.
func (q *memoryQueue) wakeAt() time.Time {
	if slices.ContainsFunc(q.order, func(t *queuedThread) bool { return t.waits() && t.batch }) {
		return q.notBefore
	}
	return q.dueAt()
}

// setAlarm makes the run look again at the time, unless it does so before. A timer is not put off when another context
// comes: the run looks too early then, and sets the next one. That is two events for many contexts.
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

// nothingUpTo is the position up to which nothing waits once the session at work has ended, if one is given.
func (q *memoryQueue) nothingUpTo(ended *queuedThread) uint64 {
	up := q.head.Seq
	if q.storing {
		up = min(up, q.storedTo) // What is being stored may stand before what another activity has appended since.
	}
	for _, t := range q.order {
		up = min(up, t.Positions[0]-1)
	}
	for _, t := range q.atWork {
		if t != ended {
			up = min(up, t.taken.Positions[0]-1)
		}
	}
	return max(up, q.since)
}

// recall takes over what the run before it has told senders.
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

// tellFull lets senders know whether the queue takes contexts of other sessions.
func (q *memoryQueue) tellFull(ctx workflow.Context) {
	full := len(q.threads) >= schema.QueueNearlyFull || q.full && len(q.threads) >= schema.QueueNearlyFull*9/10
	if full == q.full {
		return
	}
	q.full = full
	if err := workflow.UpsertMemo(ctx, map[string]any{schema.QueueMemoFull: full}); err != nil {
		workflow.GetLogger(ctx).Error("senders are not told whether the queue is full", "reason", err)
	}
}

// tell shows what the queue does.
func (q *memoryQueue) tell(ctx workflow.Context) {
	line := fmt.Sprintf("%d sessions wait", len(q.order))
	if at := q.dueAt(); !at.IsZero() {
		line += ", next at " + at.UTC().Format(time.RFC3339)
	}
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("%s · %d processed by this run", line, q.done))
}

// handOver returns what the next run needs besides the log.
func (q *memoryQueue) handOver() *schema.QueueContinued {
	c := &schema.QueueContinued{Since: q.nothingUpTo(nil), NotBefore: q.notBefore, Last: q.last}
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

func (t *queuedThread) failure() schema.QueueAgain {
	return schema.QueueAgain{Project: t.Project, Thread: t.Thread, Attempts: t.tries, At: t.notBefore}
}

// sortOrder puts the sessions that wait into their order.
func (q *memoryQueue) sortOrder() {
	last := func(t *queuedThread) uint64 { return t.Positions[len(t.Positions)-1] }
	slices.SortStableFunc(q.order, func(a, b *queuedThread) int { return cmp.Compare(last(a), last(b)) })
}
