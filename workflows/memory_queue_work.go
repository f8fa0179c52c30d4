package workflows

import (
	"errors"
	"fmt"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/queue"
	"axiommind/schema"
)

// process runs a session with its pending contexts. Later contexts wait. The end of a slow session is settled while
// others are processed.
func (q *memoryQueue) process(ctx workflow.Context, t *queuedThread) {
	t.taken = t.QueuedThread
	t.QueuedThread, t.batch = schema.QueuedThread{Project: t.Project, Thread: t.Thread}, false
	q.order = slices.DeleteFunc(q.order, func(o *queuedThread) bool { return o == t })
	q.running = append(q.running, t)
	q.showState(ctx)
	t.session = q.start(ctx, t)
	q.await(ctx, t)
	q.notBefore = workflow.Now(ctx).Add(schema.QueuePause)
	if t.session.IsReady() {
		q.end(ctx, t)
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) { q.end(ctx, t) })
}

// end waits for the session's end and settles it.
func (q *memoryQueue) end(ctx workflow.Context, t *queuedThread) {
	var result schema.ProcessSessionResult
	err := t.session.Get(ctx, &result)
	q.settling++
	q.settle(ctx, t, result, err)
	q.settling--
	q.running = slices.DeleteFunc(q.running, func(o *queuedThread) bool { return o == t })
	if t.session, t.taken = nil, (schema.QueuedThread{}); len(t.Positions) == 0 {
		delete(q.threads, queueKey{t.Project, t.Thread})
	}
	q.changed = true
}

// leave puts back the contexts of sessions in progress at the end of a run. The next run finds these sessions in
// progress.
func (q *memoryQueue) leave() {
	for _, t := range q.running {
		q.putBack(t, t.taken.Positions)
		t.batch = true
	}
	q.running = nil
}

// sessionTime is how long a session may take.
const sessionTime = 24 * time.Hour

// maxSlow bounds the slow sessions that run while others are processed.
const maxSlow = 3

// await waits until the session ends or is slow. A session is slow if it has used up slotTime, another one can be
// processed, and fewer than maxSlow are slow already. It also returns if the run grows long or is cancelled.
func (q *memoryQueue) await(ctx workflow.Context, t *queuedThread) {
	ended := func() bool { return t.session.IsReady() || q.cancelled || q.isLong(ctx) }
	slotEnd := workflow.Now(ctx).Add(slotTime)
	until := func() (at time.Time) { // Zero while no other session can follow.
		for _, o := range q.order {
			if o.waits() && len(q.running) <= maxSlow && (at.IsZero() || o.notBefore.Before(at)) {
				at = latest(slotEnd, o.notBefore)
			}
		}
		return at
	}
	for !ended() {
		at := until()
		switch left := at.Sub(workflow.Now(ctx)); {
		case at.IsZero():
			// The timer starts only once another session is pending, because most sessions never need it.
			_ = workflow.Await(ctx, func() bool { return ended() || !until().IsZero() }) // Nothing cancels it.
		case left <= 0:
			return
		default:
			_, _ = workflow.AwaitWithTimeout(ctx, left, func() bool { return ended() || until().Before(at) })
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// start starts the session with the contexts that were taken.
func (q *memoryQueue) start(ctx workflow.Context, t *queuedThread) workflow.ChildWorkflowFuture {
	in := schema.ProcessSessionInput{
		Project: t.taken.Project, User: q.input.User, Agent: q.input.Agent, SessionID: t.taken.Thread, Statement: t.taken.Statement,
		Queued: t.given(), Flush: t.taken.Flush, IncludeTools: t.taken.IncludeTools,
	}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: in.Key().WorkflowID(), TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: sessionTime,
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON, StaticSummary: "process session " + shortID(in.SessionID),
	})
	return workflow.ExecuteChildWorkflow(child, schema.WorkflowProcessSession, in)
}

// given returns the positions of the contexts that the session gets.
func (t *queuedThread) given() []uint64 {
	most := MaxQueuedAtOnce
	if t.most > 0 {
		most = t.most
	}
	return t.taken.Positions[:min(len(t.taken.Positions), most)]
}

// settle records the outcome of the session's contexts. Contexts that were not processed are pending again.
func (q *memoryQueue) settle(ctx workflow.Context, t *queuedThread, result schema.ProcessSessionResult, err error) {
	now := workflow.Now(ctx)
	var busy *temporal.ChildWorkflowExecutionAlreadyStartedError
	if errors.As(err, &busy) {
		// The run in progress may have begun before some of these contexts were stored.
		q.putBack(t, t.taken.Positions)
		first := timingOf(ctx).Busy
		t.wait = min(max(2*t.wait, first), maxBusy*first)
		t.notBefore = now.Add(t.wait)
		return
	}
	t.wait = 0
	q.done++
	end := schema.QueueResult{Project: t.Project, Thread: t.Thread, At: now.UTC(), Status: result.Status, BuildID: result.BuildID}
	to := max(result.QueuedTo, t.taken.Positions[0])
	if err != nil {
		o := outcomeOf(&batchItem{}, result, err)
		end.Status, end.Error, end.ErrorType = o.Status, o.Error, o.ErrorType
		q.last = &end
		if to = t.readTo(err, end.ErrorType); q.waitsOn(t, end.ErrorType, to > 0, now) {
			q.putBack(t, t.taken.Positions)
			if !t.batch {
				q.reportFlushes(end, t.taken.Positions[len(t.taken.Positions)-1])
			}
			return
		}
		to = max(to, t.taken.Positions[0])
	} else {
		t.most = 0
	}
	t.tries, q.last = 0, &end
	rest, _ := slices.BinarySearch(t.taken.Positions, to+1)
	left := t.taken.Positions[rest:]
	if q.putBack(t, left); len(left) > 0 {
		t.batch = true
	}
	head := callUntilSuccess(ctx, "outcome of session "+shortID(end.Thread), endContexts, queue.EndInput{
		User: q.input.User, Agent: q.input.Agent, Head: q.head,
		End: schema.ContextProcessedPayload{QueueResult: end, To: to, Since: q.lowWatermark(t)},
	})
	q.head = q.head.Highest(head)
	q.reportFlushes(end, to)
}

// readTo returns the position up to which a failed session has stored its contexts, or 0 if it has stored none. A
// session that a person stopped reports no position. It counts as if it had stored all given contexts, so that it is
// not started for ever. A session whose source kills workers counts as if it had stored the first, because the others
// may name other transcripts or contain messages.
func (t *queuedThread) readTo(err error, errorType string) uint64 {
	switch given := t.given(); errorType {
	case schema.ErrorCancelled, schema.ErrorInterrupted:
		return given[len(given)-1]
	case schema.ErrorSourceKills:
		return given[0]
	}
	var failed *temporal.ApplicationError
	var read schema.QueuedRead
	if errors.As(err, &failed) && failed.HasDetails() && failed.Details(&read) == nil {
		return read.To
	}
	return 0
}

// waitsOn reports whether the contexts of a failed session are retried, and sets the time. Only contexts that were
// stored or that can't be read are ever given up.
//
// A passing failure is retried, and so is a setup failure before anything was stored. The number of retries is limited
// if the session has stored contexts, because a command can then retry its build. It is also limited if reading them
// takes too long. Of several contexts that can't be read, half is given at once, until the faulty one is alone.
func (q *memoryQueue) waitsOn(t *queuedThread, errorType string, read bool, now time.Time) bool {
	class := schema.ClassOf(errorType)
	later := class == schema.FailurePassing || !read && class == schema.FailureSetup && errorType != schema.ErrorSourceForbidden
	switch given := len(t.given()); {
	case later && (!read && errorType != schema.ErrorTimeout || t.tries+1 < maxTries):
		t.tries++
		t.notBefore = now.Add(q.tries * time.Duration(min(1<<min(t.tries-1, maxTries), lastTries)))
		return true
	case !read && given > 1:
		t.most, t.batch = given/2, true
		return true
	}
	return false
}

// putBack makes taken contexts pending again.
func (q *memoryQueue) putBack(t *queuedThread, positions []uint64) {
	if len(positions) == 0 {
		return
	}
	back := t.taken
	back.Positions = slices.Clone(positions)
	back.Now = false
	if len(t.Positions) == 0 {
		q.order = append(q.order, t)
	}
	t.join(back)
	q.sortOrder()
}

// flushing is an update that waits for sessions.
type flushing struct {
	// want maps each session that the update waits for to the position of its last context.
	want   map[queueKey]uint64
	result schema.FlushResult
}

// flush processes the pending sessions at once, and returns when that is done. A failed session that is retried later
// counts as failed.
func (q *memoryQueue) flush(ctx workflow.Context, in schema.FlushInput) (schema.FlushResult, error) {
	f := &flushing{want: map[queueKey]uint64{}}
	wants := func(project, thread string) bool {
		return (in.Project == "" || in.Project == project) && (in.Thread == "" || in.Thread == thread)
	}
	known := func() bool { return q.loaded && !q.storing && q.contexts.Len() == 0 || q.closing }
	if err := workflow.Await(ctx, known); err != nil {
		return schema.FlushResult{}, err
	}
	for _, t := range q.running {
		if wants(t.Project, t.Thread) {
			f.want[queueKey{t.Project, t.Thread}] = t.taken.Positions[len(t.taken.Positions)-1]
		}
	}
	for _, t := range q.order {
		if wants(t.Project, t.Thread) {
			f.want[queueKey{t.Project, t.Thread}] = t.Positions[len(t.Positions)-1]
			t.batch, t.notBefore = true, time.Time{}
		}
	}
	q.flushes, q.changed = append(q.flushes, f), true
	err := workflow.Await(ctx, func() bool { return len(f.want) == 0 || q.closing })
	q.flushes = slices.DeleteFunc(q.flushes, func(o *flushing) bool { return o == f })
	switch {
	case err != nil:
		return f.result, err
	case len(f.want) > 0:
		return f.result, errDraining()
	}
	return f.result, nil
}

// reportFlushes reports the outcome of a session's contexts up to the position to the updates that wait for it.
func (q *memoryQueue) reportFlushes(end schema.QueueResult, to uint64) {
	k := queueKey{end.Project, end.Thread}
	for _, f := range q.flushes {
		if last, waits := f.want[k]; !waits || last > to {
			continue
		}
		delete(f.want, k)
		if f.result.Processed++; end.Error != "" && len(f.result.Failed) < maxShown {
			f.result.Failed = append(f.result.Failed, end)
		}
	}
}

// serve registers the handlers of queries and updates.
func (q *memoryQueue) serve(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, schema.QueryState, q.state); err != nil {
		return fmt.Errorf("set query handler: %w", err)
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, schema.UpdateFlush, q.flush, workflow.UpdateHandlerOptions{
		Validator: func(in schema.FlushInput) error {
			switch err := in.Validate(); {
			case err != nil:
				return invalidInput(err)
			case in.Writer().Stream() != q.input.Stream():
				return errOtherWriter(in.Writer().Stream())
			case q.closing:
				return errDraining()
			}
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("set update handler: %w", err)
	}
	return nil
}

// state answers QueryState.
func (q *memoryQueue) state() (schema.QueueState, error) {
	s := schema.QueueState{
		Pending: []schema.QueuedThread{}, Threads: len(q.order), NextAt: q.dueAt(), Last: q.last, Full: q.full, Refused: q.refused,
	}
	for _, t := range q.order {
		if len(s.Pending) < maxShown {
			shown := t.QueuedThread
			shown.Positions = nil
			s.Pending = append(s.Pending, shown)
		}
		if t.tries > 0 && len(s.Again) < maxShown {
			s.Again = append(s.Again, t.failure())
		}
	}
	for _, t := range q.running {
		running := t.taken
		running.Positions = nil
		s.Running = append(s.Running, running)
	}
	return s, nil
}
