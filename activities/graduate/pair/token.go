package pair

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/text"
)

// token is a word, a number or a meaningful sign of a statement.
type token struct {
	// text is the word with case and width folded, and digits in ASCII; shown is how it was written.
	text, shown string
	// name reports a capital letter, a digit or a code mark in a word, as in names.
	name bool
	// number reports that the token begins with digits or a currency.
	number bool
	// percent reports a percent sign after the number, possibly after a space.
	percent bool
	// glued reports that no space separates the token from the one before.
	glued bool
	// hyphen reports a hyphen before the token.
	hyphen bool
	// quoted reports that the token is in quotes.
	quoted bool
}

// punctuation is the meaning of a statement's punctuation.
type punctuation struct{ question bool }

const (
	// joiners bind characters of words and numbers into one name or number.
	joiners = `._/@\&`
	// tails belong to the word before them: C++, C#, 5%.
	tails = "+#%°"
	// signs have a meaning of their own.
	signs = "=<>≤≥≠→←±"
)

var (
	openQuotes  = "\"“„«「『‟"
	closeQuotes = "\"”“»」』‟"
)

// split cuts a statement into tokens. Control characters are white space.
func split(statement string) ([]token, punctuation) {
	var (
		out   []token
		marks punctuation
	)
	runes := []rune(strings.ToValidUTF8(statement, " "))
	quoted, glued := false, false
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case text.Ignored(r):
			i++
		case startsWord(runes, i):
			end := wordEnd(runes, i)
			t := newToken(runes[i:end], glued, quoted)
			t.hyphen = i > 1 && runes[i-1] == '-' && inWord(runes[i-2])
			out = append(out, t)
			glued, i = true, end
		case isColon(runes, i):
			out = append(out, token{text: ":", shown: ":", quoted: quoted})
			glued, i = i+1 < len(runes) && unicode.IsDigit(runes[i+1]), i+1
		case strings.ContainsRune(signs, r) || unicode.IsSymbol(r) && !strings.ContainsRune("`´^¨", r):
			out = append(out, token{text: text.Caseless(string(r)), shown: string(r), quoted: quoted})
			glued, i = false, i+1
		default:
			if strings.ContainsRune(openQuotes, r) || strings.ContainsRune(closeQuotes, r) {
				quoted = !quoted
			}
			if n := len(out); r == '%' && n > 0 && out[n-1].number {
				out[n-1].percent = true
			}
			marks.question = marks.question || !quoted && strings.ContainsRune("?？؟;", r) && r != ';'
			glued, i = false, i+1
		}
	}
	if quoted { // An unclosed quote is an inch sign or a slip.
		for i := range out {
			out[i].quoted = false
		}
	}
	return out, marks
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// startsWord reports whether a word or a number begins at the character: a sign or a currency counts before digits, a dot
// before a name, a number sign before a number.
func startsWord(runes []rune, i int) bool {
	r := runes[i]
	if inWord(r) {
		return true
	}
	if i+1 == len(runes) || i > 0 && inWord(runes[i-1]) {
		return false
	}
	next := runes[i+1]
	switch {
	case r == '-' || r == '−' || r == '+' || r == '#' || unicode.Is(unicode.Sc, r):
		return unicode.IsDigit(next)
	case r == '.' || r == '@' || r == '/' || r == '_':
		return unicode.IsLetter(next)
	}
	return false
}

// wordEnd returns the end of the word that begins at the character. A change between scripts without spaces and others
// ends it, as does a change between Hangul or Han and digits.
func wordEnd(runes []rune, start int) int {
	i := start + 1
	for ; i < len(runes); i++ {
		before, r := runes[i-1], runes[i]
		switch {
		case text.Ignored(r) || unicode.IsMark(r):
		case inWord(r):
			if inWord(before) && scriptOf(before) != scriptOf(r) {
				return i
			}
		case strings.ContainsRune(tails, r) && (inWord(before) || before == r):
			if i+1 < len(runes) && inWord(runes[i+1]) {
				return i
			}
		case unicode.Is(unicode.Sc, r) && unicode.IsDigit(before):
			return i + 1
		case i+1 < len(runes) && joins(before, r, runes[i+1]):
		default:
			return i
		}
	}
	return i
}

// joins reports whether a mark between two characters joins them into one word.
func joins(before, mark, after rune) bool {
	if !inWord(before) || !inWord(after) {
		return false
	}
	digits := unicode.IsDigit(before) && unicode.IsDigit(after)
	switch mark {
	case ',', ':', '-', '–', '−':
		return digits
	case '\'', '’', 'ʼ':
		return unicode.IsLetter(before) && unicode.IsLetter(after)
	}
	return strings.ContainsRune(joiners, mark) && !text.Unspaced(before) && !text.Unspaced(after)
}

func isColon(runes []rune, i int) bool { return runes[i] == ':' || runes[i] == '：' }

type script uint8

const (
	spaced script = iota
	hangul
	han
	kana
	katakana
	alphabetic
)

func scriptOf(r rune) script {
	switch {
	case r < 0xe00:
		return spaced
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.Is(unicode.Katakana, r) || r == 'ー' || r == 'ｰ':
		return katakana
	case unicode.Is(unicode.Hiragana, r):
		return kana
	case unicode.Is(unicode.Han, r) || r == '々':
		return han
	case text.Unspaced(r):
		return alphabetic
	}
	return spaced
}

func newToken(runes []rune, glued, quoted bool) token {
	t := token{glued: glued, quoted: quoted}
	var folded strings.Builder
	for i, r := range runes {
		switch {
		case text.Ignored(r):
			continue
		case unicode.IsUpper(r) || unicode.IsTitle(r) || unicode.IsNumber(r) || i > 0 && strings.ContainsRune(joiners+tails, r):
			t.name = true
		}
		if i == 0 || i == 1 && !inWord(runes[0]) {
			t.number = t.number || unicode.IsDigit(r)
		}
		folded.WriteRune(plain(r))
	}
	t.shown = string(runes)
	t.text = folded.String()
	if !superscript(t.text) {
		t.text = text.Caseless(t.text)
	}
	// A full hour may leave out its minutes.
	if hour, full := strings.CutSuffix(t.text, ":00"); full && len(hour) <= 2 && t.number {
		t.text = hour
	}
	return t
}

// plain returns the plain form of a character: ASCII for digits of any script, a straight apostrophe, and a hyphen.
func plain(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case r == '’' || r == 'ʼ':
		return '\''
	case r == '−' || r == '–':
		return '-'
	case !unicode.IsDigit(r):
		return r
	}
	for _, block := range unicode.Nd.R16 {
		if lo := rune(block.Lo); lo <= r && r <= rune(block.Hi) {
			return '0' + (r-lo)%10
		}
	}
	for _, block := range unicode.Nd.R32 {
		if lo := rune(block.Lo); lo <= r && r <= rune(block.Hi) {
			return '0' + (r-lo)%10
		}
	}
	return r
}

// superscript reports whether the word contains a number whose form matters: 10² is not 102.
func superscript(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.No, r) })
}
