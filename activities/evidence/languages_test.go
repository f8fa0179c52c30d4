package evidence_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/deploy/local/sharedtest"
)

// language has four sentences that follow each other, the third of them a question.
type language struct {
	name      string
	between   string // text between two sentences: a space, nothing, or, where only lines end them, a line's end
	sentences []string
}

func (l language) message() string { return strings.Join(l.sentences, l.between) }

// languages reads the sentences of each language. A line that begins with # names it. "lines" follows the name
// if no mark ends its sentences, and "unspaced" if no spaces separate them.
func languages(tb testing.TB) []language {
	tb.Helper()
	var all []language
	for _, line := range lines(tb, "languages.txt") {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			name, form, _ := strings.Cut(name, " ")
			between := map[string]string{"": " ", "lines": "\n", "unspaced": ""}
			all = append(all, language{name: name, between: between[form]})
			continue
		}
		l := &all[len(all)-1]
		l.sentences = append(l.sentences, line)
	}
	for _, l := range all {
		require.Len(tb, l.sentences, 4, l.name)
	}
	return all
}

// kind makes quotes of one kind from the sentences of a language.
type kind struct {
	name   string
	proves bool
	make   func(l language) []string
}

var kinds = []kind{
	{"a sentence", true, func(l language) []string { return l.sentences }},
	{"a sentence, other spaces", true, each(func(s string) string { return " " + strings.ReplaceAll(s, " ", "\u00a0 ") + "\n" })},
	{"a sentence without its full stop", true, func(l language) []string {
		return each(withoutFullStop)(language{sentences: []string{l.sentences[0], l.sentences[1], l.sentences[3]}})
	}},
	{"two sentences", true, func(l language) []string {
		return []string{l.sentences[0] + l.between + l.sentences[1], l.sentences[1] + l.between + l.sentences[2]}
	}},
	{"two sentences without the last full stop", true, func(l language) []string {
		return []string{l.sentences[0] + l.between + withoutFullStop(l.sentences[1])}
	}},
	{"the whole message", true, func(l language) []string { return []string{l.message()} }},
	{"a question without its mark", false, func(l language) []string {
		return []string{strings.Map(func(r rune) rune {
			if strings.ContainsRune("?؟;？՞", r) {
				return -1
			}
			return r
		}, l.sentences[2])}
	}},
	{"without its first word", false, parts(func(w []string) []string { return w[1:] })},
	{"without its last word", false, parts(func(w []string) []string { return w[:len(w)-1] })},
	{"without an inner word", false, parts(func(w []string) []string { return slices.Delete(slices.Clone(w), 1, 2) })},
	{"a piece of it", false, parts(func(w []string) []string { return w[1 : len(w)-1] })},
	{"two words swapped", false, parts(func(w []string) []string {
		w = slices.Clone(w)
		w[0], w[1] = w[1], w[0]
		return w
	})},
	{"a sentence and a piece of the next", false, func(l language) []string {
		w, joint := words(l.sentences[1])
		return []string{l.sentences[0] + l.between + strings.Join(w[:len(w)-1], joint)}
	}},
	{"a piece and the next sentence", false, func(l language) []string {
		w, joint := words(l.sentences[0])
		return []string{strings.Join(w[1:], joint) + l.between + l.sentences[1]}
	}},
	{"one between two left out", false, func(l language) []string { return []string{l.sentences[0] + l.between + l.sentences[2]} }},
	{"joined by an ellipsis", false, func(l language) []string {
		return []string{l.sentences[0] + " … " + l.sentences[2], l.sentences[0] + " ... " + l.sentences[2]}
	}},
	{"a statement with a question mark", false, func(l language) []string {
		return []string{withoutFullStop(l.sentences[0]) + "?", withoutFullStop(l.sentences[3]) + "!"}
	}},
}

func each(change func(string) string) func(l language) []string {
	return func(l language) []string {
		quotes := make([]string, len(l.sentences))
		for i, s := range l.sentences {
			quotes[i] = change(s)
		}
		return quotes
	}
}

// parts makes quotes of some of a sentence's words, or of its characters where it has too few words.
func parts(choose func(words []string) []string) func(l language) []string {
	return each(func(s string) string {
		w, joint := words(s)
		return strings.Join(choose(w), joint)
	})
}

func words(sentence string) (words []string, joint string) {
	if w := strings.Fields(sentence); len(w) > 3 {
		return w, " "
	}
	for rest, state := sentence, -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		words = append(words, cluster)
	}
	// The mark at the end is no word.
	last := len(words) - 1
	if letters(words[last]) == 0 {
		words = slices.Concat(words[:last-1], []string{words[last-1] + words[last]})
	}
	return words, ""
}

// TestLanguages: one rule for all languages. No part of it knows any of them.
func TestLanguages(t *testing.T) {
	t.Parallel()
	quotes := 0
	for i, l := range languages(t) {
		if i%sharedtest.Share() > 0 {
			continue
		}
		for _, k := range kinds {
			for _, quote := range k.make(l) {
				if slices.Contains(l.sentences, quote) && !k.proves {
					continue // the question has no mark to lose
				}
				for _, text := range []string{l.message(), "Notes:\n" + l.message() + "\nThat is all."} {
					quotes++
					e := align(text, quote)
					if e.Proven != k.proves {
						t.Errorf("%s, %s: proven %t\n  quote   %q\n  message %q", l.name, k.name, e.Proven, quote, l.message())
					}
					if e.Found {
						require.NoError(t, evidence.Verify(text, e, evidence.Rule))
					}
				}
			}
		}
	}
	t.Logf("%d quotes of %d kinds in %d languages", quotes, len(kinds), len(languages(t)))
}
