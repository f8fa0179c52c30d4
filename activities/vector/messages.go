package vector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/text"
	"axiommind/schema"
)

// maxMessageText is the maximum number of bytes of a message to index. Longer messages are usually pasted files.
const maxMessageText = 64 << 10

// messageItems returns the items of the messages of an event. Only conversation is indexed: thoughts, tool calls and
// results, and text that a harness injected would hide it.
func messageItems(event schema.Event) ([]Item, error) {
	p, err := schema.Decode[schema.SessionIngestedPayload](event)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, m := range p.Messages {
		if !m.Extractable() || strings.TrimSpace(m.Text) == "" {
			continue
		}
		at := m.At
		if at.IsZero() {
			at = p.Date
		}
		out = append(out, Item{
			Kind: schema.ItemMessage, ID: messageID(event.ID, m.Index), Project: p.Project, Content: text.Head(m.Text, maxMessageText),
			Type: string(m.Role), User: p.User, Agent: p.Agent, SessionID: p.SessionID, Message: m.Index, OccurredAt: storedTime(at),
		})
	}
	return out, nil
}

// messageID identifies a message by its event, so that one lookup finds it. The index has a fixed number of digits, so
// that ids sort like the messages.
func messageID(eventID string, index int) string { return fmt.Sprintf("%s/%08d", eventID, index) }

// MessageEvent returns the id of the event with the message of an item, and the message's index in its session.
func MessageEvent(itemID string) (eventID string, index int, err error) {
	eventID, digits, _ := strings.Cut(itemID, "/")
	if index, err = strconv.Atoi(digits); err != nil || eventID == "" {
		return "", 0, fmt.Errorf("read message id %q: want the id of an event, a slash and an index", itemID)
	}
	return eventID, index, nil
}

// MessageSource provides the items of messages. It reads them from the event log.
type MessageSource struct {
	conn driver.Conn
	log  Events
}

// NewMessageSource returns the source of messages.
func NewMessageSource(conn driver.Conn, log Events) *MessageSource {
	return &MessageSource{conn, log}
}

// Kind implements [Source].
func (*MessageSource) Kind() string { return schema.ItemMessage }

// Load implements [Source].
func (s *MessageSource) Load(ctx context.Context, project string, ids []string) (map[string]Item, error) {
	var events []string
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		event, _, err := MessageEvent(id)
		if err != nil {
			return nil, err
		}
		wanted[id] = true
		events = append(events, event)
	}
	slices.Sort(events)
	out := make(map[string]Item, len(ids))
	err := s.read(ctx, slices.Compact(events), func(item Item) {
		if wanted[item.ID] && item.Project == project {
			out[item.ID] = item
		}
	})
	return out, err
}

// eventsAtOnce is how many events are in memory at once: a session_ingested event has up to 256 KiB, unless a message
// has more.
const eventsAtOnce = 32

// read calls pass with the items of the events.
func (s *MessageSource) read(ctx context.Context, events []string, pass func(Item)) error {
	for page := range slices.Chunk(events, eventsAtOnce) {
		found, err := s.log.GetMany(ctx, page)
		if err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
		for _, event := range found {
			if event.Type != schema.SessionIngested {
				continue
			}
			items, err := messageItems(event)
			if err != nil {
				return err
			}
			for _, item := range items {
				pass(item)
			}
		}
	}
	return nil
}

// After implements [Source].
func (s *MessageSource) After(ctx context.Context, project, id string, limit int) ([]Item, error) {
	var out []Item
	from, _, _ := strings.Cut(id, "/")
	at, inclusive := [2]string{project, from}, true
	for len(out) < limit {
		places, err := s.places(ctx, at, inclusive)
		if err != nil {
			return nil, err
		}
		events := make([]string, len(places))
		for i, p := range places {
			events[i] = p[1]
		}
		if err := s.read(ctx, events, func(item Item) {
			if item.Project > project || item.Project == project && item.ID > id {
				out = append(out, item)
			}
		}); err != nil {
			return nil, err
		}
		if len(places) < eventsAtOnce {
			break
		}
		at, inclusive = places[len(places)-1], false
	}
	slices.SortFunc(out, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(limit, len(out))], nil
}

// places returns the projects and ids of the next events with messages, in their order.
func (s *MessageSource) places(ctx context.Context, after [2]string, inclusive bool) ([][2]string, error) {
	relation := ">"
	if inclusive {
		relation = ">="
	}
	var out [][2]string
	err := clickhouse.Query(ctx, s.conn, clickhouse.Rows(&out, func(rows driver.Rows, p *[2]string) error { return rows.Scan(&p[0], &p[1]) }),
		`SELECT DISTINCT project, event_id FROM events_raw
		WHERE event_type = ? AND (project, event_id) `+relation+` (?, ?) ORDER BY project, event_id LIMIT ?`,
		schema.SessionIngested, after[0], after[1], eventsAtOnce)
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return out, nil
}
