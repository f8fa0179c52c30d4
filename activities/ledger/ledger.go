// Package ledger carries out requests that change a stream. It is the shell of every room with a writer: it reads what
// the room decides on, consistently, appends the resulting events, brings the room's tables up to date, and passes on
// the head of the stream. The room states the rest as a [Room].
package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Log is the part of the event log that a ledger uses.
type Log interface {
	AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	AsWriter(ctx context.Context, stream string, head schema.StreamHead) (context.Context, error)
	Head(stream string) schema.StreamHead
	ProjectEach(ctx context.Context, stream string, projectors []projection.Projector) error
	Since(ctx context.Context, stream string, after uint64, types []string) (events []schema.Event, last uint64, known bool, err error)
	Steady(ctx context.Context, p projection.Projector, stream string, plan func() error) error
}

// Room states what is particular to one kind of request. All requests of a call change the same stream, and only one
// caller at a time may change it: the workflow that writes the stream.
type Room[Req, State, Result any] struct {
	// Projectors write the tables that Load reads. They are up to date with the stream when Load and Decide run.
	Projectors []projection.Projector
	// Fold makes the state from the events of the stream that have one of the types in Folds. It serves, instead of Load
	// and without a request, where the store remembers the whole stream. Without Folds, the state always comes from Load.
	Folds []string
	Fold  func(ctx context.Context, reqs []Req, events []schema.Event) (State, error)
	// Load reads the state that the requests need from the tables. Without it, Decide reads what it needs.
	Load func(ctx context.Context, reqs []Req) (State, error)
	// Decide returns the events and the result of a request. It adds them to the state, for the requests that follow. An
	// error that no retry mends refuses this request alone.
	Decide func(ctx context.Context, s State, r Req) (Decision[Result], error)
	// Count, if set, adds to the result of a request what is only known once its events are stored.
	Count func(r *Result, stored Stored) error
	// Project, if set, brings the tables up to date with the stored events, instead of Projectors alone. at is a position
	// up to which all events were in the tables when the state was read.
	Project func(ctx context.Context, stream string, at schema.StreamHead, s State) error
}

// Decision is the outcome of a request.
type Decision[Result any] struct {
	// Events are the events to append, with the dedupe keys of the request: deciding it again gives the same keys, or no
	// events.
	Events []schema.Event
	Result Result
	// Refused is the error of a request whose refusal is recorded by the events.
	Refused error
}

// Stored are the events of a request as the log has them.
type Stored struct {
	Events []schema.Event
	// Differing is true if the log held an event with the key of one of them and another content.
	Differing bool
	from      uint64
}

// Fresh reports whether the event is new in the log. Otherwise it was there before.
func (s Stored) Fresh(e schema.Event) bool { return e.Seq >= s.from }

// New counts the new events.
func (s Stored) New() (n int) {
	for _, e := range s.Events {
		if s.Fresh(e) {
			n++
		}
	}
	return n
}

// Split returns the events of the type, and the others.
func (s Stored) Split(eventType string) (of, others Stored) {
	of, others = s, s
	of.Events, others.Events = nil, nil
	for _, e := range s.Events {
		if e.Type == eventType {
			of.Events = append(of.Events, e)
		} else {
			others.Events = append(others.Events, e)
		}
	}
	return of, others
}

// Batch carries out what the writer of a stream was sent, as one append. read makes a request of each item. The outcomes
// are those of carrying out one after the other: one that is refused fails alone. An error is one that may go away: a
// part of the batch may be stored then, and sending it again does the rest.
func Batch[Item boundary.Request, Req, State, Result any](
	ctx context.Context, log Log, room Room[Req, State, Result], in boundary.Batch[Item], read func(context.Context, Item) (Req, error),
) (boundary.Outcomes[Result], error) {
	out := boundary.Outcomes[Result]{Items: make([]boundary.Outcome[Result], len(in.Items))}
	if len(in.Items) == 0 {
		return out, nil
	}
	stream := in.Items[0].Writer().Stream()
	ctx, err := log.AsWriter(ctx, stream, in.Head)
	if err != nil {
		return out, err
	}
	var reqs []Req
	var places []int
	for i, item := range in.Items {
		var req Req
		if other := item.Writer().Stream(); other != stream {
			err = boundary.Invalid(schema.ErrorScopeMismatch, fmt.Errorf("item %d of the batch is for %q, not for %q", i, other, stream))
		} else {
			req, err = read(ctx, item)
		}
		if out.Items[i], err = outcome[Result](ctx, err); err != nil {
			return out, err
		}
		if out.Items[i].Failed == nil {
			reqs, places = append(reqs, req), append(places, i)
		}
	}
	outcomes, err := Each(ctx, log, room, stream, reqs)
	if err != nil {
		return out, err
	}
	for n, i := range places {
		out.Items[i] = outcomes[n]
	}
	out.Head = log.Head(stream)
	return out, nil
}

// Each carries out the requests, as [Batch] does. If all of them together end in an error that no retry mends, it carries
// out each alone, so that only the faulty ones fail.
func Each[Req, State, Result any](
	ctx context.Context, log Log, room Room[Req, State, Result], stream string, reqs []Req,
) ([]boundary.Outcome[Result], error) {
	out := make([]boundary.Outcome[Result], len(reqs))
	w := writing[Req, State, Result]{Room: room, log: log, stream: stream, reqs: reqs}
	for {
		results, err := w.write(ctx)
		var one *refusal
		switch {
		case err == nil:
			for i, d := range results {
				if out[i].Failed != nil {
					continue
				}
				if out[i], err = boundary.Of(ctx, d.Result, d.Refused); err != nil {
					return nil, err
				}
			}
			return out, nil
		case errors.As(err, &one):
			if out[one.index], err = outcome[Result](ctx, one.err); err != nil {
				return nil, err
			}
			w.left = append(w.left, one.index)
			continue
		}
		failed, err := outcome[Result](ctx, err)
		if err != nil {
			return nil, err
		}
		for i := range reqs {
			switch {
			case out[i].Failed != nil:
			case len(reqs) == 1:
				out[i] = failed
			default:
				alone, err := Each(ctx, log, room, stream, reqs[i:i+1])
				if err != nil {
					return nil, err
				}
				out[i] = alone[0]
			}
		}
		return out, nil
	}
}

// outcome is the outcome of a request that may have failed for good.
func outcome[Result any](ctx context.Context, err error) (boundary.Outcome[Result], error) {
	var zero Result
	return boundary.Of(ctx, zero, err)
}

// One carries out a single request, whose errors it returns as they are. The head is the one of the request's stream, as
// far as the caller knows it.
func One[Req boundary.Request, State, Result any](
	ctx context.Context, log Log, room Room[Req, State, Result], head schema.StreamHead, req Req,
) (zero Result, err error) {
	stream := req.Writer().Stream()
	if ctx, err = log.AsWriter(ctx, stream, head); err != nil {
		return zero, err
	}
	w := writing[Req, State, Result]{Room: room, log: log, stream: stream, reqs: []Req{req}}
	results, err := w.write(ctx)
	var one *refusal
	switch {
	case errors.As(err, &one):
		err = one.err
	case err == nil:
		return results[0].Result, results[0].Refused
	}
	return zero, err
}

// refusal is the error of a request that cannot be decided.
type refusal struct {
	index int
	err   error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// writing is the work on some requests.
type writing[Req, State, Result any] struct {
	Room[Req, State, Result]
	log    Log
	stream string
	reqs   []Req
	// left are the indexes of the requests that were refused.
	left []int
}

// write carries out the requests that were not refused, in one append. If one of them is refused, it does nothing: the
// state may have a part of that request.
func (w *writing[Req, State, Result]) write(ctx context.Context) ([]Decision[Result], error) {
	if len(w.left) == len(w.reqs) {
		return make([]Decision[Result], len(w.reqs)), nil
	}
	at := w.log.Head(w.stream) // Before the plan, which projects at least up to it.
	state, decided, folded, err := w.plan(ctx)
	if err != nil {
		return nil, err
	}
	var events []schema.Event
	for _, d := range decided {
		events = append(events, d.Events...)
	}
	appended, err := w.log.AppendAll(ctx, w.stream, events)
	if err != nil {
		return nil, err
	}
	if len(events) > 0 || folded { // An earlier attempt may have failed after its append.
		if err := w.project(ctx, at, state); err != nil {
			return nil, err
		}
	}
	if w.Count == nil {
		return decided, nil
	}
	from, first := firstNew(appended), 0
	for i := range decided {
		next := first + len(decided[i].Events)
		stored := Stored{Events: appended.Events[first:next], from: from}
		stored.Differing = slices.ContainsFunc(appended.Differing, func(n int) bool { return first <= n && n < next })
		if err := w.Count(&decided[i].Result, stored); err != nil {
			return nil, err
		}
		first = next
	}
	return decided, nil
}

func (w *writing[Req, State, Result]) project(ctx context.Context, at schema.StreamHead, state State) error {
	if w.Project != nil {
		return w.Project(ctx, w.stream, at, state)
	}
	return w.log.ProjectEach(ctx, w.stream, w.Projectors)
}

// plan decides the requests, each in the state that those before it leave. It reports whether the state was folded from
// remembered events.
func (w *writing[Req, State, Result]) plan(ctx context.Context) (state State, decided []Decision[Result], folded bool, err error) {
	if len(w.Folds) > 0 {
		events, _, known, err := w.log.Since(ctx, w.stream, 0, w.Folds)
		if err != nil {
			return state, nil, false, fmt.Errorf("read %q: %w", w.stream, err)
		}
		if known {
			state, decided, err = w.decide(ctx, func(ctx context.Context, reqs []Req) (State, error) { return w.Fold(ctx, reqs, events) })
			return state, decided, true, err
		}
	}
	err = Steady(ctx, w.log, w.Projectors, w.stream, func() (err error) {
		state, decided, err = w.decide(ctx, w.Load)
		return err
	})
	return state, decided, false, err
}

// Steady brings the tables of all projectors up to date with the stream and calls plan, which may read their rows. It
// repeats this if a rebuild has put new tables in place while plan ran.
func Steady(ctx context.Context, log Log, projectors []projection.Projector, stream string, plan func() error) error {
	for _, p := range projectors {
		within := plan
		plan = func() error { return log.Steady(ctx, p, stream, within) }
	}
	return plan()
}

func (w *writing[Req, State, Result]) decide(
	ctx context.Context, load func(context.Context, []Req) (State, error),
) (state State, decided []Decision[Result], err error) {
	decided = make([]Decision[Result], len(w.reqs))
	var reqs []Req
	for i, req := range w.reqs {
		if !slices.Contains(w.left, i) {
			reqs = append(reqs, req)
		}
	}
	if load != nil {
		if state, err = load(ctx, reqs); err != nil {
			return state, nil, err
		}
	}
	for i, req := range w.reqs {
		if slices.Contains(w.left, i) {
			continue
		}
		if decided[i], err = w.Decide(ctx, state, req); err != nil {
			return state, nil, &refusal{i, err}
		}
	}
	return state, decided, nil
}

// firstNew returns the position of the first new event. New events come after all others.
func firstNew(appended eventlog.Appended) uint64 {
	if appended.New == 0 {
		return math.MaxUint64
	}
	seqs := make([]uint64, len(appended.Events))
	for i, e := range appended.Events {
		seqs[i] = e.Seq
	}
	slices.Sort(seqs)
	// An event that was given twice has its position twice.
	seqs = slices.Compact(seqs)
	return seqs[len(seqs)-appended.New]
}
