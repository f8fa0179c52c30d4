package format

import (
	"regexp"
	"strings"
)

// injections are what a harness puts into a user's message.
type injections struct {
	// tags are names of elements, separated by blanks.
	tags string
	// starts open messages that the harness wrote in the user's name.
	starts []string
	// prefix matches what the harness writes before the user's own words.
	prefix *regexp.Regexp
}

// memoryTags enclose what plugins for memory put into a user's message, whatever the harness.
const memoryTags = "relevant_memories retrieved_memory memory_context supermemory-context"

// marks are the injections of all formats. All of them count in every session, because sessions are exported,
// converted, and copied from one harness to another.
type marks struct {
	tags     map[string]bool
	starts   []string
	prefixes []*regexp.Regexp
}

func marksOf(formats []Format) *marks {
	m := &marks{tags: make(map[string]bool)}
	add := func(tags string) {
		for tag := range strings.FieldsSeq(tags) {
			m.tags[tag] = true
		}
	}
	add(memoryTags)
	for _, f := range formats {
		add(f.injects.tags)
		m.starts = append(m.starts, f.injects.starts...)
		if f.injects.prefix != nil {
			m.prefixes = append(m.prefixes, f.injects.prefix)
		}
	}
	return m
}

type segment struct {
	text     string
	injected bool
}

// split splits a user's text into what the user wrote and what a harness injected. The segments together are
// the text. An element counts if it is closed, and starts a line or follows another element.
func (m *marks) split(text string) []segment {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	for _, start := range m.starts {
		if strings.HasPrefix(trimmed, start) {
			return []segment{{text, true}}
		}
	}
	var segments []segment
	from := 0
	for _, prefix := range m.prefixes {
		if found := prefix.FindString(text); found != "" {
			segments, from = []segment{{found, true}}, len(found)
			break
		}
	}
	failures := make(map[string]int)
	for at := from; at < len(text); {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		at += i
		n := 0
		if startsLine(text, from, at) {
			n = m.injectedLen(text[at:], failures)
		}
		if n == 0 {
			at++
			continue
		}
		segments = appendSegment(segments, text[from:at], false)
		segments = appendSegment(segments, text[at:at+n], true)
		at += n
		from = at
	}
	return appendSegment(segments, text[from:], false)
}

// startsLine reports whether only blanks lie between at and the line's start, or the element that
// ends at from.
func startsLine(text string, from, at int) bool {
	for at > from && strings.IndexByte(" \t\r", text[at-1]) >= 0 {
		at--
	}
	return at == 0 || text[at-1] == '\n' || at == from && text[at-1] == '>'
}

// maxTagLen bounds the attributes of a tag.
const maxTagLen = 1 << 10

// maxFailures bounds the searches for the end of elements that are never closed.
const maxFailures = 8

// injectedLen returns the length of the closed injected element that the text starts with, else 0.
func (m *marks) injectedLen(text string, failures map[string]int) int {
	name, at := openTag(text)
	if !m.tags[name] || failures[name] >= maxFailures {
		return 0
	}
	begin, end := "<"+name, "</"+name+">"
	depth := 1
	for {
		i := strings.Index(text[at:], end)
		if i < 0 {
			failures[name]++
			return 0
		}
		depth += strings.Count(text[at:at+i], begin) - 1
		at += i + len(end)
		if depth <= 0 {
			return at
		}
	}
}

// openTag returns the name and the length of the tag that the text opens with, if it does.
func openTag(text string) (name string, length int) {
	n := 1
	for n < len(text) && (text[n] == '-' || text[n] == '_' || 'a' <= text[n]|0x20 && text[n]|0x20 <= 'z') {
		n++
	}
	if n == len(text) || strings.IndexByte("> \t\r\n", text[n]) < 0 {
		return "", 0
	}
	end := strings.IndexAny(text[n:min(len(text), n+maxTagLen)], "<>")
	if end < 0 || text[n+end] == '<' {
		return "", 0
	}
	return text[1:n], n + end + 1
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
