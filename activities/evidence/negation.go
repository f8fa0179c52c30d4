package evidence

import (
	"strings"
	"unicode"
)

// negations lists what denies in a folded text, in order, so that two texts can be compared. The
// characters that deny in Chinese, Japanese and Korean count wherever they stand.
func negations(text []rune) []string {
	var found []string
	for i := 0; i < len(text); i++ {
		r := text[i]
		switch {
		case denying[r]:
			found = append(found, string(r))
		case !letter(r):
		case r < 0x2E80:
			start := i
			for i+1 < len(text) && (letter(text[i+1]) && text[i+1] < 0x2E80 || text[i+1] == '\'' && i+2 < len(text) && letter(text[i+2])) {
				i++
			}
			alone := (start == 0 || !letter(text[start-1])) && (i+1 == len(text) || !letter(text[i+1]))
			if n := negation(string(text[start : i+1])); n != "" && alone {
				found = append(found, n)
			}
		default:
			rest := text[i:min(len(text), i+3)]
			for _, phrase := range denyingPhrases {
				if strings.HasPrefix(string(rest), phrase) {
					found = append(found, phrase)
				}
			}
		}
	}
	return found
}

// negation returns what a word denies with, or nothing. A contraction denies with not.
func negation(word string) string {
	if strings.HasSuffix(word, "n't") || contracted[word] {
		return "not"
	}
	if word == "cannot" {
		return "not"
	}
	if denyingWords[word] {
		return word
	}
	return ""
}

// operators lists the symbols of a folded text that compare, compute or price, in order.
func operators(text []rune) []rune {
	var found []rune
	for i, r := range text {
		switch r {
		case '<', '>', '=', '+', '%', '|', '^', '&':
			found = append(found, r)
		case '!':
			if i+1 < len(text) && (text[i+1] == '=' || letter(text[i+1]) && (i == 0 || strings.ContainsRune(" (){}[]=!&|,;:", text[i-1]))) {
				found = append(found, r)
			}
		case '#':
			if i > 0 && letter(text[i-1]) && (i+1 == len(text) || !wordRune(text[i+1])) {
				found = append(found, r)
			}
		default:
			if r >= 0x80 && unicode.In(r, unicode.Sm, unicode.Sc) || r == '$' {
				found = append(found, r)
			}
		}
	}
	return found
}

// boundary reports whether no word goes on across a byte offset of a text.
func boundary(text string, at int) bool {
	if at == 0 || at == len(text) {
		return true
	}
	before := lastRunes(text[:at], 1)[0]
	for _, after := range text[at:] {
		return !wordRune(before) || !wordRune(after)
	}
	return true
}
