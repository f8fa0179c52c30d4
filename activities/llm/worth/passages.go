package worth

import (
	"strings"

	"axiommind/schema"
)

const (
	// reads is the worth from which on a line of the assistant is worth reading. It is a fraction of what an entry needs: a
	// language model judges better.
	reads = 0.04
	// gap stands for lines that are left out.
	gap = "[...]"
)

// Passages returns what of a window is worth reading: all that the user says for himself, and of the rest the lines with a
// sentence of some worth, each with the line before and the line after it. The rest is "[...]", and messages of which nothing
// is left are left out. Package rules explains works.
func Passages(window []schema.Message, works bool) []schema.Message {
	all := split(window, works)
	kept := map[*schema.Message][]line{}
	for i := range all {
		s := &all[i]
		lines := kept[s.m]
		if n := len(lines); n == 0 || lines[n-1].start != s.LineStart {
			lines = append(lines, line{start: s.LineStart, end: s.LineEnd})
		}
		l := &lines[len(lines)-1]
		l.worth = max(l.worth, probability(model().weigh(headWorth, features(all, i))))
		l.own = l.own || s.m.Role == schema.RoleUser && !s.handedOver
		kept[s.m] = lines
	}
	var out []schema.Message
	for i := range window {
		m := window[i]
		if m.Extractable() {
			if m.Text = passagesOf(m.Text, kept[&window[i]]); m.Text == "" {
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

// line is a line of a message, the worth of its best sentence, and whether it is in the user's own words.
type line struct {
	start, end int
	worth      float64
	own        bool
}

// passagesOf returns the lines of a text that are worth reading and their neighbours, or "".
func passagesOf(text string, lines []line) string {
	keep := make([]bool, len(lines))
	any := false
	for i, l := range lines {
		if !l.own && l.worth < reads {
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
	at, left := 0, false
	for i, l := range lines {
		start := strings.LastIndexByte(text[:l.start], '\n') + 1 // With its bullet, or its mark of a heading.
		end := len(text)
		if i+1 < len(lines) {
			end = strings.LastIndexByte(text[:lines[i+1].start], '\n') + 1
		}
		if start = max(start, at); keep[i] {
			if left || start > at && strings.TrimSpace(text[at:start]) != "" {
				b.WriteString(gap + "\n")
			}
			b.WriteString(text[start:max(start, end)])
			left = false
		} else if strings.TrimSpace(text[start:max(start, end)]) != "" {
			left = true
		}
		at = max(at, end)
	}
	if left {
		b.WriteString(gap + "\n")
	}
	return strings.TrimRight(b.String(), " \n")
}
