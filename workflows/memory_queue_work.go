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

// process has a session processed with what waits of it. What comes meanwhile waits on.
func (q *memoryQueue) process(ctx workflow.Context, t *queuedThread) {
	q.running, q.taken = t, t.QueuedThread
	t.QueuedThread, t.batch = schema.QueuedThread{Project: t.Project, Thread: t.Thread}, false
	q.order = slices.DeleteFunc(q.order, func(o *queuedThread) bool { return o == t })
	q.tell(ctx)
	session := q.start(ctx)
	var result schema.ProcessSessionResult
	err := q.await(ctx, session)
	if err == nil {
		err = session.Get(ctx, &result)
	}
	q.notBefore = workflow.Now(ctx).Add(schema.QueuePause)
	q.settle(ctx, t, result, err)
	q.running = nil
	if len(t.Positions) == 0 {
		delete(q.threads, queueKey{t.Project, t.Thread})
	}
}

// errLeft stands for a session that is left to itself, and errSlow for one that the others no longer wait for.
var (
	errLeft = errors.New("the run ends before the session")
	errSlow = errors.New("the session has used up its slot")
)

// sessionTime is how long a session may take.
const sessionTime = 24 * time.Hour

// maxSlow bounds the sessions that run beside others because they were slow.
const maxSlow = 3

// await waits for the session: while others wait no longer than slotTime, unless some were slow already. A run that grows
// long does not wait, either: the next one finds the session at work.
func (q *memoryQueue) await(ctx workflow.Context, session workflow.ChildWorkflowFuture) error {
	ended := func() bool { return session.IsReady() || q.cancelled || q.isLong(ctx) }
	ends := workflow.Now(ctx).Add(slotTime)
	_ = workflow.Await(ctx, func() bool { // Nothing cancels it.
		q.slow = slices.DeleteFunc(q.slow, workflow.ChildWorkflowFuture.IsReady)
		return ended() || len(q.order) > 0 && len(q.slow) < maxSlow
	})
	if !ended() {
		// The timer starts only once another session waits: most never need it.
		_, _ = workflow.AwaitWithTimeout(ctx, max(ends.Sub(workflow.Now(ctx)), 0), ended)
	}
	switch {
	case session.IsReady():
		return nil
	case ended():
		return errLeft
	default:
		q.slow = append(q.slow, session)
		return errSlow
	}
}

// start starts the session with what was taken of it.
func (q *memoryQueue) start(ctx workflow.Context) workflow.ChildWorkflowFuture {
	in := schema.ProcessSessionInput{
		Project: q.taken.Project, User: q.input.User, Agent: q.input.Agent, SessionID: q.taken.Thread, Statement: q.taken.Statement,
		Queued: q.given(), Flush: q.taken.Flush, IncludeTools: q.taken.IncludeTools,
	}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: in.Key().WorkflowID(), TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: sessionTime,
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON, StaticSummary: "process session " + shortID(in.SessionID),
	})
	return workflow.ExecuteChildWorkflow(child, schema.WorkflowProcessSession, in)
}

// given are the contexts that the session is given.
func (q *memoryQueue) given() []uint64 {
	most := MaxQueuedAtOnce
	if q.running.most > 0 {
		most = q.running.most
	}
	return q.taken.Positions[:min(len(q.taken.Positions), most)]
}

// settle records what became of what was taken. What was not processed waits again.
func (q *memoryQueue) settle(ctx workflow.Context, t *queuedThread, result schema.ProcessSessionResult, err error) {
	now := workflow.Now(ctx)
	var busy *temporal.ChildWorkflowExecutionAlreadyStartedError
	switch {
	case errors.Is(err, errLeft):
		q.putBack(t, q.taken.Positions)
		t.batch = true
		return
	case errors.Is(err, errSlow):
		q.putBack(t, q.taken.Positions)
		t.notBefore = now.Add(sessionTime)
		session := q.slow[len(q.slow)-1]
		workflow.Go(ctx, func(ctx workflow.Context) {
			_ = session.Get(ctx, nil) // It is started again, and reports what it has stored.
			t.notBefore, q.changed = time.Time{}, true
		})
		return
	case errors.As(err, &busy):
		// The run that is at work may have begun before there was all that there is now.
		q.putBack(t, q.taken.Positions)
		first := timingOf(ctx).Busy
		t.wait = min(max(2*t.wait, first), maxBusy*first)
		t.notBefore = now.Add(t.wait)
		return
	}
	t.wait = 0
	q.done++
	end := schema.QueueResult{Project: t.Project, Thread: t.Thread, At: now.UTC(), Status: result.Status, BuildID: result.BuildID}
	to := max(result.QueuedTo, q.taken.Positions[0])
	if err != nil {
		o := outcomeOf(&batchItem{}, result, err)
		end.Status, end.Error, end.ErrorType = o.Status, o.Error, o.ErrorType
		q.last = &end
		if to = q.readTo(err, end.ErrorType); q.waitsOn(t, end.ErrorType, to > 0, now) {
			q.putBack(t, q.taken.Positions)
			if !t.batch {
				q.tellFlushes(end, q.taken.Positions[len(q.taken.Positions)-1])
			}
			return
		}
		to = max(to, q.taken.Positions[0])
	} else {
		t.most = 0
	}
	t.tries, q.last = 0, &end
	rest, _ := slices.BinarySearch(q.taken.Positions, to+1)
	left := q.taken.Positions[rest:]
	if q.putBack(t, left); len(left) > 0 {
		t.batch = true
		q.taken.Positions = left
	}
	since := q.sinceWithout(len(left) == 0)
	q.head = q.head.Highest(certainly(ctx, "what became of session "+shortID(end.Thread), endContexts, queue.EndInput{
		User: q.input.User, Agent: q.input.Agent, Head: q.head,
		End: schema.ContextProcessedPayload{QueueResult: end, To: to, Since: since},
	}))
	q.tellFlushes(end, to)
}

// readTo returns up to which position a session that failed has stored its contexts, 0 if it has stored none. One that a
// person has stopped does not report it: it counts as if it had stored all that it was given, so that it is not started for ever.
// One whose source ends workers counts as if it had stored the first: the others may name other transcripts, or hold messages.
func (q *memoryQueue) readTo(err error, errorType string) uint64 {
	switch given := q.given(); errorType {
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

// waitsOn reports whether the contexts of a session that failed wait on, and sets for how long. Only what was stored, or what
// can't be read, is ever given up.
//
// A failure that may pass is tried again: some times if the contexts are in the log by now, as its build can be tried again
// by command then, or if reading them takes too long, and else without end. Of several contexts that can't be read, half is given at once, until
// the one at fault is alone.
func (q *memoryQueue) waitsOn(t *queuedThread, errorType string, read bool, now time.Time) bool {
	class := schema.ClassOf(errorType)
	later := class == schema.FailurePassing || !read && class == schema.FailureSetup && errorType != schema.ErrorSourceForbidden
	switch given := len(q.given()); {
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

// sinceWithout is the position up to which nothing waits once what was taken is done.
func (q *memoryQueue) sinceWithout(done bool) uint64 {
	running := q.running
	if done {
		q.running = nil
	}
	since := q.nothingUpTo()
	q.running = running
	return since
}

// putBack lets contexts that were taken wait again.
func (q *memoryQueue) putBack(t *queuedThread, positions []uint64) {
	if len(positions) == 0 {
		return
	}
	back := q.taken
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
	// want holds the position of the last context that is waited for, by session.
	want   map[queueKey]uint64
	result schema.FlushResult
}

// flush processes at once what waits, and returns when that is done. A session that fails and is tried again later counts
// as failed.
func (q *memoryQueue) flush(ctx workflow.Context, in schema.FlushInput) (schema.FlushResult, error) {
	f := &flushing{want: map[queueKey]uint64{}}
	wants := func(project, thread string) bool {
		return (in.Project == "" || in.Project == project) && (in.Thread == "" || in.Thread == thread)
	}
	known := func() bool { return q.loaded && !q.storing && q.contexts.Len() == 0 || q.closing }
	if err := workflow.Await(ctx, known); err != nil {
		return schema.FlushResult{}, err
	}
	if t := q.running; t != nil && wants(t.Project, t.Thread) {
		f.want[queueKey{t.Project, t.Thread}] = q.taken.Positions[len(q.taken.Positions)-1]
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

// tellFlushes tells those that wait for a session what became of its contexts up to the position.
func (q *memoryQueue) tellFlushes(end schema.QueueResult, to uint64) {
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

// serve answers queries and takes updates.
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

// state is what QueryState answers.
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
	if q.running != nil {
		running := q.taken
		running.Positions = nil
		s.Running = &running
	}
	return s, nil
}
