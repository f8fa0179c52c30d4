package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Lengths of a quote, in runes.
const (
	minQuote = 30
	maxQuote = 200
)

// quoteOf returns the piece of the message that proves what a sentence says: the sentence itself,
// with its neighbours in the line when it is short, and the part around the cue when it is long.
func quoteOf(text string, line []span, s span, cueStart int) string {
	if runes(text, s) < minQuote {
		s = widen(text, line, s)
	}
	if runes(text, s) <= maxQuote {
		return text[s.start:s.end]
	}
	if runes(text, span{s.start, max(s.start, cueStart)}) > maxQuote/2 {
		s.start = wordStart(text, s.start, cueStart)
	}
	return cutRunes(text[s.start:s.end], maxQuote)
}

// widen adds sentences of the line to a short one, so that the quote can be told from other places:
// those after it, then those before it.
func widen(text string, line []span, s span) span {
	for _, next := range line {
		if wider := (span{s.start, next.end}); next.start >= s.end && runes(text, s) < minQuote &&
			runes(text, wider) <= maxQuote {
			s = wider
		}
	}
	for _, prev := range slices.Backward(line) {
		if wider := (span{prev.start, s.end}); prev.end <= s.start && runes(text, s) < minQuote &&
			runes(text, wider) <= maxQuote {
			s = wider
		}
	}
	return s
}

func runes(text string, s span) int { return utf8.RuneCountInString(text[s.start:s.end]) }

// wordStart returns the start of the clause or word some runes before the cue.
func wordStart(text string, from, cueStart int) int {
	const lead = 40
	at := cueStart
	for n := 0; at > from && n < lead; n++ {
		_, size := utf8.DecodeLastRuneInString(text[from:at])
		at -= size
	}
	if at == from {
		return from
	}
	if space := strings.IndexFunc(text[at:cueStart], func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r)
	}); space >= 0 {
		_, size := utf8.DecodeRuneInString(text[at+space:])
		at += space + size
		return at + len(text[at:cueStart]) - len(strings.TrimLeftFunc(text[at:cueStart], unicode.IsSpace))
	}
	return cueStart
}

// cutRunes returns the longest beginning of s of at most n runes that ends with a grapheme.
func cutRunes(s string, n int) string {
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

// clean makes a title of a sentence: without Markdown's marks, in one line, not longer than a
// quote.
func clean(s string) string {
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_~-–—:：;；,，、", r) })
	if utf8.RuneCountInString(s) > maxQuote {
		s = cutRunes(s, maxQuote-1) + "…"
	}
	return s
}
