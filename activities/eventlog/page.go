package eventlog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
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
	// of are the streams to read of those with the prefix, and after which events. None means all.
	of    []Place
	types []string
	since time.Time
	// upTo is the highest seq to read. 0 means no limit.
	upTo uint64
	// erased selects the placeholders of erased events, too.
	erased bool
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
	if len(sel.of) > 0 {
		names, seen := make([]string, len(sel.of)), make([]uint64, len(sel.of))
		for i, s := range sel.of {
			names[i], seen[i] = s.Stream, s.Seq
		}
		add("stream IN ?", clickhouse.Set(names)) // For the primary index.
		add("seq > transform(stream, ?, ?, toUInt64(0))", names, seen)
	}
	switch {
	case sel.stream == "" && after.stream != "":
		// The second condition implies the first, which is there for the primary index.
		add("stream >= ?", after.stream)
		add("(stream > ? OR seq > ?)", after.stream, after.seq)
	case after.seq > 0:
		add("seq > ?", after.seq)
	}
	if sel.upTo > 0 {
		add("seq <= ?", sel.upTo)
	}
	if len(sel.types) > 0 {
		add("event_type IN ?", clickhouse.Set(sel.types))
	}
	if !sel.since.IsZero() {
		add("ts >= fromUnixTimestamp64Micro(?, 'UTC')", sel.since.UnixMicro())
	}
	return strings.Join(conditions, " AND "), args
}

// takes reports whether an event of the stream is selected.
func (sel selection) takes(e schema.Event) bool {
	return (sel.erased || e.Type != schema.EventErased) && (sel.upTo == 0 || e.Seq <= sel.upTo) && (len(sel.types) == 0 || slices.Contains(sel.types, e.Type)) && !e.TS.Before(sel.since)
}

// page is a part of the selected events.
type page struct {
	events []schema.Event
	// last is the position after which the next page begins. more is false if there is none.
	last position
	more bool
}

// hidingPrecedence is the precedence of a row at the place of a hidden copy. It replaces all others there.
const hidingPrecedence = math.MaxUint64

// Shown is the SQL condition of a row of events_raw FINAL that is no hidden copy of an event. It belongs in WHERE: in
// PREWHERE it would be asked before FINAL, and show the copy.
const Shown = `precedence != 18446744073709551615`

// A selection of a stream of up to shortRows events, none with a payload larger than shortPayload bytes, is read by one
// plain query. These limits bound the size of such a page as DefaultPageBytes does.
const (
	shortRows    = 128
	shortPayload = DefaultPageBytes / shortRows
)

// page returns the selected events after the position: PageRows or PageBytes of them, and at least one.
func (s *Store) page(ctx context.Context, sel selection, after position) (page, error) {
	if sel.stream != "" {
		if p, whole, err := s.shortPage(ctx, sel, after); whole || err != nil {
			return p, err
		}
	}
	return s.measured(ctx, sel, after)
}

// shortPage returns all selected events after the position if they are few and small, and whether they are. To count
// first costs as much again.
func (s *Store) shortPage(ctx context.Context, sel selection, after position) (page, bool, error) {
	most := min(shortRows, s.opts.PageRows)
	where, args := sel.where(after)
	var p page
	n, whole := 0, true
	err := s.small(ctx, min(shortPayload, s.opts.PageBytes/int64(most)), func(e schema.Event, large, hidden bool) error {
		if n++; n > most || large {
			whole = false
		}
		if !whole {
			return nil
		}
		p.add(sel, e, hidden)
		return check(e)
	}, `FINAL WHERE `+where+` ORDER BY stream, seq, event_id LIMIT ?`, append(args, most+1)...)
	return p, whole, err
}

// small reads rows of events_raw, but no payloads of more than size bytes: such an event is large, and comes without. The
// payloads are not checked. A hidden event is a copy.
func (s *Store) small(ctx context.Context, size int64, take func(e schema.Event, large, hidden bool) error, where string, args ...any) error {
	return s.db.Query(ctx, func(rows driver.Rows) error {
		var bytes uint32
		var hidden uint8
		e, err := s.scanUnchecked(rows, &bytes, &hidden)
		if err != nil {
			return err
		}
		return take(e, int64(bytes) > size, hidden == 1)
	}, `SELECT `+eventColumns("if(payload_bytes > ?, '', payload_json)", "if(payload_bytes > ?, '', payload_redacted)")+`, payload_bytes, NOT `+Shown+`
		FROM events_raw `+where, append([]any{size, size}, args...)...)
}

// add adds a row to the page. A hidden row, or the placeholder of an erased event that is not selected, only moves the page's
// end.
func (p *page) add(sel selection, e schema.Event, hidden bool) {
	p.last = position{stream: e.Stream, seq: e.Seq}
	if !hidden && (sel.erased || e.Type != schema.EventErased) {
		p.events = append(p.events, e)
	}
}

// measured is [Store.page] of any events. The server finds out how many they are from the sizes of the payloads, so that
// it reads no other payloads.
func (s *Store) measured(ctx context.Context, sel selection, after position) (page, error) {
	where, args := sel.where(after)
	bound := "seq <= page.1.2"
	if sel.stream == "" {
		bound = "stream <= page.1.1 AND (stream < page.1.1 OR seq <= page.1.2)"
	}
	args = slices.Concat([]any{s.opts.PageRows, s.opts.PageBytes}, args, []any{s.opts.PageRows + 1}, args)
	var p page
	query := s.db.Query
	if sel.stream == "" {
		query = s.db.QueryAll
	}
	err := query(ctx, func(rows driver.Rows) error {
		var hidden, more uint8
		e, err := s.scanEvent(rows, &hidden, &more)
		if err != nil {
			return err
		}
		p.more = more == 1
		p.add(sel, e, hidden == 1)
		return nil
	}, `WITH (
		SELECT (maxIf((stream, seq), fits), min(fits) = 0)
		FROM (
			SELECT stream, seq, row_number() OVER w AS n, n = 1 OR n <= ? AND sum(payload_bytes) OVER w <= ? AS fits
			FROM (SELECT stream, seq, payload_bytes FROM events_raw WHERE `+where+` ORDER BY stream, seq, event_id LIMIT ?)
			WINDOW w AS (ORDER BY stream, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
		)
	) AS page
	SELECT `+eventColumns("payload_json", "payload_redacted")+`, NOT `+Shown+`, page.2
	FROM events_raw FINAL WHERE `+where+` AND `+bound+` ORDER BY stream, seq, event_id`, args...)
	return p, err
}

// MaxIDs bounds the number of ids in one query.
const MaxIDs = 5000

// location is where a copy of an event is stored.
type location struct {
	stream     string
	seq        uint64
	precedence uint64
}

// before reports whether p, rather than q, is where readers see the event. The view events_displaced uses the same
// rule.
func (p location) before(q location) bool {
	if p.precedence != q.precedence {
		return p.precedence > q.precedence
	}
	return p.stream < q.stream || p.stream == q.stream && p.seq < q.seq
}

// keepFirst records the place of a copy if it is the one where readers see the event, and reports whether it is.
func keepFirst(out map[string]location, id string, p location) bool {
	q, ok := out[id]
	if ok && !p.before(q) {
		return false
	}
	out[id] = p
	return true
}

// sighted has the places of events by id, each with the highest precedence of its rows.
type sighted map[string][]location

func (s sighted) add(id string, p location) {
	at := slices.IndexFunc(s[id], func(q location) bool { return q.stream == p.stream && q.seq == p.seq })
	if at < 0 {
		s[id] = append(s[id], p)
		return
	}
	s[id][at].precedence = max(s[id][at].precedence, p.precedence)
}

// first returns the place at which readers see each event. An event whose places are all hidden has none.
func (s sighted) first() map[string]location {
	out := make(map[string]location, len(s))
	for id, places := range s {
		for _, p := range places {
			if p.precedence != hidingPrecedence {
				keepFirst(out, id, p)
			}
		}
	}
	return out
}

// places returns the places of the events by id.
func (s *Store) places(ctx context.Context, ids []string) (map[string]location, error) {
	all := sighted{}
	for chunk := range slices.Chunk(ids, MaxIDs) {
		err := s.db.Query(ctx, func(rows driver.Rows) error {
			var id string
			var p location
			if err := rows.Scan(&id, &p.stream, &p.seq, &p.precedence); err != nil {
				return err
			}
			all.add(id, p)
			return nil
		}, `SELECT event_id, stream, seq, precedence FROM events_raw WHERE event_id IN ?`, clickhouse.Set(chunk))
		if err != nil {
			return nil, err
		}
	}
	return all.first(), nil
}

// endAndPlaces returns the highest position in the stream and the places of the events by id. The server reads the end
// before the places. A batch that is committed in between is then either seen as a whole or makes an append at that
// end lose its token.
func (s *Store) endAndPlaces(ctx context.Context, stream string, ids []string) (uint64, map[string]location, error) {
	if len(ids) > MaxIDs {
		last, err := s.End(ctx, stream)
		if err != nil {
			return 0, nil, err
		}
		found, err := s.places(ctx, ids)
		return last, found, err
	}
	var last uint64
	all := sighted{}
	err := s.db.Query(ctx, func(rows driver.Rows) error {
		var found, streams []string
		var seqs, precedences []uint64
		if err := rows.Scan(&last, &found, &streams, &seqs, &precedences); err != nil {
			return err
		}
		for i, id := range found {
			all.add(id, location{streams[i], seqs[i], precedences[i]})
		}
		return nil
	}, `WITH (SELECT max(seq) FROM (`+LastPosition+`)) AS last
		SELECT assumeNotNull(last), groupArray(event_id), groupArray(stream), groupArray(seq), groupArray(precedence)
		FROM events_raw WHERE event_id IN ?`, stream, clickhouse.Set(ids))
	return last, all.first(), err
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
		tuples := make([]any, len(keys))
		for i, k := range keys {
			tuples[i] = clickhouse.Set([]any{k.stream, k.seq})
		}
		where, args = "(stream, seq) IN ?", []any{clickhouse.Set(tuples)}
	}
	out := make([]schema.Event, len(keys))
	err := s.db.Query(ctx, func(rows driver.Rows) error {
		e, err := s.scanEvent(rows)
		if i, ok := wanted[position{e.Stream, e.Seq, e.ID}]; ok {
			out[i] = e
		}
		return err
	}, `SELECT `+eventColumns("payload_json", "payload_redacted")+` FROM events_raw FINAL WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out, func(e schema.Event) bool { return e.ID == "" }), nil
}

// eventColumns are the columns of an event, with the expressions for its payload and the redacted payload.
func eventColumns(payload, redacted string) string {
	return `event_id, stream, seq, event_type, ts, actor, session_id, project, build_id, dedupe_key, ` + payload + `, ` +
		redacted + `, sensitivity, checksum, recorded_at`
}

func (s *Store) scanEvent(rows driver.Rows, more ...any) (schema.Event, error) {
	e, err := s.scanUnchecked(rows, more...)
	if err == nil {
		err = check(e)
	}
	return e, err
}

func (s *Store) scanUnchecked(rows driver.Rows, more ...any) (schema.Event, error) {
	var e schema.Event
	var payload, redacted []byte
	err := rows.Scan(append([]any{&e.ID, &e.Stream, &e.Seq, &e.Type, &e.TS, &e.Actor, &e.SessionID, &e.Project, &e.BuildID,
		&e.DedupeKey, &payload, &redacted, &e.Sensitivity, &e.Checksum, &e.RecordedAt}, more...)...)
	if err != nil {
		return schema.Event{}, err
	}
	e.Payload = json.RawMessage(payload)
	if len(redacted) > 0 {
		e.PayloadRedacted = json.RawMessage(redacted)
	}
	e.TS, e.RecordedAt = e.TS.UTC(), e.RecordedAt.UTC()
	return e, nil
}

// check compares the payload with its checksum.
func check(e schema.Event) error {
	if got := checksum(e.Payload); got != e.Checksum {
		return fmt.Errorf("event %q, %q at %d: payload has checksum %s, want %s: %w",
			e.ID, e.Stream, e.Seq, got, e.Checksum, ErrCorrupt)
	}
	return nil
}

// LastPosition selects the highest position in a stream. It reads one granule.
const LastPosition = `SELECT seq FROM events_raw WHERE stream = ? ORDER BY stream DESC, seq DESC LIMIT 1`

// End returns the highest position in the stream, or 0 for an empty stream.
func (s *Store) End(ctx context.Context, stream string) (uint64, error) {
	var last uint64
	err := s.db.Query(ctx, func(rows driver.Rows) error { return rows.Scan(&last) },
		LastPosition, stream)
	if err != nil {
		return 0, fmt.Errorf("find the end: %w", err)
	}
	return last, nil
}
