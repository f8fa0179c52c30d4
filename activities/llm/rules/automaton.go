package rules

import (
	"slices"
	"strings"
)

// hit is a cue found in a text, in bytes.
type hit struct {
	cue        int32
	start, end int32
}

// automaton finds all cues in one pass over the bytes of a text (Aho and Corasick's construction,
// with every transition laid out in a table).
type automaton struct {
	cues []cue
	// class maps a byte to its column: capitals share theirs with small letters, and all bytes in
	// no cue share one.
	class [256]uint8
	width int32
	next  []int32
	// outputs lists the cues that end in a state.
	outputs [][]int32
}

const noState = -1

func newAutomaton(cues []cue) *automaton {
	a := &automaton{cues: withApostrophes(cues)}
	a.classify()
	a.grow()
	a.link()
	return a
}

// withApostrophes adds each cue with an apostrophe once more with a typographic one.
func withApostrophes(cues []cue) []cue {
	out := slices.Clone(cues)
	for _, c := range cues {
		if strings.Contains(c.text, "'") {
			c.text = strings.ReplaceAll(c.text, "'", "’")
			out = append(out, c)
		}
	}
	return out
}

func (a *automaton) classify() {
	used := uint8(0)
	for _, c := range a.cues {
		for i := range len(c.text) {
			b := c.text[i]
			if a.class[b] != 0 {
				continue
			}
			used++
			a.class[b] = used
			if 'a' <= b && b <= 'z' {
				a.class[b-'a'+'A'] = used
			}
		}
	}
	a.width = int32(used) + 1
}

func (a *automaton) state() int32 {
	for range a.width {
		a.next = append(a.next, noState)
	}
	a.outputs = append(a.outputs, nil)
	return int32(len(a.outputs) - 1)
}

func (a *automaton) grow() {
	a.state()
	for n, c := range a.cues {
		s := int32(0)
		for i := range len(c.text) {
			at := s*a.width + int32(a.class[c.text[i]])
			if a.next[at] == noState {
				// The call may move the table.
				fresh := a.state()
				a.next[at] = fresh
			}
			s = a.next[at]
		}
		a.outputs[s] = append(a.outputs[s], int32(n))
	}
}

// link fills in, breadth first, where to go on when a cue breaks off.
func (a *automaton) link() {
	fail := make([]int32, len(a.outputs))
	var queue []int32
	for c := range a.width {
		if s := a.next[c]; s == noState {
			a.next[c] = 0
		} else {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		a.outputs[s] = append(a.outputs[s], a.outputs[fail[s]]...)
		for c := range a.width {
			at := s*a.width + c
			back := a.next[fail[s]*a.width+c]
			if a.next[at] == noState {
				a.next[at] = back
				continue
			}
			fail[a.next[at]] = back
			queue = append(queue, a.next[at])
		}
	}
}

// find appends to hits every cue in the text, in order of its end.
func (a *automaton) find(text string, hits []hit) []hit {
	s := int32(0)
	for i := range len(text) {
		s = a.next[s*a.width+int32(a.class[text[i]])]
		for _, n := range a.outputs[s] {
			end := int32(i + 1)
			start := end - int32(len(a.cues[n].text))
			if bounded(text, int(start), int(end)) {
				hits = append(hits, hit{n, start, end})
			}
		}
	}
	return hits
}

// bounded reports whether a piece of text begins and ends with its words. "n't" ends one.
func bounded(text string, start, end int) bool {
	contraction := strings.HasPrefix(text[start:end], "n'") || strings.HasPrefix(text[start:end], "n’")
	if start > 0 && wordByte(text[start]) && wordByte(text[start-1]) && !contraction {
		return false
	}
	return end >= len(text) || !wordByte(text[end-1]) || !wordByte(text[end])
}

func wordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}
