package eventlog

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
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
// If an event is refused, the error is an [InvalidError], or an [ErasedError] if the event belongs to erased content.
// If other writers keep appending first, it is [ErrConcurrentWriter]. [clickhouse.Retryable] reports which other errors are worth
// a retry. A batch has at most [MaxBatchRows] and [MaxBatchBytes].
func (s *Store) Append(ctx context.Context, stream string, events []schema.Event) (Appended, error) {
	events = ofRun(ctx, events)
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

// runKey is the key of a context value: the id of the run that appends.
type runKey struct{}

// OfRun returns a context for the work of a run: events that name no build name the run.
func OfRun(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, runKey{}, id)
}

// ofRun returns the events, each with the build or the run that it is of.
func ofRun(ctx context.Context, events []schema.Event) []schema.Event {
	run, ok := ctx.Value(runKey{}).(string)
	if !ok {
		return events
	}
	events = slices.Clone(events)
	for i := range events {
		events[i].BuildID = cmp.Or(events[i].BuildID, run)
	}
	return events
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
	unlock, err := s.locks.Lock(ctx, stream)
	if err != nil {
		return Appended{}, fmt.Errorf("append to %q: %w", stream, err)
	}
	defer unlock()
	return s.appendLocked(ctx, stream, given, b)
}

// appendLocked appends to a locked stream, or holds the events back.
func (s *Store) appendLocked(ctx context.Context, stream string, given []schema.Event, b batch) (Appended, error) {
	t, known, err := s.tail(ctx, stream)
	if err != nil {
		return Appended{}, fmt.Errorf("append to %q: %w", stream, err)
	}
	held := s.held(ctx, stream)
	if held != nil && !(known && held.takes(t, b)) {
		if err := held.flush(ctx); err != nil {
			return Appended{}, err
		}
		if t, known, err = s.tail(ctx, stream); err != nil {
			return Appended{}, fmt.Errorf("append to %q: %w", stream, err)
		}
		if !known || !held.takes(t, b) {
			held = nil
		}
	}
	onlyWriter := headOf(ctx, stream)
	// turn counts the tokens that were used up without anything being stored.
	for attempt, turn := 0, 0; attempt < maxAttempts; attempt++ {
		var stored map[string]schema.Event
		if known && t.whole() {
			stored = t.stored(b.events)
		} else if t, stored, err = s.lookUp(ctx, stream, t, b.events); err != nil {
			return Appended{}, fmt.Errorf("append to %q: %w", stream, err)
		}
		fresh := s.place(t.last, stored, b.events)
		if len(fresh) > 0 {
			if onlyWriter != nil && onlyWriter.outdated(t.last) {
				return Appended{}, fmt.Errorf("append %d events to %q, which has grown to %d since it was read: %w",
					len(fresh), stream, t.last, ErrConcurrentWriter)
			}
			if err := s.admit(ctx, stream, fresh); err != nil { // It may have waited for others, or for the server.
				return Appended{}, err
			}
			if held != nil { // Only a writer that knows the head holds.
				held.add(t, fresh, b)
				if onlyWriter.read.Load() != unread {
					onlyWriter.read.Store(int64(held.end.last))
				}
				for _, e := range fresh {
					stored[e.ID] = e
				}
				return b.result(given, stored, len(fresh)), nil
			}
			outcome, err := s.insert(ctx, stream, fresh, b.headings, turn)
			if outcome != won {
				// The remembered tail may differ from the stored stream.
				known = false
				s.tails.drop(stream)
			}
			if err != nil {
				return Appended{}, fmt.Errorf("append %d events to %q: %w", len(fresh), stream, err)
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
			last := fresh[len(fresh)-1].Seq
			s.tails.put(stream, t.extended(fresh, last, time.Now()))
			if onlyWriter != nil && onlyWriter.read.Load() != unread {
				onlyWriter.read.Store(int64(last))
			}
		}
		return b.result(given, stored, len(fresh)), nil
	}
	return Appended{}, fmt.Errorf("append %d events to %q: %w", len(b.events), stream, ErrConcurrentWriter)
}

// lookUp asks the server for the end of the stream and for the events that are in the log already, by id. It returns
// the tail that ends there.
func (s *Store) lookUp(ctx context.Context, stream string, t tail, events []schema.Event) (tail, map[string]schema.Event, error) {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	now := time.Now()
	last, found, err := s.endAndPlaces(ctx, stream, ids)
	if err != nil {
		return t, nil, err
	}
	if remembered, ok := s.tails.get(stream); ok && remembered.last == last {
		t = remembered
	} else if last != t.last || t.seen.IsZero() {
		t = tail{from: last, last: last, loadedAt: now}
	}
	t.seen = now
	stored, err := s.at(ctx, found)
	return t, stored, err
}

// place gives positions to the events that are not stored yet.
func (s *Store) place(last uint64, stored map[string]schema.Event, events []schema.Event) []schema.Event {
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
	return fresh
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

// token names the place in the log that a batch claims. The server stores one block per token and silently drops later
// ones. So if several writers saw the same end of the stream, one of them wins, and an attempt that arrives late is
// dropped. Only reading back shows the winner.
func token(stream string, first uint64, turn int) string {
	return schema.HashParts("append", stream, strconv.FormatUint(first, 10), strconv.Itoa(turn))
}

const insertEvents = `INSERT INTO events_raw (event_id, stream, seq, event_type, ts, actor, session_id, project,
	build_id, dedupe_key, payload_json, payload_bytes, payload_redacted, sensitivity, checksum, recorded_at, precedence,
	heading, message_index)`

// insert stores the events at their positions and finds out whether they are there.
func (s *Store) insert(ctx context.Context, stream string, events []schema.Event, headings map[string][2]string, turn int) (outcome, error) {
	if err := s.send(ctx, events, headings, token(stream, events[0].Seq, turn)); err != nil {
		return unknown, err
	}
	outcome, err := s.readBack(ctx, stream, events, headOf(ctx, stream) != nil)
	if err != nil {
		return unknown, fmt.Errorf("read back: %w", err)
	}
	if outcome == won {
		s.opts.Appended(events)
	}
	return outcome, nil
}

// send sends the events as one block.
func (s *Store) send(ctx context.Context, events []schema.Event, headings map[string][2]string, token string) error {
	ctx, cancel := s.db.Request(ctx, clickhouse.Settings{
		"async_insert": 0, "insert_deduplicate": 1, "insert_deduplication_token": token,
		"max_insert_block_size": 2 * MaxBatchRows,
	})
	defer cancel()
	columns := columnsOf(events, headings)
	return clickhouse.InsertBlock(ctx, s.db.Conn, insertEvents, len(columns), func(b driver.Batch, i int) error { return b.Column(i).Append(columns[i]) })
}

// columnsOf returns the columns of insertEvents. Whole columns take the client a third of the time of rows.
func columnsOf(events []schema.Event, headings map[string][2]string) []any {
	texts := func(of func(schema.Event) string) []string {
		out := make([]string, len(events))
		for i, e := range events {
			out[i] = of(e)
		}
		return out
	}
	n := len(events)
	seqs, precedences, sizes := make([]uint64, n), make([]uint64, n), make([]uint32, n)
	times, recorded := make([]time.Time, n), make([]time.Time, n)
	payloads, redacted := make([][]byte, n), make([][]byte, n)
	for i, e := range events {
		seqs[i], precedences[i], sizes[i] = e.Seq, precedence(e.RecordedAt), uint32(len(e.Payload))
		times[i], recorded[i] = e.TS, e.RecordedAt
		payloads[i], redacted[i] = e.Payload, e.PayloadRedacted
	}
	return []any{
		texts(func(e schema.Event) string { return e.ID }), texts(func(e schema.Event) string { return e.Stream }), seqs,
		texts(func(e schema.Event) string { return e.Type }), times, texts(func(e schema.Event) string { return e.Actor }),
		texts(func(e schema.Event) string { return e.SessionID }), texts(func(e schema.Event) string { return e.Project }),
		texts(func(e schema.Event) string { return e.BuildID }), texts(func(e schema.Event) string { return e.DedupeKey }),
		payloads, sizes, redacted, texts(func(e schema.Event) string { return e.Sensitivity }),
		texts(func(e schema.Event) string { return e.Checksum }), recorded, precedences,
		texts(func(e schema.Event) string { return headings[e.ID][0] }), texts(func(e schema.Event) string { return headings[e.ID][1] }),
	}
}

func precedence(recorded time.Time) uint64 { return math.MaxUint64 - uint64(recorded.UnixMicro()) }

// outcome is the outcome of an insert.
type outcome int

const (
	// unknown: an error came before it was known.
	unknown outcome = iota
	// won: the events are stored where they were placed.
	won
	// lost: another writer's events are there, and none of these.
	lost
	// vanished: nothing is there. The token was used up by rows that were erased since, or by a server that died
	// after it recorded the token and before it stored the block.
	vanished
	// disputed: these events are stored, and so are other events at their positions or other copies of them. This
	// only happens if the server has forgotten the token. Readers still see each event once.
	disputed
)

// readBack finds the outcome of an insert, in one request. The events of another attempt with the same content do not
// count as ours: they are found as stored when the append begins again. Copies of an event that it finds are hidden
// from readers before it returns. It looks for copies in other places only if there may be any: the only writer of a
// stream has promised that its keys are in no other one, and the token prevents duplicates in the stream.
func (s *Store) readBack(ctx context.Context, stream string, events []schema.Event, onlyWriter bool) (outcome, error) {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	// found holds at each position the row that was recorded first, hidden or not.
	type row struct {
		sum      string
		recorded time.Time
	}
	found := make(map[position]row, len(events))
	var copied []string
	at := func(rows driver.Rows) error {
		p := position{stream: stream}
		var r row
		if err := rows.Scan(&p.seq, &p.id, &r.sum, &r.recorded); err != nil {
			return err
		}
		if p.seq == 0 {
			copied = append(copied, p.id)
		} else if old, ok := found[p]; !ok || r.recorded.Before(old.recorded) {
			found[p] = r
		}
		return nil
	}
	const inPlace = `SELECT seq, event_id, checksum, recorded_at FROM events_raw WHERE stream = ? AND seq BETWEEN ? AND ? AND ` + Shown
	const twice = `SELECT toUInt64(0) AS seq, event_id, '' AS checksum, toDateTime64(0, 6, 'UTC') AS recorded_at
		FROM events_raw WHERE event_id IN ? GROUP BY event_id HAVING count() > 1`
	sql, args := inPlace, []any{stream, events[0].Seq, events[len(events)-1].Seq}
	rest := ids
	if !onlyWriter {
		n := min(len(ids), MaxIDs)
		sql, args, rest = inPlace+" UNION ALL "+twice, append(args, clickhouse.Set(ids[:n])), ids[n:]
	}
	err := s.db.Query(ctx, at, sql, args...)
	for !onlyWriter && len(rest) > 0 && err == nil {
		n := min(len(rest), MaxIDs)
		err = s.db.Query(ctx, at, twice, clickhouse.Set(rest[:n]))
		rest = rest[n:]
	}
	if err != nil {
		return unknown, err
	}
	ours := 0
	for _, e := range events {
		if r, ok := found[position{stream, e.Seq, e.ID}]; ok && r.sum == e.Checksum && r.recorded.Equal(e.RecordedAt) {
			ours++
		}
	}
	disputes := ours < len(events) || len(found) > len(events)
	if disputes && ours > 0 {
		copied = ids
	}
	if len(copied) > 0 {
		if copied, err = s.hideCopies(ctx, copied); err != nil {
			return unknown, err
		}
	}
	switch {
	case len(found) == 0:
		return vanished, nil
	case ours == 0:
		return lost, nil
	case disputes || len(copied) > 0:
		return disputed, nil
	}
	return won, nil
}

func shiftIndex(err error, by int) error {
	if invalid, ok := err.(*InvalidError); ok && invalid.Index >= 0 { //nolint:errorlint // prepare returns it bare
		return &InvalidError{invalid.Index + by, invalid.Field, invalid.Reason}
	}
	return err
}
