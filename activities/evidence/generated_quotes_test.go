package evidence

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// collapsible is the white space that the whitespace class has instead of single spaces.
var collapsible = []string{"   ", "  ", "\n", "\n  ", "\t"}

// collapsed makes messages with other white space for a share of the spaces, in percent, and quotes
// with single plain ones.
func collapsed(by []string, percent int) recipe {
	return func(m maker) (string, string, []extent) {
		text := m.spoilSpaces(m.message(), by, percent)
		x := m.cut(text, 40)
		return text, collapse(text[x.start:x.end]), []extent{x}
	}
}

var longWord = regexp.MustCompile(`[A-Za-z0-9]{3,}`)

// makeFullWidth writes some words of the message in full width or in capitals, and quotes it in
// small letters of normal width.
func makeFullWidth(m maker) (string, string, []extent) {
	text := longWord.ReplaceAllStringFunc(m.message(), func(word string) string {
		switch {
		case m.chance(15):
			return strings.Map(func(r rune) rune { return r - '!' + '！' }, word)
		case m.chance(20):
			return strings.ToUpper(word)
		}
		return word
	})
	x := m.cut(text, 50)
	return text, collapse(strings.ToLower(norm.NFKC.String(text[x.start:x.end]))), []extent{x}
}

var (
	substitutes = []rune("abdefghijklmnopqrstuvwxyz가나다라마바사")
	insertions  = []rune("aeiou가이은는")
)

// makeTypos edits 2 to 7 % of the characters of a quote wherever they are, save the first and the
// last: half of them substitutions, a quarter each deletions and insertions.
func makeTypos(m maker) (string, string, []extent) {
	text := m.message()
	x := m.cut(text, 50)
	quote := []rune(text[x.start:x.end])
	for range int(math.Round(float64(len(quote)) * (0.02 + 0.05*m.Float64()))) {
		at := 1 + m.IntN(len(quote)-2)
		switch m.IntN(4) {
		case 0:
			quote = slices.Delete(quote, at, at+1)
		case 1:
			quote = slices.Insert(quote, at, pick(m, insertions))
		default:
			quote[at] = pick(m, substitutes)
		}
	}
	return text, string(quote), []extent{x}
}

// sentenceEnds returns the offsets after the white space that follows sentences.
func sentenceEnds(text string) []int {
	var ends []int
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		ends = append(ends, at[1])
	}
	return ends
}

var sentenceEnd = regexp.MustCompile(`[.?!…]\s+|;\t`)

// repeated makes messages with several copies of a stretch and quotes of it.
func repeated(compose func(m maker, text, stretch string) string, spoil func(string) string) recipe {
	return func(m maker) (string, string, []extent) {
		for {
			text := m.message()
			x := m.cut(text, 40)
			stretch := text[x.start:x.end]
			quote := spoil(stretch)
			text = compose(m, text, stretch)
			if places := placesOf(text, stretch); len(places) > 1 {
				return text, quote, places
			}
		}
	}
}

func verbatim(s string) string { return s }

// insertCopies puts copies of a stretch after sentences, or anywhere between two characters.
func insertCopies(copies int, anywhere bool) func(m maker, text, stretch string) string {
	return func(m maker, text, stretch string) string {
		for range copies {
			at := pick(m, sentenceEnds(text))
			if anywhere {
				at = m.cut(text, 40).start
			}
			text = text[:at] + stretch + pick(m, []string{" ", ". ", "\n", ", "}) + text[at:]
		}
		return text
	}
}

func appended(m maker, text, stretch string) string {
	return text + m.sentence() + stretch + pick(m, []string{"", ".", "\n", " " + m.sentence()})
}

func wholeTwice(m maker, text, _ string) string {
	return text + pick(m, []string{"", "\n\n", "---\n"}) + text
}

func sideBySide(m maker, text, stretch string) string {
	return strings.Replace(text, stretch, stretch+pick(m, []string{"", " ", "\n", " / "})+stretch, 1)
}

var duplicates = []caseMaker{
	{"after a sentence", repeated(insertCopies(1, false), verbatim)},
	{"anywhere", repeated(insertCopies(1, true), verbatim)},
	{"several", repeated(insertCopies(3, false), verbatim)},
	{"appended", repeated(appended, verbatim)},
	{"whole message twice", repeated(wholeTwice, verbatim)},
	{"side by side", repeated(sideBySide, verbatim)},
	{"normalized", repeated(insertCopies(1, false), func(s string) string { return collapse(strings.ToLower(s)) })},
}

var unicodeSpaces = []string{
	"\u00a0", "\u3000", "\u2000", "\u2002", "\u2003", "\u2005", "\u2007", "\u2009", "\u200a", "\u202f", "\u205f", "\u1680",
}

var unseen = []string{"\u200b", "\ufeff", "\u2060", "\u00ad"}

// respaced makes quotes whose white space differs from the message's, both changed from plain.
func respaced(inText, inQuote []string, percent int) recipe {
	return func(m maker) (string, string, []extent) {
		text := m.message()
		if inText != nil {
			text = m.spoilSpaces(text, inText, percent)
		}
		x := m.cut(text, 40)
		return text, m.spoilSpaces(collapse(text[x.start:x.end]), inQuote, percent), []extent{x}
	}
}

// respacedAfter makes messages whose spaces are changed after the stretch is cut, so that the quote
// has a space also where the message has none to see.
func respacedAfter(by []string, percent int) recipe {
	return func(m maker) (string, string, []extent) {
		text := m.message()
		x := m.cut(text, 40)
		before := m.spoilSpaces(text[:x.start], by, percent)
		stretch := m.spoilSpaces(text[x.start:x.end], by, percent)
		return before + stretch + m.spoilSpaces(text[x.end:], by, percent), collapse(text[x.start:x.end]),
			[]extent{{len(before), len(before) + len(stretch)}}
	}
}

// hide puts characters that are not seen into words and beside spaces.
func (m maker) hide(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		if (unicode.IsLetter(last) || last == ' ') && unicode.IsLetter(r) && m.chance(6) {
			b.WriteString(pick(m, unseen))
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

func hiddenInMessage(m maker) (string, string, []extent) {
	text := m.hide(m.message())
	x := m.cut(text, 40)
	return text, collapse(text[x.start:x.end]), []extent{x}
}

func hiddenInQuote(m maker) (string, string, []extent) {
	text := m.message()
	x := m.cut(text, 40)
	return text, m.hide(text[x.start:x.end]), []extent{x}
}

var spacings = []caseMaker{
	{"some in the message", collapsed(unicodeSpaces, 12)},
	{"half in the message", collapsed(unicodeSpaces, 50)},
	{"all in the message", collapsed([]string{"\u00a0"}, 100)},
	{"ideographic", collapsed([]string{"\u3000"}, 40)},
	{"runs", collapsed([]string{" \u00a0", "\u00a0\u00a0", "\u3000 ", "\u00a0\n", "\u2009\u200b"}, 25)},
	{"controls", collapsed([]string{"\f", "\v", "\u0085", "\u2028", "\u2029"}, 25)},
	{"in the quote", respaced(nil, unicodeSpaces, 30)},
	{"all in the quote", respaced(nil, []string{"\u00a0"}, 100)},
	{"in both", respaced(unicodeSpaces, unicodeSpaces, 40)},
	{"zero width for a space", respacedAfter([]string{"\u200b", "\u00a0"}, 12)},
	{"not seen in the message", hiddenInMessage},
	{"not seen in the quote", hiddenInQuote},
}

// leastLike is how similar a generated absent quote may be to a place, unless it is a near one.
const leastLike = 0.75

// absent makes quotes from a stretch of the message that the message does not have.
func absent(spoil func(m maker, stretch string) string) recipe {
	return func(m maker) (string, string, []extent) {
		for {
			text := m.message()
			x := m.cut(text, 40)
			if quote := spoil(m, text[x.start:x.end]); similarityWithin(text, quote) < leastLike {
				return text, quote, nil
			}
		}
	}
}

// near makes quotes that differ from a stretch of the message in what they say.
func near(spoil func(m maker, stretch string) string) recipe {
	return func(m maker) (string, string, []extent) {
		for {
			text := m.message()
			x := m.cut(text, 60)
			stretch := text[x.start:x.end]
			if quote := spoil(m, stretch); quote != stretch && !strings.Contains(text, quote) {
				return text, quote, nil
			}
		}
	}
}

func halfElsewhere(m maker, stretch string) string {
	runes, other := []rune(stretch), m.message()
	x := m.cut(other, len(runes)-len(runes)/2)
	if m.chance(50) {
		return string(runes[:len(runes)/2]) + other[x.start:x.end]
	}
	return other[x.start:x.end] + string(runes[len(runes)/2:])
}

var innerWord = regexp.MustCompile(`[\pL]{2,}`)

// replaceWords puts other words of the vocabulary for every third word, or for one.
func replaceWords(one bool) func(m maker, stretch string) string {
	return func(m maker, stretch string) string {
		words := innerWord.FindAllStringIndex(stretch, -1)
		if len(words) < 5 {
			return stretch
		}
		chosen := 1 + m.IntN(len(words)-2)
		for i := len(words) - 1; i >= 0; i-- {
			if one && i != chosen || !one && i%3 != chosen%3 {
				continue
			}
			at := words[i]
			from := latinWords
			if stretch[at[0]] >= utf8.RuneSelf {
				from = koreanWords
			}
			stretch = stretch[:at[0]] + pick(m, from) + stretch[at[1]:]
		}
		return stretch
	}
}

var wholeNumber = regexp.MustCompile(`[^\d.v]\d{2,4}\b`)

// renumber changes a whole number inside a stretch to another of its length.
func renumber(m maker, stretch string) string {
	found := wholeNumber.FindAllStringIndex(stretch, -1)
	if len(found) == 0 {
		return stretch
	}
	at := pick(m, found)
	_, size := utf8.DecodeRuneInString(stretch[at[0]:])
	from := at[0] + size
	if n := at[1] - from; at[1] < len(stretch) && stretch[at[1]] != '.' {
		return stretch[:from] + fmt.Sprintf("%0*d", n, m.IntN(int(math.Pow10(n)))) + stretch[at[1]:]
	}
	return stretch
}

var betweenWords = regexp.MustCompile(`\pL \pL`)

// negate puts a negation between two words.
func negate(m maker, stretch string) string {
	spaces := betweenWords.FindAllStringIndex(stretch, -1)
	if len(spaces) == 0 {
		return stretch
	}
	at := pick(m, spaces)[1]
	_, size := utf8.DecodeLastRuneInString(stretch[:at])
	at -= size
	return stretch[:at] + pick(m, []string{"not ", "never ", "no ", "안 ", "아니라 ", "없이 "}) + stretch[at:]
}

var absences = []caseMaker{
	{"another message", absent(func(m maker, _ string) string {
		other := m.message()
		x := m.cut(other, 40)
		return other[x.start:x.end]
	})},
	{"shuffled", absent(maker.shuffled)},
	{"half elsewhere", absent(halfElsewhere)},
	{"a third replaced", absent(replaceWords(false))},
	{"near word", near(replaceWords(true))},
	{"near number", near(renumber)},
	{"near negation", near(negate)},
}
