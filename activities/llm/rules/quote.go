package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"axiommind/activities/text"
	"axiommind/schema"
)

const (
	// minQuote is the length in runes below which a quote takes in its neighbours in the line, so that it can be
	// told from other places, and maxWidened what it is widened to at most.
	minQuote   = 30
	maxWidened = 200
	// maxTitle bounds a title, in runes.
	maxTitle = 200
)

// quoteOf returns the quote that proves an entry read from a piece of the message: see [Quote].
func (x *extractor) quoteOf(around, s span) string {
	return Quote(x.m.Text, x.boundaries, Sentence{Start: s.start, End: s.end, LineStart: around.start, LineEnd: around.end})
}

// Quote returns the quote that proves a sentence of the text: the fewest whole sentences or lines
// that hold it, however long, since a part of one may say what the whole does not. A short one takes in those
// of the line around it. It returns "" where none is short enough for a quote.
func Quote(text string, boundaries Boundaries, of Sentence) string {
	around, s := span{of.LineStart, of.LineEnd}, span{of.Start, of.End}
	s.start, s.end = boundaries.Around(s.start, s.end)
	if s.end-s.start > schema.MaxQuote*utf8.UTFMax {
		return "" // A line may say many things: it is not counted for each.
	}
	widen := func(wider span) bool {
		if wider == s || runes(text, wider) > maxWidened || !boundaries.Whole(wider.start, wider.end) {
			return false
		}
		s = wider
		return true
	}
	for s.end < around.end && runes(text, s) < minQuote {
		next := strings.IndexFunc(text[s.end:around.end], notSpace)
		if next < 0 {
			break
		}
		if _, end := boundaries.Around(s.end+next, s.end+next+1); !widen(span{s.start, max(s.end, end)}) {
			break
		}
	}
	for around.start < s.start && runes(text, s) < minQuote {
		last := strings.LastIndexFunc(text[around.start:s.start], notSpace)
		if last < 0 {
			break
		}
		last += around.start
		if start, _ := boundaries.Around(last, last+1); !widen(span{min(s.start, start), s.end}) {
			break
		}
	}
	if runes(text, s) > schema.MaxQuote {
		return ""
	}
	return text[s.start:s.end]
}

// Boundaries are those of the sentences of a text.
type Boundaries = *text.Boundaries

// Sentence is a statement in a line of prose, in bytes of the text.
type Sentence struct {
	Start, End, LineStart, LineEnd int
	// Bullet is true for an item of a list, Heading for a heading, and Box for a checkbox.
	Bullet, Heading, Box bool
}

// Sentences returns the statements of a text in order. Code, tables, quotations and notes of the harness are left out.
func Sentences(text string) []Sentence {
	var out []Sentence
	var spans []span
	lines(text, func(l line) {
		spans = sentences(text, l, spans[:0])
		for _, s := range spans {
			out = append(out, Sentence{s.start, s.end, l.start, l.end, l.bullet, l.heading, l.box != noBox})
		}
	})
	return out
}

func notSpace(r rune) bool { return !unicode.IsSpace(r) }

func runes(text string, s span) int { return utf8.RuneCountInString(text[s.start:s.end]) }

// Cut returns the longest beginning of s of at most n runes that ends with a grapheme.
func Cut(s string, n int) string {
	end, runes, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if runes += utf8.RuneCountInString(cluster); runes > n {
			break
		}
		end += len(cluster)
	}
	return strings.TrimRightFunc(s[:end], unicode.IsSpace)
}

// Title makes a title of a sentence that is too long for one, or has marks that a title has not.
func Title(sentence string) string { return clean(sentence) }

// clean makes a title of a sentence: without Markdown's marks, in one line, and not too long.
func clean(s string) string {
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_~-–—:：;；,，、", r) })
	if utf8.RuneCountInString(s) > maxTitle {
		s = Cut(s, maxTitle-1) + "…"
	}
	return s
}
