package workflows

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// longUpdate is an update that a writer does in turns, each an activity, with other requests between them. A second
// update with the same argument shares the result. One with another argument waits for its end.
type longUpdate[Arg longRequest, State longState, Result any] struct {
	// name is one of the schema.Update constants.
	name string
	// begin returns the state before the first turn.
	begin    func(Arg) State
	activity func(context.Context, State) (State, error)
	// options are those of the activity, such as storeWork.
	options func(ctx workflow.Context, summary string) workflow.Context
	// end returns the result, and how long to wait before the next turn, if there is one.
	end func(State) (result Result, wait time.Duration)
}

// longRequest is a request that can be compared with another.
type longRequest interface {
	boundary.Request
	comparable
}

// longState is the state between two turns.
type longState interface {
	// Title describes the progress for people.
	Title() string
	// Count returns the number of examined items and the approximate total, or 0 if that is unknown.
	Count() (seen, total int)
	Done() bool
	// Switched reports whether the same run must do the rest. Before that, a run that has grown long ends the request.
	// The sender then sends the update to the next run, which continues with the data in the store.
	Switched() bool
}

// handle registers the update's handler.
func (u longUpdate[Arg, State, Result]) handle(ctx workflow.Context, q *updateQueue) error {
	return takeUpdate(ctx, q, u.name, func(ctx workflow.Context, arg Arg) (result Result, err error) {
		r := q.long
		if r == nil || r.arg != any(arg) {
			if err := workflow.Await(ctx, func() bool { return q.long == nil || q.draining }); err != nil {
				return result, err
			}
			if q.long != nil {
				return result, errDraining()
			}
			r = u.request(arg)
			q.long, q.waiting = r, append(q.waiting, r)
		}
		if err := workflow.Await(ctx, func() bool { return r.finished }); err != nil {
			return result, err
		}
		if done, ok := r.result.(Result); ok && r.err == nil {
			result = done
		}
		return result, r.err
	})
}

// request returns a request whose turn does the next part.
func (u longUpdate[Arg, State, Result]) request(arg Arg) *request {
	state := u.begin(arg)
	r := &request{title: state.Title(), arg: arg}
	r.count = func() (seen, total int) { return state.Count() }
	r.turn = turn{do: func(ctx workflow.Context, q *updateQueue, _ []*request) {
		q.head = schema.StreamHead{}
		r.more = false
		if q.draining && !q.ends && !state.Switched() {
			r.err, q.long = errDraining(), nil
			return
		}
		if state, r.err = call(u.options(ctx, r.title), u.activity, state); r.err != nil || state.Done() {
			r.result, _ = u.end(state)
			q.long = nil
			q.dueBy(atOnce)
			return
		}
		r.more, r.title = true, state.Title()
		_, wait := u.end(state)
		q.again(ctx, r, wait)
	}}
	return r
}

// again puts the request back into the queue after the given time.
func (q *updateQueue) again(ctx workflow.Context, r *request, wait time.Duration) {
	if wait <= 0 {
		q.waiting = append(q.waiting, r)
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		_ = workflow.Sleep(ctx, wait) // If cancelled, the next turn fails with that error.
		q.waiting = append(q.waiting, r)
	})
}

// errDraining tells the sender of an update to send it again.
func errDraining() error {
	return temporal.NewApplicationError("this run is about to end: send the update again", schema.ErrorDraining)
}
