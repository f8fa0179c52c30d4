package evidence

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"axiommind/activities/evidence/normal"
)

// markup holds the marked ranges of a message's text. All are in order and do not overlap.
type markup struct {
	code   []extent // text between backticks, and fenced blocks with their fences
	struck []extent // struck-through text, with its marks
	// emphasizing are the positions of the marks that emphasize, of those that the normal form leaves out.
	emphasizing map[int]bool
}

func (s *Source) markup() *markup {
	if s.markupKnown == nil {
		var fences, code []extent
		for start, end := range s.sentences().Code() {
			fences = append(fences, extent{start, end})
		}
		for _, p := range pairs(s.text, '`', fences) {
			code = append(code, p.inner())
		}
		code = append(code, fences...)
		slices.SortFunc(code, func(a, b extent) int { return a.start - b.start })
		m := &markup{code: code}
		for _, p := range pairs(s.text, '~', code) {
			if p.marks == 2 {
				m.struck = append(m.struck, p.extent)
			}
		}
		s.markupKnown = m
	}
	return s.markupKnown
}

// overlapping returns those of some ranges, in order, that share a byte with a place.
func overlapping(ranges []extent, x extent) []extent {
	first := sort.Search(len(ranges), func(i int) bool { return ranges[i].end > x.start })
	last := sort.Search(len(ranges), func(i int) bool { return ranges[i].start >= x.end })
	return ranges[first:max(first, last)]
}

// codeIn returns the code that has a byte in common with a place.
func (s *Source) codeIn(x extent) []extent { return overlapping(s.markup().code, x) }

// struck reports whether a place overlaps struck-through text without containing all of it and its marks.
func (s *Source) struck(x extent) bool {
	return slices.ContainsFunc(overlapping(s.markup().struck, x), func(y extent) bool { return y.start < x.start || x.end < y.end })
}

// pair is a range in one paragraph between two runs of equally many marks, with the marks.
type pair struct {
	extent
	marks int
}

func (p pair) inner() extent { return extent{p.start + p.marks, p.end - p.marks} }

// pairs returns the pairs of a mark in a text, outside of the given ranges.
func pairs(text string, mark byte, but []extent) []pair {
	if strings.IndexByte(text, mark) < 0 {
		return nil
	}
	runs, paragraphs := runsOf(text, mark, but)
	next := make([]int, len(runs)) // the run of as many marks that follows in the paragraph, 0 when none does
	last := map[[2]int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		of := [2]int{runs[i].end - runs[i].start, paragraphs[i]}
		next[i], last[of] = last[of], i
	}
	var found []pair
	for i := 0; i < len(runs); i++ {
		if j := next[i]; j > 0 {
			found = append(found, pair{extent{runs[i].start, runs[j].end}, runs[i].end - runs[i].start})
			i = j
		}
	}
	return found
}

// runsOf returns the runs of a mark in a text, each with the number of its paragraph, outside of the given
// ranges.
func runsOf(text string, mark byte, but []extent) (runs []extent, paragraphs []int) {
	paragraph, line := 0, 0
	for at := 0; at < len(text); {
		if len(but) > 0 && at >= but[0].start {
			end := max(at, but[0].end)
			if strings.Contains(text[at:end], "\n") {
				paragraph++
				line = end
			}
			at, but = end, but[1:]
			continue
		}
		switch text[at] {
		case '\n':
			if strings.TrimSpace(text[line:at]) == "" {
				paragraph++
			}
			line = at + 1
		case mark:
			end := at
			for end < len(text) && text[end] == mark {
				end++
			}
			runs, paragraphs = append(runs, extent{at, end}), append(paragraphs, paragraph)
			at = end
			continue
		}
		at++
	}
	return runs, paragraphs
}

// emphasis are the marks that the normal form leaves out.
const emphasis = "*_~"

func marksOf(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(emphasis, r) {
			return r
		}
		return -1
	}, text)
}

// sameMarks compares the marks that the normal form leaves out. The message must have all marks of the quote,
// and the quote may lack only those of the message's marks that emphasize.
func (s *Source) sameMarks(q *quote, form *normal.View, x extent, start int) bool {
	quoted, source, needed := map[int]string{}, map[int]string{}, map[int]bool{}
	form.LeftOut(0, len(q.text), func(at, from, to int) {
		if marks := marksOf(q.text[from:to]); marks != "" {
			quoted[min(at, len(form.Text))] += marks
		}
	})
	s.form().LeftOut(x.start, x.end, func(at, from, to int) {
		if marks := marksOf(s.text[from:to]); marks != "" {
			at = min(at-start, len(form.Text))
			source[at] += marks
			needed[at] = needed[at] || !s.emphasizing()[from]
		}
	})
	for at, marks := range quoted {
		if source[at] != marks {
			return false
		}
	}
	for at := range needed {
		if needed[at] && quoted[at] != source[at] {
			return false
		}
	}
	return true
}

// emphasizing returns the positions of the marks that emphasize text, of those that the normal form leaves out.
// They are pairs within a line, and neither code nor tildes.
func (s *Source) emphasizing() map[int]bool {
	m := s.markup()
	if m.emphasizing != nil {
		return m.emphasizing
	}
	m.emphasizing = map[int]bool{}
	open, line := map[string]int{}, 0
	s.form().LeftOut(0, len(s.text), func(_, from, to int) {
		if strings.Contains(s.text[line:from], "\n") {
			clear(open)
		}
		line = from
		marks := marksOf(s.text[from:to])
		if marks == "" || strings.Contains(marks, "~") || len(s.codeIn(extent{from, to})) > 0 {
			return
		}
		before, _ := utf8.DecodeLastRuneInString(s.text[:from])
		after, _ := utf8.DecodeRuneInString(s.text[to:])
		if normal.WordRune(after) && !normal.WordRune(before) {
			open[marks] = from
			return
		}
		if opened, ok := open[marks]; ok {
			m.emphasizing[opened], m.emphasizing[from] = true, true
			delete(open, marks)
		}
	})
	return m.emphasizing
}
