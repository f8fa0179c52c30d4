package evidence

import "axiommind/schema"

// Forms returns the quote of a piece of evidence and the text of its message at the span, both in normal form 1 and
// as the rule of proof compares them. The text held is empty if the span is not in the message.
func (s *Source) Forms(e schema.Evidence) (quoted, held string) {
	q, x := newQuote(e.Quote), extentOf(e.Span)
	if s.verifySpan(e.Span) != nil {
		return q.form().Text, ""
	}
	x.start, x.end = s.sentences().Trim(x.start, x.end)
	start, end := s.form().Within(x.start, x.end)
	held = s.form().Text[start:end]
	form, _ := q.formOf(held)
	return form.Text, held
}
