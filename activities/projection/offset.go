package projection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
)

// offsetKey names an offset of a projector in a generation of its tables.
type offsetKey struct {
	projector, stream string
	generation        uint64
}

// offsetRow is an offset to save.
type offsetRow struct {
	Offset
	// version is the version of the projector.
	version uint32
}

const (
	// saveAttempts bounds how often a program that has nothing else to do tries to save offsets.
	saveAttempts = 60
	// maxOffsets bounds the cached offsets, and offsetBatch the pending ones.
	maxOffsets  = 100_000
	offsetBatch = 1000
)

// offsets caches the checkpoints of the projectors and saves them in the background. A cached offset may be too low,
// because other programs project too. Then events are applied again, which changes nothing.
type offsets struct {
	mu      sync.Mutex
	known   map[offsetKey]Offset
	pending map[offsetKey]offsetRow
	timer   *time.Timer
	failed  int
}

// offsetOf returns the projector's offset in the stream.
func (s *Store) offsetOf(ctx context.Context, p Projector, generation uint64, stream string) (at Offset, err error) {
	if at, ok := s.offsets.get(offsetKey{p.Name(), stream, generation}); ok {
		return at, nil
	}
	err = s.db.Query(ctx, func(rows driver.Rows) error {
		return rows.Scan(&at.LastSeq, &at.LastTS, &at.LastEventID)
	}, `SELECT last_seq, last_ts, last_event_id FROM `+s.offsetsTable+` FINAL
		WHERE projector_name = ? AND stream = ? AND generation = ?`, p.Name(), stream, generation)
	if err != nil {
		return at, fmt.Errorf("read the offset of %q: %w", p.Name(), err)
	}
	return at, nil
}

func (o *offsets) get(k offsetKey) (Offset, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, ok := o.known[k]
	return at, ok
}

// advance records a projector's checkpoint. The offset is saved later.
func (s *Store) advance(p Projector, generation uint64, stream string, at Offset) {
	o := &s.offsets
	o.mu.Lock()
	defer o.mu.Unlock()
	k := offsetKey{p.Name(), stream, generation}
	if old, ok := o.known[k]; ok && old.LastSeq > at.LastSeq {
		return
	}
	if len(o.known) >= maxOffsets {
		clear(o.known)
	}
	o.known[k] = at
	o.pending[k] = offsetRow{at, p.Version()}
	o.failed = 0
	if o.timer == nil {
		o.timer = time.AfterFunc(s.opts.Offsets, s.saveLater)
	}
}

// forget drops the cached offsets of the projector.
func (o *offsets) forget(projector string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for k := range o.known {
		if k.projector == projector {
			delete(o.known, k)
		}
	}
}

// full reports whether so many offsets wait that they should be saved now.
func (o *offsets) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending) >= offsetBatch
}

func (s *Store) saveLater() {
	o := &s.offsets
	o.mu.Lock()
	o.timer = nil
	o.mu.Unlock()
	err := s.SaveOffsets(context.Background())
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil && len(o.pending) > 0 && o.timer == nil && o.failed < saveAttempts {
		o.failed++
		o.timer = time.AfterFunc(s.opts.Offsets, s.saveLater)
	}
}

// SaveOffsets saves the checkpoints of the projections. The store does it by itself after [eventlog.Options.Offsets]. A program
// that ends calls it, or else the next one applies the last events once more.
func (s *Store) SaveOffsets(ctx context.Context) error {
	o := &s.offsets
	unlock, err := s.locks.Lock(ctx, "offsets")
	if err != nil {
		return fmt.Errorf("save offsets: %w", err)
	}
	defer unlock()
	o.mu.Lock()
	rows := o.pending
	o.pending = map[offsetKey]offsetRow{}
	o.mu.Unlock()
	if len(rows) == 0 {
		return nil
	}
	if err = s.writeOffsets(ctx, rows); err == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for k, row := range rows {
		if _, newer := o.pending[k]; !newer && len(o.pending) < maxOffsets {
			o.pending[k] = row
		}
	}
	return fmt.Errorf("save offsets: %w", err)
}

func (s *Store) writeOffsets(ctx context.Context, rows map[offsetKey]offsetRow) error {
	ctx, cancel := s.db.Request(ctx, clickhouse.Settings{"async_insert": 0})
	defer cancel()
	keys := slices.Collect(maps.Keys(rows))
	return clickhouse.InsertBlock(ctx, s.db.Conn, `INSERT INTO `+s.offsetsTable+`
		(projector_name, stream, last_seq, last_ts, last_event_id, generation, version)`, len(keys), func(b driver.Batch, i int) error {
		k, r := keys[i], rows[keys[i]]
		ts := r.LastTS
		if ts.IsZero() {
			ts = time.Unix(0, 0)
		}
		return b.Append(k.projector, k.stream, r.LastSeq, ts.UTC(), r.LastEventID, k.generation, r.version)
	})
}
