package worth

import (
	"strings"

	"axiommind/activities/llm/prose"
	"axiommind/schema"
)

const (
	// minPassageWorth is the worth from which on a line of the assistant is worth reading. It is a fraction of an entry's
	// minimum: a language model judges better.
	minPassageWorth = 0.075
	// gap replaces lines that are left out.
	gap = "[...]"
)

// Passages returns the part of a window that is worth reading: all of the user's own words, and of the rest the lines
// of some worth, each with the line before and the line after it. "[...]" replaces the rest, and
// messages without any such line are left out. Works is true where an agent works: see package rules.
func Passages(window []schema.Message, works bool) []schema.Message {
	all := split(window, works)
	worth := model().worth(all)
	kept, own := map[*schema.Message][]passage{}, map[*schema.Message]int{}
	for i := range all {
		s := &all[i]
		lines := kept[s.m]
		if n := len(lines); n == 0 || lines[n-1].start != s.LineStart {
			lines = append(lines, passage{start: s.LineStart, end: s.LineEnd})
		}
		p := &lines[len(lines)-1]
		p.worth = max(p.worth, worth[i])
		if s.m.Role == schema.RoleUser && own[s.m] == 0 {
			own[s.m] = prose.OwnWords(s.m.Text, works || s.work == 1)
		}
		kept[s.m] = lines
	}
	var out []schema.Message
	for i := range window {
		m := window[i]
		if lines := kept[&window[i]]; m.Extractable() && (m.Role != schema.RoleUser || len(lines) > 0) {
			if m.Text = passagesOf(m.Text, own[&window[i]], lines); m.Text == "" {
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

// passage is a whole line of a message, and the worth of the best part of it.
type passage struct {
	start, end int
	worth      float64
}

// passagesOf returns the user's own text before a place, and the lines after it that are worth reading, with their
// neighbours. It returns "" if there are none.
func passagesOf(text string, own int, lines []passage) string {
	if at := strings.IndexByte(text[own:], '\n'); own > 0 && at >= 0 {
		own += at + 1 // Lines are whole.
	} else if own > 0 {
		return text
	}
	keep := make([]bool, len(lines))
	any := own > 0
	for i, l := range lines {
		if l.worth < minPassageWorth || l.end <= own {
			continue
		}
		any = true
		for n := max(0, i-1); n <= min(len(lines)-1, i+1); n++ {
			keep[n] = true
		}
	}
	if !any {
		return ""
	}
	var b strings.Builder
	b.WriteString(text[:own])
	at, left := own, false
	for i, l := range lines {
		if l.end <= own {
			continue
		}
		start := strings.LastIndexByte(text[:l.start], '\n') + 1 // With its bullet, or its mark of a heading.
		end := len(text)
		if i+1 < len(lines) {
			end = strings.LastIndexByte(text[:lines[i+1].start], '\n') + 1
		}
		end = max(end, at)
		if start = max(start, at); keep[i] {
			if left || start > at && strings.TrimSpace(text[at:start]) != "" {
				b.WriteString(gap + "\n")
			}
			b.WriteString(text[start:end])
			left = false
		} else if strings.TrimSpace(text[start:end]) != "" {
			left = true
		}
		at = max(at, end)
	}
	if left {
		b.WriteString(gap + "\n")
	}
	return strings.TrimRight(b.String(), " \n")
}
