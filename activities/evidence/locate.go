package evidence

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/evidence/fuzzy"
	"axiommind/activities/evidence/normal"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Confidence of each way to match. An approximate match has confidence in [0.85,0.95), growing with its
// similarity.
const (
	confidenceExact  = 1.0
	confidenceForm   = 0.99
	confidenceWords  = 0.97
	confidenceJoined = 0.9
	// confidenceLetters is the confidence of an approximate match of letters and digits alone.
	confidenceLetters = 0.94
)

// extent is a half-open range of bytes.
type extent struct{ start, end int }

func extentOf(s schema.Span) extent { return extent{s.ByteStart, s.ByteEnd} }

// match is the result of a stage in one message: at least one place, in order.
type match struct {
	method     schema.Method
	confidence float64
	places     []occurrence
}

// occurrence is where a quote was found, and whether it proves there.
type occurrence struct {
	extent
	proven bool
}

// Source is a message in which quotes are looked for. It keeps the forms of the text that searches need, so
// that many quotes are cheap. It is not safe for concurrent use.
type Source struct {
	index   int
	eventID string
	text    string
	// message is nil if only the text is known.
	message *schema.Message
	trusted *trusted

	hash        string
	marks       []int // the number of runes before every markEvery-th byte
	formView    *normal.View
	wordsView   *normal.View
	lettersView *normal.View
	lettersText string // the letters, once a quote has needed them
	boundaries  *text.Boundaries
	markupKnown *markup
}

// NewSource returns a source for the message of the index in its session. The event contains it.
func NewSource(index int, eventID, text string) *Source {
	return &Source{index: index, eventID: eventID, text: text}
}

func (s *Source) sha256() string {
	if s.hash == "" {
		s.hash = hashOf(s.text)
	}
	return s.hash
}

func (s *Source) form() *normal.View {
	if s.formView == nil {
		s.formView = normal.Of(s.text)
	}
	return s.formView
}

func (s *Source) words() *normal.View {
	if s.wordsView == nil {
		s.wordsView = normal.Words(s.form())
	}
	return s.wordsView
}

func (s *Source) letters() *normal.View {
	if s.lettersView == nil {
		s.lettersView = normal.Letters(s.form())
	}
	return s.lettersView
}

func (s *Source) sentences() *text.Boundaries {
	if s.boundaries == nil {
		s.boundaries = text.NewBoundaries(s.text)
	}
	return s.boundaries
}

// markEvery is the number of bytes between two known rune offsets of a message.
const markEvery = 2048

// runeOffset returns the number of runes before a byte offset, which is on a rune's boundary.
func (s *Source) runeOffset(at int) int {
	if s.marks == nil {
		s.marks = make([]int, 1, 1+len(s.text)/markEvery)
		count := 0
		for i := markEvery; i <= len(s.text); i += markEvery {
			count += runeStarts(s.text[i-markEvery : i])
			s.marks = append(s.marks, count)
		}
	}
	block := at / markEvery
	return s.marks[block] + runeStarts(s.text[block*markEvery:at])
}

// runeStarts counts the runes that begin in a piece of valid UTF-8 cut anywhere.
func runeStarts(s string) int {
	n := 0
	for i := range len(s) {
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	return n
}

func (s *Source) span(x extent) schema.Span {
	first := s.runeOffset(x.start)
	last := first
	if x.end-x.start < markEvery {
		last += utf8.RuneCountInString(s.text[x.start:x.end])
	} else {
		last = s.runeOffset(x.end)
	}
	return schema.Span{ByteStart: x.start, ByteEnd: x.end, RuneStart: first, RuneEnd: last}
}

// equal finds a quote by the first of the stages that need equal text.
func (s *Source) equal(q *quote) *match {
	if m := s.verbatim(q); m != nil {
		if !s.judge(q, m) && q.ends() {
			// The end of one sentence may be the whole of another.
			for _, stage := range []func(*quote) *match{s.asForm, s.withoutEmphasis} {
				if other := stage(q); other != nil && s.judge(q, other) {
					return other
				}
			}
		}
		return m
	}
	for _, stage := range []func(*quote) *match{s.asForm, s.withoutEmphasis, s.asWords, s.joined} {
		if m := stage(q); m != nil {
			s.judge(q, m)
			return m
		}
	}
	return nil
}

// judge checks every place by the rule of proof, and reports whether the quote proves at one.
func (s *Source) judge(q *quote, m *match) (proven bool) {
	for i := range m.places {
		p := &m.places[i]
		p.proven = m.method.Aligns() && s.trusts(p.extent) && s.proves(q, p.extent)
		proven = proven || p.proven
	}
	return s.proveFurther(q, m) || proven
}

// proveFurther continues the search if a quote has more places than are listed and proves at none of them.
// The first place at which it proves then replaces the last one.
func (s *Source) proveFurther(q *quote, m *match) bool {
	n := len(m.places)
	if n < MaxOccurrences || !m.method.Aligns() || slices.ContainsFunc(m.places, func(p occurrence) bool { return p.proven }) {
		return false
	}
	last := &m.places[n-1]
	further := s.exact(q.text, last.end)
	if m.method == schema.MethodNormalized {
		_, end := s.form().Within(last.start, last.end)
		further = s.through(s.form(), q.piece().Text, end)
	}
	for x := range further {
		if s.trusts(x) && s.proves(q, x) {
			*last = occurrence{x, true}
			return true
		}
	}
	return false
}

func (s *Source) verbatim(q *quote) *match {
	return matchOf(schema.MethodExact, confidenceExact, listed(s.exact(q.text, 0)))
}

func (s *Source) asForm(q *quote) *match {
	return matchOf(schema.MethodNormalized, confidenceForm, listed(s.through(s.form(), q.piece().Text, 0)))
}

func (s *Source) withoutEmphasis(q *quote) *match {
	form := q.form()
	if form.Text == q.piece().Text {
		return nil
	}
	places := listed(s.through(s.form(), form.Text, 0))
	s.growAll(q, form, s.form(), places, s.equalAt)
	return matchOf(schema.MethodNormalized, confidenceForm, places)
}

func (s *Source) asWords(q *quote) *match {
	words := q.words()
	if letters(words.Text) < schema.MinLetters {
		return nil
	}
	places := slices.DeleteFunc(listed(s.through(s.words(), words.Text, 0)), func(x extent) bool {
		return cutsNumber(s.text, x.start) || cutsNumber(s.text, x.end)
	})
	s.growAll(q, words, s.words(), places, s.equalAt)
	return matchOf(schema.MethodNormalized, confidenceWords, places)
}

// matchOf makes a match of the places that a stage found, nil when there are none.
func matchOf(method schema.Method, confidence float64, places []extent) *match {
	if len(places) == 0 {
		return nil
	}
	m := &match{method: method, confidence: confidence, places: make([]occurrence, len(places))}
	for i, x := range places {
		m.places[i].extent = x
	}
	return m
}

// maxRejected bounds the bytes of matching places that are skipped because they cut a character: there are
// characters of any length.
const maxRejected = 4 << 20

// listed returns as many places as are listed of a quote.
func listed(places iter.Seq[extent]) []extent {
	var found []extent
	for x := range places {
		if found = append(found, x); len(found) == MaxOccurrences {
			break
		}
	}
	return found
}

// exact gives the occurrences of a text from a byte on that begin and end between grapheme clusters. They do
// not overlap: the leftmost is taken first.
func (s *Source) exact(text string, at int) iter.Seq[extent] {
	return func(yield func(extent) bool) {
		for rejected := 0; rejected < maxRejected; {
			i := strings.Index(s.text[at:], text)
			if i < 0 {
				return
			}
			x := extent{at + i, at + i + len(text)}
			from, _ := normal.Cluster(s.text, x.start)
			last, to := normal.Cluster(s.text, x.end)
			if from == x.start && last == x.end {
				if !yield(x) {
					return
				}
				at = x.end
				continue
			}
			rejected += to - from
			_, size := utf8.DecodeRuneInString(s.text[x.start:])
			at = x.start + size
		}
	}
}

// through yields the places of the original whose view contains a text, from a byte of the view on.
func (s *Source) through(v *normal.View, text string, at int) iter.Seq[extent] {
	return func(yield func(extent) bool) {
		for rejected := 0; rejected < maxRejected; {
			i := strings.Index(v.Text[at:], text)
			if i < 0 {
				return
			}
			start, end := at+i, at+i+len(text)
			x, whole := s.whole(v, start, end)
			if whole {
				if !yield(x) {
					return
				}
				at = end
				continue
			}
			rejected += x.end - x.start
			_, size := utf8.DecodeRuneInString(v.Text[start:])
			at = start + size
		}
	}
}

// whole returns the original of a range of a view, extended to grapheme boundaries, and whether the view has
// nothing else of it.
func (s *Source) whole(v *normal.View, start, end int) (extent, bool) {
	var x extent
	x.start, x.end = v.Original(start, end)
	x = s.grown(x)
	from, to := v.Within(x.start, x.end)
	return x, from == start && to == end
}

// grown returns a range grown to grapheme boundaries.
func (s *Source) grown(x extent) extent {
	x.start, _ = normal.Cluster(s.text, x.start)
	if first, last := normal.Cluster(s.text, x.end); first < x.end {
		x.end = last
	}
	return x
}

// equalAt reports whether a place contains a quote by one of the stages that search normal forms.
func (s *Source) equalAt(q *quote, x extent) bool {
	start, end := s.form().Within(x.start, x.end)
	if text := s.form().Text[start:end]; text == q.piece().Text || text == q.form().Text {
		return true
	}
	if cutsNumber(s.text, x.start) || cutsNumber(s.text, x.end) {
		return false
	}
	start, end = s.words().Within(x.start, x.end)
	text, words := s.words().Text[start:end], q.words().Text
	return words != "" && strings.Contains(text, words) && strings.Trim(text, outerMarks) == strings.Trim(words, outerMarks)
}

// outerMarks are the marks that a text may have at its ends where a quote has none.
const outerMarks = " .,:-_'!"

// maxOuter is how many marks at an end of a quote a place may grow over.
const maxOuter = 8

// growAll extends places over the punctuation that the quote has at its ends and its view left out. It does
// so as far as the message has some there that its own view left out too, and holds is true.
func (s *Source) growAll(q *quote, of, in *normal.View, places []extent, holds func(*quote, extent) bool) {
	from, to := of.Original(0, len(of.Text))
	lead, trail := countVisible(q.text[:from]), countVisible(q.text[to:])
	for i, x := range places {
		start, end := in.Within(x.start, x.end)
		grow := func(wider extent) bool {
			from, to := in.Within(wider.start, wider.end)
			if strings.Trim(in.Text[from:to], outerMarks) != strings.Trim(in.Text[start:end], outerMarks) ||
				!normal.OnBoundary(s.text, wider.start) || !normal.OnBoundary(s.text, wider.end) || !holds(q, wider) {
				return false
			}
			x = wider
			return true
		}
		for range min(lead, maxOuter) {
			before := strings.TrimRightFunc(s.text[:x.start], unicode.IsSpace)
			r, size := utf8.DecodeLastRuneInString(before)
			if size == 0 || !mark(r) || !grow(extent{len(before) - size, x.end}) {
				break
			}
		}
		for range min(trail, maxOuter) {
			after := strings.TrimLeftFunc(s.text[x.end:], unicode.IsSpace)
			r, size := utf8.DecodeRuneInString(after)
			if size == 0 || !mark(r) || !grow(extent{x.start, len(s.text) - len(after) + size}) {
				break
			}
		}
		places[i] = x
	}
}

// mark reports whether a rune is punctuation or a mark of Markdown.
func mark(r rune) bool { return unicode.IsPunct(r) || r == '`' || r == '~' }

// countVisible counts the characters of an end of a quote that are seen.
func countVisible(end string) int {
	n := 0
	for _, r := range end {
		if !unicode.IsSpace(r) && !text.Ignored(r) {
			n++
		}
	}
	return n
}

// cutsNumber reports whether a position of a text is inside of a number.
func cutsNumber(text string, at int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:at])
	after, next := utf8.DecodeRuneInString(text[at:])
	switch {
	case unicode.IsDigit(before) && unicode.IsDigit(after):
		return true
	case unicode.IsDigit(before) && strings.ContainsRune(".,:", after):
		after, _ = utf8.DecodeRuneInString(text[at+next:])
		return unicode.IsDigit(after)
	case unicode.IsDigit(after) && strings.ContainsRune(".,:", before):
		before, _ = utf8.DecodeLastRuneInString(text[:at-size])
		return unicode.IsDigit(before)
	}
	return false
}

// quote is a quote prepared for the stages, each form when a stage first needs it.
type quote struct {
	text                                        string
	pieceView, formView, wordsView, lettersView *normal.View
	prepared                                    *fuzzy.Pattern
}

func newQuote(text string) *quote { return &quote{text: text} }

// ends reports whether the quote ends with a mark, as a sentence does. A piece of one seldom does.
func (q *quote) ends() bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(q.text, unicode.IsSpace))
	return unicode.IsPunct(r)
}

// piece is the normal form with the emphasis at its ends.
func (q *quote) piece() *normal.View {
	if q.pieceView == nil {
		q.pieceView = normal.OfPiece(q.text).Trim()
	}
	return q.pieceView
}

func (q *quote) form() *normal.View {
	if q.formView == nil {
		q.formView = normal.Of(q.text).Trim()
	}
	return q.formView
}

func (q *quote) words() *normal.View {
	if q.wordsView == nil {
		q.wordsView = normal.Words(q.form())
	}
	return q.wordsView
}

func (q *quote) letters() *normal.View {
	if q.lettersView == nil {
		q.lettersView = normal.Letters(q.form())
	}
	return q.lettersView
}

// pattern is the piece, for the approximate stage.
func (q *quote) pattern() *fuzzy.Pattern {
	if q.prepared == nil {
		q.prepared = fuzzy.NewPattern([]rune(q.piece().Text))
	}
	return q.prepared
}

// unfit returns the reason why a quote can't be looked for in the source, or "". A quote that is too short is
// found only if it is the whole text of a message that answers a question of the harness: a "Yes." elsewhere
// proves nothing.
func (s *Source) unfit(q *quote) string {
	reason := q.unfit()
	if reason == schema.ReasonTooShort && s != nil && s.message != nil && s.message.CallID != "" &&
		strings.TrimSpace(s.text) == strings.TrimSpace(q.text) {
		return ""
	}
	return reason
}

// unfit returns the reason why a quote can't be looked for, or "".
func (q *quote) unfit() string {
	if letters(q.text) >= schema.MinLetters {
		return ""
	}
	for _, r := range q.text {
		if !unicode.IsSpace(r) && !text.Ignored(r) {
			return schema.ReasonTooShort
		}
	}
	return schema.ReasonEmpty
}

// letters counts letters and digits up to schema.MinLetters.
func letters(text string) int {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			if n++; n == schema.MinLetters {
				break
			}
		}
	}
	return n
}
