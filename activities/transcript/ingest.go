package transcript

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"axiommind/activities/boundary"
	"axiommind/activities/session"
	"axiommind/activities/transcript/format"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// maxChunkBytes bounds the text of one session_ingested event; a longer message has one of its own. A reader of a
// window reads the events that hold it: smaller ones spare it more, and are more rows.
const maxChunkBytes = 256 << 10

// maxAppendBytes bounds the payloads that are appended, and held in memory, at a time.
const maxAppendBytes = 4 << 20

// ingestEvents yields the session_ingested events of the unseen messages, in order. Their keys name the messages they
// hold, so that the same messages are never ingested twice. The sealed originals of an event's messages come before it:
// after a crash in between, a retry appends the missing events. It empties unseen on the way, to free the texts that
// are already in the log.
func (a *Activities) ingestEvents(p schema.SessionIngestedPayload, unseen []schema.Message, skipped []schema.Skipped, build string) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		p.Skipped = skipped
		for len(unseen) > 0 {
			end, size := 0, 0
			for end < len(unseen) && (end == 0 || size+len(unseen[end].Text) <= maxChunkBytes) {
				size += len(unseen[end].Text)
				end++
			}
			p.Messages, p.Tokens = unseen[:end], session.Tokens(unseen[:end])
			if !a.sealOriginals(p, build, yield) {
				return
			}
			event, err := schema.NewEvent(p, schema.Event{
				TS: p.Date, Actor: "pipeline", SessionID: p.SessionID, Project: p.Project,
				BuildID: build, DedupeKey: schema.SessionIngestedKey(p.SessionKey, p.Messages),
			})
			clear(p.Messages)
			p.Messages = nil
			if !yield(event, err) || err != nil {
				return
			}
			unseen, p.Skipped = unseen[end:], nil
		}
	}
}

// sealOriginals yields events with the sealed originals of redacted messages, and reports whether to go on.
func (a *Activities) sealOriginals(p schema.SessionIngestedPayload, build string, yield func(schema.Event, error) bool) bool {
	if !a.access.keepsRaw() {
		return true
	}
	for _, m := range p.Messages {
		sealed, changed, err := session.SealOriginal(a.access.options.RawKeys, p.SessionKey, m)
		if err == nil && !changed {
			continue
		}
		var event schema.Event
		if err == nil {
			event, err = schema.NewEvent(sealed, schema.Event{
				TS: p.Date, Actor: "pipeline", SessionID: p.SessionID, Project: p.Project, BuildID: build,
				Sensitivity: schema.SensitivitySealed, DedupeKey: schema.OriginalSealedKey(p.SessionKey, m.Key),
			})
		}
		if !yield(event, err) || err != nil {
			return false
		}
	}
	return true
}

// appendAll appends the first event and those that follow, in batches of at most limit bytes.
func (a *Activities) appendAll(ctx context.Context, stream string, limit int, first schema.Event, rest iter.Seq2[schema.Event, error]) error {
	batch, size := []schema.Event{first}, len(first.Payload)
	flush := func() error {
		_, err := a.log.AppendAll(ctx, stream, batch)
		clear(batch)
		batch, size = batch[:0], 0
		return err
	}
	for event, err := range rest {
		if err != nil {
			return err
		}
		if size+len(event.Payload) > limit && len(batch) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, event), size+len(event.Payload)
	}
	return flush()
}

// readInline makes a session of messages given in a workflow's input, and describes them.
func (a *Activities) readInline(ctx context.Context, messages []schema.InlineMessage, stated *schema.Statement) (*Session, schema.Source, error) {
	session, err := inlineSession(ctx, messages, stated, a.access.keepsRaw())
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, schema.Source{}, err
	default:
		return nil, schema.Source{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	texts := make([]string, len(session.Messages))
	size := 0
	for i, m := range session.Messages {
		texts[i] = m.Key
		size += len(m.Text)
	}
	return session, schema.Source{Format: session.Format, SHA256: schema.HashParts(texts...), Bytes: int64(size)}, nil
}

// inlineSession makes a session of messages given in a workflow's input. Passages injected by a harness become messages
// of their own, except in a statement. With keep, the messages keep the redacted text.
func inlineSession(ctx context.Context, messages []schema.InlineMessage, stated *schema.Statement, keep bool) (*Session, error) {
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
		m := schema.Message{Role: role, Kind: kind, SourceID: in.ID, At: in.At.UTC()}
		if stated != nil && stated.By != "" {
			m.Kind, m.Author = schema.KindStatement, stated.By
			redact.Names(&m.Author)
		}
		if redact.Names(&m.SourceID); m.SourceID != in.ID { // Others would have the same one.
			m.SourceID = ""
		}
		var err error
		if keep {
			m.Text, m.TakenOut, err = redact.TakeOut(ctx, text, nil)
		} else {
			m.Text, _, err = redact.TextContext(ctx, text)
		}
		if err != nil {
			return nil, err
		}
		parts := []schema.Message{m}
		if stated == nil {
			parts = format.Split(m)
		}
		for n, part := range parts {
			if part.Index = len(s.Messages); n > 0 && in.ID != "" {
				part.SourceID += "#" + strconv.Itoa(n)
			}
			s.Messages = append(s.Messages, part)
		}
	}
	schema.MessageKeys(s.Messages)
	return s, nil
}
