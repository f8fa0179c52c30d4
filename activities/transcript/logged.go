package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Logged is a session as the event log holds it.
type Logged struct {
	schema.SessionKey
	Date time.Time
	// Messages have their Index as position; EventIDs are those of the events that hold them, and
	// BuildIDs those of the builds that brought them.
	Messages []schema.Message
	EventIDs []string
	BuildIDs []string
}

// ReadLogged reads the session from the log. A session that the log does not know has no messages.
func ReadLogged(ctx context.Context, log *eventlog.Store, session schema.SessionKey) (*Logged, error) {
	l := &Logged{SessionKey: session}
	options := eventlog.StreamOptions{Types: []string{schema.SessionIngested}}
	for event, err := range log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read session %q: %w", session.SessionID, err)
		}
		if err := l.Add(event); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Add adds the messages of the session's next session_ingested event.
func (l *Logged) Add(event schema.Event) error {
	var p schema.SessionIngestedPayload
	if err := json.Unmarshal(event.Payload, &p); err != nil {
		return fmt.Errorf("decode event %q: %w", event.ID, err)
	}
	if len(l.EventIDs) == 0 {
		l.Date = p.Date
	}
	for _, m := range p.Messages {
		if m.Index != len(l.Messages) {
			return fmt.Errorf("read session %q: event %q holds message %d where %d comes next",
				l.SessionID, event.ID, m.Index, len(l.Messages))
		}
		l.Messages = append(l.Messages, m)
		l.EventIDs = append(l.EventIDs, event.ID)
		l.BuildIDs = append(l.BuildIDs, event.BuildID)
	}
	return nil
}

// Unseen returns the messages that the log does not hold yet, numbered to follow those it does. A
// message is known by its key, not by its place: of a session that was rewritten or compacted only
// what is new remains.
func (l *Logged) Unseen(messages []schema.Message) []schema.Message {
	known := make(map[string]bool, len(l.Messages))
	for _, m := range l.Messages {
		known[m.Key] = true
	}
	var out []schema.Message
	for _, m := range messages {
		if known[m.Key] {
			continue
		}
		m.Index = len(l.Messages) + len(out)
		out = append(out, m)
	}
	return out
}

// broughtBy counts the messages that the build brought: what an attempt that broke off had stored
// is new to its build all the same.
func (l *Logged) broughtBy(buildID string) int {
	n := 0
	for _, id := range l.BuildIDs {
		if id == buildID {
			n++
		}
	}
	return n
}
