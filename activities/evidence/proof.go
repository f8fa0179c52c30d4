package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"axiommind/activities/evidence/normal"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Rule is the version of the rule of proof that new evidence is judged by.
//
// Rule 1: a quote proves when, under normal form 1, it equals one or more whole sentences or whole lines of one message,
// or the whole message. [text.Boundaries] says where these begin and end. The quote may lack the full stop at its end,
// and no other mark. These differences count, although the normal form hides them:
//
//   - superscripts and subscripts, the sharp s, and a double hyphen: 10⁶ is not 106, Buße not Busse, and "--"
//     not "-". A dash may be either;
//   - the case of words that hold a digit or a capital behind their first letter: readPulse, OpenAI, k8S;
//   - code, which is text between backticks or in a fenced block, but for its white space;
//   - asterisks, underscores and tildes, unless they emphasize in pairs. Text that is ~~struck through~~ is struck
//     through in the quote, from mark to mark.
//
// A sign before a number needs no such care: the normal form keeps it. A quote that contains the placeholder of redacted
// text never proves, because the original text is unknown.
//
// Rule 2: as rule 1, and the place is text of the user or the assistant, whose class [schema.Evidence] names. Text that
// tools return, the harness writes, is remembered, or is handed over in a user's message proves nothing.
//
// Rule 0 is that of evidence recorded before rules had versions. It claims no proof.
//
// The judgement of a rule must never change, normal form and boundaries included: evidence is held to the rule it was
// recorded under. A different judgement is another rule.
const Rule = 2

// Proven reports whether the evidence of an entry proves it: there is some, and every piece is proven.
func Proven(evidence []schema.Evidence) bool {
	return len(evidence) > 0 && !slices.ContainsFunc(evidence, func(e schema.Evidence) bool { return !e.Proven })
}

// proves reports whether a quote that was found at a place proves there, by rule 1.
func (s *Source) proves(q *quote, x extent) bool {
	if schema.ContainsRedaction(s.text[x.start:x.end]) {
		return false
	}
	verbatim, boundaries := s.text[x.start:x.end] == q.text, s.sentences()
	x.start, x.end = boundaries.Trim(x.start, x.end)
	if verbatim {
		// Most quotes are verbatim, and need no normal form of the message.
		stop := x.end + fullStop(s.text, x.end)
		begins, ends := boundaries.Begins(x.start), boundaries.Ends(x.end) || boundaries.Ends(stop)
		if begins && ends {
			return !s.struck(x)
		}
		before, _ := utf8.DecodeLastRuneInString(s.text[:x.start])
		after, _ := utf8.DecodeRuneInString(s.text[stop:])
		if !begins && !mayBeLeftOut(before) || !ends && !mayBeLeftOut(after) {
			return false
		}
	}
	start, end := s.form().Within(x.start, x.end)
	form, ok := q.formOf(s.form().Text[start:end])
	if !ok {
		return false
	}
	whole, ok := s.wholeSentences(x, end)
	return ok && !s.struck(whole) && (s.text[whole.start:whole.end] == q.text || s.sameVerbatim(q, form, whole, start))
}

// mayBeLeftOut reports whether the normal form may leave out a character.
func mayBeLeftOut(r rune) bool { return strings.ContainsRune(emphasis, r) || text.Ignored(r) }

// formOf returns the view of the quote whose text equals that of a place.
func (q *quote) formOf(text string) (*normal.View, bool) {
	if q.form().Text == text {
		return q.form(), true
	}
	return q.piece(), q.piece().Text == text
}

// wholeSentences reports whether a place, whose normal form ends at the given byte, is whole sentences or lines, except
// for marks that the form leaves out and a full stop at the end. It returns the place with these marks.
func (s *Source) wholeSentences(x extent, formEnd int) (extent, bool) {
	v, boundaries := s.form(), s.sentences()
	begins := boundaries.Begins(x.start)
	for x.start > 0 && s.leftOut(x.start-1, x.start) {
		x.start--
		begins = begins || boundaries.Begins(x.start)
	}
	if !begins {
		return x, false
	}
	ends, x := s.endsAt(x)
	if n := fullStop(v.Text, formEnd); n > 0 && !ends {
		stopped := x
		_, stopped.end = v.Original(formEnd, formEnd+n)
		ends, _ = s.endsAt(stopped)
	}
	return x, ends
}

// endsAt reports whether a sentence or line ends at the end of a place, or behind the following characters that the
// normal form leaves out. It returns the place including those.
func (s *Source) endsAt(x extent) (bool, extent) {
	ends := s.sentences().Ends(x.end)
	for x.end < len(s.text) && s.leftOut(x.end, x.end+1) {
		x.end++
		ends = ends || s.sentences().Ends(x.end)
	}
	return ends, x
}

// leftOut reports whether the normal form of the message leaves out all of a range.
func (s *Source) leftOut(from, to int) bool {
	out := 0
	s.form().LeftOut(from, to, func(_, from, to int) { out += to - from })
	return out == to-from
}

// fullStops end a sentence that states, in all scripts.
const fullStops = ".。．｡﹒।॥۔։።။។៕᙮᠃᠉܁܂꓿꘎꛳𑁇"

// fullStop returns the length in bytes of the full stop at a byte of a text, or 0 if there is none. Dots that follow
// each other are an ellipsis, which leaves something unsaid.
func fullStop(text string, at int) int {
	r, size := utf8.DecodeRuneInString(text[at:])
	if size == 0 || !strings.ContainsRune(fullStops, r) {
		return 0
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+size:])
	if strings.ContainsRune(dots, before) || strings.ContainsRune(dots, after) {
		return 0
	}
	return size
}

// dots are the characters that an ellipsis may consist of.
const dots = ".。．｡﹒…‥⋯"

// sameVerbatim compares the original text of a quote and of a place in the message whose normal forms are equal. form
// is the quote's, and start is where the place begins in the message's form.
func (s *Source) sameVerbatim(q *quote, form *normal.View, x extent, start int) bool {
	raw := func(a, b int) (quoted, source string) {
		from, to := form.Original(a, b)
		quoted = q.text[from:to]
		from, to = s.form().Original(start+a, start+b)
		return quoted, s.text[from:to]
	}
	for at := 0; at < len(form.Text); {
		end := len(form.Text)
		if i := strings.IndexByte(form.Text[at:], ' '); i >= 0 {
			end = at + i
		}
		if at < end {
			if quoted, source := raw(at, end); !sameWord(quoted, source) {
				return false
			}
		}
		at = end + 1
	}
	for _, c := range s.codeIn(x) {
		a, b := s.form().Within(max(c.start, x.start), min(c.end, x.end))
		if a, b = max(a-start, 0), min(b-start, len(form.Text)); a >= b {
			continue
		}
		if quoted, source := raw(a, b); strings.Join(strings.Fields(quoted), " ") != strings.Join(strings.Fields(source), " ") {
			return false
		}
	}
	return s.sameMarks(q, form, x, start)
}

// sameWord compares the original text of two words with the same normal form.
func sameWord(a, b string) bool {
	if a == b {
		return true
	}
	if significantRunes(a) != significantRunes(b) || doubled(a) != doubled(b) && strings.Contains(a, "-") && strings.Contains(b, "-") {
		return false
	}
	return !CaseMatters(a) && !CaseMatters(b) || cased(a) == cased(b)
}

// significantRunes returns the characters of a word that the normal form changes and a quote must not: superscripts and
// subscripts, other numbers that are no digits, and the sharp s, small.
func significantRunes(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'ß' || r == 'ẞ':
			return 'ß'
		case unicode.In(r, unicode.No, unicode.Other_Lowercase), 0x2070 <= r && r <= 0x209f:
			return r
		}
		return -1
	}, word)
}

// doubled reports whether a word has a double hyphen, which differs from a single one in commands and code.
func doubled(word string) bool { return strings.Contains(word, "--") }

// CaseMatters reports whether a word contains a digit, or a capital behind its first letter.
func CaseMatters(word string) bool {
	lettered := false
	for _, r := range word {
		if unicode.IsDigit(r) || lettered && (unicode.IsUpper(r) || unicode.IsTitle(r)) {
			return true
		}
		lettered = lettered || unicode.IsLetter(r)
	}
	return false
}

// cased returns the letters and digits of a word, in their case.
func cased(word string) string {
	return strings.Map(func(r rune) rune {
		if normal.WordRune(r) && !text.Ignored(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(word))
}

// within returns the whole sentences or lines that contain a place.
func (s *Source) within(x extent) *schema.Passage {
	x.start, x.end = s.sentences().Around(x.start, x.end)
	x = s.grown(x)
	p := &schema.Passage{Span: s.span(x)}
	if x.end-x.start <= schema.MaxPassage {
		p.Text = s.text[x.start:x.end]
	}
	return p
}
