package projection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Project applies the events of one stream that the projector has not applied yet, and saves the offset after the rows.
// At the end of a rebuild it waits until the new tables are in place. If another version of the projector wrote the
// rows, the error is a [StaleError].
func (s *Store) Project(ctx context.Context, p Projector, stream string) (Progress, error) {
	_, progress, err := s.project(ctx, p, stream)
	return progress, err
}

// Steady brings the projection up to date with the stream and calls plan, which may read the stream's rows. If a
// rebuild has put new tables in place while plan ran, Steady does both again, so the last call of plan has read
// complete rows.
func (s *Store) Steady(ctx context.Context, p Projector, stream string, plan func() error) error {
	for {
		h, _, err := s.project(ctx, p, stream)
		if err != nil {
			return err
		}
		failed := plan()
		switch err := s.renewLease(ctx, p, &h); {
		case errors.Is(err, errRenewed):
			continue
		case err != nil:
			return errors.Join(failed, err)
		}
		return failed
	}
}

func (s *Store) project(ctx context.Context, p Projector, stream string) (lease, Progress, error) {
	if err := s.StoreHeld(ctx, stream); err != nil { // Tables never hold more than the log.
		return lease{}, Progress{}, projectError(p, stream, err)
	}
	for {
		l, err := s.acquireLease(ctx, p)
		if err != nil {
			return l, Progress{}, err
		}
		run := s.newPass(p, l)
		known, err := run.remembered(ctx, stream)
		if err == nil && !known {
			err = run.read(ctx, stream)
		}
		if !errors.Is(err, errRenewed) {
			return run.lease, run.done, err
		}
	}
}

// ProjectEach is [Store.Project] for several projectors. Where the store remembers the events, it writes the rows of all
// projectors together: one block for each table. A projector that fails does not stop the others.
func (s *Store) ProjectEach(ctx context.Context, stream string, projectors []Projector) error {
	if done, err := s.gathered(ctx, stream, projectors); done || err != nil {
		return err
	}
	var failed error
	for _, p := range projectors {
		if _, err := s.Project(ctx, p, stream); err != nil {
			failed = errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// gathered does the work of [Store.ProjectEach] unless the events of a projector are not remembered, a lease has ended, or
// something fails: the projectors go on alone then. It reports whether all is done.
func (s *Store) gathered(ctx context.Context, stream string, projectors []Projector) (done bool, err error) {
	if err := s.StoreHeld(ctx, stream); err != nil { // Tables never hold more than the log.
		return false, fmt.Errorf("project %q: %w", stream, err)
	}
	gathering, rows := clickhouse.Gather(ctx)
	var reached []func()
	until := time.Now().Add(s.opts.Lease)
	for _, p := range projectors {
		l, err := s.acquireLease(ctx, p)
		if err != nil {
			return false, ctx.Err()
		}
		run := s.newPass(p, l)
		at, events, last, known, err := run.unseen(ctx, stream)
		if err != nil || !known {
			return false, ctx.Err()
		}
		if at.LastSeq >= last {
			continue
		}
		if len(events) > 0 {
			if err := s.renewLease(ctx, p, &run.lease); err != nil {
				return false, ctx.Err()
			}
			if run.lease.until.Before(until) {
				until = run.lease.until
			}
			rows.Begin()
			if err := p.Apply(gathering, events); err != nil {
				return false, ctx.Err()
			}
		}
		reached = append(reached, func() { run.reached(stream, events, at, last) })
	}
	held, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if err := rows.Write(held); err != nil {
		slog.DebugContext(ctx, "projections go on alone", "stream", stream, "reason", err)
		return false, ctx.Err()
	}
	for _, reach := range reached {
		reach()
	}
	return true, nil
}

// ProjectAll is like [Store.Project] for all of the projector's streams that are behind. It reads and applies the events
// of many streams at once: a separate read or insert costs as much for one event as for many.
func (s *Store) ProjectAll(ctx context.Context, p Projector) (Progress, error) {
	return s.ProjectUnder(ctx, p, p.StreamPrefix())
}

// ProjectUnder is [Store.ProjectAll] for the streams with the prefix.
func (s *Store) ProjectUnder(ctx context.Context, p Projector, prefix string) (Progress, error) {
	for {
		l, err := s.acquireLease(ctx, p)
		if err != nil {
			return Progress{}, err
		}
		run := s.newPass(p, l)
		if err = run.all(ctx, prefix, logEnds); !errors.Is(err, errRenewed) {
			return run.done, err
		}
	}
}

// pass is one run of a projector over streams.
type pass struct {
	s     *Store
	p     Projector
	lease lease
	done  Progress
	// atOnce is how many events are applied at once.
	atOnce int
}

func (s *Store) newPass(p Projector, l lease) *pass {
	return &pass{s: s, p: p, lease: l, atOnce: math.MaxInt}
}

// spansAtOnce is how many streams are read in one query. Their names are in it.
const spansAtOnce = 1000

// span is a projector's backlog in a stream: the events after the offset, up to the last one.
type span struct {
	stream string
	at     Offset
	last   uint64
}

// all applies every stream of the projector with the prefix.
func (r *pass) all(ctx context.Context, prefix string, ends streamEnds) error {
	if err := r.s.SaveOffsets(ctx); err != nil {
		return err
	}
	for after, more := "", true; more; {
		spans, err := r.s.backlog(ctx, r.p, ends, prefix, r.lease.generation, after)
		if err != nil {
			return projectError(r.p, prefix+"*", err)
		}
		for part := range slices.Chunk(spans, spansAtOnce) {
			if err := r.spans(ctx, part); err != nil {
				return err
			}
			if r.s.offsets.full() {
				if err := r.s.SaveOffsets(ctx); err != nil {
					return err
				}
			}
		}
		if more = len(spans) == eventlog.MaxIDs; more {
			after = spans[len(spans)-1].stream
		}
	}
	return r.s.SaveOffsets(ctx)
}

// streamEnds returns the SQL that selects name and last, the end of each stream with the prefix and after the name.
type streamEnds func(prefix, after string) (sql string, args []any)

// logEnds are the ends of the streams in the log.
func logEnds(prefix, after string) (string, []any) {
	return `SELECT stream AS name, max(seq) AS last FROM events_raw
		WHERE startsWith(stream, ?) AND stream > ? GROUP BY stream`, []any{prefix, after}
}

// backlog returns the projector's backlog in the streams with the prefix and after the name, at most eventlog.MaxIDs of them, in
// the order of their names.
func (s *Store) backlog(ctx context.Context, p Projector, ends streamEnds, prefix string, generation uint64, after string) ([]span, error) {
	var out []span
	last, args := ends(prefix, after)
	err := s.db.QueryAll(ctx, clickhouse.Rows(&out, func(rows driver.Rows, one *span) error {
		return rows.Scan(&one.stream, &one.at.LastSeq, &one.at.LastTS, &one.last)
	}), `SELECT name, at, at_ts, last FROM (`+last+`) AS w
		LEFT JOIN (
			SELECT stream, max(last_seq) AS at, argMax(last_ts, last_seq) AS at_ts FROM `+s.offsetsTable+`
			WHERE projector_name = ? AND generation = ? AND stream > ? GROUP BY stream
		) AS o ON o.stream = w.name
		WHERE last > at ORDER BY name LIMIT ?`, append(args, p.Name(), generation, after, eventlog.MaxIDs)...)
	if err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	return out, nil
}

// remembered applies the stream if the log remembers all of its events that the projector may not have seen. It
// reports whether it does.
func (r *pass) remembered(ctx context.Context, stream string) (bool, error) {
	at, events, last, known, err := r.unseen(ctx, stream)
	if err != nil || !known {
		return false, err
	}
	if at.LastSeq >= last {
		return true, nil
	}
	r.done.Streams++
	if err := r.apply(ctx, events); err != nil {
		return true, projectError(r.p, stream, err)
	}
	r.reached(stream, events, at, last)
	return true, nil
}

// unseen returns the events of the stream that the projector may not have seen, where it stands and where the stream
// ends, if the log remembers them. If the store does not know where it stands, these are all events.
func (r *pass) unseen(ctx context.Context, stream string) (at Offset, events []schema.Event, last uint64, known bool, err error) {
	at, _ = r.s.offsets.get(offsetKey{r.p.Name(), stream, r.lease.generation})
	events, last, known, err = r.s.Since(ctx, stream, at.LastSeq, r.p.Types())
	return at, events, last, known, err
}

// reached records that the stream is applied up to last. Some of the events may be of other types: the offset is past
// them, so that they are not read again.
func (r *pass) reached(stream string, applied []schema.Event, at Offset, last uint64) {
	if n := len(applied); n > 0 {
		at = Offset{applied[n-1].Seq, applied[n-1].TS, applied[n-1].ID}
	}
	if at.LastSeq < last {
		at.LastSeq, at.LastEventID = last, ""
	}
	r.s.advance(r.p, r.lease.generation, stream, at)
}

// read applies the stream as the server has it.
func (r *pass) read(ctx context.Context, stream string) error {
	last, err := r.s.End(ctx, stream)
	if err != nil {
		return projectError(r.p, stream, err)
	}
	at, err := r.s.offsetOf(ctx, r.p, r.lease.generation, stream)
	if err != nil || at.LastSeq >= last {
		return err
	}
	return r.spans(ctx, []span{{stream, at, last}})
}

// spans applies the spans, which are in the order of their streams, and records the new offsets.
func (r *pass) spans(ctx context.Context, spans []span) error {
	at, last := make(map[string]Offset, len(spans)), make(map[string]uint64, len(spans))
	name, rest := r.p.StreamPrefix()+"*", eventlog.Range{Prefix: r.p.StreamPrefix(), Types: r.p.Types()}
	for _, s := range spans {
		at[s.stream], last[s.stream] = s.at, s.last
		rest.Of = append(rest.Of, eventlog.Place{Stream: s.stream, Seq: s.at.LastSeq})
	}
	if one := spans[0]; len(spans) == 1 { // The server finds a part of one stream by its key.
		name = one.stream
		rest = eventlog.Range{Stream: one.stream, Types: r.p.Types(), UpTo: one.last, After: eventlog.Place{Stream: one.stream, Seq: one.at.LastSeq}}
	}
	for page, err := range r.s.Pages(ctx, rest) {
		events := slices.DeleteFunc(page.Events, func(e schema.Event) bool { return e.Seq > last[e.Stream] }) // They came later.
		if err == nil {
			err = r.apply(ctx, events)
		}
		if err != nil {
			return projectError(r.p, name, err)
		}
		for _, e := range lastOfEach(events) {
			at[e.Stream] = Offset{e.Seq, e.TS, e.ID}
			r.s.advance(r.p, r.lease.generation, e.Stream, at[e.Stream])
		}
	}
	for _, s := range spans {
		r.reached(s.stream, nil, at[s.stream], s.last)
	}
	r.done.Streams += len(spans)
	return nil
}

// apply writes the rows of a page. If the lease does not last for the whole page, it is applied in parts, and later
// pages in parts of that size.
func (r *pass) apply(ctx context.Context, page []schema.Event) error {
	for again := false; len(page) > 0; {
		part := page[:min(len(page), r.atOnce)]
		began := time.Now()
		late, err := r.applyPart(ctx, part)
		switch {
		case late && !again && r.lease.until.Sub(began) < r.s.opts.Lease*9/10:
			// Some of the lease had passed already. Try once more with all of it.
			r.s.leases.expire()
			r.lease.from, again = time.Time{}, true
			continue
		case late && len(part) > 1:
			r.atOnce = (len(part) + 1) / 2
			continue
		case late:
			return fmt.Errorf("apply event %q within %s: %w", part[0].ID, r.s.opts.Lease, err)
		case err != nil:
			return err
		}
		page, again = page[len(part):], false
		r.done.Events += len(part)
	}
	return nil
}

// applyPart writes the rows of the events while the lease lasts. It reports whether an error came after the lease had
// expired.
func (r *pass) applyPart(ctx context.Context, events []schema.Event) (late bool, err error) {
	if err := r.s.renewLease(ctx, r.p, &r.lease); err != nil {
		return false, err
	}
	if r.lease.exclusive {
		return false, applyAll(ctx, r.p, events)
	}
	held, cancel := context.WithDeadline(ctx, r.lease.until)
	defer cancel()
	err = applyAll(held, r.p, events)
	return err != nil && ctx.Err() == nil && !time.Now().Before(r.lease.until), err
}

// applyAll applies the events of one stream after the other, and then writes the rows of all.
func applyAll(ctx context.Context, p Projector, events []schema.Event) error {
	if n := len(events); n == 0 || events[0].Stream == events[n-1].Stream {
		return p.Apply(ctx, events)
	}
	gathering, rows := clickhouse.Gather(ctx)
	for len(events) > 0 {
		stream := events[0].Stream
		n := slices.IndexFunc(events, func(e schema.Event) bool { return e.Stream != stream })
		if n < 0 {
			n = len(events)
		}
		rows.Begin()
		if err := p.Apply(gathering, events[:n]); err != nil {
			return fmt.Errorf("project %q: %w", stream, err)
		}
		events = events[n:]
	}
	return rows.Write(ctx)
}

// lastOfEach returns the last event of each stream. The events are in the order of the streams.
func lastOfEach(events []schema.Event) []schema.Event {
	var out []schema.Event
	for i, e := range events {
		if i+1 == len(events) || events[i+1].Stream != e.Stream {
			out = append(out, e)
		}
	}
	return out
}
