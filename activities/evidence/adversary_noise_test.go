package evidence

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// change is a quote that differs from its source between before and after: it says now for was.
type change struct {
	place              place
	before, now, after string
	was                string
}

func (c change) quote() string { return c.before + c.now + c.after }

// changeAt puts a word or more of the statement's text for the bytes from start to end.
func changeAt(p place, start, end int, now string) change {
	text := p.statement.text
	return change{p, text[:start], now, text[end:], text[start:end]}
}

// nearby cuts the statement around the change, at word borders, to 40 to 90 runes and the change.
func (c change) nearby(rng *rand.Rand) change {
	c.before = tail([]rune(c.before), 20+rng.IntN(21))
	c.after = head([]rune(c.after), 20+rng.IntN(21))
	return c
}

func tail(r []rune, n int) string {
	at := max(0, len(r)-n)
	for at > 0 && at < len(r) && !wordBorder(r[at-1], r[at]) {
		at++
	}
	return strings.TrimLeftFunc(string(r[at:]), unicode.IsSpace)
}

func head(r []rune, n int) string {
	at := min(len(r), n)
	for at > 0 && at < len(r) && !wordBorder(r[at-1], r[at]) {
		at--
	}
	return strings.TrimRightFunc(string(r[:at]), unicode.IsSpace)
}

func wordBorder(a, b rune) bool {
	return unicode.IsSpace(a) || unicode.IsSpace(b) || unspaced(a) && unspaced(b)
}

// unspaced tells the scripts written without spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー'
}

const negatingRunes = "不没沒未无無非否别勿莫않안못없말불비미아な無ずぬん"

var negatingWords = map[string]bool{
	"not": true, "no": true, "never": true, "none": true, "nor": true, "neither": true, "nothing": true,
	"nobody": true, "without": true, "cannot": true, "only": true, "unless": true, "except": true,
	"nicht": true, "kein": true, "keine": true, "weder": true, "noch": true, "ohne": true, "niemand": true,
	"ne": true, "pas": true, "sans": true, "aucun": true, "jamais": true, "personne": true, "ni": true,
	"sin": true, "nunca": true, "ninguno": true, "não": true, "sem": true, "nenhum": true,
	"не": true, "ни": true, "нет": true, "никто": true, "без": true,
}

// wordSpan is a word of a text: runes from start to end without white space.
type wordSpan struct {
	start, end int
	text       string
}

func wordsOf(r []rune) []wordSpan {
	var words []wordSpan
	start := -1
	for i := 0; i <= len(r); i++ {
		inside := i < len(r) && !unicode.IsSpace(r[i])
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			words = append(words, wordSpan{start, i, string(r[start:i])})
			start = -1
		}
	}
	return words
}

// guarded reports a word whose change would be one of number or of negation.
func guarded(word string) bool {
	bare := strings.ToLower(strings.TrimFunc(word, unicode.IsPunct))
	return negatingWords[bare] || strings.Contains(bare, "n't") || strings.Contains(bare, "n'") ||
		strings.ContainsFunc(word, unicode.IsDigit)
}

// typoPlaces lists the letters of r at least two words from its end, or from its start: a word of
// a script without spaces counts as three runes.
func typoPlaces(r []rune, fromEnd bool) []int {
	var at []int
	for _, w := range wordsOf(r) {
		if guarded(w.text) {
			continue
		}
		for i := w.start; i < w.end; i++ {
			gap := r[i+1:]
			if !fromEnd {
				gap = r[:i]
			}
			if unicode.IsLetter(r[i]) && !strings.ContainsRune(negatingRunes, r[i]) && wordsBetween(gap) >= 2 {
				at = append(at, i)
			}
		}
	}
	return at
}

// wordsBetween counts the words that end within the gap, beside the one it begins or ends in.
func wordsBetween(gap []rune) int {
	spaces, dense := 0, 0
	for i, r := range gap {
		switch {
		case unicode.IsSpace(r) && i > 0 && !unicode.IsSpace(gap[i-1]):
			spaces++
		case unspaced(r):
			dense++
		}
	}
	return spaces + dense/3
}

// noisy makes n random typos in the words away from the change, and reports whether there is room.
func (c change) noisy(rng *rand.Rand, n int) (change, bool) {
	for range n {
		before, after := []rune(c.before), []rune(c.after)
		left, right := typoPlaces(before, true), typoPlaces(after, false)
		if len(left)+len(right) == 0 {
			return c, false
		}
		if i := rng.IntN(len(left) + len(right)); i < len(left) {
			c.before = string(randomTypo(rng, before, left[i]))
		} else {
			c.after = string(randomTypo(rng, after, right[i-len(left)]))
		}
	}
	return c, true
}

// randomTypo substitutes, deletes or inserts a letter.
func randomTypo(rng *rand.Rand, r []rune, at int) []rune {
	letter := 'a' + rng.Int32N(26)
	if unicode.Is(unicode.Hangul, r[at]) && rng.IntN(2) == 0 {
		letter = '가' + rng.Int32N(11172)
	}
	for letter == unicode.ToLower(r[at]) {
		letter = 'a' + rng.Int32N(26)
	}
	changed := slices.Clone(r)
	switch rng.IntN(3) {
	case 0:
		changed[at] = letter
		return changed
	case 1:
		return slices.Delete(changed, at, at+1)
	default:
		return slices.Insert(changed, at, letter)
	}
}

// soundTypo spoils the inside of a word so that no other word can be meant: its letters but the
// first three and the last two. A word of Hangul keeps all its syllables.
func soundTypo(rng *rand.Rand, word []rune) []rune {
	if unicode.Is(unicode.Hangul, word[0]) {
		at := 2 + rng.IntN(len(word)-3)
		return slices.Insert(slices.Clone(word), at, []rune{word[at], 'q', 'x', 'z'}[rng.IntN(4)])
	}
	at := 3 + rng.IntN(max(1, len(word)-5))
	changed := slices.Clone(word)
	kind := rng.IntN(4)
	switch {
	case kind == 0 && len(word) >= 8 && word[at] != word[at+1]:
		changed[at], changed[at+1] = word[at+1], word[at]
	case kind == 1 && len(word) >= 7 && word[at] != word[at-1] && word[at] != word[at+1]:
		changed = slices.Insert(changed, at, word[at])
	case kind == 2:
		changed[at] = foreignLetter(rng, word[at])
	case strings.ContainsRune("aeiouy", word[at]):
		changed[at] = []rune("qxz")[rng.IntN(3)]
	case word[at] != 'q' && word[at+1] != 'u':
		changed[at] = 'q'
	default:
		changed[at] = foreignLetter(rng, word[at])
	}
	return changed
}

func foreignLetter(rng *rand.Rand, of rune) rune {
	foreign := []rune("жщюψδ")
	if unicode.Is(unicode.Cyrillic, of) {
		foreign = []rune("zqwds")
	}
	return foreign[rng.IntN(len(foreign))]
}
