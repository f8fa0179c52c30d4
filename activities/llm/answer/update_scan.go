package answer

import (
	"bytes"
	"encoding/json"
	"strings"
)

// findUpdate returns the first object outside of thoughts that has the names of an update. Numbers that JSON does not
// have, such as NaN, are null in it.
//
// It reads the text from left to right and takes time in proportion to it. A break in an object breaks all objects that
// are open there, so that none of them is tried again; objects that were closed inside of them count. An open quotation
// mark may have hidden the beginning of an object: the last string before the break is read once more.
func findUpdate(text string) ([]byte, bool) {
	for i := 0; i < len(text); {
		switch text[i] {
		case '<':
			i, _ = skipThought(text, i)
		case '{':
			w := walker{text: text, at: i, last: i}
			whole := w.value(0)
			switch {
			case w.found != nil:
				end, thought := thoughtEnd(text, w.found.end)
				if !thought {
					return w.update(), true
				}
				i = end
			case whole:
				i = w.at
			default:
				i = max(i+1, min(w.at, w.last+1))
			}
		default:
			i++
		}
	}
	return nil, false
}

// thoughtEnd returns the end of a thought that was never opened, if one ends after the place: all before that was thought.
func thoughtEnd(text string, at int) (end int, ok bool) {
	for {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			return 0, false
		}
		if at, ok = skipThought(text, at+next); ok {
			return at, true
		}
	}
}

// updateNames are the folded names that an update has at least, as a set of bits.
var updateNames = map[string]int{"user": 1, "history": 2, "newfacts": 4}

const allUpdateNames = 1 | 2 | 4

// extent is a part of a text.
type extent struct{ start, end int }

// walker walks over JSON without building values of it. Where a value breaks off, at is the place.
type walker struct {
	text string
	at   int
	// last is where the last string begins.
	last int
	// found is the first whole object that has the names of an update.
	found *extent
	// odd are the numbers that JSON does not have, in order.
	odd []extent
}

func (w *walker) peek() byte {
	if w.at < len(w.text) {
		return w.text[w.at]
	}
	return 0
}

func (w *walker) space() {
	for w.at < len(w.text) && strings.IndexByte(" \t\r\n", w.text[w.at]) >= 0 {
		w.at++
	}
}

// value walks over a value at the depth. It reports whether the value is whole.
func (w *walker) value(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch w.peek() {
	case '{':
		return w.object(depth)
	case '[':
		return w.members(']', func() bool { return w.value(depth + 1) })
	case '"':
		return w.quoted()
	default:
		return w.plain()
	}
}

func (w *walker) object(depth int) bool {
	start, names := w.at, 0
	if !w.members('}', func() bool { return w.member(depth, &names) }) {
		return false
	}
	if names == allUpdateNames && (w.found == nil || start < w.found.start) {
		w.found = &extent{start, w.at}
	}
	return true
}

// member walks over a name and its value.
func (w *walker) member(depth int, names *int) bool {
	from := w.at
	if w.peek() != '"' || !w.quoted() {
		return false
	}
	name := w.text[from+1 : w.at-1]
	w.space()
	if w.peek() != ':' {
		return false
	}
	w.at++
	w.space()
	if !w.value(depth + 1) {
		return false
	}
	const longest = 16
	if len(name) <= longest {
		*names |= updateNames[foldKey(name)]
	}
	return true
}

// members walks over the members between brackets.
func (w *walker) members(closing byte, member func() bool) bool {
	w.at++
	w.space()
	if w.peek() == closing {
		w.at++
		return true
	}
	for {
		if !member() {
			return false
		}
		w.space()
		switch w.peek() {
		case closing:
			w.at++
			return true
		case ',':
			w.at++
			w.space()
		default:
			return false
		}
	}
}

func (w *walker) quoted() bool {
	w.last = w.at
	for w.at++; w.at < len(w.text); w.at++ {
		switch c := w.text[w.at]; {
		case c == '"':
			w.at++
			return true
		case c < ' ':
			return false
		case c == '\\' && !w.escape():
			return false
		}
	}
	return false
}

// escape walks to the last character of an escape.
func (w *walker) escape() bool {
	w.at++
	if w.peek() != 'u' {
		return w.at < len(w.text) && strings.IndexByte(`"\/bfnrt`, w.peek()) >= 0
	}
	for range 4 {
		w.at++
		if w.at == len(w.text) || strings.IndexByte("0123456789abcdefABCDEF", w.text[w.at]) < 0 {
			return false
		}
	}
	return true
}

// plain walks over a number, a constant, or a number that JSON does not have.
func (w *walker) plain() bool {
	start := w.at
	for w.at < len(w.text) && (isWord(w.text[w.at]) || strings.IndexByte("+-.", w.text[w.at]) >= 0) {
		w.at++
	}
	word := w.text[start:w.at]
	switch word {
	case "NaN", "Infinity", "-Infinity":
		w.odd = append(w.odd, extent{start, w.at})
		return true
	}
	return json.Valid([]byte(word))
}

func isWord(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// update returns the object that was found as JSON.
func (w *walker) update() []byte {
	var b bytes.Buffer
	at := w.found.start
	for _, odd := range w.odd {
		if odd.start >= at && odd.end <= w.found.end {
			b.WriteString(w.text[at:odd.start])
			b.WriteString("null")
			at = odd.end
		}
	}
	b.WriteString(w.text[at:w.found.end])
	return b.Bytes()
}
