// Package session reads a session from the log, by ranges of messages or by windows. The headings in the log say
// which event contains which messages. So reading a range reads only its events, however long the session is.
package session

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Session is a session in the log as it was when it was opened. It is not safe for concurrent use.
type Session struct {
	schema.SessionKey
	log *eventlog.Store
	// events hold the session's messages, in order. Each holds at least one.
	events []eventlog.Heading
	// read caches the messages of recently read events, by their index in events.
	read map[int][]schema.Message
}

// Open returns the session. It reads no texts. If the log does not contain the session, the session has no messages.
func Open(ctx context.Context, log *eventlog.Store, key schema.SessionKey) (*Session, error) {
	headings, err := log.Headings(ctx, key.Stream())
	if err != nil {
		return nil, fmt.Errorf("open session %q: %w", key.SessionID, err)
	}
	s := &Session{SessionKey: key, log: log, read: map[int][]schema.Message{}}
	next := 0
	for _, h := range headings {
		if h.Messages == 0 {
			continue
		}
		if h.First != next {
			return nil, fmt.Errorf("open session %q: event %q holds message %d, want message %d", key.SessionID, h.ID, h.First, next)
		}
		next += h.Messages
		s.events = append(s.events, h)
	}
	return s, nil
}

// Len returns the number of messages in the session.
func (s *Session) Len() int {
	if len(s.events) == 0 {
		return 0
	}
	last := s.events[len(s.events)-1]
	return last.First + last.Messages
}

// Total counts the messages of the session.
func (s *Session) Total() eventlog.Total {
	t := eventlog.Total{Messages: s.Len()}
	for _, h := range s.events {
		t.Tokens += h.Tokens
	}
	return t
}

// Tokens estimates the tokens of the messages.
func Tokens(messages []schema.Message) int {
	n := 0
	for _, m := range messages {
		n += text.EstimateTokens(m.Text)
	}
	return n
}

// Date returns the date of the session, as in its first event. It is zero if the session has no messages.
func (s *Session) Date() time.Time {
	if len(s.events) == 0 {
		return time.Time{}
	}
	return s.events[0].TS
}

// Works reports whether an agent works in the session, that is, whether it calls tools.
func (s *Session) Works() bool {
	return slices.ContainsFunc(s.events, func(h eventlog.Heading) bool { return h.Tools })
}

// AddedBy returns the number of messages that the build added, including those of its interrupted attempts.
func (s *Session) AddedBy(buildID string) int {
	n := 0
	for _, h := range s.events {
		if h.BuildID == buildID {
			n += h.Messages
		}
	}
	return n
}

// EventID returns the id of the event that holds the message. The message must be in the session.
func (s *Session) EventID(message int) string { return s.events[s.holder(message)].ID }

// holder returns the index of the event that contains the message, or the number of events for one beyond the end.
func (s *Session) holder(message int) int {
	return sort.Search(len(s.events), func(i int) bool { return message < s.events[i].First+s.events[i].Messages })
}

// Range returns the session's messages from first up to, but not including, end. It caches the events that a later
// range with the same or a higher first may need. If ranges are read in the order of first, each event is read once.
func (s *Session) Range(ctx context.Context, first, end int) ([]schema.Message, error) {
	first, end = max(first, 0), min(end, s.Len())
	if first >= end {
		return nil, nil
	}
	from, to := s.holder(first), s.holder(end-1)
	for i := range s.read {
		if i < from {
			delete(s.read, i)
		}
	}
	var missing []eventlog.Heading
	for i := from; i <= to; i++ {
		if _, ok := s.read[i]; !ok {
			missing = append(missing, s.events[i])
		}
	}
	loaded, err := recent.load(ctx, s, missing)
	if err != nil {
		return nil, err
	}
	for i, h := range missing {
		s.read[s.holder(h.First)] = loaded[i]
	}
	var out []schema.Message
	for i := from; i <= to; i++ {
		at := s.events[i].First
		out = append(out, s.read[i][max(first-at, 0):min(end-at, s.events[i].Messages)]...)
	}
	return out, nil
}

// pageBytes bounds the payloads that From reads at once. A larger event is a page of its own.
const pageBytes = 1 << 20

// From yields the messages from first to the session's end, in order. It reads one page at a time. It stops after an
// error.
func (s *Session) From(ctx context.Context, first int) iter.Seq2[schema.Message, error] {
	return func(yield func(schema.Message, error) bool) {
		first = max(first, 0)
		for events := s.events[s.holder(first):]; len(events) > 0; {
			page := pageOf(events)
			events = events[len(page):]
			loaded, err := recent.load(ctx, s, page)
			if err != nil {
				yield(schema.Message{}, err)
				return
			}
			for _, messages := range loaded {
				for _, m := range messages {
					if m.Index >= first && !yield(m, nil) {
						return
					}
				}
			}
		}
	}
}

// pageOf returns the first of the events, at least one, as many as fit into pageBytes.
func pageOf(events []eventlog.Heading) []eventlog.Heading {
	size := 0
	for i, h := range events {
		if size += h.Bytes; i > 0 && size > pageBytes {
			return events[:i]
		}
	}
	return events
}

// messages yields the messages of each event, and sets err if it stops early.
func (s *Session) messages(ctx context.Context, events []eventlog.Heading, err *error) iter.Seq2[eventlog.Heading, []schema.Message] {
	return func(yield func(eventlog.Heading, []schema.Message) bool) {
		for event, readErr := range s.log.Read(ctx, events) {
			var messages []schema.Message
			if readErr == nil {
				messages, readErr = messagesOf(event, events[0])
			}
			if readErr != nil {
				*err = fmt.Errorf("read session %q: %w", s.SessionID, readErr)
				return
			}
			if !yield(events[0], messages) {
				return
			}
			events = events[1:]
		}
	}
}

// messagesOf returns the messages of the event and checks them against its heading.
func messagesOf(event schema.Event, h eventlog.Heading) ([]schema.Message, error) {
	p, err := schema.Decode[schema.SessionIngestedPayload](event)
	if err != nil {
		return nil, err
	}
	if len(p.Messages) != h.Messages {
		return nil, fmt.Errorf("event %q holds %d messages, but its heading says %d", event.ID, len(p.Messages), h.Messages)
	}
	for i, m := range p.Messages {
		if m.Index != h.First+i {
			return nil, fmt.Errorf("event %q holds message %d, want message %d", event.ID, m.Index, h.First+i)
		}
	}
	return p.Messages, nil
}

// Times returns the times of the given messages that are in the session and whose time is known. It reads no texts.
func (s *Session) Times(ctx context.Context, messages []int) (map[int]time.Time, error) {
	wanted := map[int][]int{}
	for _, m := range messages {
		if m >= 0 && m < s.Len() {
			wanted[s.holder(m)] = append(wanted[s.holder(m)], m)
		}
	}
	events := make([]eventlog.Heading, 0, len(wanted))
	for _, i := range slices.Sorted(maps.Keys(wanted)) { // The log remembers events in their order.
		events = append(events, s.events[i])
	}
	out := make(map[int]time.Time, len(messages))
	var bad error
	err := s.log.MessageTimes(ctx, events, func(h eventlog.Heading, times []string) {
		for _, m := range wanted[s.holder(h.First)] {
			if m-h.First >= len(times) || times[m-h.First] == "" {
				continue
			}
			at, err := time.Parse(time.RFC3339Nano, times[m-h.First])
			if err != nil {
				bad = fmt.Errorf("event %q, message %d: %w", h.ID, m, err)
			}
			out[m] = at
		}
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, fmt.Errorf("read times of session %q: %w", s.SessionID, err)
	}
	return out, nil
}

// Unseen returns the messages that are not in the log yet, numbered to follow those that are. Messages are compared
// by key, not by position, so for a rewritten or compacted session it returns only the new messages. It reads no
// texts.
func (s *Session) Unseen(ctx context.Context, messages []schema.Message) ([]schema.Message, error) {
	known := make(map[string]bool, s.Len())
	err := s.log.MessageKeys(ctx, s.events, func(_ eventlog.Heading, keys []string) {
		for _, k := range keys {
			known[k] = true
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read keys of session %q: %w", s.SessionID, err)
	}
	return unseen(known, s.Len(), messages), nil
}

func unseen(known map[string]bool, next int, messages []schema.Message) []schema.Message {
	var out []schema.Message
	for _, m := range messages {
		if known[m.Key] {
			continue
		}
		m.Index = next + len(out)
		out = append(out, m)
	}
	return out
}
