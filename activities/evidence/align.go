package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode"

	"axiommind/schema"
)

// MinLetters is how many letters and digits a quote needs to prove anything.
const MinLetters = 5

// MaxOccurrences bounds the places that are listed of an ambiguous quote.
const MaxOccurrences = 256

// Confidence of each way to match. An approximate match has confidence in [0.85,0.95), growing
// with its similarity.
const (
	confidenceExact   = 1.0
	confidenceFolded  = 0.99
	confidenceBare    = 0.97
	confidenceLetters = 0.96
	confidenceJoined  = 0.95
)

// Aligner finds quotes in the messages of one window. It prepares a message when a quote first
// needs it and keeps what it prepared, so that many quotes against the same messages are cheap.
// It is safe for concurrent use.
type Aligner struct {
	sources []*source
	byIndex map[int]*source
}

// NewAligner returns an Aligner for the messages, which it addresses by their Index. The function
// eventID gives the id of the event that holds a message; nil leaves the ids empty.
func NewAligner(messages []schema.Message, eventID func(messageIndex int) string) *Aligner {
	a := &Aligner{
		sources: make([]*source, 0, len(messages)),
		byIndex: make(map[int]*source, len(messages)),
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
		s := newSource(index, id, messages[i].Text)
		a.sources = append(a.sources, s)
		a.byIndex[index] = s
	}
	return a
}

// Align finds every quote of one entry in the messages: see [Aligner.AlignEntry].
func Align(messages []schema.Message, quotes []schema.Quote) ([]schema.Evidence, bool) {
	return NewAligner(messages, nil).AlignEntry(quotes)
}

// Align finds one quote. Of several occurrences the first without doubts is chosen, or the first.
func (a *Aligner) Align(quote schema.Quote) schema.Evidence {
	e, _ := a.align(quote)
	return e
}

// AlignEntry finds the quotes of one entry, in their order. Of several occurrences of a quote the
// one nearest to the entry's other evidence is chosen, one without doubts before others. It reports
// whether the entry is aligned: it has at least one quote, and the evidence for every quote proves it.
func (a *Aligner) AlignEntry(quotes []schema.Quote) (evidence []schema.Evidence, aligned bool) {
	evidence = make([]schema.Evidence, len(quotes))
	found := make([]*finding, len(quotes))
	aligned = len(quotes) > 0
	for i, q := range quotes {
		evidence[i], found[i] = a.align(q)
		aligned = aligned && evidence[i].Proves()
	}
	settle(evidence, found)
	return evidence, aligned
}

// finding is where a quote was found, and which of the places may be chosen: those without doubts,
// or all when every place has some.
type finding struct {
	source *source
	places []occurrence
}

type occurrence struct {
	span   schema.Span
	doubts []schema.Doubt
}

// withoutDoubts returns the places that nothing is in doubt about, or all when there is none.
func withoutDoubts(places []occurrence) []occurrence {
	var sure []occurrence
	for _, p := range places {
		if len(p.doubts) == 0 {
			sure = append(sure, p)
		}
	}
	if len(sure) == 0 {
		return places
	}
	return sure
}

// choose sets what evidence says of its place.
func (f *finding) choose(e *schema.Evidence, p occurrence) {
	e.Span, e.Doubts = p.span, p.doubts
	e.Text = f.source.text[p.span.ByteStart:p.span.ByteEnd]
}

// match is what a stage found in one message: byte spans in order, at least one, and what is in doubt
// about each, once it has been judged.
type match struct {
	method     schema.Method
	confidence float64
	spans      []extent
	doubts     [][]schema.Doubt
}

// extent is a half-open range of bytes.
type extent struct{ start, end int }

func (a *Aligner) align(quote schema.Quote) (schema.Evidence, *finding) {
	q := newQuote(quote.Quote)
	e := schema.Evidence{MessageIndex: quote.MessageIndex, Quote: quote.Quote, QuoteHash: hashOf(quote.Quote)}
	if reason := q.unfit(); reason != "" {
		e.Reason = reason
		return e, nil
	}
	stated := a.byIndex[quote.MessageIndex]
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
	e.Aligned, e.Method, e.Confidence = true, m.method, m.confidence
	s.judge(q, m)
	f := &finding{source: s, places: make([]occurrence, len(m.spans))}
	for i, x := range m.spans {
		f.places[i] = occurrence{s.span(x), m.doubts[i]}
	}
	if len(m.spans) > 1 {
		e.Reason = schema.ReasonAmbiguous
		e.Occurrences = make([]schema.Span, len(m.spans))
		for i, p := range f.places {
			e.Occurrences[i] = p.span
		}
	}
	if len(f.places) > 1 {
		f.places = withoutDoubts(f.places)
	}
	f.choose(&e, f.places[0])
	return e, f
}

// find looks for a quote in the stated message, which is nil when the window has none of that
// index, and then in the others. Equal text in one other message goes before merely similar text in
// the stated one.
func (a *Aligner) find(q *quote, stated *source) (*source, *match, string) {
	reason := schema.ReasonInvalidIndex
	if stated != nil {
		reason = schema.ReasonNotFound
		if m := stated.equal(q); m != nil {
			return stated, m, ""
		}
	}
	other, m, several := a.elsewhere(stated, func(s *source) *match { return s.equal(q) })
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
	other, m, several = a.elsewhere(stated, func(s *source) *match {
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

// elsewhere returns the only message beside the stated one in which search finds something, or
// reports that there are several.
func (a *Aligner) elsewhere(stated *source, search func(*source) *match) (only *source, m *match, several bool) {
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

// quote is a quote prepared for the stages, each form when a stage first needs it.
type quote struct {
	text                                               string
	literalView, foldedView, strippedView, lettersView *view
	prepared                                           *pattern
	endKnown, ends                                     bool // whether the quote ends a sentence
}

func newQuote(text string) *quote { return &quote{text: text} }

// literal is the folded quote with the emphasis at its ends.
func (q *quote) literal() *view {
	if q.literalView == nil {
		q.literalView = fold(q.text, true).trim()
	}
	return q.literalView
}

// folded is the folded quote.
func (q *quote) folded() *view {
	if q.foldedView == nil {
		q.foldedView = fold(q.text, false).trim()
	}
	return q.foldedView
}

// bare is the folded quote without punctuation.
func (q *quote) bare() *view {
	if q.strippedView == nil {
		q.strippedView = strip(q.folded())
	}
	return q.strippedView
}

// letters is the folded quote without anything but letters and digits.
func (q *quote) letters() *view {
	if q.lettersView == nil {
		q.lettersView = lettersOf(q.folded())
	}
	return q.lettersView
}

// pattern is the literal quote, for the approximate stage.
func (q *quote) pattern() *pattern {
	if q.prepared == nil {
		q.prepared = newPattern([]rune(q.literal().text))
	}
	return q.prepared
}

func (q *quote) runes() []rune { return q.pattern().runes }

// unfit says why a quote can prove nothing, or nothing.
func (q *quote) unfit() string {
	if letters(q.text) >= MinLetters {
		return ""
	}
	for _, r := range q.text {
		if !unicode.IsSpace(r) && !ignorable(r) {
			return schema.ReasonTooShort
		}
	}
	return schema.ReasonEmpty
}

// letters counts letters and digits up to MinLetters.
func letters(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			if n++; n == MinLetters {
				break
			}
		}
	}
	return n
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
