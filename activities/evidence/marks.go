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
	return append(doubts, otherCase(q.text, text)...)
}

func questions(text string) int { return strings.Count(text, "?") + strings.Count(text, "？") }

// looksLikeCode reports whether a text has marks that only code has, or a path and an option.
func looksLikeCode(text string) bool {
	return slices.ContainsFunc(onlyCode, func(mark string) bool { return strings.Contains(text, mark) }) ||
		strings.Contains(text, " -") && strings.Contains(text, "/")
}

var onlyCode = []string{"{", "}", ":=", "()", "[]", " = ", "==", "&&", "||", "=>", "->", "::", "++", "/*", "$("}

// codeMarks returns the marks of a code that mean something, in order, with a point for the words
// between them: i++ is not ++i. Quotes, commas and points are written in many ways.
func codeMarks(text string) string {
	var marks strings.Builder
	word := false
	for _, r := range text {
		switch {
		case wordRune(r):
			word = true
		case strings.ContainsRune("*/&[](){}:=!+-<>|^%~@\\?", r):
			if word && marks.Len() > 0 {
				marks.WriteRune('·')
			}
			marks.WriteRune(r)
			word = false
		}
	}
	return marks.String()
}

// otherCase returns the tokens of letters and digits that a quote writes with other capitals than a
// text, which tell random ones apart, when the quote has capitals and small letters at all.
func otherCase(quote, text string) (doubts []schema.Doubt) {
	if !bothCases(quote) {
		return nil
	}
	noWord := func(r rune) bool { return !wordRune(r) }
	quoted := make(map[string]string)
	for token := range strings.FieldsFuncSeq(quote, noWord) {
		quoted[strings.ToLower(token)] = token
	}
	for token := range strings.FieldsFuncSeq(text, noWord) {
		if !strings.ContainsFunc(token, unicode.IsDigit) || !bothCases(token) {
			continue
		}
		if q := quoted[strings.ToLower(token)]; q != "" && q != token {
			doubts = append(doubts, schema.Doubt{Quote: q, Source: token})
		}
	}
	return doubts
}

func bothCases(text string) bool {
	return strings.ContainsFunc(text, unicode.IsUpper) && strings.ContainsFunc(text, unicode.IsLower)
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
