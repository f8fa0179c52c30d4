package eventlog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"axiommind/schema"
)

// Projector turns events into rows. The rows must depend on the events alone, however these are paged, and applying an
// event again must not change them. After a crash, and by programs that do not know of each other, pages are applied
// that begin at the same event and end at different ones.
type Projector interface {
	// Name is the key of the projector's offsets. It must never change.
	Name() string
	// Version is the version of the code that makes the rows. Increase it with every change that makes different rows
	// from the same events. Rows of two versions are never mixed.
	Version() uint32
	// Types are the event types to apply. None means all.
	Types() []string
	// StreamPrefix is the prefix of the names of the streams to apply.
	StreamPrefix() string
	// Tables are all tables that Apply writes.
	Tables() []Table
	// Apply writes the rows for events of one stream, which are in order. The rows must be durable when it returns.
	Apply(ctx context.Context, events []schema.Event) error
}

// Progress is what a projection has done so far.
type Progress struct {
	// Streams counts the streams that were behind, and Events the events that were applied.
	Streams int
	Events  int
}

// Offset is a projector's position in a stream.
type Offset struct {
	LastSeq     uint64
	LastTS      time.Time
	LastEventID string
}

func (o Offset) position(stream string) position { return position{stream, o.LastSeq, o.LastEventID} }

// Project applies the events of one stream that the projector has not applied yet, and saves the offset after the
// rows. During a rebuild it waits until the tables are empty and then applies the stream from its beginning. If
// another version of the projector wrote the rows, the error is a [StaleError].
func (s *Store) Project(ctx context.Context, p Projector, stream string) (Progress, error) {
	_, progress, err := s.project(ctx, p, stream)
	return progress, err
}

// Steady brings the projection up to date with the stream and calls plan, which may read the stream's rows. If a
// rebuild may have emptied the tables while plan ran, Steady does both again, so the last call of plan has read
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
	for {
		l, err := s.acquireLease(ctx, p)
		if err != nil {
			return l, Progress{}, err
		}
		last, err := s.lastSeq(ctx, stream)
		if err != nil {
			return l, Progress{}, projectError(p, stream, err)
		}
		run := s.newPass(p, l)
		err = run.streams(ctx, []StreamInfo{{stream, last}})
		if err == nil {
			err = run.offsets.flush(ctx)
		}
		if !errors.Is(err, errRenewed) {
			return run.lease, run.done, err
		}
	}
}

// ProjectAll is like [Store.Project] for all of the projector's streams that are behind. It calls report after each
// page of events.
func (s *Store) ProjectAll(ctx context.Context, p Projector, report ...func(Progress)) (Progress, error) {
	for {
		l, err := s.acquireLease(ctx, p)
		if err != nil {
			return Progress{}, err
		}
		run := s.newPass(p, l)
		run.report = report
		if err = run.all(ctx); !errors.Is(err, errRenewed) {
			return run.done, err
		}
	}
}

// Rebuild calls [Store.RenewNow] and then [Store.ProjectAll].
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
	lease   lease
	offsets offsetWriter
	done    Progress
	report  []func(Progress)
	// atOnce is how many events are applied at once.
	atOnce int
}

func (s *Store) newPass(p Projector, l lease) *pass {
	return &pass{s: s, p: p, lease: l, offsets: offsetWriter{s: s, p: p, generation: l.generation}, atOnce: math.MaxInt}
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
	offsets, err := r.s.offsets(ctx, r.p, r.lease.generation, names)
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
		// Save an offset past events of other types, so that they are not read again.
		if at.LastSeq < stream.LastSeq {
			at.LastSeq, at.LastEventID = stream.LastSeq, ""
			if err := r.offsets.add(ctx, stream.Name, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply writes the rows of a page. If the lease does not last for the whole page, it is applied in parts, and later
// pages in parts of that size.
func (r *pass) apply(ctx context.Context, page []schema.Event) error {
	for len(page) > 0 {
		part := page[:min(len(page), r.atOnce)]
		late, err := r.applyPart(ctx, part)
		switch {
		case late && len(part) > 1:
			r.atOnce = (len(part) + 1) / 2
			continue
		case late:
			return fmt.Errorf("apply event %q within %s: %w", part[0].ID, r.s.opts.Lease, err)
		case err != nil:
			return err
		}
		page = page[len(part):]
		r.done.Events += len(part)
		for _, tell := range r.report {
			tell(r.done)
		}
	}
	return nil
}

// applyPart writes the rows of the events while the lease lasts. It reports whether an error came after the lease had
// expired.
func (r *pass) applyPart(ctx context.Context, events []schema.Event) (late bool, err error) {
	if err := r.s.renewLease(ctx, r.p, &r.lease); err != nil {
		return false, err
	}
	held, cancel := context.WithDeadline(ctx, r.lease.until)
	defer cancel()
	err = r.p.Apply(held, events)
	return err != nil && ctx.Err() == nil && !time.Now().Before(r.lease.until), err
}

func projectError(p Projector, stream string, err error) error {
	return fmt.Errorf("project %q of %q: %w", stream, p.Name(), err)
}
