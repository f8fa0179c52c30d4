package format

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"axiommind/schema"
)

// Trusted holds the trust of each part of a message.
type Trusted struct {
	whole schema.Trust
	parts []trustedPart
}

// trustedPart is a part of a user's message that the user did not say.
type trustedPart struct {
	start, end int
	trust      schema.Trust
}

// TrustOf returns the trust of each part of the message. A user's message may contain remembered or injected text, and
// quoted material: closed elements such as <document>, lines quoted by ">", and fenced blocks. None of that is the
// user's own statement.
func TrustOf(m schema.Message) Trusted {
	t := Trusted{whole: m.Trust()}
	switch {
	case m.Kind == schema.KindContext && remembers(m.Text):
		t.whole = schema.TrustMemory
	case t.whole == schema.TrustUser:
		at := 0
		for _, s := range allMarks().split(m.Text) {
			if s.injected {
				t.add(at, at+len(s.text), injectedTrust(s.text))
			}
			at += len(s.text)
		}
		t.markQuoted(m.Text)
	}
	return t
}

// At returns the class of the text from start to end: that of the first part that overlaps it, or else the message's.
func (t Trusted) At(start, end int) schema.Trust {
	for _, p := range t.parts {
		if p.start < end && start < p.end {
			return p.trust
		}
	}
	return t.whole
}

// leftOut replaces parts of a message that its speaker did not say.
const leftOut = "[...]"

// Said returns the speaker's own words in the text: the text without the parts of others, with a mark in the place of
// each. It is empty if nothing else is left.
func (t Trusted) Said(text string) string {
	if len(t.parts) == 0 {
		return text
	}
	parts := slices.Clone(t.parts)
	slices.SortFunc(parts, func(a, b trustedPart) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at, says := 0, false
	for i := 0; i < len(parts); {
		start, end := parts[i].start, parts[i].end
		for i++; i < len(parts) && parts[i].start <= end; i++ {
			end = max(end, parts[i].end)
		}
		says = says || strings.TrimSpace(text[at:start]) != ""
		b.WriteString(text[at:start] + leftOut)
		if strings.HasSuffix(text[:end], "\n") {
			b.WriteString("\n")
		}
		at = end
	}
	if !says && strings.TrimSpace(text[at:]) == "" {
		return ""
	}
	return b.String() + text[at:]
}

func (t *Trusted) add(start, end int, trust schema.Trust) {
	t.parts = append(t.parts, trustedPart{start, end, trust})
}

func injectedTrust(text string) schema.Trust {
	if remembers(text) {
		return schema.TrustMemory
	}
	return schema.TrustSystem
}

// rememberedTag begins an element that holds memory. The names are those of [memoryTags] and [lineTags].
var rememberedTag = regexp.MustCompile(`(?i)^<(?:[a-z_-]*memor(?:y|ies)[a-z_-]*|remembered)[>\s]`)

// remembers reports whether an injected text comes from a memory.
func remembers(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return rememberedTag.MatchString(text) || prefaceLen(text) > 0 || contextLen(text) > 0
}

// quotedTags are the elements in which people and programs hand over documents.
var quotedTags = map[string]bool{
	"document": true, "documents": true, "document_content": true, "file": true, "files": true, "file_content": true,
	"file_contents": true, "attachment": true, "attachments": true, "webpage": true, "web_page": true, "page": true,
	"email": true, "article": true, "pasted_text": true, "paste": true, "quote": true, "blockquote": true, "context": true,
	"source": true, "transcript": true, "tool_result": true, "tool_output": true, "function_results": true, "search_results": true,
}

// markQuoted marks the material that a user's message quotes.
func (t *Trusted) markQuoted(text string) {
	f := fences{text: text}
	closes := map[string]int{}
	for at := 0; at < len(text); {
		_, next := lineAt(text, at)
		f.enter(at)
		start := at + len(text[at:next]) - len(strings.TrimLeft(text[at:next], " \t"))
		switch {
		case at < f.end:
			t.add(at, f.end, schema.TrustTool)
			next = f.end
		case strings.HasPrefix(text[start:], ">"):
			t.add(at, next, schema.TrustTool)
		case strings.HasPrefix(text[start:], "<"):
			if end := quotedElement(text, start, closes); end > 0 {
				t.add(start, end, schema.TrustTool)
				next = max(next, end)
			}
		}
		at = next
	}
}

// quotedElement returns where the closed element ends that begins at a place and hands something over, else 0. The last
// closing tag of the name counts, because a document may hold one that is to end it early.
func quotedElement(text string, at int, closes map[string]int) int {
	name, open := openTag(text[at:])
	if !quotedTags[strings.ToLower(name)] {
		return 0
	}
	end, known := closes[name]
	if !known {
		tag := "</" + name + ">"
		if i := strings.LastIndex(text, tag); i >= 0 {
			end = i + len(tag)
		}
		closes[name] = end
	}
	if end < at+open {
		return 0
	}
	return end
}
