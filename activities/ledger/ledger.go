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
	Append(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	AsWriter(ctx context.Context, stream string, head schema.StreamHead) (context.Context, error)
	Erasures(ctx context.Context) (uint64, error)
	Head(stream string) schema.StreamHead
	ProjectEach(ctx context.Context, stream string, projectors []projection.Projector) error
	Since(ctx context.Context, stream string, after uint64, types []string) (events []schema.Event, last uint64, known bool, err error)
	Steady(ctx context.Context, p projection.Projector, stream string, plan func() error) error
}

// Room defines one kind of request. All requests of a call change the same stream, and only one caller at a time may
// change it: the workflow that writes the stream.
type Room[Req, State, Result any] struct {
	// Projectors write the tables that Load reads. They are up to date with the stream when Load and Decide run.
	Projectors []projection.Projector
	// Fold makes the state from the events of the stream that have one of the types in Folds. It serves, instead of Load
	// and without a request, where the store remembers the whole stream. Without Folds, the state always comes from Load.
	Folds []string
	Fold  func(ctx context.Context, reqs []Req, events []schema.Event) (State, error)
	// Load reads the state that the requests need from the tables. Without it, Decide reads what it needs. Both may run
	// several times.
	Load func(ctx context.Context, reqs []Req) (State, error)
	// Decide returns the events and the result of a request. It adds them to the state, for the requests that follow. A
	// permanent error refuses this request alone.
	Decide func(ctx context.Context, s State, r Req) (Decision[Result], error)
	// Atomic requests store all of their events or none. One whose event the log holds with other content, because another
	// attempt has carried it out meanwhile, is tried again.
	Atomic bool
	// Count, if set, adds to a result the numbers that the stored events give.
	Count func(r *Result, stored Stored) error
	// Project, if set, brings the tables up to date, instead of Projectors alone. It is called even if there are no events:
	// an earlier attempt may have failed after it stored them. All events up to at, if it is known, were in the tables when
	// the state was read.
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
	// from is the position of the first new event of the call.
	from uint64
}

// New counts the events that were not in the log before.
func (s Stored) New() (n int) {
	for _, e := range s.Events {
		if e.Seq >= s.from {
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

// Batch carries out the items that a stream's writer was sent, in one append. read makes a request of each. The outcomes
// are those of carrying out one after the other: one that is refused fails alone. An error is one that may go away: a
// part of the batch may be stored then, and sending it again does the rest.
func Batch[Item boundary.Request, Req, State, Result any](
	ctx context.Context, log Log, room Room[Req, State, Result], in boundary.Batch[Item], read func(context.Context, Item) (Req, error),
) (boundary.Outcomes[Result], error) {
	out := boundary.Outcomes[Result]{Head: in.Head, Items: make([]boundary.Outcome[Result], len(in.Items))}
	if len(in.Items) == 0 {
		return out, nil
	}
	w := writing[Req, State, Result]{Room: room, log: log, stream: in.Items[0].Writer().Stream(), head: in.Head}
	var err error
	if w.erasures, err = log.Erasures(ctx); err != nil {
		return out, err
	}
	var places []int
	for i, item := range in.Items {
		var req Req
		if other := item.Writer().Stream(); other != w.stream {
			err = boundary.Invalid(schema.ErrorScopeMismatch, fmt.Errorf("item %d of the batch is for %q, not for %q", i, other, w.stream))
		} else {
			req, err = read(ctx, item)
		}
		if out.Items[i], err = outcome[Result](ctx, err); err != nil {
			return out, err
		}
		if out.Items[i].Failed == nil {
			w.reqs, places = append(w.reqs, req), append(places, i)
		}
	}
	outcomes, err := w.each(ctx)
	if err != nil {
		return out, err
	}
	for n, i := range places {
		out.Items[i] = outcomes[n]
	}
	if head := log.Head(w.stream); head.Known {
		out.Head = head
	}
	return out, nil
}

// One carries out a single request, whose errors it returns as they are. The head is the one of the request's stream, as
// far as the caller knows it.
func One[Req boundary.Request, State, Result any](
	ctx context.Context, log Log, room Room[Req, State, Result], head schema.StreamHead, req Req,
) (zero Result, err error) {
	w := writing[Req, State, Result]{Room: room, log: log, stream: req.Writer().Stream(), head: head, reqs: []Req{req}}
	if w.erasures, err = log.Erasures(ctx); err != nil {
		return zero, err
	}
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

// steady brings the tables of all projectors up to date with the stream and calls plan, which may read their rows. It
// repeats this if a rebuild has put new tables in place while plan ran.
func steady(ctx context.Context, log Log, projectors []projection.Projector, stream string, plan func() error) error {
	for _, p := range projectors {
		within := plan
		plan = func() error { return log.Steady(ctx, p, stream, within) }
	}
	return plan()
}

// writing is the work on some requests.
type writing[Req, State, Result any] struct {
	Room[Req, State, Result]
	log    Log
	stream string
	head   schema.StreamHead
	reqs   []Req
	// erasures marks the erasures that were known before the requests were read.
	erasures uint64
	// refused are the indexes of the requests that were refused.
	refused []int
}

// refusal is the error of a request that cannot be decided.
type refusal struct {
	index int
	err   error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// each carries out all requests at once, and leaves out each that is refused. If this ends in a permanent error that
// names none, it carries out each alone, so that only the faulty ones fail.
func (w *writing[Req, State, Result]) each(ctx context.Context) ([]boundary.Outcome[Result], error) {
	out := make([]boundary.Outcome[Result], len(w.reqs))
	var one *refusal
	results, err := w.write(ctx)
	for ; errors.As(err, &one); results, err = w.write(ctx) {
		if out[one.index], err = outcome[Result](ctx, one.err); err != nil {
			return nil, err
		}
		w.refused = append(w.refused, one.index)
	}
	failed, again := outcome[Result](ctx, err)
	if again != nil {
		return nil, again
	}
	for i := range w.reqs {
		switch {
		case slices.Contains(w.refused, i):
			continue
		case err == nil:
			out[i], again = boundary.Of(ctx, results[i].Result, results[i].Refused)
		case len(w.reqs) == 1:
			out[i] = failed
		default:
			alone := *w
			alone.reqs, alone.refused = w.reqs[i:i+1], nil
			var outcomes []boundary.Outcome[Result]
			if outcomes, again = alone.each(ctx); again == nil {
				out[i] = outcomes[0]
			}
		}
		if again != nil {
			return nil, again
		}
	}
	return out, nil
}

// outcome is the outcome of a request that may have failed for good.
func outcome[Result any](ctx context.Context, err error) (boundary.Outcome[Result], error) {
	var zero Result
	return boundary.Of(ctx, zero, err)
}

// write carries out the requests that were not refused, in one append. If one of them is refused, it does nothing: the
// state may have a part of that request.
func (w *writing[Req, State, Result]) write(ctx context.Context) ([]Decision[Result], error) {
	if len(w.refused) == len(w.reqs) {
		return make([]Decision[Result], len(w.reqs)), nil
	}
	ctx, err := w.log.AsWriter(ctx, w.stream, w.head) // A context is for one attempt.
	if err != nil {
		return nil, err
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
	appended, err := w.append(ctx, events)
	if err != nil {
		return nil, err
	}
	switch {
	case w.Project != nil && folded:
		err = w.Project(ctx, w.stream, schema.StreamHead{}, state)
	case w.Project != nil:
		err = w.Project(ctx, w.stream, at, state)
	case len(events) > 0 || folded: // An earlier attempt may have failed after its append.
		err = w.log.ProjectEach(ctx, w.stream, w.Projectors)
	}
	if err != nil || w.Count == nil {
		return decided, err
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

func (w *writing[Req, State, Result]) append(ctx context.Context, events []schema.Event) (eventlog.Appended, error) {
	switch known, err := w.log.Erasures(ctx); {
	case err != nil:
		return eventlog.Appended{}, err
	case known != w.erasures:
		return eventlog.Appended{}, fmt.Errorf("append %d events to %q, of which something may have been erased since it was read: %w",
			len(events), w.stream, eventlog.ErrConcurrentWriter)
	case !w.Atomic:
		return w.log.AppendAll(ctx, w.stream, events)
	}
	appended, err := w.log.Append(ctx, w.stream, events)
	if err == nil && len(appended.Differing) > 0 {
		err = fmt.Errorf("append to %q what another attempt has decided otherwise: %w", w.stream, eventlog.ErrConcurrentWriter)
	}
	return appended, err
}

// plan decides the requests, each in the state that those before it leave. It reports whether the state was folded from
// remembered events.
func (w *writing[Req, State, Result]) plan(ctx context.Context) (state State, decided []Decision[Result], folded bool, err error) {
	var refused *refusal
	load := w.Load
	decide := func() (err error) {
		state, decided, refused, err = w.decide(ctx, load)
		return err
	}
	if len(w.Folds) > 0 {
		events, _, known, err := w.log.Since(ctx, w.stream, 0, w.Folds)
		if err != nil {
			return state, nil, false, fmt.Errorf("read %q: %w", w.stream, err)
		}
		if folded = known; folded {
			load = func(ctx context.Context, reqs []Req) (State, error) { return w.Fold(ctx, reqs, events) }
		}
	}
	if folded {
		err = decide()
	} else {
		err = steady(ctx, w.log, w.Projectors, w.stream, decide)
	}
	if err == nil && refused != nil { // Only on rows that were complete.
		err = refused
	}
	return state, decided, folded, err
}

func (w *writing[Req, State, Result]) decide(
	ctx context.Context, load func(context.Context, []Req) (State, error),
) (state State, decided []Decision[Result], refused *refusal, err error) {
	decided = make([]Decision[Result], len(w.reqs))
	var reqs []Req
	for i, req := range w.reqs {
		if !slices.Contains(w.refused, i) {
			reqs = append(reqs, req)
		}
	}
	if load != nil {
		if state, err = load(ctx, reqs); err != nil {
			return state, nil, nil, err
		}
	}
	for i, req := range w.reqs {
		if slices.Contains(w.refused, i) {
			continue
		}
		if decided[i], err = w.Decide(ctx, state, req); err != nil {
			return state, nil, &refusal{i, err}, nil
		}
	}
	return state, decided, nil, nil
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
	seqs = slices.Compact(seqs) // An event that was given twice has its position twice.
	return seqs[len(seqs)-appended.New]
}
