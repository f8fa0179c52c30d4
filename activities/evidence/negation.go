package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// negations lists what denies in a folded text, in order, so that two texts can be compared. The
// characters that deny in Chinese, Japanese and Korean count wherever they stand.
func negations(text string) []string {
	var found []string
	var before rune
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		switch {
		case denying[r]:
			found = append(found, text[i:end])
		case !letter(r):
		case r < firstCJK:
			for end < len(text) {
				next, size := utf8.DecodeRuneInString(text[end:])
				if after, _ := utf8.DecodeRuneInString(text[end+size:]); !(alphabetic(next) || next == '\'' && letter(after)) {
					break
				}
				end += size
			}
			after, _ := utf8.DecodeRuneInString(text[end:])
			if n := negation(text[i:end]); n != "" && !letter(before) && !letter(after) {
				found = append(found, n)
			}
		default:
			for _, phrase := range denyingPhrases {
				if strings.HasPrefix(text[i:], phrase) {
					found = append(found, phrase)
				}
			}
		}
		before, _ = utf8.DecodeLastRuneInString(text[:end])
		i = end
	}
	return found
}

// firstCJK is the first character of the scripts of China, Japan and Korea.
const firstCJK = '\u2e80'

func alphabetic(r rune) bool { return letter(r) && r < firstCJK }

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
func operators(text string) []rune {
	var found []rune
	var before rune
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		after, _ := utf8.DecodeRuneInString(text[i:])
		operator := false
		switch r {
		case '<', '>', '=', '+', '%', '|', '^', '&', '$':
			operator = true
		case '!':
			operator = after == '=' || letter(after) && (before == 0 || strings.ContainsRune(" (){}[]=!&|,;:", before))
		case '#':
			operator = letter(before) && !wordRune(after)
		default:
			operator = r >= utf8.RuneSelf && unicode.In(r, unicode.Sm, unicode.Sc)
		}
		if operator {
			found = append(found, r)
		}
		before = r
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
