package evidence

import (
	"errors"
	"fmt"
	"slices"

	"axiommind/schema"
)

// ErrFalse is what every error of [Verify] wraps: the evidence is not true of its source.
var ErrFalse = errors.New("evidence is false")

func falsef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFalse, fmt.Sprintf(format, args...))
}

// Verify reports whether evidence is true of the text of its message: the hashes are right, the span
// lies in the text on grapheme borders, bytes and runes agree, Text is the source's text there, and
// the quote equals that text in the way Method claims, with no doubts but those listed. Then the quote
// is looked for again, and what is found must be what is stored: method, confidence, places. It depends
// on nothing but its arguments. Evidence that is not aligned claims nothing and fails. What it does not
// see is which message and event the text is of, and which of several places the entry's other evidence
// made the nearest.
func Verify(source string, e schema.Evidence) error {
	return newSource(e.MessageIndex, e.EventID, source).verify(e)
}

// verify is [Verify] against a source that may have been prepared for other evidence before.
func (s *source) verify(e schema.Evidence) error {
	if !e.Aligned {
		return falsef("quote is not aligned: %s", e.Reason)
	}
	q := newQuote(e.Quote)
	if reason := q.unfit(); reason != "" {
		return falsef("quote proves nothing: %s", reason)
	}
	if e.QuoteHash != hashOf(e.Quote) {
		return falsef("quote hash %q is not that of the quote", e.QuoteHash)
	}
	if e.SourceHash != s.sha256() {
		return falsef("source hash %q is not that of the source", e.SourceHash)
	}
	if err := s.verifySpan(e.Span); err != nil {
		return err
	}
	if e.Text != s.text[e.Span.ByteStart:e.Span.ByteEnd] {
		return falsef("text %q is not the source's text at the span", e.Text)
	}
	if err := s.verifyClaim(q, e.Method, e.Confidence, extentOf(e.Span)); err != nil {
		return err
	}
	if doubts := s.doubts(q, e.Method, extentOf(e.Span)); !slices.Equal(doubts, e.Doubts) {
		return falsef("doubts %v are not those that quote and text raise by the rules of today: %v", e.Doubts, doubts)
	}
	return s.verifyOccurrences(q, e)
}

func (s *source) verifySpan(span schema.Span) error {
	x := extentOf(span)
	switch {
	case x.start < 0 || x.end > len(s.text) || x.start >= x.end:
		return falsef("span [%d,%d) is not in the source's %d bytes", x.start, x.end, len(s.text))
	case !onBorder(s.text, x.start) || !onBorder(s.text, x.end):
		return falsef("span [%d,%d) cuts a character", x.start, x.end)
	case s.span(x) != span:
		return falsef("runes [%d,%d) are not bytes [%d,%d)", span.RuneStart, span.RuneEnd, x.start, x.end)
	}
	return nil
}

func (s *source) verifyClaim(q *quote, method schema.Method, confidence float64, x extent) error {
	low, high := 0.0, 0.0
	holds := false
	switch method {
	case schema.MethodExact:
		if confidence != confidenceExact {
			return falsef("confidence %v of an exact match", confidence)
		}
		if s.text[x.start:x.end] != q.text {
			return falsef("text at the span is not the quote")
		}
		return nil
	case schema.MethodNormalized:
		low, high = 0.95, 1
		holds = s.equalAt(q, x)
	case schema.MethodApproximate:
		low, high = 0.85, 0.95
		holds = s.similarAt(q, x)
	default:
		return falsef("method %q is unknown", method)
	}
	if !(confidence >= low && confidence < high) {
		return falsef("confidence %v is outside [%v,%v) of method %q", confidence, low, high, method)
	}
	if !holds {
		return falsef("text at the span is not the quote by method %q", method)
	}
	return nil
}

// verifyOccurrences checks that the quote is found where the evidence says, and nowhere else.
func (s *source) verifyOccurrences(q *quote, e schema.Evidence) error {
	m := s.equal(q)
	if m == nil {
		m, _ = s.similar(q)
	}
	if m == nil || m.method != e.Method || m.confidence != e.Confidence {
		return falsef("the quote is not found by method %q with confidence %v", e.Method, e.Confidence)
	}
	places := make([]schema.Span, len(m.spans))
	for i, x := range m.spans {
		places[i] = s.span(x)
	}
	if !slices.Contains(places, e.Span) {
		return falsef("the quote is found at other places: %v", places)
	}
	reason := ""
	if len(places) == 1 {
		places = nil
	} else {
		reason = schema.ReasonAmbiguous
	}
	if !slices.Equal(e.Occurrences, places) || e.Reason != reason {
		return falsef("%d occurrences with reason %q of a quote that is found at %d places", len(e.Occurrences), e.Reason, len(m.spans))
	}
	return nil
}

func extentOf(s schema.Span) extent { return extent{s.ByteStart, s.ByteEnd} }
