package projection

import (
	"context"
	"errors"
	"slices"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// ProjectTogether is like [Store.ProjectAll] for the streams with the prefix, but reads and applies the events of many
// streams at once: a separate read or insert costs as much for one event as for many. The projector's Apply must take
// events of several streams, one stream after the other.
func (s *Store) ProjectTogether(ctx context.Context, p Projector, prefix string) (Progress, error) {
	for {
		l, err := s.acquireLease(ctx, p)
		if err != nil {
			return Progress{}, err
		}
		run := s.newPass(p, l)
		if err = run.together(ctx, prefix); !errors.Is(err, errRenewed) {
			return run.done, err
		}
	}
}

func (r *pass) together(ctx context.Context, prefix string) error {
	if err := r.s.SaveOffsets(ctx); err != nil {
		return err
	}
	for after, more := "", true; more; {
		spans, err := r.s.backlog(ctx, r.p, logEnds, prefix, r.lease.generation, after)
		if err != nil {
			return projectError(r.p, prefix+"*", err)
		}
		for part := range slices.Chunk(spans, spansAtOnce) {
			_, err := r.s.applySpans(ctx, r.p, r.lease.generation, part, func(events []schema.Event) error {
				return r.apply(ctx, events)
			})
			if err != nil {
				return projectError(r.p, prefix+"*", err)
			}
			r.done.Streams += len(part)
		}
		if more = len(spans) == eventlog.MaxIDs; more {
			after = spans[len(spans)-1].stream
		}
	}
	return nil
}
