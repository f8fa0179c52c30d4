package evidence

import (
	"slices"

	"axiommind/schema"
)

// MaxOccurrences is the maximum number of places that are listed for a quote.
const MaxOccurrences = 256

// MostListed returns how many places are listed at most of a quote that a method found. The source may
// have more.
func MostListed(m schema.Method) int {
	if m == schema.MethodApproximate {
		return maxCandidates
	}
	return MaxOccurrences
}

// Aligner finds quotes in the messages of one window. It prepares a message when a quote first needs it and keeps
// the result, so that many quotes against the same messages are cheap. It is not safe for concurrent use.
type Aligner struct {
	sources []*Source
	byIndex map[int]*Source
}

// NewAligner returns an Aligner for the messages, which it addresses by their Index. The function eventID returns
// the id of a message's event; nil leaves the ids empty.
func NewAligner(messages []schema.Message, eventID func(messageIndex int) string) *Aligner {
	a := &Aligner{
		sources: make([]*Source, 0, len(messages)),
		byIndex: make(map[int]*Source, len(messages)),
	}
	for i := range messages {
		index := messages[i].Index
		if _, taken := a.byIndex[index]; taken {
			continue
		}
		id := ""
		if eventID != nil {
			id = eventID(index)
		}
		a.take(NewMessageSource(messages[i], id))
	}
	return a
}

func (a *Aligner) take(s *Source) {
	a.sources = append(a.sources, s)
	a.byIndex[s.index] = s
}

// next switches to the messages of another window of the same session. Prepared messages that both windows have are
// kept, because a long message is in many windows.
func (a *Aligner) next(messages []schema.Message, eventID func(messageIndex int) string) {
	before := a.byIndex
	a.sources, a.byIndex = nil, make(map[int]*Source, len(messages))
	for i := range messages {
		m := &messages[i]
		s := before[m.Index]
		if s == nil {
			s = NewMessageSource(*m, eventID(m.Index))
		}
		a.take(s)
	}
}

// AlignEntry finds the quotes of one entry, in their order. Of several occurrences of a quote one that
// proves is chosen before others, then the one nearest to the entry's other evidence. It reports whether the
// entry is aligned: it has at least one quote, and every quote is aligned. [Proven] says whether it
// is proven.
func (a *Aligner) AlignEntry(quotes []schema.Quote) (evidence []schema.Evidence, aligned bool) {
	evidence = make([]schema.Evidence, len(quotes))
	found := make([]*finding, len(quotes))
	aligned = len(quotes) > 0
	for i, q := range quotes {
		evidence[i], found[i] = a.align(q)
		aligned = aligned && evidence[i].Aligned
	}
	chooseNearest(evidence, found)
	return evidence, aligned
}

// finding is where a quote was found, and which of the places may be chosen: those where it proves, or all if it
// proves nowhere.
type finding struct {
	source *Source
	places []occurrence
}

// choose sets the fields of evidence that depend on its place.
func (f *finding) choose(e *schema.Evidence, p occurrence) {
	e.Span, e.Proven, e.Within = f.source.span(p.extent), p.proven, nil
	e.Trust, e.By = f.source.trust(p.extent), f.source.by()
	e.Text = f.source.text[p.start:p.end]
	if !p.proven {
		e.Within = f.source.within(p.extent)
	}
}

func (a *Aligner) align(quote schema.Quote) (schema.Evidence, *finding) {
	q := newQuote(quote.Quote)
	e := schema.Evidence{MessageIndex: quote.MessageIndex, Quote: quote.Quote, QuoteHash: hashOf(quote.Quote)}
	stated := a.byIndex[quote.MessageIndex]
	if reason := stated.unfit(q); reason != "" {
		e.Reason = reason
		return e, nil
	}
	s, m, reason := a.find(q, stated)
	if m == nil {
		e.Reason = reason
		if stated != nil {
			e.EventID, e.SourceHash = stated.eventID, stated.sha256()
		}
		return e, nil
	}
	e.EventID, e.MessageIndex, e.SourceHash = s.eventID, s.index, s.sha256()
	if s != stated {
		e.RepairedFrom = &quote.MessageIndex
	}
	e.Found, e.Aligned, e.Method, e.Confidence = true, m.method.Aligns(), m.method, m.confidence
	if len(m.places) > 1 {
		e.Reason = schema.ReasonAmbiguous
		e.Occurrences = make([]schema.Span, len(m.places))
		for i, p := range m.places {
			e.Occurrences[i] = s.span(p.extent)
		}
	}
	f := &finding{source: s, places: m.places}
	if proven := slices.DeleteFunc(slices.Clone(m.places), func(p occurrence) bool { return !p.proven }); len(proven) > 0 {
		f.places = proven
	}
	f.choose(&e, f.places[0])
	return e, f
}

// find looks for a quote in the stated message, and then in the others. stated is nil if the window has no message
// of that index. Equal text in one other message precedes merely similar text in the stated one.
func (a *Aligner) find(q *quote, stated *Source) (*Source, *match, string) {
	reason := schema.ReasonInvalidIndex
	if stated != nil {
		reason = schema.ReasonNotFound
		if m := stated.equal(q); m != nil {
			return stated, m, ""
		}
	}
	other, m, several := a.elsewhere(stated, func(s *Source) *match { return s.equal(q) })
	if m != nil {
		return other, m, ""
	}
	if stated != nil {
		m, near := stated.similar(q)
		if m != nil {
			return stated, m, ""
		}
		if near {
			reason = schema.ReasonBelowThreshold
		}
	}
	if several {
		return nil, nil, schema.ReasonAmbiguous
	}
	other, m, several = a.elsewhere(stated, func(s *Source) *match {
		m, _ := s.similar(q)
		return m
	})
	switch {
	case m != nil:
		return other, m, ""
	case several:
		return nil, nil, schema.ReasonAmbiguous
	}
	return nil, nil, reason
}

// elsewhere returns the only message other than the stated one in which search finds something, or reports that
// there are several.
func (a *Aligner) elsewhere(stated *Source, search func(*Source) *match) (only *Source, m *match, several bool) {
	for _, s := range a.sources {
		if s == stated {
			continue
		}
		found := search(s)
		if found == nil {
			continue
		}
		if m != nil {
			return nil, nil, true
		}
		only, m = s, found
	}
	return only, m, false
}
