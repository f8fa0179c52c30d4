package eventlog

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/schema"
)

// Appended is the result of an append.
type Appended struct {
	// Events are the events as stored, in the order given. Where the log already held an event with the same key, it
	// is that one.
	Events []schema.Event
	// New is how many events the call stored.
	New int
	// Differing are the indexes of the given events whose key the log already held with another stream, type or
	// payload. The stored event stays as it is.
	Differing []int
}

// maxAttempts bounds how often Append retries because another writer appended to its stream first. In each round one
// writer succeeds.
const maxAttempts = 16

// Append stores the events whose dedupe keys are not in the log yet at the end of the stream, in the order given, all
// or none. It can be called again after any error: each event is stored once.
//
// If an event is refused, the error is an [InvalidError]. If other writers keep appending first, it is
// [ErrConcurrentWriter]. [Retryable] tells which other errors are worth a retry. A batch has at most [MaxBatchRows]
// and [MaxBatchBytes].
func (s *Store) Append(ctx context.Context, stream string, events []schema.Event) (Appended, error) {
	b, err := prepare(stream, events)
	if err != nil {
		return Appended{}, err
	}
	if len(b.events) > MaxBatchRows || b.bytes > MaxBatchBytes {
		return Appended{}, &InvalidError{-1, "batch", fmt.Sprintf(
			"has %d events of %d bytes, want at most %d of %d, which are one block: use AppendAll",
			len(b.events), b.bytes, MaxBatchRows, MaxBatchBytes)}
	}
	return s.appendBatch(ctx, stream, events, b)
}

// AppendAll is like [Store.Append] for any number of events, which it appends in several batches. After an error, the
// first batches may be stored. The result covers all batches.
func (s *Store) AppendAll(ctx context.Context, stream string, events []schema.Event) (Appended, error) {
	var all Appended
	for from := 0; from < len(events); {
		to, size := from, int64(0)
		for to < len(events) && to-from < MaxBatchRows {
			// The canonical JSON may be longer than the given one: 1e20 becomes 21 digits.
			size += 2 * eventBytes(events[to])
			if to > from && size > MaxBatchBytes {
				break
			}
			to++
		}
		part, err := s.Append(ctx, stream, events[from:to])
		if err != nil {
			return all, shiftIndex(err, from)
		}
		all.Events = append(all.Events, part.Events...)
		all.New += part.New
		for _, i := range part.Differing {
			all.Differing = append(all.Differing, from+i)
		}
		from = to
	}
	return all, nil
}

func (s *Store) appendBatch(ctx context.Context, stream string, given []schema.Event, b batch) (Appended, error) {
	if len(given) == 0 {
		return Appended{}, nil
	}
	unlock, err := s.locks.lock(ctx, stream)
	if err != nil {
		return Appended{}, fmt.Errorf("append to %q: %w", stream, err)
	}
	defer unlock()
	// turn counts the tokens that were used up without anything being stored.
	for attempt, turn := 0, 0; attempt < maxAttempts; attempt++ {
		stored, fresh, err := s.place(ctx, stream, b.events)
		if err != nil {
			return Appended{}, fmt.Errorf("append to %q: %w", stream, err)
		}
		if len(fresh) > 0 {
			if err := s.insert(ctx, fresh, token(stream, fresh[0].Seq, turn)); err != nil {
				return Appended{}, fmt.Errorf("append %d events to %q: %w", len(fresh), stream, err)
			}
			outcome, err := s.readBack(ctx, stream, fresh)
			if err != nil {
				return Appended{}, fmt.Errorf("append %d events to %q: read back: %w", len(fresh), stream, err)
			}
			switch outcome {
			case lost:
				turn = 0
				continue
			case vanished:
				turn++
				continue
			case disputed:
				return Appended{}, fmt.Errorf("append %d events to %q: %w", len(fresh), stream, ErrConcurrentWriter)
			}
			for _, e := range fresh {
				stored[e.ID] = e
			}
		}
		return b.result(given, stored, len(fresh)), nil
	}
	return Appended{}, fmt.Errorf("append %d events to %q: %w", len(b.events), stream, ErrConcurrentWriter)
}

// place looks up by id the events that the log already holds, and gives positions to the others.
func (s *Store) place(ctx context.Context, stream string, events []schema.Event) (map[string]schema.Event, []schema.Event, error) {
	// Read the end of the stream before the ids. A batch that is committed in between is then either seen as a whole
	// or makes this one lose its token.
	last, err := s.lastSeq(ctx, stream)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	stored, err := s.GetMany(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	now := s.opts.Now().UTC().Truncate(time.Microsecond)
	fresh := make([]schema.Event, 0, len(events)-len(stored))
	for _, e := range events {
		if _, ok := stored[e.ID]; ok {
			continue
		}
		last++
		e.Seq, e.RecordedAt = last, now
		fresh = append(fresh, e)
	}
	return stored, fresh, nil
}

func (b batch) result(given []schema.Event, stored map[string]schema.Event, fresh int) Appended {
	out := Appended{Events: make([]schema.Event, len(given)), New: fresh}
	for i := range given {
		want := b.events[b.of[i]]
		got := stored[want.ID]
		out.Events[i] = got
		if got.Stream != want.Stream || got.Type != given[i].Type || got.Checksum != b.sums[i] {
			out.Differing = append(out.Differing, i)
		}
	}
	return out
}

// token names the place in the log that a batch claims. The server stores one block per token and silently drops
// later ones. So if several writers saw the same end of the stream, one of them wins, and an attempt that arrives
// late is dropped. Only reading back tells which one won.
func token(stream string, first uint64, turn int) string {
	return schema.HashParts("append", stream, strconv.FormatUint(first, 10), strconv.Itoa(turn))
}

const insertEvents = `INSERT INTO events_raw (event_id, stream, seq, event_type, ts, actor, session_id, project,
	build_id, dedupe_key, payload_json, payload_bytes, payload_redacted, sensitivity, checksum, recorded_at, precedence)`

// insert sends the events as one block.
func (s *Store) insert(ctx context.Context, events []schema.Event, token string) error {
	ctx, cancel := s.request(ctx, clickhouse.Settings{
		"async_insert": 0, "insert_deduplicate": 1, "insert_deduplication_token": token,
		"max_insert_block_size": 2 * MaxBatchRows,
	})
	defer cancel()
	rows, err := s.conn.PrepareBatch(ctx, insertEvents)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for _, e := range events {
		err := rows.Append(e.ID, e.Stream, e.Seq, e.Type, e.TS, e.Actor, e.SessionID, e.Project,
			e.BuildID, e.DedupeKey, []byte(e.Payload), uint32(len(e.Payload)), []byte(e.PayloadRedacted), e.Sensitivity, e.Checksum,
			e.RecordedAt, precedence(e.RecordedAt))
		if err != nil {
			return err
		}
	}
	return rows.Send()
}

func precedence(recorded time.Time) uint64 { return math.MaxUint64 - uint64(recorded.UnixMicro()) }

// outcome is the outcome of an insert.
type outcome int

const (
	// won: the events are stored where they were placed.
	won outcome = iota
	// lost: another writer's events are there, and none of these.
	lost
	// vanished: nothing is there. The token was used up by rows that were erased since, or by a server that died
	// after it recorded the token and before it stored the block.
	vanished
	// disputed: these events are stored, and so are other events at their positions or other copies of them. This
	// only happens if the server has forgotten the token. Readers still see each event once.
	disputed
)

// readBack finds the outcome of an insert. The events of another attempt with the same content do not count as ours:
// place finds them as stored.
func (s *Store) readBack(ctx context.Context, stream string, events []schema.Event) (outcome, error) {
	type row struct {
		sum      string
		recorded time.Time
	}
	found := make(map[uint64]map[string]row, len(events))
	err := s.query(ctx, func(rows driver.Rows) error {
		var seq uint64
		var id string
		var r row
		if err := rows.Scan(&seq, &id, &r.sum, &r.recorded); err != nil {
			return err
		}
		if found[seq] == nil {
			found[seq] = make(map[string]row, 1)
		}
		found[seq][id] = r
		return nil
	}, `SELECT seq, event_id, checksum, recorded_at FROM events_raw FINAL
		WHERE stream = ? AND seq BETWEEN ? AND ?`, stream, events[0].Seq, events[len(events)-1].Seq)
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return vanished, nil
	}
	ours, rowsThere := 0, 0
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
		at := found[e.Seq]
		if r, ok := at[e.ID]; ok && r.sum == e.Checksum && r.recorded.Equal(e.RecordedAt) {
			ours++
		}
		rowsThere += len(at)
	}
	switch {
	case ours == 0:
		return lost, nil
	case ours < len(events) || rowsThere > len(events):
		return disputed, nil
	}
	copies, err := s.copies(ctx, ids)
	if err != nil {
		return 0, err
	}
	if len(copies) > 0 {
		return disputed, nil
	}
	return won, nil
}

// lastSeq returns the highest position in the stream, or 0 for an empty stream.
func (s *Store) lastSeq(ctx context.Context, stream string) (uint64, error) {
	var last uint64
	err := s.query(ctx, func(rows driver.Rows) error { return rows.Scan(&last) },
		`SELECT seq FROM events_raw WHERE stream = ? ORDER BY stream DESC, seq DESC LIMIT 1`, stream)
	if err != nil {
		return 0, fmt.Errorf("find the end: %w", err)
	}
	return last, nil
}

func shiftIndex(err error, by int) error {
	if invalid, ok := err.(*InvalidError); ok && invalid.Index >= 0 { //nolint:errorlint // prepare returns it bare
		return &InvalidError{invalid.Index + by, invalid.Field, invalid.Reason}
	}
	return err
}
