package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axiommind/schema"
)

// Projector makes rows out of events. Its rows are a function of the events alone, and applying an
// event again leaves them as they are: both happen after a crash.
type Projector interface {
	// Name identifies the projector's offsets. It must never change.
	Name() string
	// Version is that of the code that makes the rows. A change that makes other rows of the same events
	// counts it up: rows of two versions never stand beside each other.
	Version() uint32
	// Types are the event types wanted; none means all.
	Types() []string
	// StreamPrefix is what the names of the wanted streams begin with.
	StreamPrefix() string
	// Tables are all that Apply writes.
	Tables() []Table
	// Apply makes the rows of events of one stream, in order, durable before it returns.
	Apply(ctx context.Context, events []schema.Event) error
}

// Progress is what a projection did.
type Progress struct {
	// Streams is how many streams were behind, Events how many events were applied.
	Streams int
	Events  int
}

// Offset is how far a projector has come in a stream.
type Offset struct {
	LastSeq     uint64
	LastTS      time.Time
	LastEventID string
}

func (o Offset) position(stream string) position { return position{stream, o.LastSeq, o.LastEventID} }

// Project applies what of one stream the projector has not seen. The offset is saved after the rows.
// While the projection is being rebuilt it waits for the tables to be empty, and then applies the stream
// from its beginning; rows of another version of the projector give a [StaleError].
func (s *Store) Project(ctx context.Context, p Projector, stream string) (Progress, error) {
	_, progress, err := s.project(ctx, p, stream)
	return progress, err
}

// Steady brings the projection up to date with the stream and calls plan, which may read the stream's rows.
// It does so again where a rebuild may have emptied the tables while plan was at work: what plan has read
// last is complete.
func (s *Store) Steady(ctx context.Context, p Projector, stream string, plan func() error) error {
	for {
		h, _, err := s.project(ctx, p, stream)
		if err != nil {
			return err
		}
		failed := plan()
		switch err := s.extend(ctx, p, &h); {
		case errors.Is(err, errRenewed):
			continue
		case err != nil:
			return errors.Join(failed, err)
		}
		return failed
	}
}

func (s *Store) project(ctx context.Context, p Projector, stream string) (hold, Progress, error) {
	for {
		h, err := s.hold(ctx, p)
		if err != nil {
			return h, Progress{}, err
		}
		last, err := s.lastSeq(ctx, stream)
		if err != nil {
			return h, Progress{}, projectError(p, stream, err)
		}
		run := s.newPass(p, h)
		err = run.streams(ctx, []StreamInfo{{stream, last}})
		if err == nil {
			err = run.offsets.flush(ctx)
		}
		if !errors.Is(err, errRenewed) {
			return run.hold, run.done, err
		}
	}
}

// ProjectAll is [Store.Project] for all of the projector's streams that are behind. It reports what is done
// so far after each page of events.
func (s *Store) ProjectAll(ctx context.Context, p Projector, report ...func(Progress)) (Progress, error) {
	for {
		h, err := s.hold(ctx, p)
		if err != nil {
			return Progress{}, err
		}
		run := s.newPass(p, h)
		run.report = report
		if err = run.all(ctx); !errors.Is(err, errRenewed) {
			return run.done, err
		}
	}
}

// Rebuild is [Store.RenewNow] and [Store.ProjectAll].
func (s *Store) Rebuild(ctx context.Context, p Projector) (Progress, error) {
	if err := s.RenewNow(ctx, p); err != nil {
		return Progress{}, err
	}
	return s.ProjectAll(ctx, p)
}

// pass is one run of a projector over streams.
type pass struct {
	s       *Store
	p       Projector
	hold    hold
	offsets offsetWriter
	done    Progress
	report  []func(Progress)
}

func (s *Store) newPass(p Projector, h hold) *pass {
	return &pass{s: s, p: p, hold: h, offsets: offsetWriter{s: s, p: p, generation: h.generation}}
}

// all applies every stream of the projector.
func (r *pass) all(ctx context.Context) error {
	page := make([]StreamInfo, 0, r.s.opts.PageRows)
	for stream, err := range r.s.Streams(ctx, r.p.StreamPrefix()) {
		if err != nil {
			return projectError(r.p, r.p.StreamPrefix()+"*", err)
		}
		if page = append(page, stream); len(page) == r.s.opts.PageRows {
			if err := r.streams(ctx, page); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	if err := r.streams(ctx, page); err != nil {
		return err
	}
	return r.offsets.flush(ctx)
}

// streams applies the streams up to the given positions.
func (r *pass) streams(ctx context.Context, streams []StreamInfo) error {
	names := make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.Name
	}
	offsets, err := r.s.offsets(ctx, r.p, r.hold.generation, names)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		at := offsets[stream.Name]
		if at.LastSeq >= stream.LastSeq {
			continue
		}
		r.done.Streams++
		sel := selection{stream: stream.Name, types: r.p.Types(), upTo: stream.LastSeq}
		for page, err := range r.s.pages(ctx, sel, at.position(stream.Name)) {
			if err == nil {
				err = r.apply(ctx, page)
			}
			if err != nil {
				return projectError(r.p, stream.Name, err)
			}
			last := page[len(page)-1]
			at = Offset{last.Seq, last.TS, last.ID}
			if err := r.offsets.add(ctx, stream.Name, at); err != nil {
				return err
			}
		}
		// Past events of other types, so that they are not looked through again.
		if at.LastSeq < stream.LastSeq {
			at.LastSeq, at.LastEventID = stream.LastSeq, ""
			if err := r.offsets.add(ctx, stream.Name, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply writes the rows of a page while the hold lasts.
func (r *pass) apply(ctx context.Context, page []schema.Event) error {
	if err := r.s.extend(ctx, r.p, &r.hold); err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(ctx, r.hold.until)
	defer cancel()
	if err := r.p.Apply(ctx, page); err != nil {
		return err
	}
	r.done.Events += len(page)
	for _, tell := range r.report {
		tell(r.done)
	}
	return nil
}

func projectError(p Projector, stream string, err error) error {
	return fmt.Errorf("project %q of %q: %w", stream, p.Name(), err)
}
