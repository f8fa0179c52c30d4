package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// unlikeMarks lists where the punctuation of a quote says something else than that of a place: a
// question is a statement, code has other marks, a list is said to be complete, an apostrophe lacks
// that tells two words apart.
func (s *source) unlikeMarks(q *quote, x extent) []schema.Doubt {
	var doubts []schema.Doubt
	doubt := func(quoted, source string) {
		if quoted != source {
			doubts = append(doubts, schema.Doubt{Quote: quoted, Source: source})
		}
	}
	text := s.text[x.start:x.end]
	asked := strings.Repeat("?", questions(text))
	if next, _ := utf8.DecodeRuneInString(s.text[x.end:]); next == '?' || next == '？' {
		asked += "?"
	}
	doubt(strings.Repeat("?", questions(q.text)), asked)
	if looksLikeCode(text) {
		doubt(codeMarks(q.text), codeMarks(text))
	} else if open := unclosed(text); open != "" && unclosed(q.text) == "" {
		doubt("", open)
	}
	if strings.ContainsAny(text, "'’") {
		quoted := make(map[string]bool)
		for _, word := range words(q.text) {
			quoted[word] = true
		}
		for _, word := range words(text) {
			bare := strings.ReplaceAll(word, "'", "")
			if bare != word && english(bare) && !quoted[word] && quoted[bare] {
				doubt(bare, word)
			}
		}
	}
	return doubts
}

func questions(text string) int { return strings.Count(text, "?") + strings.Count(text, "？") }

// looksLikeCode reports whether a text has marks that only code has, or a path and an option.
func looksLikeCode(text string) bool {
	return slices.ContainsFunc(onlyCode, func(mark string) bool { return strings.Contains(text, mark) }) ||
		strings.Contains(text, " -") && strings.Contains(text, "/")
}

var onlyCode = []string{"{", "}", ":=", "()", "[]", " = ", "==", "&&", "||", "=>", "->", "::", "++", "/*", "$("}

// codeMarks returns the marks of a code that mean something, in order. Quotes, commas and points are
// written in many ways.
func codeMarks(text string) string {
	var marks strings.Builder
	for _, r := range text {
		if strings.ContainsRune("*/&[](){}:=!+-<>|^%~@\\?", r) {
			marks.WriteRune(r)
		}
	}
	return marks.String()
}

// unclosed returns the brackets that a text opens and does not close.
func unclosed(text string) string {
	var open []rune
	for _, r := range text {
		switch r {
		case '(', '[', '{':
			open = append(open, r)
		case ')', ']', '}':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	return string(open)
}

// words returns the words of a text in small letters, with plain apostrophes inside.
func words(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	for i, word := range words {
		words[i] = strings.Trim(word, "'")
	}
	return words
}
