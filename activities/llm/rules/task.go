package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// minTask is what a task's title takes to name anything, in runes.
const minTask = 6

// maxBlocker bounds what a task is said to wait for, in runes.
const maxBlocker = 120

// sectionHeads give their status to the list below them.
var sectionHeads = map[string]schema.TaskStatus{
	"todo": schema.TaskPending, "todos": schema.TaskPending, "to do": schema.TaskPending, "to-do": schema.TaskPending,
	"todo list": schema.TaskPending, "action items": schema.TaskPending, "remaining": schema.TaskPending,
	"remaining work": schema.TaskPending, "remaining tasks": schema.TaskPending, "open tasks": schema.TaskPending,
	"할 일": schema.TaskPending, "할일": schema.TaskPending, "남은 작업": schema.TaskPending, "남은 일": schema.TaskPending,
	"待办": schema.TaskPending, "待办事项": schema.TaskPending, "待辦": schema.TaskPending, "待辦事項": schema.TaskPending,
	"未完成": schema.TaskPending, "剩余任务": schema.TaskPending, "やること": schema.TaskPending, "残タスク": schema.TaskPending,

	"done": schema.TaskDone, "completed": schema.TaskDone, "completed tasks": schema.TaskDone, "완료": schema.TaskDone,
	"완료된 작업": schema.TaskDone, "已完成": schema.TaskDone, "完了": schema.TaskDone,

	"in progress": schema.TaskInProgress, "진행 중": schema.TaskInProgress, "进行中": schema.TaskInProgress,
	"進行中": schema.TaskInProgress,

	"blocked": schema.TaskBlocked, "阻塞": schema.TaskBlocked, "막힌 작업": schema.TaskBlocked,
}

// sectionOf reports whether the line is nothing but such a head.
func (x *extractor) sectionOf(l line) (schema.TaskStatus, bool) {
	text := x.m.Text[l.start:l.end]
	if l.box != noBox {
		return "", false
	}
	marked := l.heading || strings.ContainsAny(text, ":*") || strings.Contains(text, "：")
	status, ok := headStatus(text)
	return status, ok && marked
}

func headStatus(text string) (schema.TaskStatus, bool) {
	const longest = 48
	if len(text) > longest {
		return "", false
	}
	head := strings.ToLower(strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsSymbol(r) || r != '-' && unicode.IsPunct(r)
	}))
	status, ok := sectionHeads[head]
	return status, ok
}

// checkbox makes a task of a line such as "[x] Write the parser".
func (x *extractor) checkbox(l line, hits []hit) {
	status := schema.TaskPending
	switch l.box {
	case tickedBox:
		status = schema.TaskDone
	case cancelledBox:
		status = schema.TaskCancelled
	}
	x.listed(l, hits, status)
}

// listed makes a task of an item of a list of tasks.
func (x *extractor) listed(l line, hits []hit, status schema.TaskStatus) {
	s := span{l.start, l.end}
	title := clean(x.m.Text[s.start:s.end])
	if utf8.RuneCountInString(title) < 2 || asks(title) {
		return
	}
	t := &schema.ExtractedTask{Title: title, Status: status, Priority: x.rankOf(s, hits)}
	for _, h := range x.unvoided(hits) {
		if c := &x.phrases.cues[h.cue]; c.kind == task && c.status == schema.TaskBlocked && status == schema.TaskPending {
			t = x.taskOf(c, h, s, hits)
			break
		}
	}
	if t == nil {
		return
	}
	e := schema.ExtractedEntry{Type: schema.EntryTaskNote, Title: title, Task: t}
	const confidence = 0.9
	x.add(e, confidence, x.quoteOf(s, s))
}

// taskOf returns the task a sentence speaks of, nil when it names none.
func (x *extractor) taskOf(c *cue, h hit, s span, hits []hit) *schema.ExtractedTask {
	text := x.m.Text
	pre, post := text[s.start:h.start], text[h.end:s.end]
	t := &schema.ExtractedTask{Status: c.status, Priority: x.rankOf(s, hits)}
	switch c.title {
	case after:
		t.Title = clean(startVerb(c.verb, text[s.start:h.end]) + strings.TrimRight(post, ".!?。！？"))
	case before:
		t.Title = trimCopula(clean(lastClause(pre)))
	}
	if utf8.RuneCountInString(t.Title) < 2 {
		t.Title = clean(strings.TrimRight(text[s.start:s.end], ".!。！"))
	}
	switch c.blocker {
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

// startVerb returns how the title of a task begins: with the verb as it was written, or with what a
// report makes of it.
func startVerb(verb, upTo string) string {
	if n := len(upTo) - len(verb); verb != "" && n >= 0 && strings.EqualFold(upTo[n:], verb) {
		return upTo[n:]
	}
	if verb == "" {
		return ""
	}
	return strings.ToUpper(verb[:1]) + verb[1:]
}

// rankOf returns the priority the sentence states, "" when it states none.
func (x *extractor) rankOf(s span, hits []hit) schema.TaskPriority {
	for _, h := range x.unvoided(hits) {
		if c := &x.phrases.cues[h.cue]; c.kind == priority && int(h.start) >= s.start && int(h.end) <= s.end {
			return c.rank
		}
	}
	return ""
}

func blocker(s string) []string {
	s = clean(strings.TrimRight(s, ".!。！"))
	if n := utf8.RuneCountInString(s); n < 2 || n > maxBlocker {
		return nil
	}
	return []string{s}
}

// clauseBreaks end what a sentence says a task waits for.
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
