package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"axiommind/activities/text"
	"axiommind/schema"
)

const (
	// minQuote is the length in runes below which a quote includes its neighbours in the line, to be distinct from
	// other places. maxWidened is the length up to which it is widened.
	minQuote   = 30
	maxWidened = 200
	// MaxTitle bounds a title, in runes.
	MaxTitle = 200
)

// Quote returns the quote that proves a sentence of the text: the fewest whole sentences or lines
// that hold it, however long, since a part may say another thing than the whole. A short one takes in those
// of the line around it. Quote returns "" where they are too long for a quote.
func Quote(text string, boundaries Boundaries, of Sentence) string {
	around, s := Span{of.LineStart, of.LineEnd}, Span{of.Start, of.End}
	s.Start, s.End = boundaries.Around(s.Start, s.End)
	if s.End-s.Start > schema.MaxQuote*utf8.UTFMax {
		return "" // A line may say many things: it is not counted for each.
	}
	widen := func(wider Span) bool {
		if wider == s || runes(text, wider) > maxWidened || !boundaries.Whole(wider.Start, wider.End) {
			return false
		}
		s = wider
		return true
	}
	for s.End < around.End && runes(text, s) < minQuote {
		next := strings.IndexFunc(text[s.End:around.End], notSpace)
		if next < 0 {
			break
		}
		if _, end := boundaries.Around(s.End+next, s.End+next+1); !widen(Span{s.Start, max(s.End, end)}) {
			break
		}
	}
	for around.Start < s.Start && runes(text, s) < minQuote {
		last := strings.LastIndexFunc(text[around.Start:s.Start], notSpace)
		if last < 0 {
			break
		}
		last += around.Start
		if start, _ := boundaries.Around(last, last+1); !widen(Span{min(s.Start, start), s.End}) {
			break
		}
	}
	if runes(text, s) > schema.MaxQuote {
		return ""
	}
	return text[s.Start:s.End]
}

// Boundaries are those of the sentences of a text.
type Boundaries = *text.Boundaries

// Sentence is a statement in a line of prose, in bytes of the text.
type Sentence struct {
	Start, End, LineStart, LineEnd int
	// Bullet is true for an item of a list, Heading for a heading, and Box for a check box.
	Bullet, Heading, Box bool
}

// Sentences returns the statements of a text in order. Code, tables, quotations and notes of the harness are left out.
func Sentences(text string) []Sentence {
	var out []Sentence
	var spans []Span
	Lines(text, func(l Line) {
		spans = Split(text, l, spans[:0])
		for _, s := range spans {
			out = append(out, Sentence{s.Start, s.End, l.Start, l.End, l.Bullet, l.Heading, l.Box != NoBox})
		}
	})
	return out
}

func notSpace(r rune) bool { return !unicode.IsSpace(r) }

func runes(text string, s Span) int { return utf8.RuneCountInString(text[s.Start:s.End]) }

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

// marks are those of Markdown that may be within a sentence.
var marks = strings.NewReplacer("**", "", "__", "", "`", "")

// Title makes a title of a sentence: without Markdown's marks, in one line, and not too long.
func Title(s string) string {
	s = marks.Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_~-–—:：;；,，、", r) })
	if utf8.RuneCountInString(s) > MaxTitle {
		s = Cut(s, MaxTitle-1) + "…"
	}
	return s
}
