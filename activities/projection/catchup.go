package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// spansAtOnce is how many streams are read in one query. Their names are in it.
const spansAtOnce = 1000

// span is a projector's backlog in a stream: the events after the offset, up to the last one.
type span struct {
	stream string
	at     Offset
	last   uint64
}

// CatchUp applies to the shadow the events that came after it was filled. It returns [ErrShadowGone] if it was not
// filled. The projector's connection is that of the shadow.
func (sh *Shadow) CatchUp(ctx context.Context, p Projector) (Progress, error) {
	if err := sh.complete(ctx, []Projector{p}); err != nil {
		return Progress{}, err
	}
	return sh.catchUp(ctx, p)
}

// catchUp applies the projector's backlog for many streams at once. Most streams have only a few new events, and a
// separate read or insert costs as much for one event as for many.
func (sh *Shadow) catchUp(ctx context.Context, p Projector) (done Progress, err error) {
	if err := sh.shadow.SaveOffsets(ctx); err != nil {
		return done, err
	}
	for after, more := "", true; more; {
		spans, err := sh.shadow.backlog(ctx, p, logEnds, p.StreamPrefix(), shadowGeneration, after)
		if err != nil {
			return done, projectError(p, p.StreamPrefix()+"*", err)
		}
		for part := range slices.Chunk(spans, spansAtOnce) {
			n, err := sh.applySpans(ctx, p, part)
			if err != nil {
				return done, fmt.Errorf("catch up with projection %q from %q: %w", p.Name(), part[0].stream, err)
			}
			done.Streams += len(part)
			done.Events += n
		}
		if more = len(spans) == eventlog.MaxIDs; more {
			after = spans[len(spans)-1].stream
		}
	}
	return done, sh.shadow.SaveOffsets(ctx)
}

// applySpans makes the rows of the events that the projector lacks of the streams, and counts the events.
func (sh *Shadow) applySpans(ctx context.Context, p Projector, spans []span) (int, error) {
	n, err := sh.shadow.applySpans(ctx, p, shadowGeneration, spans, func(events []schema.Event) error {
		return sh.apply(ctx, p, events)
	})
	return n, errors.Join(err, sh.shadow.SaveOffsets(ctx))
}

// applySpans calls apply for the events of the projector's backlog in the streams, records the new offsets, and counts
// the events.
func (s *Store) applySpans(ctx context.Context, p Projector, generation uint64, spans []span, apply func([]schema.Event) error) (events int, err error) {
	at := make(map[string]Offset, len(spans))
	rest := eventlog.Range{Prefix: p.StreamPrefix(), Types: p.Types()}
	for _, s := range spans {
		at[s.stream] = s.at
		rest.Of = append(rest.Of, eventlog.Place{Stream: s.stream, Seq: s.at.LastSeq})
	}
	for page, err := range s.Pages(ctx, rest) {
		if err != nil {
			return events, err
		}
		if err := apply(page.Events); err != nil {
			return events, err
		}
		events += len(page.Events)
		for _, e := range lastOfEach(page.Events) {
			at[e.Stream] = Offset{e.Seq, e.TS, e.ID}
			s.advance(p, generation, e.Stream, at[e.Stream])
		}
	}
	for _, one := range spans {
		reached := at[one.stream]
		if reached.LastSeq < one.last { // The projector does not want the last events.
			reached.LastSeq, reached.LastEventID = one.last, ""
			s.advance(p, generation, one.stream, reached)
		}
	}
	return events, nil
}
