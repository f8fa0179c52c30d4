package eventlog

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/schema"
)

// Projector makes rows out of events. Its rows are a function of the events alone, and applying an
// event again leaves them as they are: both happen after a crash.
type Projector interface {
	// Name identifies the projector's offsets. It must never change.
	Name() string
	// Types are the event types wanted; none means all.
	Types() []string
	// StreamPrefix is what the names of the wanted streams begin with.
	StreamPrefix() string
	// Apply makes the rows of events of one stream, in order, durable before it returns.
	Apply(ctx context.Context, events []schema.Event) error
	// Reset empties the projector's tables.
	Reset(ctx context.Context) error
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

// Since gives the events of the stream that the projector has not seen.
func (s *Store) Since(ctx context.Context, p Projector, stream string) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		g, err := s.generation(ctx, p)
		if err != nil {
			yield(schema.Event{}, err)
			return
		}
		offsets, err := s.offsets(ctx, p, g.number, []string{stream})
		if err != nil {
			yield(schema.Event{}, err)
			return
		}
		s.read(ctx, selection{stream: stream, types: p.Types()}, offsets[stream].position(stream), 0)(yield)
	}
}

// Project applies what of one stream the projector has not seen. The offset is saved after the rows.
// A projector is run by one caller at a time in each stream.
func (s *Store) Project(ctx context.Context, p Projector, stream string) (Progress, error) {
	g, err := s.current(ctx, p)
	if err != nil {
		return Progress{}, err
	}
	last, err := s.lastSeq(ctx, stream)
	if err != nil {
		return Progress{}, projectError(p, stream, err)
	}
	w := offsetWriter{s: s, name: p.Name(), generation: g}
	progress, err := s.projectStreams(ctx, p, &w, []StreamInfo{{stream, last}})
	if err != nil {
		return progress, err
	}
	return progress, w.flush(ctx)
}

// ProjectAll is [Store.Project] for all of the projector's streams that are behind.
func (s *Store) ProjectAll(ctx context.Context, p Projector) (Progress, error) {
	g, err := s.current(ctx, p)
	if err != nil {
		return Progress{}, err
	}
	return s.projectAll(ctx, p, g)
}

// Rebuild empties the projector's tables and applies all events. A rebuild that broke off is begun
// again by calling it again, and finished by the next [Store.Project] or [Store.ProjectAll].
func (s *Store) Rebuild(ctx context.Context, p Projector) (Progress, error) {
	g, err := s.generation(ctx, p)
	if err != nil {
		return Progress{}, err
	}
	number := g.number + 1
	if err := s.reset(ctx, p, number); err != nil {
		return Progress{}, err
	}
	return s.projectAll(ctx, p, number)
}

func (s *Store) projectAll(ctx context.Context, p Projector, generation uint64) (Progress, error) {
	var total Progress
	w := offsetWriter{s: s, name: p.Name(), generation: generation}
	page := make([]StreamInfo, 0, s.opts.PageRows)
	project := func() error {
		progress, err := s.projectStreams(ctx, p, &w, page)
		total.Streams += progress.Streams
		total.Events += progress.Events
		page = page[:0]
		return err
	}
	for stream, err := range s.Streams(ctx, p.StreamPrefix()) {
		if err != nil {
			return total, projectError(p, p.StreamPrefix()+"*", err)
		}
		if page = append(page, stream); len(page) == s.opts.PageRows {
			if err := project(); err != nil {
				return total, err
			}
		}
	}
	if err := project(); err != nil {
		return total, err
	}
	return total, w.flush(ctx)
}

// projectStreams applies the streams up to the given positions.
func (s *Store) projectStreams(ctx context.Context, p Projector, w *offsetWriter, streams []StreamInfo) (Progress, error) {
	var progress Progress
	names := make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.Name
	}
	offsets, err := s.offsets(ctx, p, w.generation, names)
	if err != nil {
		return progress, err
	}
	for _, stream := range streams {
		at := offsets[stream.Name]
		if at.LastSeq >= stream.LastSeq {
			continue
		}
		progress.Streams++
		sel := selection{stream: stream.Name, types: p.Types(), upTo: stream.LastSeq}
		for page, err := range s.pages(ctx, sel, at.position(stream.Name)) {
			if err != nil {
				return progress, projectError(p, stream.Name, err)
			}
			if err := p.Apply(ctx, page); err != nil {
				return progress, projectError(p, stream.Name, err)
			}
			progress.Events += len(page)
			last := page[len(page)-1]
			at = Offset{last.Seq, last.TS, last.ID}
			if err := w.add(ctx, stream.Name, at); err != nil {
				return progress, err
			}
		}
		// Past events of other types, so that they are not looked through again.
		if at.LastSeq < stream.LastSeq {
			at.LastSeq, at.LastEventID = stream.LastSeq, ""
			if err := w.add(ctx, stream.Name, at); err != nil {
				return progress, err
			}
		}
	}
	return progress, nil
}

func (o Offset) position(stream string) position { return position{stream, o.LastSeq, o.LastEventID} }

// generation is one life of a projector's tables.
type generation struct {
	number uint64
	// ready is true once the tables were emptied for it.
	ready bool
}

// generation returns the projector's newest generation.
func (s *Store) generation(ctx context.Context, p Projector) (generation, error) {
	g := generation{ready: true}
	err := s.query(ctx, func(rows driver.Rows) error {
		var ready uint64
		err := rows.Scan(&g.number, &ready)
		g.ready = ready == 1
		return err
	}, `SELECT generation, max(last_seq) FROM projection_offsets_raw WHERE projector_name = ? AND stream = ''
		GROUP BY generation ORDER BY generation DESC LIMIT 1`, p.Name())
	if err != nil {
		return generation{}, fmt.Errorf("read generation of %q: %w", p.Name(), err)
	}
	return g, nil
}

// current returns the newest generation, and empties the tables for it if a rebuild broke off before.
func (s *Store) current(ctx context.Context, p Projector) (uint64, error) {
	g, err := s.generation(ctx, p)
	if err == nil && !g.ready {
		err = s.reset(ctx, p, g.number)
	}
	return g.number, err
}

func (s *Store) reset(ctx context.Context, p Projector, number uint64) error {
	w := offsetWriter{s: s, name: p.Name(), generation: number}
	// Noted before anything is lost: from here on nobody takes the tables for complete.
	if err := w.write(ctx, []offsetRow{{stream: ""}}); err != nil {
		return err
	}
	if err := p.Reset(ctx); err != nil {
		return fmt.Errorf("reset projection %q: %w", p.Name(), err)
	}
	return w.write(ctx, []offsetRow{{stream: "", Offset: Offset{LastSeq: 1}}})
}

// offsets returns by stream how far the projector has come.
func (s *Store) offsets(ctx context.Context, p Projector, generation uint64, streams []string) (map[string]Offset, error) {
	out := make(map[string]Offset, len(streams))
	if len(streams) == 0 {
		return out, nil
	}
	err := s.query(ctx, func(rows driver.Rows) error {
		var stream string
		var o Offset
		err := rows.Scan(&stream, &o.LastSeq, &o.LastTS, &o.LastEventID)
		out[stream] = o
		return err
	}, `SELECT stream, last_seq, last_ts, last_event_id FROM projection_offsets_raw FINAL
		WHERE projector_name = ? AND stream IN ? AND generation = ?`, p.Name(), set(streams), generation)
	if err != nil {
		return nil, fmt.Errorf("read offsets of %q: %w", p.Name(), err)
	}
	return out, nil
}

type offsetRow struct {
	stream string
	Offset
}

// offsetWriter saves offsets many at a time: a small insert costs as much as a large one, and an
// offset lost in a crash only means that events are applied again.
type offsetWriter struct {
	s          *Store
	name       string
	generation uint64
	rows       []offsetRow
}

const offsetBatch = 100

func (w *offsetWriter) add(ctx context.Context, stream string, o Offset) error {
	if n := len(w.rows); n > 0 && w.rows[n-1].stream == stream {
		w.rows[n-1].Offset = o
		return nil
	}
	if len(w.rows) == offsetBatch {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.rows = append(w.rows, offsetRow{stream, o})
	return nil
}

func (w *offsetWriter) flush(ctx context.Context) error {
	rows := w.rows
	w.rows = nil
	if len(rows) == 0 {
		return nil
	}
	return w.write(ctx, rows)
}

func (w *offsetWriter) write(ctx context.Context, rows []offsetRow) error {
	err := func() error {
		ctx, cancel := w.s.request(ctx, clickhouse.Settings{"async_insert": 0})
		defer cancel()
		batch, err := w.s.conn.PrepareBatch(ctx, `INSERT INTO projection_offsets_raw
			(projector_name, stream, last_seq, last_ts, last_event_id, generation)`)
		if err != nil {
			return err
		}
		defer func() { _ = batch.Close() }()
		for _, r := range rows {
			ts := r.LastTS
			if ts.IsZero() {
				ts = time.Unix(0, 0)
			}
			if err := batch.Append(w.name, r.stream, r.LastSeq, ts.UTC(), r.LastEventID, w.generation); err != nil {
				return err
			}
		}
		return batch.Send()
	}()
	if err != nil {
		return fmt.Errorf("save offsets of %q: %w", w.name, err)
	}
	return nil
}

func projectError(p Projector, stream string, err error) error {
	return fmt.Errorf("project %q of %q: %w", stream, p.Name(), err)
}
