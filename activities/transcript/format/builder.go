package format

import (
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Reasons of schema.Skipped.
const (
	reasonNotJSON     = "not valid JSON"
	reasonPartial     = "incomplete last line"
	reasonTooLong     = "line is longer than the limit"
	reasonTooDeep     = "JSON is nested too deep"
	reasonNoObject    = "not a JSON object"
	reasonNoRecord    = "not a record of the format"
	reasonNoContent   = "message without content"
	reasonNUL         = "NUL byte removed"
	reasonInvalidUTF8 = "invalid UTF-8 replaced by U+FFFD"
	reasonUnclosed    = "the array is not closed"
	reasonBrokenOff   = "compressed data breaks off"
)

// builder collects the sessions of a source. A record that names no session belongs to the current one.
type builder struct {
	format string
	marks  *marks
	// fallbackID names the session where the source tells no id.
	fallbackID string
	sessions   []*session
	byID       map[string]*session
	current    *session
	pending    []schema.Skipped
	// keepTakenOut has messages keep what is redacted of them.
	keepTakenOut bool
}

type session struct {
	Session
	// tools maps the ids of tool calls to the names of the tools.
	tools map[string]string
	// open is the source id of the message that a following chunk continues.
	open string
	// chunked says that messages came in chunks: they are redacted, and the user's are taken apart, at the end, when they are
	// whole.
	chunked bool
	// implicit says that ID comes from the name of the source: the first id that the source tells replaces it.
	implicit bool
}

// allMarks are the marks of the registry.
var allMarks = sync.OnceValue(func() *marks { return marksOf(registry) })

func newBuilder() *builder {
	return &builder{marks: allMarks(), byID: make(map[string]*session)}
}

// useSession makes the session with the id the current one, and creates it if there is none.
func (b *builder) useSession(id string) *session {
	id = clean(id)
	if s, ok := b.byID[id]; ok {
		b.current = s
		return s
	}
	if len(b.sessions) == 1 && b.current.implicit {
		b.current.implicit = false
		delete(b.byID, b.current.ID)
		b.current.ID = id
		b.byID[id] = b.current
		return b.current
	}
	s := &session{Session: Session{ID: id}, tools: make(map[string]string)}
	s.Skipped, b.pending = b.pending, nil
	b.byID[id] = s
	b.sessions = append(b.sessions, s)
	b.current = s
	return s
}

// startSession creates a session and makes it the current one, with a number added to an id that is taken.
// Without an id the session has none.
func (b *builder) startSession(id string) {
	id = clean(id)
	key := id
	for n := 2; b.byID[key] != nil || key == ""; n++ {
		key = id + "-" + strconv.Itoa(n)
	}
	s := b.useSession(key)
	if id == "" {
		s.ID = ""
	}
}

// session returns the current session. If there is none it creates one, named after the source.
func (b *builder) session() *session {
	if b.current == nil {
		b.useSession(b.fallbackID).implicit = true
	}
	return b.current
}

func (b *builder) skip(line int, reason string) {
	reason, _ = redact.Text(reason) // It may quote the line.
	s := schema.Skipped{Line: line, Reason: reason}
	if b.current == nil {
		b.pending = append(b.pending, s)
		return
	}
	b.current.Skipped = append(b.current.Skipped, s)
}

// add appends the message to the current session, and sanitizes and redacts its text. A message that says nothing is left
// out.
func (b *builder) add(m schema.Message) {
	m.Text = b.sanitize(m.Line, m.Text)
	b.redact(&m)
	b.append(m)
}

// append is add for a text that is sanitized and redacted.
func (b *builder) append(m schema.Message) {
	s := b.session()
	if m.Text == "" && (m.CallID == "" || m.Kind == schema.KindText) {
		return
	}
	m.Author, m.Tool = clean(m.Author), clean(m.Tool)
	m.CallID, m.SourceID = clean(m.CallID), clean(m.SourceID)
	given := m.SourceID
	redact.Names(&m.Author, &m.Tool, &m.CallID, &m.SourceID)
	if m.SourceID != given { // Others would have the same one.
		m.SourceID = ""
	}
	switch {
	case m.CallID == "":
	case m.Kind == schema.KindToolCall && m.Tool != "":
		s.tools[m.CallID] = m.Tool
	case m.Kind == schema.KindToolResult && m.Tool == "":
		m.Tool = s.tools[m.CallID]
	}
	s.includeTime(m.At)
	s.open = ""
	s.Messages = append(s.Messages, m)
}

// addApart adds a message whose kind is known, and what a harness injected into it as messages of its own. It is redacted
// as a whole: a private passage may hold what was injected.
func (b *builder) addApart(m schema.Message) {
	m.Text = b.sanitize(m.Line, m.Text)
	b.redact(&m)
	for _, part := range b.marks.apart(m) {
		b.append(part)
	}
}

// addChunk appends the text to the last message if that is a chunk of the same role, kind and id. Otherwise it
// adds a message.
func (b *builder) addChunk(id string, m schema.Message) {
	s := b.session()
	key := string(m.Role) + "/" + string(m.Kind) + "/" + clean(id)
	s.chunked = true
	if n := len(s.Messages); n > 0 && s.open == key {
		s.Messages[n-1].Text += b.sanitize(m.Line, m.Text)
		s.includeTime(m.At)
		return
	}
	n := len(s.Messages)
	m.Text = b.sanitize(m.Line, m.Text)
	b.append(m)
	if len(s.Messages) > n {
		s.open = key
	}
}

// redact redacts the text of the message.
func (b *builder) redact(m *schema.Message) {
	if b.keepTakenOut {
		m.Text, m.TakenOut = redact.TakeOut(m.Text, m.TakenOut)
		return
	}
	m.Text, _ = redact.Text(m.Text)
}

// sanitize returns a copy of the text in valid UTF-8 without NUL bytes, and notes what it changed.
func (b *builder) sanitize(line int, text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "")
		b.skip(line, reasonNUL)
	}
	if !utf8.ValidString(text) {
		b.skip(line, reasonInvalidUTF8)
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.Clone(text)
}

func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	return strings.Clone(s)
}

func (s *session) includeTime(at time.Time) {
	if at.IsZero() {
		return
	}
	if s.Started.IsZero() || at.Before(s.Started) {
		s.Started = at
	}
	if at.After(s.Ended) {
		s.Ended = at
	}
}

func (b *builder) finish() []*Session {
	b.current = b.session()
	b.current.Skipped = append(b.current.Skipped, b.pending...)
	out := make([]*Session, len(b.sessions))
	for i, s := range b.sessions {
		s.Format = b.format
		if s.chunked {
			var messages []schema.Message
			for _, m := range s.Messages {
				b.redact(&m)
				messages = append(messages, b.marks.apart(m)...)
			}
			s.Messages = messages
		}
		for j := range s.Messages {
			s.Messages[j].Index = j
		}
		schema.MessageKeys(s.Messages)
		out[i] = &s.Session
	}
	return out
}
