package format

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"axiommind/activities/transcript/redact"
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// Reasons of schema.Skipped.
const (
	reasonNotJSON     = "not valid JSON"
	reasonPartial     = "incomplete last line"
	reasonTooLong     = "line is longer than the limit"
	reasonTooDeep     = "JSON is nested too deep, or has too many values"
	reasonNoObject    = "not a JSON object"
	reasonNoRecord    = "not a record of the format"
	reasonNoContent   = "message without content"
	reasonNUL         = "NUL byte removed"
	reasonInvalidUTF8 = "invalid UTF-8 replaced by U+FFFD"
	reasonUnclosed    = "the array is not closed"
	reasonBrokenOff   = "compressed data breaks off"
	reasonMore        = "more was skipped than is listed"
)

// builder collects the sessions of a source. A record that names no session belongs to the current one.
type builder struct {
	format string
	marks  *marks
	// known are the tools by which agents say something, and answering those whose results hold the user's words.
	known     tools
	answering map[[2]string]bool
	// fallbackID names the session if the source has no id.
	fallbackID string
	sessions   []*session
	byID       map[string]*session
	current    *session
	// pending are the skips before there is a session.
	pending skips
	ctx     context.Context
	opts    Options
	// texts is the length of the texts of all messages. messages counts these and the sessions, records the values and
	// rows that were read, and skipped the places that could not be.
	texts, messages, records, skipped int
	// record is the harness's note of the tool's result that is being read, and failed says that the call failed.
	record gjson.Result
	failed bool
	// owners are the users whom the items of a migrated file belong to.
	owners map[string]bool
	// noResults says that the source has no results of tools.
	noResults bool
	// err is the first limit that the source exceeded. Nothing is added from then on.
	err error
}

// skips are the places that could not be read, of which only some are listed.
type skips struct {
	listed []schema.Skipped
	others int
	// last is the latest one, listed or not.
	last schema.Skipped
}

type session struct {
	Session
	skips skips
	// tools maps the ids of tool calls to the names of the tools.
	tools map[string]string
	// waiting are the calls by which the agent says something and whose results are still to come, by their ids. list is the
	// agent's to-do list.
	waiting map[string]call
	list    []item
	// open is the source id of the message that a following chunk continues.
	open string
	// chunked says that messages came in chunks. When they are whole, at the end, they are redacted, and the user's are
	// split.
	chunked bool
	// implicit says that ID comes from the name of the source: the first id in the source replaces it.
	implicit bool
}

// allMarks are the marks of the registry.
var allMarks = sync.OnceValue(func() *marks { return marksOf(registry) })

func newBuilder(ctx context.Context, opts Options) *builder {
	return &builder{marks: allMarks(), known: allTools(), answering: answering(), byID: make(map[string]*session), owners: make(map[string]bool), ctx: ctx, opts: opts}
}

// count counts something that is bounded.
func (b *builder) count(n *int, limit int, of string) {
	if *n++; *n > limit {
		b.fail(tooLarge(int64(limit), of))
	}
}

// read counts a value or a row, and reports whether to go on.
func (b *builder) read() bool {
	b.count(&b.records, b.opts.MaxRecords, "records")
	b.fail(b.ctx.Err())
	return b.err == nil
}

func (b *builder) fail(err error) { b.err = cmp.Or(b.err, err) }

// useSession makes the session with the id the current one, and creates it if there is none.
func (b *builder) useSession(id string) *session {
	if b.err != nil && b.current != nil {
		return b.current
	}
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
	b.count(&b.messages, b.opts.MaxMessages, "messages and sessions")
	s := &session{Session: Session{ID: id}, skips: b.pending, tools: make(map[string]string)}
	b.pending = skips{}
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

// maxReason bounds the reason why something was skipped, in bytes.
const maxReason = 500

// skips are those of the current session.
func (b *builder) skips() *skips {
	if b.current == nil {
		return &b.pending
	}
	return &b.current.skips
}

func (b *builder) skip(line int, reason string) {
	s := b.skips()
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	s.last = schema.Skipped{Line: line, Reason: reason}
	if b.skipped++; b.skipped > b.opts.MaxSkipped {
		s.others++
		return
	}
	reason, _ = redact.Text(reason) // It may quote the line.
	s.listed = append(s.listed, schema.Skipped{Line: line, Reason: reason})
}

// add appends the message to the current session, and sanitizes and redacts its text. A message that says nothing is left
// out.
func (b *builder) add(m schema.Message) {
	m.Text = b.sanitize(m.Line, m.Text)
	b.redact(&m)
	b.append(m)
	b.acted(m)
}

// append is add for a text that is sanitized and redacted.
func (b *builder) append(m schema.Message) {
	s := b.session()
	if b.err != nil || m.Text == "" && (m.CallID == "" || m.Kind == schema.KindText) {
		return
	}
	b.count(&b.messages, b.opts.MaxMessages, "messages and sessions")
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

// addApart adds a message of known kind, and passages that a harness injected into it as messages of their own. It
// redacts the message as a whole, because a private passage may contain injected text.
func (b *builder) addApart(m schema.Message) {
	m.Text = b.sanitize(m.Line, m.Text)
	b.redact(&m)
	parts := b.marks.apart(m)
	for _, part := range parts {
		b.append(part)
	}
	if words, ok := memorized(m.Text); ok && len(parts) == 1 {
		m.Kind, m.Text, m.TakenOut = schema.KindRule, words, nil
		b.append(m)
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
	var err error
	if b.opts.KeepTakenOut {
		m.Text, m.TakenOut, err = redact.TakeOut(b.ctx, m.Text, m.TakenOut)
	} else {
		m.Text, _, err = redact.TextContext(b.ctx, m.Text)
	}
	b.fail(err)
}

// redacted returns a text without secrets.
func (b *builder) redacted(text string) string {
	text, _, err := redact.TextContext(b.ctx, text)
	b.fail(err)
	return text
}

// sanitize returns a copy of the text in valid UTF-8 without NUL bytes, and notes its changes.
func (b *builder) sanitize(line int, text string) string {
	if b.texts += len(text); b.texts > b.opts.MaxDocument {
		b.fail(tooLarge(int64(b.opts.MaxDocument), "bytes of text in its messages"))
	}
	if b.err != nil {
		return ""
	}
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
	b.session() // There is at least one.
	out := make([]*Session, len(b.sessions))
	for i, s := range b.sessions {
		s.Format, s.Skipped = b.format, s.skips.listed
		if s.skips.others > 0 {
			s.Skipped = append(s.Skipped, schema.Skipped{Reason: reasonMore, Count: s.skips.others})
		}
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
