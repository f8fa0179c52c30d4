package eventlog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/schema"
)

// position is a row's place in the read order. Normally each (stream, seq) has one event. The id is part of the
// position so that no event is skipped if there are more.
type position struct {
	stream string
	seq    uint64
	// id is empty in a position after which a read begins. The position is then after all rows with this seq.
	id string
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.stream, q.stream), cmp.Compare(p.seq, q.seq), cmp.Compare(p.id, q.id))
}

// key is the position of a row and the size of its payload.
type key struct {
	position
	bytes uint32
}

// selection selects the events to read.
type selection struct {
	// stream is the stream to read, or empty to read all streams with the prefix.
	stream, prefix string
	types          []string
	since          time.Time
	// upTo is the highest seq to read. 0 means no limit.
	upTo uint64
}

func (sel selection) String() string {
	if sel.stream != "" {
		return fmt.Sprintf("%q", sel.stream)
	}
	return fmt.Sprintf("%q", sel.prefix+"*")
}

// where returns the condition for the selected rows after the position.
func (sel selection) where(after position) (string, []any) {
	var conditions []string
	var args []any
	add := func(sql string, values ...any) {
		conditions = append(conditions, sql)
		args = append(args, values...)
	}
	if sel.stream != "" {
		add("stream = ?", sel.stream)
	} else {
		add("startsWith(stream, ?)", sel.prefix)
	}
	switch {
	case sel.stream == "" && after.stream != "":
		// The second condition implies the first, which is there for the primary index.
		add("stream >= ?", after.stream)
		add("(stream > ? OR seq > ? OR (seq = ? AND event_id > ?))", after.stream, after.seq, after.seq, after.id)
	case after.id != "":
		add("seq >= ?", after.seq)
		add("(seq > ? OR event_id > ?)", after.seq, after.id)
	case after.seq > 0:
		add("seq > ?", after.seq)
	}
	if sel.upTo > 0 {
		add("seq <= ?", sel.upTo)
	}
	if len(sel.types) > 0 {
		add("event_type IN ?", set(sel.types))
	}
	if !sel.since.IsZero() {
		add("ts >= fromUnixTimestamp64Micro(?, 'UTC')", sel.since.UnixMicro())
	}
	return strings.Join(conditions, " AND "), args
}

func set[T any](values []T) clickhouse.GroupSet {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return clickhouse.GroupSet{Value: out}
}

// keys returns the keys of the next selected rows, and whether there may be more.
func (s *Store) keys(ctx context.Context, sel selection, after position) ([]key, bool, error) {
	limit := min(5*s.opts.PageRows, maxIDs)
	where, args := sel.where(after)
	out := make([]key, 0, min(limit, 256))
	err := s.query(ctx, func(rows driver.Rows) error {
		var k key
		err := rows.Scan(&k.stream, &k.seq, &k.id, &k.bytes)
		out = append(out, k)
		return err
	}, `SELECT stream, seq, event_id, payload_bytes FROM events_raw FINAL WHERE `+where+
		` ORDER BY stream, seq, event_id LIMIT ?`, append(args, limit)...)
	return out, len(out) == limit, err
}

// maxIDs bounds the number of ids in one query.
const maxIDs = 5000

// place is where a copy of an event is stored.
type place struct {
	stream     string
	seq        uint64
	precedence uint64
}

// before reports whether p, rather than q, is where readers see the event. The view events_displaced uses the same
// rule.
func (p place) before(q place) bool {
	if p.precedence != q.precedence {
		return p.precedence > q.precedence
	}
	return p.stream < q.stream || p.stream == q.stream && p.seq < q.seq
}

// places returns the places of the events by id.
func (s *Store) places(ctx context.Context, ids []string) (map[string]place, error) {
	out := make(map[string]place, len(ids))
	for chunk := range slices.Chunk(ids, maxIDs) {
		err := s.query(ctx, func(rows driver.Rows) error {
			var id string
			var p place
			if err := rows.Scan(&id, &p.stream, &p.seq, &p.precedence); err != nil {
				return err
			}
			if q, ok := out[id]; !ok || p.before(q) {
				out[id] = p
			}
			return nil
		}, `SELECT event_id, stream, seq, precedence FROM events_raw WHERE event_id IN ?`, set(chunk))
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// copies returns the places of the events that are stored in more than one row, by id.
func (s *Store) copies(ctx context.Context, ids []string) (map[string]place, error) {
	var suspects []string
	for chunk := range slices.Chunk(ids, maxIDs) {
		err := s.query(ctx, func(rows driver.Rows) error {
			var id string
			err := rows.Scan(&id)
			suspects = append(suspects, id)
			return err
		}, `SELECT event_id FROM events_raw WHERE event_id IN ? GROUP BY event_id HAVING count() > 1`, set(chunk))
		if err != nil {
			return nil, err
		}
	}
	return s.places(ctx, suspects)
}

// dropCopies removes the keys of rows that are hidden copies of an event.
func (s *Store) dropCopies(ctx context.Context, keys []key) ([]key, error) {
	if len(keys) == 0 {
		return keys, nil
	}
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	copied, err := s.copies(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look for copies: %w", err)
	}
	return slices.DeleteFunc(keys, func(k key) bool {
		p, ok := copied[k.id]
		return ok && (p.stream != k.stream || p.seq != k.seq)
	}), nil
}

// bodies returns the events at the keys, which must be in order. A key without a row is skipped.
func (s *Store) bodies(ctx context.Context, keys []key) ([]schema.Event, error) {
	wanted := make(map[position]int, len(keys))
	for i, k := range keys {
		wanted[k.position] = i
	}
	first, last := keys[0], keys[len(keys)-1]
	where, args := "stream = ? AND seq BETWEEN ? AND ?", []any{first.stream, first.seq, last.seq}
	if first.stream != last.stream || last.seq-first.seq+1 != uint64(len(keys)) {
		tuples := make([]clickhouse.GroupSet, len(keys))
		for i, k := range keys {
			tuples[i] = clickhouse.GroupSet{Value: []any{k.stream, k.seq}}
		}
		where, args = "(stream, seq) IN ?", []any{set(tuples)}
	}
	out := make([]schema.Event, len(keys))
	err := s.query(ctx, func(rows driver.Rows) error {
		e, err := s.scanEvent(rows)
		if i, ok := wanted[position{e.Stream, e.Seq, e.ID}]; ok {
			out[i] = e
		}
		return err
	}, `SELECT event_id, stream, seq, event_type, ts, actor, session_id, project, build_id, dedupe_key,
		payload_json, payload_redacted, sensitivity, checksum, recorded_at FROM events_raw FINAL WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out, func(e schema.Event) bool { return e.ID == "" }), nil
}

func (s *Store) scanEvent(rows driver.Rows) (schema.Event, error) {
	var e schema.Event
	var payload, redacted []byte
	err := rows.Scan(&e.ID, &e.Stream, &e.Seq, &e.Type, &e.TS, &e.Actor, &e.SessionID, &e.Project, &e.BuildID,
		&e.DedupeKey, &payload, &redacted, &e.Sensitivity, &e.Checksum, &e.RecordedAt)
	if err != nil {
		return schema.Event{}, err
	}
	e.Payload = json.RawMessage(payload)
	if len(redacted) > 0 {
		e.PayloadRedacted = json.RawMessage(redacted)
	}
	e.TS, e.RecordedAt = e.TS.UTC(), e.RecordedAt.UTC()
	if got := checksum(payload); got != e.Checksum {
		return schema.Event{}, fmt.Errorf("event %q, %q at %d: payload has checksum %s, want %s: %w",
			e.ID, e.Stream, e.Seq, got, e.Checksum, ErrCorrupt)
	}
	return e, nil
}
