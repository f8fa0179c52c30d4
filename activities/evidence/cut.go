package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutBefore returns where what begins at a place of a text really begins, when the place leaves out
// the beginning of a word or number or what denies its first word; otherwise the place.
func cutBefore(text string, at int) int {
	if start := unitStart(text, at); start < at {
		return start
	}
	last, size := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(text[at:])
	second, more := utf8.DecodeLastRuneInString(text[:at-size])
	switch {
	case denying[last], negatingPrefix[last] && letter(first) && !letter(second):
		return at - size
	case denying[second] && deniable[last]:
		return at - size - more
	}
	if start, ok := straddled(text, at); ok {
		return start
	}
	head := strings.TrimRightFunc(text[:at], unicode.IsSpace)
	start := wordStart(head, len(head))
	if len(head) < at && denies(head[start:]) {
		return start
	}
	if spelled[strings.ToLower(text[at:wordEnd(text, at)])] {
		if linking[head[start:]] {
			head = strings.TrimRightFunc(head[:start], unicode.IsSpace)
			start = wordStart(head, len(head))
		}
		if spelled[strings.ToLower(head[start:])] {
			return start
		}
	}
	return at
}

// cutAfter returns where what ends at a place of a text really ends, when the place leaves out the
// end of a word or number or what denies its last word; otherwise the place.
func cutAfter(text string, at int) int {
	if end := unitEnd(text, at); end > at {
		return end
	}
	if _, ok := straddled(text, at); ok {
		return wordEnd(text, at)
	}
	rest := text[at:]
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	if cjk(last) {
		rest = strings.TrimPrefix(rest, "지")
	}
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	end := len(text) - len(next) + wordEnd(next, 0)
	r, _ := utf8.DecodeRuneInString(next)
	switch {
	case denying[r] && (len(next) == len(text)-at || unicode.Is(unicode.Hangul, r)), len(rest) < len(text)-at && (r == '마' || r == '말'):
		return end
	case len(next) < len(text)-at && auxiliary[strings.ToLower(text[wordStart(text, at):at])] && denies(next[:wordEnd(next, 0)]):
		return end
	}
	if spelled[strings.ToLower(text[wordStart(text, at):at])] {
		word := next[:wordEnd(next, 0)]
		if linking[word] {
			next = strings.TrimLeftFunc(next[len(word):], unicode.IsSpace)
			end = len(text) - len(next) + wordEnd(next, 0)
		}
		if spelled[strings.ToLower(next[:wordEnd(next, 0)])] {
			return end
		}
	}
	for _, phrase := range denyingPhrases {
		if len(next) == len(text)-at && cjk(last) && strings.HasPrefix(next, phrase) {
			return end
		}
	}
	return at
}

// straddled reports whether a place cuts a phrase that denies, and where the phrase begins.
func straddled(text string, at int) (start int, ok bool) {
	start = at
	for range 2 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !cjk(r) {
			return 0, false
		}
		start -= size
		for _, phrase := range denyingPhrases {
			if strings.HasPrefix(text[start:], phrase) && start+len(phrase) > at {
				return start, true
			}
		}
	}
	return 0, false
}

// denies reports whether a word as it is written denies.
func denies(word string) bool {
	return negation(strings.ToLower(strings.ReplaceAll(word, "’", "'"))) != ""
}

// unitStart returns where the word or number that goes on at a place begins.
func unitStart(text string, at int) int {
	for at > 0 && joined(text, at) {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

// unitEnd returns where the word or number that goes on at a place ends.
func unitEnd(text string, at int) int {
	for at < len(text) && joined(text, at) {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// joined reports whether a place of a text lies inside a word or a number. Scripts that write without
// spaces have no words here, only numbers.
func joined(text string, at int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:at])
	after, more := utf8.DecodeRuneInString(text[at:])
	if size == 0 || more == 0 {
		return false
	}
	if wordRune(before) && wordRune(after) {
		return !cjk(before) && !cjk(after) || unicode.IsDigit(before) && units[string(after)] ||
			numerals[before] && numerals[after]
	}
	outerBefore, _ := utf8.DecodeLastRuneInString(text[:at-size])
	outerAfter, _ := utf8.DecodeRuneInString(text[at+more:])
	return joins(outerBefore, before, after) || joins(before, after, outerAfter) && wordRune(before)
}

// joins reports whether a mark binds what stands on its sides into one word or number.
func joins(before, mark, after rune) bool {
	digits := unicode.IsDigit(before) && unicode.IsDigit(after)
	switch mark {
	case '-', '_', '\'', '’':
		return wordRune(before) && wordRune(after) || mark == '-' && unicode.IsDigit(after) && !wordRune(before)
	case '.':
		return digits || unicode.IsDigit(after) && before != '.' && !wordRune(before)
	case ',', ':', '/', ' ', '\u00a0', '\u202f':
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
	for at > 0 {
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
	for at < len(text) {
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
	for at > 0 {
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
