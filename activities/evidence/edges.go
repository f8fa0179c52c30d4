package evidence

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"axiommind/schema"
)

// doubts lists where a quote may say something else than the place at which it is found.
func (s *source) doubts(q *quote, method schema.Method, x extent) []schema.Doubt {
	var doubts []schema.Doubt
	if start := cutBefore(s.text, x.start); start < x.start {
		end := unitEnd(s.text, x.start)
		if end == x.start {
			end = wordEnd(s.text, x.start)
		}
		end = min(end, x.end)
		doubts = append(doubts, schema.Doubt{Quote: s.text[x.start:end], Source: s.text[start:end]})
	}
	switch method {
	case schema.MethodNormalized:
		doubts = append(doubts, s.unproven(q, x)...)
	case schema.MethodApproximate:
		_, inside := s.similarityAt(q, x)
		doubts = append(doubts, inside...)
		doubts = append(doubts, raised(q.text, s.text[x.start:x.end])...)
		doubts = append(doubts, s.unlikeMarks(q, x)...)
	}
	if end := cutAfter(s.text, x.end); end > x.end {
		start := unitStart(s.text, x.end)
		if start == x.end {
			start = wordStart(s.text, x.end)
		}
		start = max(start, x.start)
		doubts = append(doubts, schema.Doubt{Quote: s.text[start:x.end], Source: s.text[start:end]})
	}
	return doubts
}

// unproven lists where a place of equal letters may say something else than a quote: a line was added
// instead of removed, a power is written as a plain number, punctuation lacks in numbers.
func (s *source) unproven(q *quote, x extent) []schema.Doubt {
	text := s.text[x.start:x.end]
	doubts := raised(q.text, text)
	own, theirs := diffMarks(q.text), diffMarks(s.text[lineStart(s.text, x.start):x.end])
	if own != "" && own != theirs {
		doubts = append(doubts, schema.Doubt{Quote: own, Source: theirs})
	}
	if gaps, joined := s.joinedAt(q, x); joined {
		return append(doubts, s.gapDoubts(gaps)...)
	}
	lacking, _ := s.marksAt(q, x)
	return append(append(doubts, lacking...), s.unlikeMarks(q, x)...)
}

// raised lists the numbers that are powers or indices in the source and plain digits in the quote, or
// the other way round: the normal form does not tell them apart.
func raised(quote, text string) []schema.Doubt {
	q, s := raisedDigits(quote), raisedDigits(text)
	if slices.Equal(q, s) {
		return nil
	}
	d := schema.Doubt{Quote: strings.Join(q, " "), Source: strings.Join(s, " ")}
	if len(q) == 0 {
		d.Quote = norm.NFKC.String(d.Source)
	}
	if len(s) == 0 {
		d.Source = norm.NFKC.String(d.Quote)
	}
	return []schema.Doubt{d}
}

// raisedDigits returns the words and numbers of a text in which a raised, lowered or fractional digit
// follows something else.
func raisedDigits(text string) []string {
	var found []string
	var before rune
	for i, r := range text {
		if unicode.Is(unicode.No, r) && wordRune(before) && !unicode.Is(unicode.No, before) {
			found = append(found, text[wordStart(text, i):wordEnd(text, i)])
		}
		before = r
	}
	return found
}
