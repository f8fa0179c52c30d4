package evidence

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// source is one message of a window with what has been prepared of it.
type source struct {
	index   int
	eventID string
	text    string

	hashOnce, markOnce, foldOnce, bareOnce, lettersOnce, lettersTextOnce sync.Once

	hash         string
	marks        []int
	foldedView   *view
	strippedView *view
	lettersView  *view
	lettersOf    string
}

func newSource(index int, eventID, text string) *source {
	return &source{index: index, eventID: eventID, text: text}
}

func (s *source) sha256() string {
	s.hashOnce.Do(func() { s.hash = hashOf(s.text) })
	return s.hash
}

func (s *source) folded() *view {
	s.foldOnce.Do(func() { s.foldedView = fold(s.text, false) })
	return s.foldedView
}

func (s *source) bare() *view {
	s.bareOnce.Do(func() { s.strippedView = strip(s.folded()) })
	return s.strippedView
}

func (s *source) letters() *view {
	s.lettersOnce.Do(func() { s.lettersView = lettersOf(s.folded()) })
	return s.lettersView
}

// lettersText is the text of letters without the way back, which few messages need.
func (s *source) lettersText() string {
	s.lettersTextOnce.Do(func() { s.lettersOf = lettersText(s.folded().text) })
	return s.lettersOf
}

// maxRejected bounds the bytes of the places of equal text that are passed over because they cut a
// character: there are characters of any length.
const maxRejected = 4 << 20

// markEvery is how many bytes lie between two known rune offsets of a message.
const markEvery = 2048

// runeOffset returns the number of runes before a byte offset, which is on a rune's border.
func (s *source) runeOffset(at int) int {
	s.markOnce.Do(func() {
		s.marks = make([]int, 1, 1+len(s.text)/markEvery)
		count := 0
		for i := markEvery; i <= len(s.text); i += markEvery {
			count += runeStarts(s.text[i-markEvery : i])
			s.marks = append(s.marks, count)
		}
	})
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

func (s *source) span(x extent) schema.Span {
	first := s.runeOffset(x.start)
	last := first
	if x.end-x.start < markEvery {
		last += utf8.RuneCountInString(s.text[x.start:x.end])
	} else {
		last = s.runeOffset(x.end)
	}
	return schema.Span{ByteStart: x.start, ByteEnd: x.end, RuneStart: first, RuneEnd: last}
}

// equal finds a quote by the stages that need equal text: the first stage that finds a place without
// doubts, or else the first that finds any.
func (s *source) equal(q *quote) *match {
	var doubted *match
	for _, stage := range []func(*quote) *match{s.verbatim, s.literal, s.unemphasized, s.unpunctuated, s.joined, s.lettersMatch} {
		m := stage(q)
		switch {
		case m == nil:
		case s.judge(q, m):
			return m
		case doubted == nil:
			doubted = m
		}
	}
	return doubted
}

// judge finds what is in doubt about each place of a match, if that is not known, and reports whether
// nothing is about one of them.
func (s *source) judge(q *quote, m *match) (sure bool) {
	if m.doubts == nil {
		m.doubts = make([][]schema.Doubt, len(m.spans))
		for i, x := range m.spans {
			m.doubts[i] = s.doubts(q, m.method, x)
		}
	}
	return slices.ContainsFunc(m.doubts, func(doubts []schema.Doubt) bool { return len(doubts) == 0 })
}

func (s *source) verbatim(q *quote) *match {
	return matchOf(schema.MethodExact, confidenceExact, s.exact(q.text))
}

func (s *source) literal(q *quote) *match {
	return matchOf(schema.MethodNormalized, confidenceFolded, s.through(s.folded(), q.literal().text))
}

func (s *source) unemphasized(q *quote) *match {
	folded := q.folded()
	if folded.text == q.literal().text {
		return nil
	}
	spans := s.through(s.folded(), folded.text)
	s.outline(q, folded, s.folded(), spans)
	return matchOf(schema.MethodNormalized, confidenceFolded, spans)
}

func (s *source) unpunctuated(q *quote) *match {
	bare := q.bare()
	if letters(bare.text) < MinLetters {
		return nil
	}
	spans := slices.DeleteFunc(s.through(s.bare(), bare.text), func(x extent) bool { return !q.ended(s.text, x) })
	s.outline(q, bare, s.bare(), spans)
	return matchOf(schema.MethodNormalized, confidenceBare, spans)
}

// matchOf makes a match of the places that a stage found, nil when there are none.
func matchOf(method schema.Method, confidence float64, spans []extent) *match {
	if len(spans) == 0 {
		return nil
	}
	return &match{method: method, confidence: confidence, spans: spans}
}

// exact returns the occurrences of a text that begin and end between grapheme clusters. They do
// not overlap: the leftmost is taken first.
func (s *source) exact(text string) []extent {
	var spans []extent
	for at, rejected := 0, 0; len(spans) < MaxOccurrences && rejected < maxRejected; {
		i := strings.Index(s.text[at:], text)
		if i < 0 {
			break
		}
		x := extent{at + i, at + i + len(text)}
		from, _ := clusterAt(s.text, x.start)
		last, to := clusterAt(s.text, x.end)
		if from == x.start && last == x.end {
			spans = append(spans, x)
			at = x.end
			continue
		}
		rejected += to - from
		_, size := utf8.DecodeRuneInString(s.text[x.start:])
		at = x.start + size
	}
	return spans
}

// through returns the places of the original where a view of it holds a text.
func (s *source) through(v *view, text string) []extent {
	var spans []extent
	for at, rejected := 0, 0; len(spans) < MaxOccurrences && rejected < maxRejected; {
		i := strings.Index(v.text[at:], text)
		if i < 0 {
			break
		}
		start, end := at+i, at+i+len(text)
		x, whole := s.whole(v, start, end)
		if whole {
			spans = append(spans, x)
			at = end
			continue
		}
		rejected += x.end - x.start
		_, size := utf8.DecodeRuneInString(v.text[start:])
		at = start + size
	}
	return spans
}

// whole returns the original of a range of a view, grown to grapheme borders, and whether the range
// is all that the view has of it.
func (s *source) whole(v *view, start, end int) (extent, bool) {
	x := v.original(start, end)
	x.start, _ = clusterAt(s.text, x.start)
	if first, last := clusterAt(s.text, x.end); first < x.end {
		x.end = last
	}
	from, to := v.within(x)
	return x, from == start && to == end
}

// equalAt reports whether a place holds a quote by one of the stages that need equal text.
func (s *source) equalAt(q *quote, x extent) bool {
	v := s.folded()
	start, end := v.within(x)
	text := v.text[start:end]
	if text == q.literal().text || text == q.folded().text {
		return true
	}
	if _, joined := s.joinedAt(q, x); joined {
		return true
	}
	v = s.bare()
	start, end = v.within(x)
	text, bare := v.text[start:end], q.bare().text
	if bare != "" && strings.Contains(text, bare) && strings.Trim(text, outerMarks) == strings.Trim(bare, outerMarks) {
		return true
	}
	return s.lettersAt(q, x)
}

// ended reports whether a place ends where its sentence does if the quote says so: a number that goes
// on is another number.
func (q *quote) ended(text string, x extent) bool {
	if !q.endKnown {
		rest := q.text[q.bare().original(0, len(q.bare().text)).end:]
		q.endKnown, q.ends = true, strings.ContainsAny(rest, ".!?") && !strings.Contains(fold(rest, true).text, ellipsisMark)
	}
	return !q.ends || !cutsNumber(text, x.end)
}

// outerMarks are what a bare text may keep at its ends and a bare quote lacks.
const outerMarks = " .,:-_'!"

// maxOuter is how many marks at an end of a quote a place may grow over.
const maxOuter = 8

// outline grows places of a message over the punctuation that the quote has at its ends and its
// view left out, as far as the message has some there that its own view left out too.
func (s *source) outline(q *quote, of, in *view, spans []extent) {
	inner := of.original(0, len(of.text))
	lead, trail := outer(q.text[:inner.start]), outer(q.text[inner.end:])
	for i, x := range spans {
		from, to := in.within(x)
		grow := func(wider extent) bool {
			start, end := in.within(wider)
			if strings.Trim(in.text[start:end], outerMarks) != strings.Trim(in.text[from:to], outerMarks) ||
				!onBorder(s.text, wider.start) || !onBorder(s.text, wider.end) || !s.equalAt(q, wider) {
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
		spans[i] = x
	}
}

// mark reports whether a rune is punctuation or a mark of Markdown.
func mark(r rune) bool { return unicode.IsPunct(r) || r == '`' || r == '~' }

// outer returns how many characters of an end are seen.
func outer(end string) int {
	n := 0
	for _, r := range end {
		if !unicode.IsSpace(r) && !ignorable(r) {
			n++
		}
	}
	return n
}
