package session

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// part is the text of a message that a window shows, from the byte offset on.
type part struct {
	message, start int
	text           string
}

// Halve returns the halves of a window that is not small. Together they show the same text as the window, and each shows
// something. They meet at the border of two messages that is nearest to the middle. Where that border would leave a half
// less than a quarter, they meet within the message at the middle, at the end of a line if possible. The messages are
// those of the session from the window's first to its last.
//
// The same window always has the same halves, so that they can be recomputed after a crash.
func (c Cut) Halve(messages []schema.Message, w schema.Window) (left, right schema.Window, ok bool) {
	parts := c.parts(messages, w)
	sizes, total := make([]int, len(parts)), 0
	for i, p := range parts {
		sizes[i] = len(p.text)
		total += sizes[i]
	}
	left, right = w, w
	border, before := nearestBorder(sizes, total/2)
	if at, offset := cutWithin(parts, total/2); offset > 0 && (border == 0 || 4*before < total || 4*before > 3*total) {
		left.Last, left.ByteEnd = at, offset
		right.First, right.ByteStart = at, offset
	} else if border > 0 {
		left.Last, left.ByteEnd = parts[border-1].message, 0
		right.First, right.ByteStart = parts[border].message, 0
	} else {
		return w, w, false
	}
	for _, half := range []*schema.Window{&left, &right} {
		half.Asked, half.Kept = 0, false
		*half = c.finished(*half, Shown(messages, *half, c.Tools))
	}
	return left, right, true
}

func (c Cut) parts(messages []schema.Message, w schema.Window) []part {
	var parts []part
	for _, m := range Shown(messages, w, c.Tools) {
		p := part{message: m.Index, text: m.Text}
		if m.Index == w.First {
			p.start = w.ByteStart
		}
		parts = append(parts, p)
	}
	return parts
}

// nearestBorder returns the number of parts before the border that is nearest to the middle, and their size. It returns
// 0 if there is only one part.
func nearestBorder(sizes []int, middle int) (parts, size int) {
	before := 0
	for i := 1; i < len(sizes); i++ {
		before += sizes[i-1]
		if parts == 0 || distance(before, middle) < distance(size, middle) {
			parts, size = i, before
		}
	}
	return parts, size
}

func distance(a, b int) int { return max(a-b, b-a) }

// cutWithin returns the message at the middle of the parts, and the offset of a character in it at which neither side
// is blank. The offset is 0 if the message has only one character.
func cutWithin(parts []part, middle int) (message, offset int) {
	for _, p := range parts {
		if middle >= len(p.text) {
			middle -= len(p.text)
			continue
		}
		body := strings.TrimLeftFunc(p.text, unicode.IsSpace)
		lead := len(p.text) - len(body)
		body = strings.TrimRightFunc(body, unicode.IsSpace)
		_, first := utf8.DecodeRuneInString(body)
		if first == len(body) {
			return p.message, 0
		}
		at := cutAt(body, min(max(middle-lead, 1), len(body)-1))
		return p.message, p.start + lead + max(at, first)
	}
	return 0, 0
}
