package eventlog

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// offsets returns the projector's offset in each of the streams.
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

// offsetWriter saves offsets in batches, because a small insert costs as much as a large one. If an offset is lost in
// a crash, its events are only applied again.
type offsetWriter struct {
	s          *Store
	p          Projector
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
			(projector_name, stream, last_seq, last_ts, last_event_id, generation, version)`)
		if err != nil {
			return err
		}
		defer func() { _ = batch.Close() }()
		for _, r := range rows {
			ts := r.LastTS
			if ts.IsZero() {
				ts = time.Unix(0, 0)
			}
			if err := batch.Append(w.p.Name(), r.stream, r.LastSeq, ts.UTC(), r.LastEventID, w.generation, w.p.Version()); err != nil {
				return err
			}
		}
		return batch.Send()
	}()
	if err != nil {
		return fmt.Errorf("save offsets of %q: %w", w.p.Name(), err)
	}
	return nil
}
