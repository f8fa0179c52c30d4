package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
	"axiommind/schema"
)

// minTask is the least length of a task's title, in runes. A shorter one names nothing.
const minTask = 6

// maxBlocker bounds the text of a task's blocker, in runes.
const maxBlocker = 120

// sectionOf returns the status of the list below the line, if the line is nothing but its heading.
func (x *extractor) sectionOf(l prose.Line) (schema.TaskStatus, bool) {
	text := x.m.Text[l.Start:l.End]
	status, ok := prose.Head(text)
	return status, ok && l.Box == prose.NoBox && (l.Heading || strings.ContainsAny(text, ":*："))
}

// listed makes a task of an item of a list of tasks.
func (x *extractor) listed(l prose.Line, status schema.TaskStatus) {
	said := x.m.Text[l.Start:l.End]
	title := prose.Title(said)
	if utf8.RuneCountInString(title) < 2 || prose.Asks(title) {
		return
	}
	hits := x.finder.find(said)
	t := &schema.ExtractedTask{Title: title, Status: status, Priority: rankOf(hits)}
	blocks := func(h hit) bool { return h.kind == task && h.status == schema.TaskBlocked }
	if n := slices.IndexFunc(hits, blocks); n >= 0 && status == schema.TaskPending {
		if t = taskOf(&hits[n], said, hits); t == nil {
			return
		}
	}
	const confidence = 0.9
	x.add(schema.ExtractedEntry{Type: schema.EntryTaskNote, Title: title, Task: t}, confidence, l, prose.Span{Start: l.Start, End: l.End})
}

// taskOf returns the task that a sentence speaks of, or nil when it names none.
func taskOf(h *hit, said string, hits []hit) *schema.ExtractedTask {
	pre, post := said[:h.start], said[h.end:]
	t := &schema.ExtractedTask{Status: h.status, Priority: rankOf(hits)}
	switch h.title {
	case after:
		t.Title = prose.Title(strings.TrimRight(post, ".!?。！？"))
	case before:
		t.Title = trimCopula(prose.Title(lastClause(pre)))
	}
	if utf8.RuneCountInString(t.Title) < 2 {
		t.Title = prose.Title(strings.TrimRight(said, ".!。！"))
	}
	switch h.blocker {
	case after:
		t.BlockedBy = blocker(firstClause(post))
	case before:
		t.BlockedBy = blocker(trimParticle(lastClause(pre)))
	}
	if utf8.RuneCountInString(t.Title) < minTask {
		return nil
	}
	return t
}

// rankOf returns the priority that a sentence states, or "".
func rankOf(hits []hit) schema.TaskPriority {
	if n := slices.IndexFunc(hits, func(h hit) bool { return h.kind == priority }); n >= 0 {
		return hits[n].rank
	}
	return ""
}

func blocker(s string) []string {
	s = prose.Title(strings.TrimRight(s, ".!。！"))
	if n := utf8.RuneCountInString(s); n < 2 || n > maxBlocker {
		return nil
	}
	return []string{s}
}

// clauseBreaks end the text of a blocker in a sentence.
var clauseBreaks = []string{
	", ", "; ", " (", " before ", " so ", " because ", " but ", " and then ", " until ", " — ", " - ",
	"，", "；", "（", "。", "、", "之后", "之後", "才能", "所以", "因此",
}

func firstClause(s string) string {
	end := len(s)
	for _, b := range clauseBreaks {
		if i := strings.Index(s, b); i > 0 && i < end {
			end = i
		}
	}
	return s[:end]
}

func lastClause(s string) string {
	start := 0
	for _, b := range []string{", ", "; ", "，", "；", " but ", " and ", " because ", "는 ", "은 ", "は"} {
		if i := strings.LastIndex(s, b); i >= 0 && i+len(b) > start && strings.TrimSpace(s[i+len(b):]) != "" {
			start = i + len(b)
		}
	}
	return s[start:]
}

// trimCopula takes the verb off "the login page is still".
func trimCopula(s string) string {
	for {
		cut := s
		for _, w := range []string{" is", " are", " was", " were", " be", " been", " has", " have", " still", " currently",
			" now", " all", "'s", "’s"} {
			cut = strings.TrimSuffix(cut, w)
		}
		if cut == s {
			return s
		}
		s = cut
	}
}

// trimParticle takes the case particle off a Korean or Japanese noun.
func trimParticle(s string) string {
	s = strings.TrimSpace(s)
	for _, p := range []string{"을", "를", "이", "가", "은", "는", "の", "を", "が"} {
		if t := strings.TrimSuffix(s, p); t != s && utf8.RuneCountInString(t) > 1 {
			return t
		}
	}
	return s
}
