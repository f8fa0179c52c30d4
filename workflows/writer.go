package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

const (
	// maxUpdates is how many updates one run of a writer does before it continues as new. It is well below the server's
	// limit for a run.
	maxUpdates = 500
)

// writer is a workflow that is the only writer of a stream. It does updates one after the other in the order of their
// arrival, and refuses an update for another stream.
type writer[In schema.WriterInput] struct {
	updates []updateHandler
	// background is the writer's other work, or nil.
	background *background[In]
}

// update is an update that a writer accepts. An activity does the work.
type update[Arg boundary.Request, Result any] struct {
	// name is one of the schema.Update constants.
	name string
	// title describes one update for people.
	title    func(Arg) string
	activity func(context.Context, Arg) (Result, error)
	// options are those of the activity, such as storeWork.
	options func(ctx workflow.Context, summary string) workflow.Context
	// due returns the time of background work that follows from the result, which is the zero value if the update
	// failed. Nil means never.
	due func(Result) time.Time
}

// atOnce is the due time of background work that starts once no update is pending.
var atOnce = time.Unix(0, 0)

// background is work of a writer that no caller waits for, done in steps between updates. A step is due after the delay
// when a run begins or a signal comes, and at the times that steps and updates return: the earliest counts. Pending updates
// go first. Signals that arrive before the next step count as one. See again for the pause after a failure.
type background[In any] struct {
	// signal is one of the schema.Signal constants, or empty if no signal asks for the work.
	signal string
	// delay is how long the work waits when a run begins and after a signal, so that requests at about the same time
	// are handled together. Nil means no delay.
	delay func(schema.Timing, In) time.Duration
	title string
	// step does some of the work and returns the time when there is more to do. The zero time means after the next
	// signal or update. It takes the head of the stream and returns the new one. busy is true while a long update waits
	// for its next turn. Its error ends the run, unless again is set.
	step func(ctx workflow.Context, in In, head schema.StreamHead, busy bool) (after schema.StreamHead, due time.Time, err error)
	// again returns the pause before the next try after that many failures in a row. Until then nothing brings the work
	// forward.
	again func(t schema.Timing, failures int) time.Duration
}

// do does some of the work and returns the time when there is more to do.
func (b *background[In]) do(ctx workflow.Context, in In, q *updateQueue) (due time.Time, err error) {
	q.running = b.title
	defer func() { q.running = "" }()
	q.head, due, err = b.step(ctx, in, q.head, q.long != nil)
	switch {
	case err != nil && b.again != nil && ctx.Err() == nil:
		q.head = schema.StreamHead{}
		q.failures++
		wait := b.again(timingOf(ctx), q.failures)
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("**%s**: failed %d times in a row. Next try at %s.\n\n%s",
			b.title, q.failures, workflow.Now(ctx).Add(wait).UTC().Format(time.RFC3339), cause(err)))
		return workflow.Now(ctx).Add(wait), nil
	case err == nil && q.failures > 0:
		q.failures = 0
		workflow.SetCurrentDetails(ctx, "")
	}
	return due, err
}

// maxAgainUnits bounds the pause after a failure of background work, in units of the first pause.
const maxAgainUnits = 600

// backoff doubles the pause with each failure. It never gives up, because the remedy may need a person.
func backoff(t schema.Timing, failures int) time.Duration {
	units := time.Duration(1)
	for i := 1; i < failures && units < maxAgainUnits; i++ {
		units *= 2
	}
	return t.Again * min(units, maxAgainUnits)
}

// cause returns the type and message of an activity's error without Temporal's wrapper.
func cause(err error) string {
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		return application.Type() + ": " + application.Message()
	}
	return err.Error()
}

// run is the workflow.
func (w writer[In]) run(ctx workflow.Context, in In) error {
	q := &updateQueue{stream: in.Stream()}
	if want := schema.WorkflowID(q.stream); workflow.GetInfo(ctx).WorkflowExecution.ID != want {
		return invalidInput(fmt.Errorf("start it with the workflow id %q", want))
	}
	for _, u := range w.updates {
		if err := u.handle(ctx, q); err != nil {
			return err
		}
	}
	if err := workflow.SetQueryHandler(ctx, schema.QueryQueue, q.state); err != nil {
		return fmt.Errorf("set query handler: %w", err)
	}
	step := func() (time.Time, error) { return time.Time{}, nil }
	if b := w.background; b != nil {
		if b.delay != nil {
			q.delay = b.delay(timingOf(ctx), in)
		}
		if b.signal != "" {
			q.signals = workflow.GetSignalChannel(ctx, b.signal)
		}
		step = func() (time.Time, error) { return b.do(ctx, in, q) }
	}
	long, err := q.loop(ctx, step)
	if err != nil || !long {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, in.Workflow(), in)
}

// updateHandler is an [update] or a [batchUpdate] of any types.
type updateHandler interface {
	handle(ctx workflow.Context, q *updateQueue) error
}

// handle registers the update's handler.
func (u update[Arg, Result]) handle(ctx workflow.Context, q *updateQueue) error {
	return handleUpdate[Arg, Result](ctx, q, u.name, func(arg Arg) request {
		return request{title: u.title(arg), turn: turn{do: u.do}}
	})
}

// do does one update. Only its activity knows which events it wrote, so the head of the stream is then unknown.
func (u update[Arg, Result]) do(ctx workflow.Context, q *updateQueue, requests []*request) {
	q.head = schema.StreamHead{}
	r := requests[0]
	var result Result
	r.err = workflow.ExecuteActivity(u.options(ctx, r.title), u.activity, r.arg).Get(ctx, &result)
	r.result = result
	if u.due != nil {
		q.dueBy(u.due(result))
	}
}

// handleUpdate registers the handler of an update that waits for its turn.
func handleUpdate[Arg boundary.Request, Result any](ctx workflow.Context, q *updateQueue, name string, describe func(Arg) request) error {
	return takeUpdate(ctx, q, name, func(ctx workflow.Context, arg Arg) (result Result, err error) {
		r := describe(arg)
		r.arg = arg
		err = q.do(ctx, &r)
		if done, ok := r.result.(Result); ok && err == nil {
			result = done
		}
		return result, err
	})
}

// takeUpdate registers the handler of an update. It refuses updates for another stream, and all updates while the run
// is about to end.
func takeUpdate[Arg boundary.Request, Result any](ctx workflow.Context, q *updateQueue, name string, do func(workflow.Context, Arg) (Result, error)) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, name, do, workflow.UpdateHandlerOptions{Validator: func(arg Arg) error {
		if err := arg.Validate(); err != nil {
			return invalidInput(err)
		}
		return q.admit(arg.Writer().Stream())
	}})
	if err != nil {
		return fmt.Errorf("set update handler: %w", err)
	}
	return nil
}

// updateQueue is the queue of a writer's pending updates.
type updateQueue struct {
	stream string
	// head is the head of the stream after the last batch. A run begins without it.
	head    schema.StreamHead
	waiting []*request
	// due is when the background work is due. The zero time means after the next signal or update.
	due time.Time
	// delay is how long the background work waits after a signal.
	delay time.Duration
	// failures counts how often in a row the background work has failed.
	failures int
	signals  workflow.ReceiveChannel
	running  string
	done     int
	draining bool
	// long is the request that is done in turns between the others, or nil. There is at most one.
	long *request
	// ends is true if the run ends with an error, so that no other run follows by itself.
	ends bool
}

// request is an update that waits for its turn.
type request struct {
	title string
	turn  turn
	// arg is the update's argument, and size that of its JSON where the turn is shared.
	arg  any
	size int
	// result is the update's result, unless err is set.
	result any
	err    error
	// more is true if the request needs another turn.
	more     bool
	finished bool
	// count returns the progress of a long request.
	count func() (seen, total int)
}

// turn does one request, or several consecutive ones with the same key.
type turn struct {
	// key is empty if each request has a turn of its own.
	key string
	do  func(ctx workflow.Context, q *updateQueue, requests []*request)
}

// errOtherWriter is the error for a request that belongs to the writer of the stream.
func errOtherWriter(stream string) error {
	message := fmt.Sprintf("this is for another writer: send it to the workflow %q", schema.WorkflowID(stream))
	return temporal.NewNonRetryableApplicationError(message, schema.ErrorScopeMismatch, nil)
}

// admit returns an error for an update of another stream, and for every update while the run is about to end.
func (q *updateQueue) admit(stream string) error {
	if stream != q.stream {
		return errOtherWriter(stream)
	}
	if q.draining {
		return errDraining()
	}
	return nil
}

// do waits for the request's turn and for its end. It returns the activity's error unwrapped, because the sender does
// not see the type of a wrapped error.
func (q *updateQueue) do(ctx workflow.Context, r *request) error {
	q.waiting = append(q.waiting, r)
	if err := workflow.Await(ctx, func() bool { return r.finished }); err != nil {
		return err
	}
	return r.err
}

// loop works until nothing arrives for the idle time. It returns true if the run has grown so long that another one
// should follow. No update is pending when it returns without an error.
func (q *updateQueue) loop(ctx workflow.Context, step func() (due time.Time, err error)) (long bool, err error) {
	q.due = workflow.Now(ctx).Add(q.delay)
	for {
		if q.receive() {
			q.dueBy(workflow.Now(ctx).Add(q.delay))
		}
		q.work(ctx)
		if isDue(ctx, q.due) {
			if q.due, err = step(); err != nil {
				q.ends = true
				if ended := q.drain(ctx); ended != nil {
					return false, ended
				}
				return false, err // Unwrapped, because a wrapper would change its type.
			}
		}
		if q.isLong(ctx) {
			return true, q.drain(ctx)
		}
		wait := timingOf(ctx).Idle
		if !q.due.IsZero() {
			wait = q.due.Sub(workflow.Now(ctx))
		}
		came, err := q.await(ctx, wait)
		if err != nil {
			return false, err
		}
		if !came && q.due.IsZero() && workflow.AllHandlersFinished(ctx) {
			return false, nil
		}
	}
}

// dueBy brings the background work forward to the given time, unless that is zero. After a failure it does nothing, so
// that updates do not wait for failing work.
func (q *updateQueue) dueBy(at time.Time) {
	if q.failures == 0 && !at.IsZero() && (q.due.IsZero() || at.Before(q.due)) {
		q.due = at
	}
}

func isDue(ctx workflow.Context, at time.Time) bool {
	return !at.IsZero() && !at.After(workflow.Now(ctx))
}

func (q *updateQueue) isLong(ctx workflow.Context) bool {
	return q.done >= maxUpdates || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// receive takes all signals as one and reports whether there was any.
func (q *updateQueue) receive() (came bool) {
	for q.signals != nil && q.signals.ReceiveAsync(nil) {
		came = true
	}
	return came
}

// await waits for an update or a signal, and returns false if none arrives in time.
func (q *updateQueue) await(ctx workflow.Context, wait time.Duration) (came bool, err error) {
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel() // Cancels the timer, which would otherwise cost a workflow task for each update.
	return workflow.AwaitWithTimeout(ctx, max(wait, 0), func() bool {
		return len(q.waiting) > 0 || q.signals != nil && q.signals.Len() > 0
	})
}

// work does the pending updates until the run has grown long. After a turn of the long one it returns, so that the
// background gets a turn, too.
func (q *updateQueue) work(ctx workflow.Context) {
	for len(q.waiting) > 0 && !q.isLong(ctx) {
		if q.next(ctx) {
			return
		}
	}
}

// next does the first pending update and those that share its turn. It reports whether the update needs another turn.
func (q *updateQueue) next(ctx workflow.Context) (more bool) {
	n := q.sharing()
	requests := q.waiting[:n:n]
	q.waiting, q.running = q.waiting[n:], requests[0].title
	if n > 1 {
		q.running = fmt.Sprintf("%s and %d more", requests[0].title, n-1)
	}
	requests[0].turn.do(ctx, q, requests)
	for _, r := range requests {
		r.finished = !r.more
	}
	q.running = ""
	q.done += n
	return requests[0].more
}

// sharing returns the number of pending requests that share the next turn.
func (q *updateQueue) sharing() int {
	first, size := q.waiting[0], q.waiting[0].size
	n := 1
	for ; first.turn.key != "" && n < min(len(q.waiting), maxBatch); n++ {
		next := q.waiting[n]
		if size += next.size; next.turn.key != first.turn.key || size > maxBatchBytes {
			break
		}
	}
	return n
}

// drain does the admitted updates and admits no more, because an update whose run has ended gets a useless error.
func (q *updateQueue) drain(ctx workflow.Context) error {
	q.draining = true
	for {
		for len(q.waiting) > 0 {
			q.next(ctx)
		}
		err := workflow.Await(ctx, func() bool { return len(q.waiting) > 0 || workflow.AllHandlersFinished(ctx) })
		if err != nil || len(q.waiting) == 0 {
			return err
		}
	}
}

// state answers QueryQueue.
func (q *updateQueue) state() (schema.WriterQueue, error) {
	s := schema.WriterQueue{Running: q.running, Waiting: []string{}, Done: q.done}
	for _, r := range q.waiting {
		s.Waiting = append(s.Waiting, r.title)
	}
	if q.long != nil {
		s.Long = q.long.title
		s.LongSeen, s.LongTotal = q.long.count()
	}
	return s, nil
}
