package llm

import (
	"strings"
	"unicode/utf8"

	"axiommind/schema"
)

// DefaultWindowBytes is how much text one model call extracts from: some 8,000 tokens.
const DefaultWindowBytes = 32 << 10

// frontier is how far a session is extracted: the message to go on with, and where in it.
type frontier struct{ message, offset int }

func (f frontier) after(w schema.Window) frontier {
	if w.ByteEnd > 0 {
		return frontier{w.Last, w.ByteEnd}
	}
	return frontier{w.Last + 1, 0}
}

func (f frontier) furthest(g frontier) frontier {
	if g.message > f.message || g.message == f.message && g.offset > f.offset {
		return g
	}
	return f
}

// planWindows cuts what lies beyond the frontier into windows of at most size bytes of text, on
// message borders, and returns the first limit of them. Only a message that is longer than a window
// is cut, at a line's end where there is one.
func planWindows(messages []schema.Message, from frontier, tools bool, size, limit int) (windows []schema.Window, more bool) {
	var open *schema.Window
	filled := 0
	closeWindow := func() {
		if open != nil {
			open.Hash = WindowHash(windowMessages(messages, *open, tools))
			windows = append(windows, *open)
			open, filled = nil, 0
		}
	}
	for i := from.message; i < len(messages); i++ {
		start := 0
		if i == from.message {
			start = from.offset
		}
		if !extracted(messages[i], tools) || strings.TrimSpace(messages[i].Text[start:]) == "" {
			continue
		}
		text := messages[i].Text
		if filled+len(text)-start > size {
			closeWindow()
		}
		for len(text)-start > size {
			end := start + cut(text[start:], size)
			if strings.TrimSpace(text[start:end]) != "" {
				open = &schema.Window{First: i, Last: i, ByteStart: start, ByteEnd: end}
				closeWindow()
			}
			start = end
		}
		if strings.TrimSpace(text[start:]) == "" {
			continue
		}
		if open == nil {
			open = &schema.Window{First: i, ByteStart: start}
		}
		open.Last = i
		filled += len(text) - start
		if len(windows) >= limit {
			return windows[:limit], true
		}
	}
	closeWindow()
	if len(windows) > limit {
		return windows[:limit], true
	}
	return windows, false
}

// cut is where to end a piece of at most size bytes: after its last line break, if that is in its
// second half, else on a rune border.
func cut(text string, size int) int {
	if at := strings.LastIndexByte(text[:size], '\n'); at >= size/2 {
		return at + 1
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return size
}

func extracted(m schema.Message, tools bool) bool {
	return m.Extractable() || tools && (m.Kind == schema.KindToolCall || m.Kind == schema.KindToolResult)
}

// windowMessages returns the messages of the window, those at its ends cut as it says.
func windowMessages(messages []schema.Message, w schema.Window, tools bool) []schema.Message {
	var out []schema.Message
	for i := w.First; i <= w.Last && i < len(messages); i++ {
		m := messages[i]
		if !extracted(m, tools) {
			continue
		}
		start, end := 0, len(m.Text)
		if i == w.First {
			start = w.ByteStart
		}
		if i == w.Last && w.ByteEnd > 0 {
			end = w.ByteEnd
		}
		if m.Text = m.Text[start:end]; strings.TrimSpace(m.Text) != "" {
			out = append(out, m)
		}
	}
	return out
}

// WindowMessages returns the messages of a session that the window shows to a model, uncut.
func WindowMessages(messages []schema.Message, w schema.Window, tools bool) []schema.Message {
	w.ByteStart, w.ByteEnd = 0, 0
	return windowMessages(messages, w, tools)
}
