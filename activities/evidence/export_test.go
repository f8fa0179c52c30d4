package evidence

import "axiommind/schema"

// Align finds every quote of one entry in the messages.
func Align(messages []schema.Message, quotes []schema.Quote) ([]schema.Evidence, bool) {
	return NewAligner(messages, nil).AlignEntry(quotes)
}

// Align finds one quote.
func (a *Aligner) Align(quote schema.Quote) schema.Evidence {
	e, _ := a.align(quote)
	return e
}
