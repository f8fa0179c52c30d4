package evidence

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"axiommind/activities/evidence/normal"
	"axiommind/schema"
)

var (
	// ErrFalse is wrapped by an error of [Verify] if the evidence is not true of its source.
	ErrFalse = errors.New("evidence is false")
	// ErrUnknownRule is wrapped by an error of [Verify] if a newer program has judged the evidence.
	ErrUnknownRule = errors.New("rule of proof is unknown")
)

func falsef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFalse, fmt.Sprintf(format, args...))
}

// Verify checks evidence against the text of its message, by the version of the rule that judged it:
//   - the hashes are right, and Text is the source's text at the span;
//   - every place lies in the text on grapheme boundaries, and its bytes and runes agree;
//   - the quote equals the text at every place in the way that Method claims;
//   - it proves there, or does not, as the rule says, by a text whose class of trust is the recorded one.
//
// Verify depends only on its arguments. Evidence that was not found claims nothing and fails. The quote is not
// looked for again, since a better search may find more places. The caller must check that the text is of the
// message and event that the evidence names.
func Verify(source string, e schema.Evidence, rule int) error {
	return NewSource(e.MessageIndex, e.EventID, source).Verify(e, rule)
}

// VerifyMessage is [Verify] against a message of the log, whose role and kind decide which text may prove.
func VerifyMessage(m schema.Message, e schema.Evidence, rule int) error {
	return NewMessageSource(m, e.EventID).Verify(e, rule)
}

// Verify is [Verify] against the message.
func (s *Source) Verify(e schema.Evidence, rule int) error {
	if rule < 0 || rule > Rule {
		return fmt.Errorf("%w: version %d, this program knows 0 to %d", ErrUnknownRule, rule, Rule)
	}
	if !e.Found {
		return falsef("quote is not found: %s", e.Reason)
	}
	q := newQuote(e.Quote)
	if reason := s.unfit(q); reason != "" {
		return falsef("quote can't be looked for: %s", reason)
	}
	if e.QuoteHash != hashOf(e.Quote) {
		return falsef("quote hash %q is not that of the quote", e.QuoteHash)
	}
	if e.SourceHash != s.sha256() {
		return falsef("source hash %q is not that of the source", e.SourceHash)
	}
	if err := s.verifyPlaces(q, e); err != nil {
		return err
	}
	if e.Text != s.text[e.Span.ByteStart:e.Span.ByteEnd] {
		return falsef("text %q is not the source's text at the span", e.Text)
	}
	if e.Aligned != e.Method.Aligns() {
		return falsef("aligned is %t for evidence found by method %q", e.Aligned, e.Method)
	}
	return s.verifyProof(q, e, rule)
}

// verifyPlaces checks the chosen place and the others.
func (s *Source) verifyPlaces(q *quote, e schema.Evidence) error {
	reason, places := "", e.Occurrences
	if len(places) == 0 {
		places = []schema.Span{e.Span}
	} else {
		reason = schema.ReasonAmbiguous
	}
	if e.Reason != reason || len(e.Occurrences) == 1 {
		return falsef("%d occurrences with reason %q", len(e.Occurrences), e.Reason)
	}
	if !slices.Contains(places, e.Span) {
		return falsef("span [%d,%d) is not among the occurrences", e.Span.ByteStart, e.Span.ByteEnd)
	}
	last := -1
	for _, span := range places {
		if err := s.verifySpan(span); err != nil {
			return err
		}
		if span.ByteStart <= last {
			return falsef("occurrences are not in order")
		}
		last = span.ByteStart
		if err := s.verifyClaim(q, e.Method, e.Confidence, extentOf(span)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) verifySpan(span schema.Span) error {
	x := extentOf(span)
	switch {
	case x.start < 0 || x.end > len(s.text) || x.start >= x.end:
		return falsef("span [%d,%d) is not in the source's %d bytes", x.start, x.end, len(s.text))
	case !normal.OnBoundary(s.text, x.start) || !normal.OnBoundary(s.text, x.end):
		return falsef("span [%d,%d) cuts a character", x.start, x.end)
	case s.span(x) != span:
		return falsef("runes [%d,%d) are not bytes [%d,%d)", span.RuneStart, span.RuneEnd, x.start, x.end)
	}
	return nil
}

func (s *Source) verifyClaim(q *quote, method schema.Method, confidence float64, x extent) error {
	low, high, holds := 0.85, 0.95, false
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
	case schema.MethodJoined:
		holds = s.joinedAt(q, x)
	case schema.MethodApproximate:
		holds = s.similarityAt(q, x) >= MinSimilarity || s.lettersAt(q, x)
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

// trustRule is the first rule that checks the class of the text.
const trustRule = 2

// verifyProof checks the proof of the chosen place by the rule.
func (s *Source) verifyProof(q *quote, e schema.Evidence, rule int) error {
	x := extentOf(e.Span)
	trust := e.Trust
	switch class := s.trust(x); {
	case rule < trustRule && trust != "":
		return falsef("rule %d knows no class of trust, and the text is %q", rule, trust)
	case rule >= trustRule && s.message != nil && trust != class:
		return falsef("trust is %q, and the text at the span is %q", trust, class)
	case s.message != nil && e.By != s.by():
		return falsef("by is %q, and the message is by %q", e.By, s.by())
	}
	proven := rule >= 1 && e.Aligned && (trust == "" || trust.Proves()) && s.proves(q, x)
	if e.Proven != proven {
		return falsef("proven is %t, by rule %d it is %t", e.Proven, rule, proven)
	}
	var within *schema.Passage
	if rule >= 1 && !proven {
		within = s.within(x)
	}
	if !reflect.DeepEqual(e.Within, within) {
		return falsef("the passage is not the whole sentences that hold the span")
	}
	return nil
}
