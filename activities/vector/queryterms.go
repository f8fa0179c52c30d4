package vector

import (
	"strings"
	"unicode"

	language "axiommind/activities/text"
)

// QueryTerms has the content terms of a query, which describe its subject.
type QueryTerms struct {
	terms map[string]bool
	// words are the terms that match even if they are misspelled.
	words [][]rune
}

// NewQueryTerms returns the terms of the text without function words and without the character pairs of endings and
// particles. If nothing else is left, it returns all terms.
func NewQueryTerms(text string) QueryTerms {
	a := QueryTerms{terms: map[string]bool{}}
	for _, term := range language.Content(text) {
		a.terms[term] = true
	}
	for term := range a.terms {
		if word := []rune(term); typos(word) > 0 {
			a.words = append(a.words, word)
		}
	}
	return a
}

// Share returns the share of the terms that the text contains, with or without typos.
func (a QueryTerms) Share(text string) float64 {
	if len(a.terms) == 0 {
		return 0
	}
	found := map[string]bool{}
	for _, term := range strings.Fields(language.Terms(text)) {
		if a.terms[term] {
			found[term] = true
			continue
		}
		for _, word := range a.words {
			if differByTypos(word, []rune(term)) {
				found[string(word)] = true
			}
		}
	}
	return float64(len(found)) / float64(len(a.terms))
}

// typos returns the number of typos that are allowed in a word. Numbers, names joined by punctuation, and scripts
// without spaces allow none.
func typos(word []rune) int {
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || language.InPieces(r) {
			return 0
		}
	}
	switch {
	case len(word) < 5:
		return 0
	case len(word) < 8:
		return 1
	default:
		return 2
	}
}

// differByTypos reports whether a and b differ only by the allowed typos: letters that are missing, added, or swapped
// with their neighbours. The first letter must be right. A wrong letter counts as two typos.
func differByTypos(a, b []rune) bool {
	most := min(typos(a), typos(b))
	if most == 0 || a[0] != b[0] || len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		next[0] = i + 1
		for j := range b {
			next[j+1] = min(last[j+1], next[j]) + 1
			if a[i] == b[j] {
				next[j+1] = last[j]
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)] <= most
}
