package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutBefore returns where what begins at a place of a text really begins, when the place leaves out
// the beginning of a word or number, or what denies or bounds it; otherwise the place.
func cutBefore(text string, at int) int {
	if start := unitStart(text, at); start < at && meantBefore(text, start, at) {
		return start
	}
	last, size := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(text[at:])
	second, more := utf8.DecodeLastRuneInString(text[:at-size])
	switch {
	case denying[last], negatingPrefix[last] && letter(first) && !letter(second), halving[last]:
		return at - size
	case denying[second] && deniable[last], last == '下' && second == '零':
		return at - size - more
	}
	if start, ok := straddled(text, at); ok {
		return start
	}
	if start := wordStart(text, at); letter(first) && koreanTens[text[start:at]] {
		return start
	}
	return min(boundBefore(text, at), deniedBefore(text, at))
}

// boundBefore returns where a number or quantity at a place begins with the words before it that bound
// or continue it: a sign, the lower end of a range, almost, at least.
func boundBefore(text string, at int) int {
	word := text[at:wordEnd(text, at)]
	if !numeral(word) && !quantities[strings.ToLower(word)] {
		return at
	}
	start, before := previousWord(text, at)
	switch {
	case start == at:
		return at
	case bounding[before], numeral(before) && spelled[before] == spelled[strings.ToLower(word)]:
		return start
	case linking[before]:
		if lower, number := previousWord(text, start); numeral(number) {
			return lower
		}
	}
	return at
}

// deniedBefore returns where a denial stands in the same clause before a place; otherwise the place.
func deniedBefore(text string, at int) int {
	for start := at; ; {
		earlier, word := previousWord(text, start)
		if earlier == start || turning[word] || at-earlier > maxClause {
			return at
		}
		if start = earlier; denies(word) || refusing[word] {
			return start
		}
	}
}

// previousWord returns the word before a place, in small letters, and where it begins: at the place
// when something else than spaces stands between.
func previousWord(text string, at int) (start int, word string) {
	head := strings.TrimRightFunc(text[:at], func(r rune) bool { return unicode.IsSpace(r) && r != '\n' })
	start = wordStart(head, len(head))
	if start == len(head) || len(head) == at {
		return at, ""
	}
	return start, strings.ToLower(head[start:])
}

// nextWord returns the word after a place, in small letters, and where it ends: at the place when
// something else than spaces stands between.
func nextWord(text string, at int) (end int, word string) {
	tail := strings.TrimLeftFunc(text[at:], func(r rune) bool { return unicode.IsSpace(r) && r != '\n' })
	start := len(text) - len(tail)
	end = wordEnd(text, start)
	if end == start || start == at {
		return at, ""
	}
	return end, strings.ToLower(text[start:end])
}

// numeral reports whether a word begins with a digit, or spells a number.
func numeral(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsDigit(r) || spelled[strings.ToLower(word)] || numerals[r] && unicode.Is(unicode.Han, r)
}

// cutAfter returns where what ends at a place of a text really ends, when the place leaves out the
// end of a word or number, or what denies it or asks for it; otherwise the place.
func cutAfter(text string, at int) int {
	if end := unitEnd(text, at); end > at && meantAfter(text, at, end) {
		return end
	}
	if _, ok := straddled(text, at); ok {
		return wordEnd(text, at)
	}
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	end, next := nextWord(text, at)
	switch r, size := utf8.DecodeRuneInString(strings.TrimLeft(text[at:], " ")); {
	case r == '?' && strings.HasPrefix(text[at:], "?"), unicode.IsDigit(last) && (r == '%' || r == '‰' || r == '°' || unicode.Is(unicode.Sc, r)):
		return len(text) - len(strings.TrimLeft(text[at:], " ")) + size
	case denying[r] && !strings.HasPrefix(text[at:], " "):
		return wordEnd(text, at)
	case cjk(last):
		return deniedAfter(text, at)
	case auxiliary[text[wordStart(text, at):at]] && denies(next), latelyDenying[lastOfClause(text, at)], excepting[next]:
		return end
	}
	word := text[wordStart(text, at):at]
	switch {
	case !numeral(word), end == at:
		return at
	case units[next] || unitCJK(next) || spelled[next] || unicode.IsDigit(last) && counted(next):
		return end
	case linking[next]:
		if upper, number := nextWord(text, end); numeral(number) {
			return upper
		}
	}
	return at
}

// counted reports whether a word names what a number before it counts.
func counted(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return len(word) > 2 && letter(r) && !cjk(r) && !function[word]
}

// unitCJK reports whether a Chinese, Japanese or Korean word begins with a unit.
func unitCJK(word string) bool {
	for at, r := range word {
		if !cjk(r) || at > 12 {
			return false
		}
		if units[word[:at+utf8.RuneLen(r)]] {
			return true
		}
	}
	return false
}

// deniedAfter returns where a denial ends that stands at the end of a Japanese or Korean clause, or
// the particle that limits its last word; otherwise the place.
func deniedAfter(text string, at int) int {
	next, size := utf8.DecodeRuneInString(text[at:])
	if after, _ := utf8.DecodeRuneInString(text[at+size:]); next == '만' && !letter(after) {
		return at + size
	}
	if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[at:], " ")); !unicode.In(r, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
		return at
	}
	clause := clauseAfter(text, at)
	for i, r := range clause {
		if denying[r] && unicode.Is(unicode.Hangul, r) {
			return wordEnd(text, at+i)
		}
		for _, phrase := range denyingPhrases {
			if strings.HasPrefix(clause[i:], phrase) {
				return wordEnd(text, at+i)
			}
		}
	}
	return at
}

// maxClause is how many bytes of a clause are looked at on either side of a place.
const maxClause = 512

// clauseAfter returns what goes on at a place up to the next mark that ends a clause.
func clauseAfter(text string, at int) string {
	clause := text[at:min(len(text), at+maxClause)]
	if i := strings.IndexAny(clause, ".!?。！？,、;:\n"); i >= 0 {
		clause = clause[:i]
	}
	return clause
}

// lastOfClause returns the last word of the clause that goes on at a place.
func lastOfClause(text string, at int) string {
	clause := strings.TrimRight(clauseAfter(text, at), " ")
	return clause[wordStart(clause, len(clause)):]
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
	if r, size := utf8.DecodeRuneInString(word); size == len(word) && denying[r] {
		return true
	}
	return negation(strings.ToLower(strings.ReplaceAll(word, "’", "'"))) != ""
}
