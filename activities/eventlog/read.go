package eventlog

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// StreamOptions are the options of [Store.Stream].
type StreamOptions struct {
	// After skips the events up to and including this position.
	After uint64
	// Types are the event types to read. None means all.
	Types []string
	// Limit is the maximum number of events. 0 means no limit.
	Limit int
	// Erased also yields the placeholders of erased events.
	Erased bool
}

// ReplayOptions are the options of [Store.Replay].
type ReplayOptions struct {
	// Types are the event types to read. None means all.
	Types []string
	// StreamPrefix is the prefix of the names of the streams to read.
	StreamPrefix string
	// Since skips the events whose TS is before it.
	Since time.Time
	// Erased also yields the placeholders of erased events.
	Erased bool
}

// StreamInfo is the name of a stream and its highest position.
type StreamInfo struct {
	Name    string
	LastSeq uint64
}

// Stream yields the events of a stream in the order of their positions. It stops after an error. To go on from there,
// call it again with After.
func (s *Store) Stream(ctx context.Context, stream string, opts StreamOptions) iter.Seq2[schema.Event, error] {
	return s.read(ctx, selection{stream: stream, types: opts.Types, erased: opts.Erased}, position{stream: stream, seq: opts.After}, opts.Limit)
}

// Replay yields the events of all streams, stream by stream in the order of their names, and within a stream in the
// order of their positions.
func (s *Store) Replay(ctx context.Context, opts ReplayOptions) iter.Seq2[schema.Event, error] {
	return s.read(ctx, selection{prefix: opts.StreamPrefix, types: opts.Types, since: opts.Since, erased: opts.Erased}, position{}, 0)
}

// Get returns the event with the id, or [ErrNotFound].
func (s *Store) Get(ctx context.Context, eventID string) (schema.Event, error) {
	found, err := s.GetMany(ctx, []string{eventID})
	if err != nil {
		return schema.Event{}, err
	}
	e, ok := found[eventID]
	if !ok {
		return schema.Event{}, fmt.Errorf("get event %q: %w", eventID, ErrNotFound)
	}
	return e, nil
}

// GetMany returns the events that exist, by id. It loads all of them into memory.
func (s *Store) GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error) {
	found, err := s.byID(ctx, eventIDs)
	if err != nil {
		err = fmt.Errorf("get %d events: %w", len(eventIDs), err)
	}
	held, _ := ctx.Value(heldKey{}).(*Held)
	if err != nil || held == nil || held.store != s {
		return found, err
	}
	all := tail{events: held.events}.among(eventIDs)
	maps.Copy(all, found)
	return all, nil
}

// byID returns the events that exist, by id, with one query for each page of ids.
func (s *Store) byID(ctx context.Context, ids []string) (map[string]schema.Event, error) {
	out := make(map[string]schema.Event, len(ids))
	first := make(map[string]location, len(ids))
	for page := range slices.Chunk(ids, min(s.opts.PageRows, MaxIDs)) {
		wanted := clickhouse.Set(page)
		err := s.db.Query(ctx, func(rows driver.Rows) error {
			var p location
			e, err := s.scanEvent(rows, &p.precedence)
			p.stream, p.seq = e.Stream, e.Seq
			if keepFirst(first, e.ID, p) {
				out[e.ID] = e
			}
			return err
		}, `SELECT `+eventColumns("payload_json", "payload_redacted")+`, precedence FROM events_raw FINAL
			WHERE `+Shown+` AND event_id IN ? AND (stream, seq) IN (SELECT stream, seq FROM events_raw WHERE event_id IN ?)`, wanted, wanted)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Getter reads events by their ids: a [Store] or a substitute.
type Getter interface {
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
}

// Numbered returns the events with the dedupe keys that key makes of 0, 1, 2 and so on, up to the first one that does
// not exist. They are the events of one command, which are stored all at once.
func Numbered(ctx context.Context, log Getter, key func(n int) string) ([]schema.Event, error) {
	const page = 64
	var out []schema.Event
	for {
		ids := make([]string, page)
		for i := range ids {
			ids[i] = schema.EventID(key(len(out) + i))
		}
		found, err := log.GetMany(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			event, ok := found[id]
			if !ok {
				return out, nil
			}
			out = append(out, event)
		}
	}
}

// at returns the events at the places, by id.
func (s *Store) at(ctx context.Context, places map[string]location) (map[string]schema.Event, error) {
	keys := make([]key, 0, len(places))
	for id, p := range places {
		keys = append(keys, key{position: position{p.stream, p.seq, id}})
	}
	slices.SortFunc(keys, func(a, b key) int { return a.compare(b.position) })
	out := make(map[string]schema.Event, len(keys))
	for len(keys) > 0 {
		n := min(len(keys), s.opts.PageRows, MaxIDs)
		events, err := s.bodies(ctx, keys[:n])
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			out[e.ID] = e
		}
		keys = keys[n:]
	}
	return out, nil
}

// Streams yields the streams whose names begin with the prefix, in the order of their names.
func (s *Store) Streams(ctx context.Context, prefix string) iter.Seq2[StreamInfo, error] {
	return func(yield func(StreamInfo, error) bool) {
		after := ""
		for {
			page := make([]StreamInfo, 0, s.opts.PageRows)
			err := s.db.QueryAll(ctx, clickhouse.Rows(&page, func(rows driver.Rows, i *StreamInfo) error { return rows.Scan(&i.Name, &i.LastSeq) }),
				`SELECT stream, max(seq) FROM events_raw WHERE startsWith(stream, ?) AND stream > ?
				GROUP BY stream ORDER BY stream LIMIT ? SETTINGS optimize_aggregation_in_order = 1`, prefix, after, s.opts.PageRows)
			if err != nil {
				yield(StreamInfo{}, fmt.Errorf("list streams: %w", err))
				return
			}
			for _, i := range page {
				if !yield(i, nil) {
					return
				}
			}
			if len(page) < s.opts.PageRows {
				return
			}
			after = page[len(page)-1].Name
		}
	}
}

// Place is a position in the log, in the order of the streams' names.
type Place struct {
	Stream string `json:"stream,omitempty"`
	Seq    uint64 `json:"seq,omitempty"`
}

// Range is a part of the log: a stream, or the streams with a prefix.
type Range struct {
	Stream string
	Prefix string
	// Of are the streams to read of those with the prefix, and after which events. None means all.
	Of []Place
	// Types are the types of events to read. None means all.
	Types []string
	// After is where to begin.
	After Place
	// UpTo is the highest position to read. 0 means no limit.
	UpTo uint64
}

// Page is a part of a [Range], bounded by [Options]. It may be empty, because hidden copies and erased events are left out.
type Page struct {
	Events []schema.Event
	// Last is where the page ends.
	Last Place
	// More is false if there is no page after this one.
	More bool
}

// Pages yields the events of the range, stream by stream.
func (s *Store) Pages(ctx context.Context, r Range) iter.Seq2[Page, error] {
	sel := selection{stream: r.Stream, prefix: r.Prefix, of: r.Of, types: r.Types, upTo: r.UpTo}
	return func(yield func(Page, error) bool) {
		for p, err := range s.pages(ctx, sel, position{stream: r.After.Stream, seq: r.After.Seq}) {
			if !yield(Page{p.events, Place{p.last.stream, p.last.seq}, p.more}, err) {
				return
			}
		}
	}
}

// read yields the selected events after the position.
func (s *Store) read(ctx context.Context, sel selection, after position, limit int) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		given := 0
		for page, err := range s.pages(ctx, sel, after) {
			if err != nil {
				yield(schema.Event{}, err)
				return
			}
			for _, e := range page.events {
				if !yield(e, nil) {
					return
				}
				if given++; given == limit {
					return
				}
			}
		}
	}
}

// pages yields the selected events in pages bounded by Options. If the context carries the head of a stream, the store
// need not ask the server for events that it remembers.
func (s *Store) pages(ctx context.Context, sel selection, after position) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		events, last, known, err := s.remembered(ctx, sel, after)
		if known || err != nil {
			if err != nil || len(events) > 0 {
				yield(page{events: events, last: position{stream: sel.stream, seq: last}}, err)
			}
			return
		}
		for {
			p, err := s.page(ctx, sel, after)
			if err != nil {
				yield(p, fmt.Errorf("read %s: %w", sel, err))
				return
			}
			if !p.more && p.last.stream == "" || !yield(p, nil) || !p.more {
				return
			}
			after = p.last
		}
	}
}

// remembered returns the selected events, and where the stream ends, if the store remembers them.
func (s *Store) remembered(ctx context.Context, sel selection, after position) (events []schema.Event, last uint64, known bool, err error) {
	if sel.stream == "" {
		return nil, 0, false, nil
	}
	t, known, err := s.tail(ctx, sel.stream)
	if err != nil || !known {
		return nil, 0, false, err
	}
	headOf(ctx, sel.stream).hasRead(t.last)
	all, known := t.after(after.seq)
	if !known {
		return nil, 0, false, nil
	}
	for _, e := range all {
		if sel.takes(e) {
			events = append(events, e)
		}
	}
	return events, t.last, true, nil
}

// Since returns the events of the stream after the position that have one of the types, also those that [Store.Hold] keeps, and
// where the stream ends. It knows them only of a short stream whose head the context carries (see [WithHead]), and may ask
// the server for them. Otherwise known is false and events is nil: read the stream or its tables instead.
func (s *Store) Since(ctx context.Context, stream string, after uint64, types []string) (events []schema.Event, last uint64, known bool, err error) {
	return s.remembered(ctx, selection{stream: stream, types: types}, position{stream: stream, seq: after})
}

func (s *Store) pageLen(keys []key) int {
	var size int64
	for i, k := range keys {
		if size += int64(k.bytes); i > 0 && (i == min(s.opts.PageRows, MaxIDs) || size > s.opts.PageBytes) {
			return i
		}
	}
	return len(keys)
}

// At returns the events of the stream at the positions, which are in order. One that is not there is [ErrNotFound].
func (s *Store) At(ctx context.Context, stream string, positions []uint64) ([]schema.Event, error) {
	out := make([]schema.Event, 0, len(positions))
	for chunk := range slices.Chunk(positions, MaxIDs) {
		var events []schema.Event
		err := s.db.Query(ctx, func(rows driver.Rows) error {
			e, err := s.scanEvent(rows)
			if e.Type != schema.EventErased {
				events = append(events, e)
			}
			return err
		}, `SELECT `+eventColumns("payload_json", "payload_redacted")+` FROM events_raw FINAL
			WHERE stream = ? AND seq IN ? AND `+Shown+` ORDER BY seq`, stream, clickhouse.Set(chunk))
		if err == nil && len(events) != len(chunk) {
			err = fmt.Errorf("%d of %d events: %w", len(events), len(chunk), ErrNotFound)
		}
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", stream, err)
		}
		out = append(out, events...)
	}
	return out, nil
}

// ErasedAt reports which of the positions of the stream an erasure has emptied or rewritten. Events with the id that filler
// returns for their position don't count.
func (s *Store) ErasedAt(ctx context.Context, stream string, positions []uint64, filler func(seq uint64) string) (map[uint64]bool, error) {
	out := map[uint64]bool{}
	for chunk := range slices.Chunk(positions, MaxIDs) {
		err := s.db.Query(ctx, func(rows driver.Rows) error {
			var seq uint64
			var id string
			err := rows.Scan(&seq, &id)
			if id != filler(seq) {
				out[seq] = true
			}
			return err
		}, `SELECT seq, event_id FROM events_raw WHERE stream = ? AND seq IN ? AND startsWith(dedupe_key, 'event_erased/')`, stream, clickhouse.Set(chunk))
		if err != nil {
			return nil, fmt.Errorf("read the erased positions of %q: %w", stream, err)
		}
	}
	return out, nil
}
