package tier

import (
	"strings"
	"unicode"

	"axiommind/activities/text"
)

// Answer is a model's answer to a dream, read.
type Answer struct {
	// Memory and Diary are the sections [MEMORY] and [DREAM]. They are empty if the section is missing.
	Memory string
	Diary  string
	// HasMemory and HasDiary report whether the answer has the sections at all.
	HasMemory bool
	HasDiary  bool
	// Superseded are the items of the memory that the answer says are out of date.
	Superseded []Supersession
	// Truncated is true if the model stopped at its limit of tokens.
	Truncated bool
}

// Supersession says that one statement takes the place of another.
type Supersession struct {
	Item string
	By   string
}

// Problem says to a person why the answer cannot be used, or nothing.
func (a Answer) Problem() string {
	switch {
	case a.Truncated:
		return "the answer is cut off: the model reached its limit of tokens"
	case !a.HasMemory:
		return "the answer has no section [MEMORY]"
	case !a.HasDiary:
		return "the answer has no section [DREAM], so it may be cut off"
	}
	return ""
}

// The sections of an answer.
const (
	sectionMemory     = "MEMORY"
	sectionDream      = "DREAM"
	sectionSuperseded = "SUPERSEDED"
)

// ParseAnswer reads an answer. It takes time in proportion to the length of the text.
//
//   - A section begins behind its marker, [MEMORY], [DREAM] or [SUPERSEDED], in any case, which is alone on its line
//     but for marks of Markdown. If none is, a line that begins with the marker counts too. The section ends before the
//     next marker. Sections may come in any order. If one comes several times, its parts are united.
//   - Text before the first marker is left out.
//   - So are thoughts: from <think> or <thinking> at the beginning of a line to the closing tag, or else to the end of the
//     text; and all before a closing tag that is alone on its line and closes none.
//   - Fences of code around all of the answer or a section are removed.
func ParseAnswer(text string) Answer {
	text = withoutThoughts(plainLines(text))
	parts := map[string][]string{}
	for _, s := range sections(text) {
		parts[s.name] = append(parts[s.name], unfence(s.text))
	}
	a := Answer{
		HasMemory: parts[sectionMemory] != nil, Memory: unite(parts[sectionMemory], "\n"),
		HasDiary: parts[sectionDream] != nil, Diary: unite(parts[sectionDream], "\n\n"),
	}
	for line := range strings.SplitSeq(unite(parts[sectionSuperseded], "\n"), "\n") {
		if s, ok := supersession(line); ok {
			a.Superseded = append(a.Superseded, s)
		}
	}
	return a
}

// unite joins the parts that are not empty.
func unite(parts []string, separator string) string {
	var some []string
	for _, part := range parts {
		if part != "" {
			some = append(some, part)
		}
	}
	return strings.Join(some, separator)
}

// section is a part of an answer behind its marker.
type section struct{ name, text string }

// sections returns the sections of an answer, in order.
func sections(text string) []section {
	lines := strings.Split(text, "\n")
	alone := map[string]bool{}
	for _, line := range lines {
		if name, rest := marker(line); name != "" && rest == "" {
			alone[name] = true
		}
	}
	var found []section
	var body []string
	end := func() {
		if n := len(found); n > 0 {
			found[n-1].text = strings.Join(body, "\n")
		}
		body = nil
	}
	for _, line := range lines {
		name, rest := marker(line)
		if name == "" || rest != "" && alone[name] {
			body = append(body, line)
			continue
		}
		end()
		found = append(found, section{name: name})
		body = append(body, rest)
	}
	end()
	return found
}

// longestMarker is the maximum length of a marker with its marks, in bytes.
const longestMarker = 64

// marker returns the section whose marker begins the line, and the rest of the line.
func marker(line string) (name, rest string) {
	line = strings.TrimSpace(line)
	if bullet(line) > 0 {
		return "", ""
	}
	inner := strings.TrimLeftFunc(line, decorates)
	if !strings.HasPrefix(inner, "[") {
		return "", ""
	}
	head := inner[:min(len(inner), longestMarker)]
	end := strings.IndexByte(head, ']')
	if end < 0 {
		return "", ""
	}
	word := strings.TrimFunc(head[1:end], decorates)
	for _, known := range []string{sectionMemory, sectionDream, sectionSuperseded} {
		if strings.EqualFold(word, known) {
			return known, strings.TrimSpace(strings.TrimLeftFunc(inner[end+1:], decorates))
		}
	}
	return "", ""
}

// decorates reports whether a character may surround a marker.
func decorates(r rune) bool {
	return unicode.IsSpace(r) || text.Ignored(r) || strings.ContainsRune("*_#`~:：", r)
}

// unfence takes off the fences around a section. A fence that only opens or only closes in the section goes around more
// than it, so it is taken off too.
func unfence(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	// open are the lines whose fences are open. A fence with an info string opens one, any other closes one if it can.
	var open []int
	last, closes := len(lines)-1, -1
	for i, line := range lines {
		mark := fenceOf(strings.TrimSpace(line))
		switch bare := mark == strings.TrimSpace(line); {
		case mark == "":
		case bare && len(open) > 0:
			if i == last {
				closes = open[len(open)-1]
			}
			open = open[:len(open)-1]
		default:
			open = append(open, i)
		}
	}
	switch {
	case len(lines) == 0:
	case closes == 0 && last > 0:
		lines = lines[1:last]
	case len(open) > 0 && open[len(open)-1] == last && last > 0:
		lines = lines[:last]
	case len(open) > 0 && open[0] == 0:
		lines = lines[1:]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// withoutThoughts returns the text without the model's thoughts.
func withoutThoughts(text string) string {
	lower := lowerASCII(text)
	var b strings.Builder
	end := 0 // of the line
	for at := 0; at < len(text); {
		if at >= end {
			end = len(text)
			if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
		}
		line := strings.TrimLeftFunc(lower[at:end], unicode.IsSpace)
		if closesThought(line) {
			b.Reset()
			at = end
			continue
		}
		tag := thoughtTag(line)
		if tag == "" {
			b.WriteString(text[at:end])
			at = end
			continue
		}
		from := end - len(line) + len(tag)
		i := strings.Index(lower[from:], "</"+tag[1:])
		if i < 0 {
			break
		}
		// The text after the thought begins a line.
		at = from + i + len(tag) + 1
	}
	return b.String()
}

// closesThought reports whether a line is but the tag that closes a thought.
func closesThought(line string) bool {
	for _, tag := range []string{"</think>", "</thinking>"} {
		if rest, ok := strings.CutPrefix(line, tag); ok {
			return strings.TrimLeftFunc(rest, unicode.IsSpace) == ""
		}
	}
	return false
}

// thoughtTag returns the tag that opens a thought at the beginning of a line.
func thoughtTag(line string) string {
	for _, tag := range []string{"<think>", "<thinking>"} {
		if strings.HasPrefix(line, tag) {
			return tag
		}
	}
	return ""
}

// lowerASCII returns a text of the same length with small letters.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// supersession reads a line "- old => new".
func supersession(line string) (Supersession, bool) {
	line = strings.TrimSpace(line)
	line = line[bullet(line):]
	for _, arrow := range []string{" => ", " → ", " -> ", "=>", "→", "->"} {
		if item, by, ok := strings.Cut(line, arrow); ok {
			s := Supersession{Item: unquote(item), By: unquote(by)}
			return s, s.Item != "" && s.By != ""
		}
	}
	return Supersession{}, false
}

// unquote removes the quotation marks or backticks around a text.
func unquote(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '`') && !strings.Contains(text[1:n-1], text[:1]) {
		return strings.TrimSpace(text[1 : n-1])
	}
	return text
}
