package format

import (
	"regexp"
	"slices"
	"strings"

	"axiommind/schema"
)

// injections describe the passages that a harness puts into a user's message.
type injections struct {
	// tags are names of elements, separated by blanks.
	tags string
	// starts are the first words of messages that the harness wrote in the user's name.
	starts []string
	// prefix matches text of the harness before the user's own words.
	prefix *regexp.Regexp
}

// memoryTags enclose passages that plugins for memory and for uploads put into a user's message, in any harness.
const memoryTags = `relevant_memories retrieved_memory memory_context supermemory-context current_memory user_memory
	uploaded_files current_uploads`

// lineTags enclose such passages too, but are common words. They count only if nothing else is on the lines of their
// tags.
const lineTags = "memory memories remembered"

// marks are the injections of all formats. All of them count in every session, because sessions are exported,
// converted, and copied from one harness to another.
type marks struct {
	tags     map[string]bool
	alone    map[string]bool
	starts   []string
	prefixes []*regexp.Regexp
}

func marksOf(formats []Format) *marks {
	m := &marks{tags: make(map[string]bool), alone: make(map[string]bool)}
	add := func(tags string) {
		for tag := range strings.FieldsSeq(tags) {
			m.tags[tag] = true
		}
	}
	add(memoryTags)
	add(lineTags)
	for tag := range strings.FieldsSeq(lineTags) {
		m.alone[tag] = true
	}
	for _, f := range formats {
		add(f.injects.tags)
		m.starts = append(m.starts, f.injects.starts...)
		if f.injects.prefix != nil {
			m.prefixes = append(m.prefixes, f.injects.prefix)
		}
	}
	return m
}

// Split splits a message into the user's own text and injected passages. Their texts together are the text. Only a
// user's text is split.
func Split(m schema.Message) []schema.Message { return allMarks().apart(m) }

func (m *marks) apart(message schema.Message) []schema.Message {
	if message.Role != schema.RoleUser || message.Kind != schema.KindText || message.Text == "" {
		return []schema.Message{message}
	}
	segments := m.split(message.Text)
	out := make([]schema.Message, len(segments))
	taken := message.TakenOut
	for i, s := range segments {
		out[i] = message
		out[i].Text = s.text
		// No segment ends within a placeholder, which has neither lines nor tags.
		n := min(len(taken), len(schema.Redactions(s.text)))
		out[i].TakenOut, taken = taken[:n:n], taken[n:]
		if s.injected {
			out[i].Kind = schema.KindContext
		}
	}
	return out
}

type segment struct {
	text     string
	injected bool
}

// split splits a user's text into the user's own and injected segments. The segments together are the text. An element
// counts if it is closed, starts a line or follows another element, and is in no block of code.
func (m *marks) split(text string) []segment {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	for _, start := range m.starts {
		if strings.HasPrefix(trimmed, start) {
			return []segment{{text, true}}
		}
	}
	s := splitter{marks: m, text: text, elements: make(map[string]*elements), fences: fences{text: text}}
	s.inject(0, prefaceLen(text))
	for _, prefix := range m.prefixes {
		if found := prefix.FindString(text); found != "" && s.from == 0 {
			s.inject(0, len(found))
			break
		}
	}
	for at := s.from; at < len(text); {
		start, n := s.next(at)
		if n > 0 {
			s.inject(start, n)
			at = s.from
		} else {
			at = start
		}
	}
	return appendSegment(s.segments, text[s.from:], false)
}

// splitter splits one text. Each of its searches goes through the text a bounded number of times.
type splitter struct {
	*marks
	text     string
	segments []segment
	// from is where the last injected segment ends.
	from     int
	elements map[string]*elements
	fences   fences
}

// inject ends the user's segment and adds an injected one of n bytes.
func (s *splitter) inject(at, n int) {
	if n == 0 {
		return
	}
	s.segments = appendSegment(s.segments, s.text[s.from:at], false)
	s.segments = appendSegment(s.segments, s.text[at:at+n], true)
	s.from = at + n
	s.fences.end = 0
}

// next looks at the line, or the rest of it behind an element, that begins at a place. It returns where something
// injected begins and its length, or where the next line begins.
func (s *splitter) next(at int) (start, length int) {
	begins := at == 0 || s.text[at-1] == '\n'
	if begins {
		s.fences.enter(at)
	}
	start = at + len(s.text[at:]) - len(strings.TrimLeft(s.text[at:], " \t\r"))
	n := 0
	switch {
	case start == len(s.text):
	case s.text[start] == '<' && (begins || s.text[at-1] == '>'):
		n = s.elementLen(start, start == at)
	case begins && start == at:
		n = contextLen(s.text[at:])
	}
	if n > 0 && !s.fences.holds(start, start+n) {
		return start, n
	}
	if i := strings.IndexByte(s.text[at:], '\n'); i >= 0 {
		return at + i + 1, 0
	}
	return len(s.text), 0
}

// maxTagLen bounds the attributes of a tag.
const maxTagLen = 1 << 10

// elementLen returns the length of the closed injected element at a place, else 0. Bare says that no blank precedes it.
func (s *splitter) elementLen(at int, bare bool) int {
	name, open := openTag(s.text[at:])
	known := name
	if !s.tags[known] {
		known = strings.ToLower(name)
	}
	if !s.tags[known] {
		return 0
	}
	if s.elements[name] == nil {
		s.elements[name] = findElements(s.text, name)
	}
	end := s.elements[name].end(at, at+open)
	if end < 0 || s.alone[known] && !(bare && endsLine(s.text[end:])) {
		return 0
	}
	return end - at
}

// endsLine reports whether the rest of a line is blank, or another tag begins it.
func endsLine(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r")
	return rest == "" || rest[0] == '\n' || rest[0] == '<'
}

// openTag returns the name and the length of the tag that the text opens with, if it does.
func openTag(text string) (name string, length int) {
	n := 1
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	if n == len(text) || strings.IndexByte("> \t\r\n", text[n]) < 0 {
		return "", 0
	}
	end := strings.IndexAny(text[n:min(len(text), n+maxTagLen)], "<>")
	if end < 0 || text[n+end] == '<' || text[n+end-1] == '/' {
		return "", 0
	}
	return text[1:n], n + end + 1
}

func isNameByte(c byte) bool { return c == '-' || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// elements holds the ends of a name's elements. A closing tag closes the last one that is open. If none is left for an
// element because its text mentions a tag, the element ends at the next closing tag.
type elements struct {
	// ends maps where elements begin to where they end.
	ends map[int]int
	// closes are where the closing tags end, in order. Mentioned says for each that its opening tag does not start a
	// line, or is missing.
	closes    []int
	mentioned []bool
}

func findElements(text, name string) *elements {
	e := &elements{ends: make(map[int]int)}
	var open []int
	begin, end := "<"+name, "</"+name+">"
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return e
		}
		at += i
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, end):
			e.closes = append(e.closes, at+len(end))
			mentioned := true
			if n := len(open); n > 0 {
				e.ends[open[n-1]] = at + len(end)
				mentioned = !startsLine(text, open[n-1])
				open = open[:n-1]
			}
			e.mentioned = append(e.mentioned, mentioned)
		case strings.HasPrefix(rest, begin) && len(rest) > len(begin) && strings.IndexByte("> \t\r\n", rest[len(begin)]) >= 0:
			open = append(open, at)
		}
		at++
	}
}

// end returns where the element ends whose opening tag begins and ends at the places, or -1.
func (e *elements) end(begins, ends int) int {
	if end, ok := e.ends[begins]; ok {
		return end
	}
	if i, _ := slices.BinarySearch(e.closes, ends); i < len(e.closes) && e.mentioned[i] {
		return e.closes[i]
	}
	return -1
}

// startsLine reports whether only blanks precede a place on its line.
func startsLine(text string, at int) bool {
	before := strings.TrimRight(text[:at], " \t\r")
	return before == "" || before[len(before)-1] == '\n'
}

// appendSegment merges neighbours of a kind and adds blanks to the segment before them.
func appendSegment(segments []segment, text string, injected bool) []segment {
	if text == "" {
		return segments
	}
	if n := len(segments); n > 0 {
		last := &segments[n-1]
		if last.injected == injected || strings.TrimSpace(text) == "" {
			last.text += text
			return segments
		}
		if strings.TrimSpace(last.text) == "" {
			last.text, last.injected = last.text+text, injected
			return segments
		}
	}
	return append(segments, segment{text, injected})
}
