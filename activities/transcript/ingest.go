package transcript

import (
	"fmt"
	"strings"
	"time"

	"axiommind/schema"
)

// maxChunkBytes bounds the text of one session_ingested event; a longer message has one of its own. A reader of a
// window reads the events that hold it: smaller ones spare it more, and are more rows.
const maxChunkBytes = 256 << 10

// ingestEvents returns the session_ingested events of the unseen messages, in order. Their keys
// name the messages they hold, so that the same messages are never ingested twice.
func ingestEvents(p schema.SessionIngestedPayload, unseen []schema.Message, skipped []schema.Skipped,
	buildID string, at time.Time,
) ([]schema.Event, error) {
	var out []schema.Event
	for start := 0; start < len(unseen); {
		end, size := start, 0
		for end < len(unseen) && (end == start || size+len(unseen[end].Text) <= maxChunkBytes) {
			size += len(unseen[end].Text)
			end++
		}
		p.Messages, p.Skipped = unseen[start:end], nil
		if start == 0 {
			p.Skipped = skipped
		}
		event, err := schema.NewEvent(p, schema.Event{
			TS: at, Actor: "pipeline", SessionID: p.SessionID, Project: p.Project,
			BuildID: buildID, DedupeKey: schema.SessionIngestedKey(p.SessionKey, p.Messages),
		})
		if err != nil {
			return nil, err
		}
		out = append(out, event)
		start = end
	}
	return out, nil
}

// inlineSession makes a session of messages given in a workflow's input.
func inlineSession(messages []schema.InlineMessage) (*Session, error) {
	s := &Session{Format: schema.FormatInline}
	for i, in := range messages {
		role := schema.Role(strings.ToLower(in.Role))
		switch role {
		case schema.RoleUser, schema.RoleAssistant, schema.RoleSystem, schema.RoleTool:
		default:
			return nil, fmt.Errorf("message %d: role %q is not user, assistant, system or tool", i, in.Role)
		}
		kind := schema.KindText
		switch role {
		case schema.RoleTool:
			kind = schema.KindToolResult
		case schema.RoleSystem:
			kind = schema.KindContext
		}
		text := strings.ReplaceAll(strings.ToValidUTF8(in.Content, "\uFFFD"), "\x00", "")
		if text != in.Content {
			s.Skipped = append(s.Skipped, schema.Skipped{
				Reason: fmt.Sprintf("message %d: NUL bytes and invalid UTF-8 were taken out", i),
			})
		}
		s.Messages = append(s.Messages, schema.Message{Index: i, Role: role, Kind: kind, Text: text})
	}
	schema.MessageKeys(s.Messages)
	return s, nil
}
