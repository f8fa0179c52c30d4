package graduate

import (
	"maps"
	"slices"
	"unicode/utf8"

	"axiommind/activities/graduate/obligation"
	"axiommind/activities/text"
	"axiommind/schema"
)

// The rule of grounds: a decision rests on verified statements of its session that were made before it. They share with
// it an identifier, a number, or two words of at least four letters.

// minShared is how many words a ground shares with its decision, and minWord how many letters such a word has.
const (
	minShared = 2
	minWord   = 4
)

// grounds returns the entries that the decision rests on, the oldest first.
func (w *snapshot) grounds(decision *statement) []*statement {
	claims, words := setOf(obligation.ClaimsOf(decision.Title)), longWords(decision.Title)
	var out []*statement
	for _, s := range w.entries {
		switch {
		case s == decision || s.Scope != decision.Scope || s.SessionID != decision.SessionID || s.Type == schema.EntryTaskNote,
			s.EvidenceSessionID != s.SessionID || decision.EvidenceSessionID != decision.SessionID,
			!reaches(s.Stage, schema.StageVerified),
			compareStated(s.Entry, decision.Entry) >= 0 || s.OccurredAt.After(decision.OccurredAt):
			continue
		}
		if shared(claims, setOf(obligation.ClaimsOf(s.Title))) > 0 || shared(words, longWords(s.Title)) >= minShared {
			out = append(out, s)
		}
	}
	return sortedByAge(out)
}

// longWords returns the words of a title that may name its subject. In scripts without spaces, pairs of characters are
// words.
func longWords(title string) map[string]bool {
	words := setOf(text.TitleTerms(title))
	maps.DeleteFunc(words, func(word string, _ bool) bool {
		first, _ := utf8.DecodeRuneInString(word)
		return !text.Unspaced(first) && utf8.RuneCountInString(word) < minWord
	})
	return words
}

func setOf(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, s := range list {
		out[s] = true
	}
	return out
}

func shared(a, b map[string]bool) int {
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
