package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

const (
	// minLettersOnly is how many letters a quote needs to be found by its letters alone.
	minLettersOnly = 10
	// manyMarks is how much punctuation a stretch has before a quote without any has dropped it.
	manyMarks = 3
	// blockquote is Markdown's mark of a quoted line, no operator.
	blockquote = "> "
)

// lettersOf makes of a folded view one of its letters and digits alone.
func lettersOf(v *view) *view {
	st := stripper{v: v, out: make([]byte, 0, len(v.text)), runs: make([]run, 0, 1+len(v.text)/8)}
	start := 0
	for i := 0; i < len(v.text); {
		r, size := utf8.DecodeRuneInString(v.text[i:])
		if !wordRune(r) {
			st.keep(start, i)
			start = i + size
		}
		i += size
	}
	st.keep(start, len(v.text))
	return &view{text: string(st.out), runs: st.runs}
}

// lettersText returns the letters and digits of a folded text.
func lettersText(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && plainLetter[text[i]] {
			i++
		}
		out = append(out, text[start:i]...)
		if i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if wordRune(r) {
				out = append(out, text[i:i+size]...)
			}
			i += size
		}
	}
	return string(out)
}

// plainLetter marks the ASCII letters of a folded text, and its digits.
var plainLetter = func() (table [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789") {
		table[c] = true
	}
	return table
}()

// lettersMatch finds a quote whose letters and digits stand in the message without a break and with
// the same numbers, signs and denials, whatever else stands between them.
func (s *source) lettersMatch(q *quote) *match {
	v := q.letters()
	if utf8.RuneCountInString(v.text) < minLettersOnly || !strings.Contains(s.lettersText(), v.text) {
		return nil
	}
	spans := slices.DeleteFunc(s.through(s.letters(), v.text), func(x extent) bool {
		_, ok := s.marksAt(q, x)
		return !ok || !q.ended(s.text, x)
	})
	s.outline(q, v, s.letters(), spans)
	return matchOf(schema.MethodNormalized, confidenceLetters, spans)
}

// lettersAt reports whether a place has the letters and digits of a quote and says the same.
func (s *source) lettersAt(q *quote, x extent) bool {
	v := s.letters()
	start, end := v.within(x)
	if v.text[start:end] != q.letters().text || utf8.RuneCountInString(v.text[start:end]) < minLettersOnly {
		return false
	}
	_, ok := s.marksAt(q, x)
	return ok
}

// marksAt compares what stands between the letters of a quote and of a place. A quote without any
// punctuation may lack what the source writes within numbers and between words: it is found, and
// what it lacks is in doubt.
func (s *source) marksAt(q *quote, x extent) (doubts []schema.Doubt, ok bool) {
	start, end := s.folded().within(x)
	quoted, text := strings.TrimPrefix(q.folded().text, blockquote), s.folded().text[start:end]
	if quoted == text {
		return nil, true
	}
	if !slices.Equal(negations(quoted), negations(text)) {
		return nil, false
	}
	doubts = otherWords(quoted, text)
	qs, ss := signs(quoted), signs(text)
	if slices.Equal(qs, ss) {
		return doubts, true
	}
	return append(doubts, schema.Doubt{Quote: strings.Join(qs, " "), Source: strings.Join(ss, " ")}),
		marksIn(quoted) == 0 && marksIn(text) >= manyMarks
}

// otherWords lists where the words of two texts of the same letters are other ones: together is not to
// get her.
func otherWords(quoted, text string) []schema.Doubt {
	noWord := func(r rune) bool { return !wordRune(r) }
	q, s := strings.FieldsFunc(quoted, noWord), strings.FieldsFunc(text, noWord)
	var doubts []schema.Doubt
	for len(q) > 0 && len(s) > 0 {
		i, j := 1, 1
		for a, b := len(q[0]), len(s[0]); a != b; {
			switch {
			case a < b && i < len(q):
				a += len(q[i])
				i++
			case a > b && j < len(s):
				b += len(s[j])
				j++
			default:
				return doubts
			}
		}
		if i+j > 2 && allWords(q[:i]) && allWords(s[:j]) {
			doubts = append(doubts, schema.Doubt{Quote: strings.Join(q[:i], " "), Source: strings.Join(s[:j], " ")})
		}
		q, s = q[i:], s[j:]
	}
	return doubts
}

// allWords reports whether every one of some words is English, or a prefix that makes words.
func allWords(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !english(w) && !known[w] && !function[w] && !meaningfulPrefix[w] })
}

// signs lists the numbers of a folded text, then its operators, its pictographs, and the words that
// a hyphen tells from others of the same letters.
func signs(text string) []string {
	var found []string
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		if unicode.IsDigit(r) {
			end += numberTail(text[end:])
			found = append(found, text[numberStart(text, i):end])
		}
		i = end
	}
	for _, r := range operators(text) {
		found = append(found, string(r))
	}
	for _, r := range text {
		if unicode.Is(unicode.So, r) {
			found = append(found, string(r))
		}
	}
	for at := range text {
		if strings.HasPrefix(text[at:], "re-") && boundary(text, at) {
			found = append(found, "re-")
		}
	}
	return found
}

func marksIn(text string) int {
	n := 0
	for _, r := range text {
		if !wordRune(r) && !unicode.IsSpace(r) && r != '_' {
			n++
		}
	}
	return n
}
