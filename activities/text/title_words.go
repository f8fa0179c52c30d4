package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// titleWords are the words of a title in order, without differences of spelling: see [SameTitle].
type titleWords struct {
	words []string
	// joined reports for each word whether a hyphen or an underscore connects it to the one before.
	joined []bool
}

// SameTitle reports whether two titles are of the same words in the same order. Case, width, white
// space, the article "the" and punctuation around a word are spelling and do not count; a hyphen or
// underscore between two words equals a space. Any other difference makes another title: a letter,
// a number, an order, a mark within a word. One letter distinguishes Kim from Lim, so a typo is not
// spelling here.
func SameTitle(a, b string) bool {
	x, y := wordsOf(a), wordsOf(b)
	if len(x.words) == 0 {
		return Title(a) == Title(b)
	}
	if !slices.Equal(x.words, y.words) {
		return false
	}
	// "Sync a-b c" and "sync a b-c" differ: one spelling must join all that the other does.
	more, less := false, false
	for i := range x.joined {
		more = more || x.joined[i] && !y.joined[i]
		less = less || y.joined[i] && !x.joined[i]
	}
	return !more || !less
}

func wordsOf(title string) titleWords {
	var t titleWords
	for _, field := range strings.FieldsFunc(Title(title), func(r rune) bool { return r == ' ' || r == '"' }) {
		joined := false
		for _, word := range splitJoined(field) {
			if word = bareWord(word); word == "the" || word == "" {
				continue
			}
			if n := len(t.words); n > 0 && unspaced(t.words[n-1], word) {
				t.words[n-1] = norm.NFC.String(t.words[n-1] + word)
				continue
			}
			t.words, t.joined = append(t.words, word), append(t.joined, joined)
			joined = true
		}
	}
	return t
}

// splitJoined splits at hyphens and underscores between letters. Between digits they are part of a
// number or a date, and at the edge of a name part of it. Between a single letter and a number a
// hyphen is a minus: x-1 is not x 1.
func splitJoined(field string) []string {
	runes := []rune(field)
	var out []string
	start := 0
	for i := 1; i < len(runes)-1; i++ {
		before, after := runes[i-1], runes[i+1]
		between := inWord(before) && inWord(after) && !(unicode.IsDigit(before) && unicode.IsDigit(after))
		if (runes[i] == '_' || runes[i] == '-' && !isMinus(runes, i)) && between {
			out = append(out, string(runes[start:i]))
			start = i + 1
		}
	}
	return append(out, string(runes[start:]))
}

// isMinus reports whether the hyphen stands between a single letter and a number.
func isMinus(runes []rune, at int) bool {
	from, to := at, at+1
	for from > 0 && inWord(runes[from-1]) {
		from--
	}
	for to < len(runes) && inWord(runes[to]) {
		to++
	}
	before, after := string(runes[from:at]), string(runes[at+1:to])
	return isLetter(before) && isNumber(after) || isNumber(before) && isLetter(after)
}

// isLetter reports whether the word is one letter, with whatever marks are on it.
func isLetter(w string) bool {
	marks := func(r rune) bool { return unicode.Is(unicode.M, r) }
	runes := []rune(strings.TrimRightFunc(w, marks))
	return len(runes) == 1 && unicode.IsLetter(runes[0])
}

// bareWord removes brackets and emphasis that surround a word, or open or close around several.
func bareWord(w string) string {
	for next := ""; ; w = next {
		next = trimWord(w)
		if inner, ok := strings.CutPrefix(next, "**"); ok && strings.HasSuffix(inner, "**") {
			next = strings.TrimSuffix(inner, "**")
		}
		next = bareOf(bareOf(next, "(", ")"), "[", "]")
		if next == w {
			return w
		}
	}
}

func bareOf(w, open, shut string) string {
	inner, opens := strings.CutPrefix(w, open)
	within, shuts := strings.CutSuffix(inner, shut)
	switch more := strings.Count(w, open) - strings.Count(w, shut); {
	case more == 0 && opens && shuts:
		return within
	case more > 0 && opens:
		return inner
	case more < 0:
		return strings.TrimSuffix(w, shut)
	}
	return w
}

// unspaced reports whether white space between two words is spelling: where one of them is in a
// script that writes none.
func unspaced(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return Unspaced(last) || Unspaced(first)
}

// TitleWords returns the words of a title without differences of spelling, with a space between: the
// form in which two titles are equal that are the same by [SameTitle].
func TitleWords(title string) string { return strings.Join(wordsOf(title).words, " ") }

// TitleTerms returns a title's words, split at punctuation too, and character pairs of words in scripts
// without spaces. Similar titles share some of them, and titles that are the same share all.
func TitleTerms(title string) []string {
	var out []string
	for _, word := range wordsOf(title).words {
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return unicode.IsPunct(r) && !strings.ContainsRune(significantMarks, r) }) {
			runes := []rune(part)
			if len(runes) < 3 || !Unspaced(runes[0]) {
				out = append(out, part)
				continue
			}
			for i := range len(runes) - 1 {
				out = append(out, string(runes[i:i+2]))
			}
		}
	}
	return out
}

// significantMarks belong to the name that is searched for: they distinguish C# from C and 5% from 5.
const significantMarks = `#%&*@\`
