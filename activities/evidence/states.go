package evidence

import (
	"slices"
	"strings"
	"unicode/utf8"

	"axiommind/activities/evidence/normal"
	"axiommind/activities/text"
)

// maxJoinedLines is the maximum number of lines over which a source may break one line of a quote.
const maxJoinedLines = 4

// Statements are texts that are checked many times for whether they state something. They keep the forms that the
// checks need, and look only at candidates. They are not safe for concurrent use.
type Statements struct {
	sources []*Source
	byForm  map[string][]int
}

// Add adds a text and returns its number. The first has the number 0.
func (st *Statements) Add(text string) int {
	n := len(st.sources)
	s := NewSource(n, "", text)
	st.sources = append(st.sources, s)
	if st.byForm == nil {
		st.byForm = map[string][]int{}
	}
	var begins, ends []int
	for start, end := range s.sentences().Sentences() {
		from, to := s.form().Within(start, end)
		begins, ends = append(begins, from), append(ends, to)
	}
	for i, from := range begins {
		for _, to := range ends[i:min(i+maxJoinedLines, len(ends))] {
			key := formKey(s.form().Text[from:to])
			if texts := st.byForm[key]; key != "" && (len(texts) == 0 || texts[len(texts)-1] != n) {
				st.byForm[key] = append(texts, n)
			}
		}
	}
	return n
}

// Stating returns the numbers of the texts that state the quote, in order: by rule 1 it is whole sentences or lines of
// the text. Unlike [Rule] has it, the quote may also have a full stop at its end that the text lacks.
func (st *Statements) Stating(quote string) []int {
	var found []int
	quotes := quotesOf(quote)
	for _, i := range st.candidates(quote) {
		if st.sources[i].states(quotes) {
			found = append(found, i)
		}
	}
	return found
}

// candidates returns the texts that have the quote, or its first sentence, as sentences.
func (st *Statements) candidates(quote string) []int {
	found := slices.Clone(st.byForm[SameKey(quote)])
	for start, end := range text.NewBoundaries(quote).Sentences() {
		found = append(found, st.byForm[formKey(normal.Form1(quote[start:end]))]...)
		break
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Same reports whether each of two texts states the other, as [Statements.Stating] has it.
func Same(a, b string) bool {
	return a == b || NewSource(0, "", a).states(quotesOf(b)) && NewSource(0, "", b).states(quotesOf(a))
}

// SameKey returns a key that is equal for texts that are the [Same], and for some more.
func SameKey(text string) string { return formKey(strings.TrimSpace(normal.Form1(text))) }

// states reports whether one of the quotes proves in the source.
func (s *Source) states(quotes []*quote) bool {
	stages := []func(*quote) *match{s.verbatim, s.asForm, s.withoutEmphasis}
	for _, q := range quotes {
		if q.form().Text == "" || q.piece().Text == "" {
			continue
		}
		for _, stage := range stages {
			if m := stage(q); m != nil && s.judge(q, m) {
				return true
			}
		}
	}
	return false
}

// quotesOf returns the quote, and the quote without the full stop at its end.
func quotesOf(text string) []*quote {
	text = strings.TrimSpace(text)
	quotes := []*quote{newQuote(text)}
	if _, size := utf8.DecodeLastRuneInString(text); size > 0 && fullStop(text, len(text)-size) == size {
		quotes = append(quotes, newQuote(text[:len(text)-size]))
	}
	return slices.DeleteFunc(quotes, func(q *quote) bool { return q.text == "" })
}

// formKey returns a key shared by all forms that may be equal except for a full stop and other marks at the ends, where
// the form depends on the surrounding text.
func formKey(form string) string {
	const loose = " *_~'\"-"
	key := strings.Trim(form, loose)
	if r, size := utf8.DecodeLastRuneInString(key); size > 0 && strings.ContainsRune(fullStops, r) {
		key = strings.TrimRight(key[:len(key)-size], loose)
	}
	if key == "" {
		return form
	}
	return key
}
