package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is how many characters of a word or number are looked at on either side of a place.
const maxWord = 64

// meantBefore reports whether the beginning of a word or number changes what the rest says.
func meantBefore(text string, start, at int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(text[at:])
	from, to := wordStart(text, at), wordEnd(text, at)
	left, right := strings.ToLower(text[start:at]), strings.ToLower(text[at:to])
	switch {
	case unicode.IsDigit(first) && last != 'v', unicode.IsDigit(last), strings.ContainsFunc(left, unicode.IsDigit) && strings.ContainsFunc(right, unicode.IsDigit):
		return true
	case strings.ContainsRune("!-_", last) || strings.ContainsRune("-_", first), denies(text[from:to]) && !denies(right):
		return true
	}
	return from < at && (meaningfulPrefix[left] || otherWord(text[from:to], right))
}

// meantAfter reports whether the end of a word or number changes what the rest says.
func meantAfter(text string, at, end int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(text[at:])
	from, to := wordStart(text, at), wordEnd(text, at)
	left, right := strings.ToLower(text[from:at]), strings.ToLower(text[at:end])
	switch {
	case unicode.IsDigit(last), strings.ContainsFunc(left, unicode.IsDigit) && strings.ContainsFunc(right, unicode.IsDigit):
		return true
	case strings.ContainsRune(".,:-_", last) || strings.ContainsRune(".-_", first), denies(text[from:to]) && !denies(left):
		return true
	}
	return to > at && (meaningfulSuffix[strings.ToLower(text[at:to])] || otherWord(text[from:to], left))
}

// otherWord reports whether what is left of a word is a word of its own, or may be for all that is
// known of the whole.
func otherWord(whole, rest string) bool {
	return english(rest) || known[rest] || spelled[rest] || !english(strings.ToLower(whole))
}

// unitStart returns where the word or number that goes on at a place begins.
func unitStart(text string, at int) int {
	for n := 0; n < maxWord && at > 0 && joined(text, at); n++ {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

// unitEnd returns where the word or number that goes on at a place ends.
func unitEnd(text string, at int) int {
	for n := 0; n < maxWord && at < len(text) && joined(text, at); n++ {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// joined reports whether a place of a text lies inside a word or a number. Scripts whose words cannot be
// told apart by their letters have none here, only numbers.
func joined(text string, at int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:at])
	after, more := utf8.DecodeRuneInString(text[at:])
	if size == 0 || more == 0 {
		return false
	}
	if wordRune(before) && wordRune(after) {
		return !spaceless(before) && !spaceless(after) || unicode.IsDigit(before) && units[string(after)] ||
			numerals[before] && numerals[after]
	}
	outerBefore, _ := utf8.DecodeLastRuneInString(text[:at-size])
	outerAfter, _ := utf8.DecodeRuneInString(text[at+more:])
	return joins(outerBefore, before, after) || joins(before, after, outerAfter) && wordRune(before) ||
		(unicode.Is(unicode.Sc, before) || strings.ContainsRune("<>≤≥~≈", before)) && unicode.IsDigit(after)
}

// spaceless reports whether a character is of a script whose words end without a sign: it has no spaces,
// or joins particles to words as Korean does.
func spaceless(r rune) bool {
	return cjk(r) || unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// joins reports whether a mark binds what stands on its sides into one word or number.
func joins(before, mark, after rune) bool {
	digits := unicode.IsDigit(before) && unicode.IsDigit(after)
	switch mark {
	case '-', '_', '\'', '’':
		return wordRune(before) && wordRune(after) || mark == '-' && unicode.IsDigit(after) && !wordRune(before)
	case '.':
		return wordRune(before) && wordRune(after) && !spaceless(before) || unicode.IsDigit(after) && before != '.' && !wordRune(before)
	case ',', ':', '/', ' ', '\u00a0', '\u202f', '–', '^':
		return digits
	case '−', '+':
		return unicode.IsDigit(after)
	case '!':
		return unicode.IsLetter(after) && !wordRune(before)
	}
	return false
}

// wordStart returns where the word that ends at a place begins. An apostrophe inside belongs to it.
func wordStart(text string, at int) int {
	for n := 0; n < maxWord && at > 0; n++ {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if !wordRune(r) && !apostrophe(r) {
			break
		}
		at -= size
	}
	return at
}

// wordEnd returns where the word that begins at a place ends.
func wordEnd(text string, at int) int {
	for n := 0; n < maxWord && at < len(text); n++ {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !wordRune(r) && !apostrophe(r) {
			break
		}
		at += size
	}
	return at
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' }

// numberStart returns where the number that goes on at a place begins.
func numberStart(text string, at int) int {
	for n := 0; n < maxWord && at > 0; n++ {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if !unicode.IsDigit(r) && !(strings.ContainsRune(".,:-−", r) && joined(text, at)) {
			break
		}
		at -= size
	}
	return at
}

// numberTail returns how many bytes of a text go on with a number that ends before it.
func numberTail(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if next, _ := utf8.DecodeRuneInString(text[n+size:]); !unicode.IsDigit(r) && !(strings.ContainsRune(".,:", r) && unicode.IsDigit(next)) {
			break
		}
		n += size
	}
	return n
}

// cutsNumber reports whether a number goes on across a place of a text.
func cutsNumber(text string, at int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	return unicode.IsDigit(last) && numberTail(text[at:]) > 0
}

// diffMarks returns the marks of the lines of a text that say they were added or removed.
func diffMarks(text string) string {
	var marks strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > 1 && (line[0] == '+' || line[0] == '-') && (line[1] == ' ' || line[1] == '\t') {
			marks.WriteByte(line[0])
		}
	}
	return marks.String()
}

// lineStart returns where the line begins of which a text has only spaces and marks before a place;
// otherwise the place.
func lineStart(text string, at int) int {
	start := len(strings.TrimRightFunc(text[:at], func(r rune) bool { return r == ' ' || r == '\t' || r == '+' || r == '-' }))
	if start == 0 || text[start-1] == '\n' {
		return start
	}
	return at
}
