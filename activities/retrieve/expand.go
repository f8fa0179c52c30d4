package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// MaxExpand is the highest [Query.Expand].
const MaxExpand = 20

// Turn is the message of a hit, or one near it.
type Turn struct {
	Index  int         `json:"index"`
	Role   schema.Role `json:"role"`
	Author string      `json:"author,omitempty"`
	At     time.Time   `json:"at,omitzero"`
	Text   string      `json:"text"`
	// Hit is true for the message that is the hit, or its evidence.
	Hit bool `json:"hit,omitempty"`
}

// expand adds the messages before and after each hit.
func (r *search) expand(ctx context.Context, claims []*claim) error {
	if r.query.Expand == 0 {
		return nil
	}
	opened := map[schema.SessionKey]*session.Session{}
	for _, c := range claims {
		key, at, ok := c.place()
		if !ok {
			continue
		}
		if opened[key] == nil {
			s, err := session.Open(ctx, r.log, key)
			if err != nil {
				return err
			}
			opened[key] = s
		}
		var err error
		if c.Around, err = Around(ctx, opened[key], at, r.query.Expand); err != nil {
			return err
		}
	}
	return nil
}

// place returns where the hit was said: its message, or the first one that proves it.
func (h *Hit) place() (key schema.SessionKey, message int, ok bool) {
	if h.Kind == KindMessage {
		return h.Session(), h.Message.Index, true
	}
	for _, e := range h.Evidence {
		if e.Found {
			return schema.SessionKey{Scope: h.Scope, SessionID: h.EvidenceSessionID}, e.MessageIndex, true
		}
	}
	return schema.SessionKey{}, 0, false
}

// Around returns the message and n before and after it that are conversation. Calls of tools separate them: usually a
// few, and now and then hundreds.
func Around(ctx context.Context, s *session.Session, at, n int) ([]Turn, error) {
	for reach := 8 * n; ; reach *= 4 {
		messages, err := s.Range(ctx, at-reach, at+reach+1)
		if err != nil {
			return nil, err
		}
		var out []Turn
		before, after := 0, 0
		for _, m := range messages {
			switch {
			case m.Index == at:
			case !m.Extractable():
				continue
			case m.Index < at:
				before++
			default:
				after++
			}
			out = append(out, Turn{Index: m.Index, Role: m.Role, Author: m.Author, At: m.At, Text: m.Text, Hit: m.Index == at})
		}
		if (before < n && at-reach > 0) || (after < n && at+reach+1 < s.Len()) {
			continue
		}
		out = out[max(before-n, 0):]
		return out[:min(len(out), min(before, n)+1+n)], nil
	}
}

// ErrNoMessage is wrapped if a handle names no message of the user.
var ErrNoMessage = errors.New("no such message")

// handleDigits is how much of an event's id a handle has.
const handleDigits = 8

// Handle is a short name of the message, which [FindMessage] takes.
func (m *MessageHit) Handle() string {
	return m.EventID[:min(handleDigits, len(m.EventID))] + "/" + strconv.Itoa(m.Index)
}

// IsMessage reports whether a handle is one of a message.
func IsMessage(handle string) bool { return strings.Contains(handle, "/") }

// FindMessage returns the session and the index of the message with the handle: the beginning of its event's id, a slash and
// its index. It is one of the scope's project and user, and without an agent of any agent.
func FindMessage(ctx context.Context, conn driver.Conn, scope schema.Scope, handle string) (schema.SessionKey, int, error) {
	prefix, digits, _ := strings.Cut(handle, "/")
	named := clickhouse.Prefix{What: "message", Where: "this memory", Given: handle, NotFound: ErrNoMessage}
	index, err := strconv.Atoi(digits)
	if err != nil || len(prefix) < clickhouse.MinPrefix {
		return schema.SessionKey{}, 0, named.Missing("a slash and its index, as search prints it")
	}
	if err := clickhouse.Required("project", scope.Project); err != nil {
		return schema.SessionKey{}, 0, fmt.Errorf("look for message %q: %w", handle, err)
	}
	var ids []string
	err = clickhouse.Query(ctx, conn, clickhouse.Column(&ids), `SELECT DISTINCT event_id FROM events_raw WHERE startsWith(event_id, ?) AND startsWith(stream, ?) LIMIT 100`,
		strings.ToLower(prefix), schema.SessionsOf(scope.Project))
	if err != nil {
		return schema.SessionKey{}, 0, fmt.Errorf("look for message %q: %w", handle, err)
	}
	events, err := eventlog.New(conn, eventlog.Options{}).GetMany(ctx, ids)
	if err != nil {
		return schema.SessionKey{}, 0, err
	}
	var found []schema.SessionKey
	var own []string
	for id, event := range events {
		if event.Type != schema.SessionIngested {
			continue
		}
		p, err := schema.Decode[schema.SessionIngestedPayload](event)
		if err != nil {
			return schema.SessionKey{}, 0, err
		}
		if n := len(p.Messages); p.User == scope.User && (scope.Agent == "" || p.Agent == scope.Agent) && n > 0 && p.Messages[0].Index <= index && index <= p.Messages[n-1].Index {
			found, own = append(found, p.SessionKey), append(own, id)
		}
	}
	switch len(found) {
	case 0:
		return schema.SessionKey{}, 0, named.Missing("a slash and its index, as search prints it")
	case 1:
		return found[0], index, nil
	default:
		return schema.SessionKey{}, 0, named.Several(slices.Sorted(slices.Values(own))[:min(len(own), clickhouse.MostPrefixed)])
	}
}
