// Package prose reads the messages of a conversation as people wrote them: the lines and sentences that state something, which
// of a user's words are his own, the quote that proves a sentence, and a title for it.
package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is a line of prose of a text, in bytes, without its markers.
type Line struct {
	Start, End int
	// Bullet is true for an item of a list, Heading for a heading.
	Bullet, Heading bool
	Box             Checkbox
}

// Checkbox is the mark of a task in a list.
type Checkbox uint8

// Checkboxes: none, "[ ]", "[x]" and "[-]".
const (
	NoBox Checkbox = iota
	OpenBox
	TickedBox
	CancelledBox
)

// Lines calls yield for each line of prose. Code, tables, quotations and notes of
// the harness are left out: they are not statements of who wrote the message.
func Lines(text string, yield func(Line)) {
	fence := ""
	for start := 0; start < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		raw := strings.TrimSpace(text[start:end])
		switch {
		case fence != "":
			if strings.HasPrefix(raw, fence) && strings.Trim(raw, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(raw, "```"), strings.HasPrefix(raw, "~~~"):
			if mark := raw[:len(raw)-len(strings.TrimLeft(raw, raw[:1]))]; !strings.Contains(raw[len(mark):], mark) {
				fence = mark
			}
		case raw == "", raw[0] == '|', raw[0] == '>', strings.Count(raw, " | ") > 1:
		case strings.HasPrefix(raw, "[System "), strings.HasPrefix(raw, "User: [System "):
		default:
			if l := trimLine(text, start, end); l.Start < l.End {
				yield(l)
			}
		}
		start = end + 1
	}
}

// trimLine takes the markers of Markdown and a leading tag off a line.
func trimLine(text string, start, end int) Line {
	l := Line{Start: start, End: end}
	l.trimSpace(text)
	for {
		rest := text[l.Start:l.End]
		n := 0
		switch {
		case strings.HasPrefix(rest, "#"):
			n = len(rest) - len(strings.TrimLeft(rest, "#"))
			l.Heading = true
		case markerLength(rest) > 0:
			n = markerLength(rest)
			l.Bullet = true
		case l.Box == NoBox && boxOf(rest) != NoBox:
			l.Box = boxOf(rest)
			n = strings.IndexByte(rest, ']') + 1
		case tagLength(rest) > 0:
			n = tagLength(rest)
		case start == 0 && speakerLength(rest) > 0:
			n = speakerLength(rest)
		default:
			if cut := strings.Index(rest, "</"); cut > 0 {
				l.End = l.Start + cut
			}
			if cut := upperTag(text[l.Start:l.End]); cut > 0 {
				l.End = l.Start + cut
			}
			l.trimSpace(text)
			return l
		}
		l.Start += n
		l.trimSpace(text)
	}
}

func (l *Line) trimSpace(text string) {
	rest := text[l.Start:l.End]
	l.Start += len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
	l.End -= len(rest) - len(strings.TrimRightFunc(rest, unicode.IsSpace))
	l.End = max(l.Start, l.End)
}

// markerLength returns the length of a list marker: "- ", "* ", "• ", "3. ", "3) ", "3、".
func markerLength(s string) int {
	for _, m := range []string{"- ", "* ", "+ ", "• ", "· ", "– "} {
		if strings.HasPrefix(s, m) {
			return len(m)
		}
	}
	digits := 0
	for digits < len(s) && digits < 3 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0
	}
	for _, m := range []string{". ", ") ", "、"} {
		if strings.HasPrefix(s[digits:], m) {
			return digits + len(m)
		}
	}
	return 0
}

func boxOf(s string) Checkbox {
	if len(s) < 4 || s[0] != '[' || s[2] != ']' || s[3] != ' ' {
		return NoBox
	}
	switch s[1] {
	case ' ':
		return OpenBox
	case 'x', 'X':
		return TickedBox
	case '-', '~':
		return CancelledBox
	default:
		return NoBox
	}
}

// tagLength returns the length of a tag at the start of a line, such as "<task>".
func tagLength(s string) int {
	if len(s) < 3 || s[0] != '<' || !wordByte(s[1]) && s[1] != '/' {
		return 0
	}
	for i := 1; i < len(s) && i < 64; i++ {
		if s[i] == '>' {
			return i + 1
		}
		if !wordByte(s[i]) && s[i] != '-' && s[i] != '/' {
			return 0
		}
	}
	return 0
}

// upperTag returns where a tag in capitals begins within the line, 0 when there is none.
func upperTag(s string) int {
	for i := strings.IndexByte(s, '<'); i >= 0 && i+2 < len(s); {
		if n := tagLength(s[i:]); n > 0 && s[i+1] >= 'A' && s[i+1] <= 'Z' && s[i+2] >= 'A' && s[i+2] <= 'Z' {
			return i
		}
		next := strings.IndexByte(s[i+1:], '<')
		if next < 0 {
			return 0
		}
		i += 1 + next
	}
	return 0
}

// speakerLength returns the length of a speaker's name at the start of a message.
func speakerLength(s string) int {
	for _, p := range []string{"User:", "Human:", "Assistant:", "AI:"} {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// Span is a half-open range of bytes.
type Span struct{ Start, End int }

// Split appends the sentences of a line to out. Each states one thing: an abbreviation ends no sentence, but a
// semicolon of Chinese does. Full stops of Chinese, Japanese and Korean text end a sentence at once, the others only
// before a space. Evidence consists of whole sentences: see [Quote].
func Split(text string, l Line, out []Span) []Span {
	start := l.Start
	for i := l.Start; i < l.End; {
		r, size := utf8.DecodeRuneInString(text[i:l.End])
		i += size
		if !stops(r, text[i:l.End]) || (r == '.' && abbreviation(text[start:i-size])) {
			continue
		}
		for i < l.End {
			r, size := utf8.DecodeRuneInString(text[i:l.End])
			if !closes(r) {
				break
			}
			i += size
		}
		out = appendSpan(text, out, start, i)
		start = i
	}
	return appendSpan(text, out, start, l.End)
}

func stops(r rune, rest string) bool {
	switch r {
	case '。', '！', '？', '；', '…':
		return true
	case '.', '!', '?':
		if rest == "" {
			return true
		}
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsSpace(next) || closes(next) && r != '.' || unicode.Is(unicode.Han, next)
	default:
		return false
	}
}

func closes(r rune) bool {
	return strings.ContainsRune("\"')]}*_`”’」』）】。！？!?", r)
}

// abbreviation reports whether a full stop after the text does not end a sentence.
func abbreviation(before string) bool {
	word := before[strings.LastIndexAny(before, " (\t")+1:]
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "mr", "mrs", "ms", "dr", "st", "no", "fig", "cf", "approx":
		return true
	}
	if len(word) > 3 || word == "" {
		return false
	}
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			return false
		}
	}
	// "1. First, ..." within a line.
	return strings.TrimSpace(before) == word
}

func appendSpan(text string, out []Span, start, end int) []Span {
	l := Line{Start: start, End: end}
	l.trimSpace(text)
	if l.Start == l.End {
		return out
	}
	return append(out, Span{l.Start, l.End})
}
