package session

import (
	"context"
	"iter"
	"strings"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// Frontier is how far a session has been extracted: the message at which to continue, and the byte offset in it. The
// zero value is the beginning of the session.
type Frontier struct{ Message, Offset int }

// After returns the frontier at the end of the window.
func (Frontier) After(w schema.Window) Frontier {
	if w.ByteEnd > 0 {
		return Frontier{w.Last, w.ByteEnd}
	}
	return Frontier{w.Last + 1, 0}
}

// Furthest returns the later one of the two.
func (f Frontier) Furthest(g Frontier) Frontier {
	if g.Message > f.Message || g.Message == f.Message && g.Offset > f.Offset {
		return g
	}
	return f
}

// Cut defines how a session is cut into windows.
type Cut struct {
	// Tools is true when tool calls and their results are extracted from too.
	Tools bool
	// Stated is true if a person states the content of the session. Then no message is taken for an acknowledgement.
	Stated bool
	// Size is the maximum size of a window's text in bytes. Limit is the maximum number of windows.
	Size, Limit int
	// Small is the maximum size of a window that is too small to be halved, without the white space around its messages.
	// Below the size of a character, 4 bytes, no window is too small.
	Small int
	// Hash returns a hash of the messages that a window shows.
	Hash func([]schema.Message) string
}

// planner cuts a stream of messages into windows. It holds the texts of one window at a time.
type planner struct {
	Cut
	windows []schema.Window
	// open is the window that is being filled. The next fields are the messages it shows so far and their size in
	// bytes.
	open   *schema.Window
	shown  []schema.Message
	filled int
	// passing judges the messages beyond the frontier.
	passing passing
}

// Plan cuts the messages beyond the frontier into windows at message boundaries and returns the first Limit of them.
// The second result is true if more follow. A message is only split if it is longer than a window, at the end of a
// line if possible. The messages are those of a session in order, starting at the frontier's message or earlier. Plan
// reads no more of them than it needs.
//
// Windows leave out acknowledgements, the replies to them, and scheduled messages: see [passing]. A window ends after
// acknowledgements that follow it, so that the next plan does not judge them again.
func Plan(messages iter.Seq2[schema.Message, error], from Frontier, cut Cut) (windows []schema.Window, more bool, err error) {
	p := planner{Cut: cut}
	if from != (Frontier{}) || cut.Stated {
		p.passing = unknownState
	}
	for m, err := range messages {
		if err != nil {
			return nil, false, err
		}
		start := 0
		switch {
		case m.Index < from.Message:
			continue
		case m.Index == from.Message:
			start = from.Offset
		}
		passes := p.passing.passes(m)
		switch {
		case p.passing.scheduled: // A window that ended among scheduled messages would hide that from the next plan.
		case passes && p.open != nil:
			p.open.Last = m.Index
		case passes || !Extracted(m, p.Tools):
		case !p.add(m, start):
			return p.windows[:p.Limit], true, nil
		}
	}
	p.closeWindow()
	if len(p.windows) > p.Limit {
		return p.windows[:p.Limit], true, nil
	}
	return p.windows, false, nil
}

// add adds the message from the byte offset on. It reports whether more windows are wanted.
func (p *planner) add(m schema.Message, start int) bool {
	text := m.Text
	if blank(text[start:]) {
		return true
	}
	if p.filled+len(text)-start > p.Size && !p.answers(m) {
		p.closeWindow()
	}
	for len(text)-start > p.Size && len(p.windows) <= p.Limit {
		end := start + cutAt(text[start:], p.Size)
		if !blank(text[start:end]) {
			p.show(m, start, end)
			p.open.ByteEnd = end
			p.closeWindow()
		}
		start = end
	}
	if blank(text[start:]) {
		return true
	}
	p.show(m, start, len(text))
	return len(p.windows) < p.Limit
}

// maxAnswer is the maximum size in bytes of an answer that joins its question's window regardless of the window's size.
const maxAnswer = 4 << 10

// answers reports whether the message answers the harness's question before it.
func (p *planner) answers(m schema.Message) bool {
	if len(p.shown) == 0 || m.CallID == "" || len(m.Text) > maxAnswer {
		return false
	}
	asked := p.shown[len(p.shown)-1]
	return m.Role == schema.RoleUser && asked.Role == schema.RoleAssistant && asked.CallID == m.CallID
}

// show adds a part of the message to the open window.
func (p *planner) show(m schema.Message, start, end int) {
	if p.open == nil {
		p.open = &schema.Window{First: m.Index, ByteStart: start}
	}
	p.open.Last = m.Index
	p.filled += end - start
	m.Text = m.Text[start:end]
	p.shown = append(p.shown, m)
}

func (p *planner) closeWindow() {
	if p.open == nil {
		return
	}
	p.windows = append(p.windows, p.finished(*p.open, p.shown))
	p.open, p.shown, p.filled = nil, nil, 0
}

// finished returns the window, which shows the messages, with the fields that follow from them.
func (c Cut) finished(w schema.Window, shown []schema.Message) schema.Window {
	size := 0
	for _, m := range shown {
		size += len(strings.TrimSpace(m.Text))
		w.Acts = w.Acts || m.Acts() || m.Kind == schema.KindPlan || m.Kind == schema.KindText && m.CallID != ""
	}
	w.Hash, w.Small = c.Hash(shown), size <= c.Small
	return w
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// cutAt returns where to end a part of at most size bytes: after its last line break if that is in the second half,
// else at a rune boundary.
func cutAt(text string, size int) int {
	if at := strings.LastIndexByte(text[:size], '\n'); at >= size/2 {
		return at + 1
	}
	return len(language.Head(text, size))
}

// Extracted reports whether memories are extracted from messages of the kind. If tools is true, they are extracted from
// tool messages too. A window leaves out those of them that pass.
func Extracted(m schema.Message, tools bool) bool {
	return m.Extractable() || m.Acts() || m.Kind == schema.KindStatement || tools && (m.Kind == schema.KindToolCall || m.Kind == schema.KindToolResult)
}

// Shown returns the messages that the window shows to a model. The messages at its ends may be cut.
func (s *Session) Shown(ctx context.Context, w schema.Window, tools bool) ([]schema.Message, error) {
	messages, err := s.Range(ctx, w.First, w.Last+1)
	return Shown(messages, w, tools), err
}

// Whole returns the messages that the window shows to a model, uncut, because a quote may be anywhere in them.
func (s *Session) Whole(ctx context.Context, w schema.Window, tools bool) ([]schema.Message, error) {
	w.ByteStart, w.ByteEnd = 0, 0
	return s.Shown(ctx, w, tools)
}

// Shown selects the messages that the window shows from those of its session.
func Shown(messages []schema.Message, w schema.Window, tools bool) []schema.Message {
	var out []schema.Message
	state := unknownState
	for _, m := range messages {
		if m.Index < w.First || m.Index > w.Last || state.passes(m) || !Extracted(m, tools) {
			continue
		}
		start, end := 0, len(m.Text)
		if m.Index == w.First {
			start = w.ByteStart
		}
		if m.Index == w.Last && w.ByteEnd > 0 {
			end = w.ByteEnd
		}
		if m.Text = m.Text[start:end]; !blank(m.Text) {
			out = append(out, m)
		}
	}
	return out
}
