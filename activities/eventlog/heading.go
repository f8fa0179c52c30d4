package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Heading describes a session_ingested event without its payload: it lists the messages of the event.
type Heading struct {
	ID, Stream, BuildID string
	Seq                 uint64
	TS                  time.Time
	// Checksum is the event's.
	Checksum string
	// Bytes is the size of the payload in bytes.
	Bytes int
	// First is the index of the first message. Messages is the number of messages.
	First, Messages int
	// Tools is true if one of the messages is a tool call or a tool result.
	Tools bool
	// Tokens is the estimate of the messages' tokens.
	Tokens int
}

func (h Heading) key() key { return key{position{h.Stream, h.Seq, h.ID}, uint32(h.Bytes)} }

// Headings returns the headings of the stream's session_ingested events, in order. It reads no payloads.
func (s *Store) Headings(ctx context.Context, stream string) ([]Heading, error) {
	events, _, known, err := s.remembered(ctx, selection{stream: stream, types: []string{schema.SessionIngested}}, position{stream: stream})
	if err != nil {
		return nil, fmt.Errorf("read headings of %q: %w", stream, err)
	}
	if known {
		return headingsOf(events)
	}
	var all []Heading
	err = s.db.Query(ctx, func(rows driver.Rows) error {
		h := Heading{Stream: stream}
		var size uint32
		var heading string
		var hidden uint8
		if err := rows.Scan(&h.ID, &h.BuildID, &h.Seq, &h.TS, &h.Checksum, &size, &heading, &hidden); err != nil {
			return err
		}
		if hidden == 1 {
			return nil
		}
		h.TS, h.Bytes = h.TS.UTC(), int(size)
		if err := json.Unmarshal([]byte(heading), &[4]any{&h.First, &h.Messages, &h.Tools, &h.Tokens}); err != nil {
			return fmt.Errorf("event %q has the heading %q: %w: %w", h.ID, heading, ErrCorrupt, err)
		}
		all = append(all, h)
		return nil
	}, `SELECT event_id, build_id, seq, ts, checksum, payload_bytes, heading, NOT `+Shown+`
		FROM events_raw FINAL WHERE stream = ? AND event_type = ? ORDER BY seq, event_id`, stream, schema.SessionIngested)
	if err != nil {
		return nil, fmt.Errorf("read headings of %q: %w", stream, err)
	}
	return all, nil
}

// Total counts the messages of a session.
type Total struct {
	Messages int `json:"messages"`
	// Tokens estimates their tokens.
	Tokens int `json:"estimated_tokens"`
}

// Totals returns the total of each of the sessions' streams that has messages. It reads no payloads.
func (s *Store) Totals(ctx context.Context, streams []string) (map[string]Total, error) {
	totals := make(map[string]Total, len(streams))
	if len(streams) == 0 {
		return totals, nil
	}
	err := s.db.Query(ctx, clickhouse.Map(totals, func(rows driver.Rows, stream *string, total *Total) error {
		var messages, tokens uint64
		err := rows.Scan(stream, &messages, &tokens)
		*total = Total{int(messages), int(tokens)}
		return err
	}), `SELECT stream, sum(JSONExtractUInt(heading, 2)), sum(JSONExtractUInt(heading, 4)) FROM events_raw FINAL
		WHERE stream IN ? AND event_type = ? AND `+Shown+` GROUP BY stream`, clickhouse.Set(streams), schema.SessionIngested)
	if err != nil {
		return nil, fmt.Errorf("count the messages of %d sessions: %w", len(streams), err)
	}
	return totals, nil
}

// messageHeading is the part of a message that the headings contain.
type messageHeading struct {
	Index      int
	Role, Kind string
	Key, At    string
}

// ingestedHeading is the part of a session_ingested payload that headings are made of.
type ingestedHeading struct {
	Messages []messageHeading
	Tokens   int
}

func messageHeadings(payload []byte) (p ingestedHeading, err error) {
	err = json.Unmarshal(payload, &p)
	return p, err
}

// messageIndex are the keys and times of messages. A list in which all are empty is left out.
type messageIndex struct {
	Keys  []string `json:"keys,omitempty"`
	Times []string `json:"times,omitempty"`
}

func indexOf(messages []messageHeading) messageIndex {
	values := func(of func(messageHeading) string) []string {
		out, any := make([]string, len(messages)), false
		for i, m := range messages {
			out[i] = of(m)
			any = any || out[i] != ""
		}
		if !any {
			return nil
		}
		return out
	}
	return messageIndex{
		Keys: values(func(m messageHeading) string { return m.Key }), Times: values(func(m messageHeading) string { return m.At }),
	}
}

// set fills the heading from the payload of the event.
func (h *Heading) set(p ingestedHeading) {
	h.Messages, h.Tokens = len(p.Messages), p.Tokens
	for i, m := range p.Messages {
		if i == 0 {
			h.First = m.Index
		}
		h.Tools = h.Tools || m.Role == string(schema.RoleTool) || m.Kind == string(schema.KindToolCall) || m.Kind == string(schema.KindToolResult)
	}
}

// headingColumns returns the columns heading and message_index of the event. Both are empty if it is no
// session_ingested event.
func headingColumns(e schema.Event) (heading, index string, err error) {
	if e.Type != schema.SessionIngested {
		return "", "", nil
	}
	p, err := messageHeadings(e.Payload)
	if err != nil {
		return "", "", err
	}
	var h Heading
	h.set(p)
	first, err1 := json.Marshal([]any{h.First, h.Messages, h.Tools, h.Tokens})
	second, err2 := json.Marshal(indexOf(p.Messages))
	return string(first), string(second), errors.Join(err1, err2)
}

// headingsOf returns the headings of the events.
func headingsOf(events []schema.Event) ([]Heading, error) {
	var out []Heading
	for _, e := range events {
		p, err := messageHeadings(e.Payload)
		if err != nil {
			return nil, fmt.Errorf("read messages of event %q: %w", e.ID, err)
		}
		h := Heading{ID: e.ID, Stream: e.Stream, BuildID: e.BuildID, Seq: e.Seq, TS: e.TS, Checksum: e.Checksum, Bytes: len(e.Payload)}
		h.set(p)
		out = append(out, h)
	}
	return out, nil
}

// rememberedOf returns the events of the headings if the store remembers them.
func (s *Store) rememberedOf(ctx context.Context, headings []Heading) ([]schema.Event, bool, error) {
	if len(headings) == 0 {
		return nil, true, nil
	}
	first := headings[0]
	events, _, known, err := s.remembered(ctx, selection{stream: first.Stream, types: []string{schema.SessionIngested}}, position{stream: first.Stream, seq: first.Seq - 1})
	if err != nil || !known {
		return nil, false, err
	}
	out := make([]schema.Event, 0, len(headings))
	for _, e := range events {
		if len(out) < len(headings) && headings[len(out)].ID == e.ID {
			out = append(out, e)
		}
	}
	return out, len(out) == len(headings), nil
}

// Read yields the events of the headings, which must be from one stream and in order. It reads pages bounded by
// [Options]. If an event is missing, it yields an error and stops.
func (s *Store) Read(ctx context.Context, headings []Heading) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		events, known, err := s.rememberedOf(ctx, headings)
		if err != nil {
			yield(schema.Event{}, err)
			return
		}
		if known {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			return
		}
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
	return s.messages(ctx, headings, func(h Heading, x messageIndex) { each(h, x.Keys) })
}

// MessageTimes is like [Store.MessageKeys] but gives the times of the messages, as in the payload.
func (s *Store) MessageTimes(ctx context.Context, headings []Heading, each func(Heading, []string)) error {
	return s.messages(ctx, headings, func(h Heading, x messageIndex) { each(h, x.Times) })
}

func (s *Store) messages(ctx context.Context, headings []Heading, each func(Heading, messageIndex)) error {
	events, known, err := s.rememberedOf(ctx, headings)
	if err != nil {
		return err
	}
	if known {
		for i, e := range events {
			p, err := messageHeadings(e.Payload)
			if err != nil {
				return fmt.Errorf("read messages of event %q: %w", e.ID, err)
			}
			each(headings[i], indexOf(p.Messages))
		}
		return nil
	}
	for chunk := range slices.Chunk(headings, MaxIDs) {
		wanted := make(map[position]Heading, len(chunk))
		seqs := make([]uint64, len(chunk))
		for i, h := range chunk {
			wanted[h.key().position], seqs[i] = h, h.Seq
		}
		err := s.db.Query(ctx, func(rows driver.Rows) error {
			var p position
			var text string
			if err := rows.Scan(&p.stream, &p.seq, &p.id, &text); err != nil {
				return err
			}
			h, ok := wanted[p]
			if !ok {
				return nil
			}
			delete(wanted, p)
			var index messageIndex
			if err := json.Unmarshal([]byte(text), &index); err != nil {
				return fmt.Errorf("event %q has the index %q: %w: %w", p.id, text, ErrCorrupt, err)
			}
			each(h, index)
			return nil
		}, `SELECT stream, seq, event_id, message_index FROM events_raw FINAL WHERE stream = ? AND seq IN ? AND `+Shown,
			headings[0].Stream, clickhouse.Set(seqs))
		if err == nil && len(wanted) > 0 {
			err = fmt.Errorf("%d of %d events: %w", len(wanted), len(chunk), ErrNotFound)
		}
		if err != nil {
			return fmt.Errorf("read the messages of %q: %w", headings[0].Stream, err)
		}
	}
	return nil
}
