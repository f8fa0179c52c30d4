package eventlog

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/schema"
)

// Heading describes a session_ingested event without its payload: it tells which messages the event holds.
type Heading struct {
	ID, Stream, BuildID string
	Seq                 uint64
	TS                  time.Time
	// Bytes is the size of the payload in bytes.
	Bytes int
	// First is the index of the first message. Messages is the number of messages.
	First, Messages int
	// Tools is true if one of the messages is a tool call or a tool result.
	Tools bool
}

func (h Heading) key() key { return key{position{h.Stream, h.Seq, h.ID}, uint32(h.Bytes)} }

// Headings returns the headings of the stream's session_ingested events, in order. It reads no payloads.
func (s *Store) Headings(ctx context.Context, stream string) ([]Heading, error) {
	var all []Heading
	err := s.query(ctx, func(rows driver.Rows) error {
		h := Heading{Stream: stream}
		var size, first, messages uint32
		err := rows.Scan(&h.ID, &h.BuildID, &h.Seq, &h.TS, &size, &first, &messages, &h.Tools)
		h.TS, h.Bytes, h.First, h.Messages = h.TS.UTC(), int(size), int(first), int(messages)
		all = append(all, h)
		return err
	}, `SELECT event_id, build_id, seq, ts, payload_bytes, first_message, messages, tool_messages
		FROM events_raw FINAL WHERE stream = ? AND event_type = ? ORDER BY seq, event_id`, stream, schema.SessionIngested)
	if err != nil {
		return nil, fmt.Errorf("read headings of %q: %w", stream, err)
	}
	keys := make([]key, len(all))
	for i, h := range all {
		keys[i] = h.key()
	}
	if keys, err = s.dropCopies(ctx, keys); err != nil {
		return nil, fmt.Errorf("read headings of %q: %w", stream, err)
	}
	if len(keys) == len(all) {
		return all, nil
	}
	return slices.DeleteFunc(all, func(h Heading) bool { return !slices.Contains(keys, h.key()) }), nil
}

// Read yields the events of the headings, which must be from one stream and in order. It reads pages bounded by
// [Options]. If an event is missing, it yields an error and stops.
func (s *Store) Read(ctx context.Context, headings []Heading) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		keys := make([]key, len(headings))
		for i, h := range headings {
			keys[i] = h.key()
		}
		for len(keys) > 0 {
			n := s.pageLen(keys)
			events, err := s.bodies(ctx, keys[:n])
			if err == nil && len(events) < n {
				err = fmt.Errorf("%d of %d events: %w", n-len(events), n, ErrNotFound)
			}
			if err != nil {
				yield(schema.Event{}, fmt.Errorf("read %q: %w", keys[0].stream, err))
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			keys = keys[n:]
		}
	}
}

// MessageKeys calls each for every heading, in any order, with the keys of its messages. A message without a key has
// "", and if no message has one, there are no keys at all. The headings must be from one stream. It reads no
// payloads.
func (s *Store) MessageKeys(ctx context.Context, headings []Heading, each func(Heading, []string)) error {
	return s.messages(ctx, "message_keys", headings, each)
}

// MessageTimes is like [Store.MessageKeys] but gives the times of the messages, as in the payload.
func (s *Store) MessageTimes(ctx context.Context, headings []Heading, each func(Heading, []string)) error {
	return s.messages(ctx, "message_times", headings, each)
}

func (s *Store) messages(ctx context.Context, column string, headings []Heading, each func(Heading, []string)) error {
	for chunk := range slices.Chunk(headings, maxIDs) {
		wanted := make(map[position]Heading, len(chunk))
		seqs := make([]uint64, len(chunk))
		for i, h := range chunk {
			wanted[h.key().position], seqs[i] = h, h.Seq
		}
		err := s.query(ctx, func(rows driver.Rows) error {
			var p position
			var values []string
			if err := rows.Scan(&p.stream, &p.seq, &p.id, &values); err != nil {
				return err
			}
			if h, ok := wanted[p]; ok {
				delete(wanted, p)
				each(h, values)
			}
			return nil
		}, `SELECT stream, seq, event_id, `+column+` FROM events_raw FINAL WHERE stream = ? AND seq IN ?`,
			headings[0].Stream, set(seqs))
		if err == nil && len(wanted) > 0 {
			err = fmt.Errorf("%d of %d events: %w", len(wanted), len(chunk), ErrNotFound)
		}
		if err != nil {
			return fmt.Errorf("read the messages of %q: %w", headings[0].Stream, err)
		}
	}
	return nil
}
