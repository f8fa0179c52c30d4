package obligation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"axiommind/activities/evidence"
	"axiommind/activities/text"
)

// The rule of claims: a word of the title is a claim if it contains a number, a capital after its first letter, or a
// mark of code. A claim must be a word of the evidence.
//
// A word is a stretch of letters and numbers of one script; Latin letters and numbers of any script go together. Marks
// are part of a word where code uses them, as in 1.5, 10:30, a_b, a/b, x::y, C++ and C#. So is a hyphen before a digit:
// GPT-4 is one word, 5-minute two. The evidence also states the parts of such a word that contain letters, such as
// main.go in cmd/main.go:42. Case, width and the script of digits are ignored, superscripts are not.

// ClaimsOf returns the numbers and identifiers of a title, as [Words] writes them.
func ClaimsOf(title string) []string {
	var out []string
	eachWord(title, func(word string) {
		if isClaim(word) {
			out = append(out, fold(word))
		}
	})
	return out
}

// Words returns the words of a text that evidence states, without regard to case, and the parts of those with marks.
func Words(text string) []string {
	var out []string
	eachWord(text, func(word string) {
		out = append(out, fold(word))
		parts := strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(partingMarks, r) })
		if len(parts) < 2 {
			return
		}
		for _, part := range parts {
			if strings.ContainsFunc(part, unicode.IsLetter) {
				out = append(out, fold(part))
			}
		}
	})
	return out
}

func isClaim(word string) bool {
	return evidence.CaseMatters(word) || strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	})
}

// fold returns the form in which two spellings of a word are equal.
func fold(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !inWord(r) }) {
		return strings.ToLower(word) // As it would be below.
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0' + digit(r)
		}
		return r
	}, text.Title(word))
}

// digit returns the value of a decimal digit of any script: Unicode has them in rows of ten.
func digit(r rune) rune {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return (r - rune(row.Lo)) % 10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return (r - rune(row.Lo)) % 10
		}
	}
	return 0
}

const (
	// partingMarks separate the parts of a word of evidence.
	partingMarks = `/\@=&|:#$~^`
	// innerMarks may be between two letters or digits of a word. For further marks see [inside].
	innerMarks = `_./\@=&+#$~^|`
	// digitMarks may be between two digits of a number.
	digitMarks = ",'’٫٬"
	// endMarks may end a word.
	endMarks = "+#%‰"
)

// Kinds of characters.
const (
	between = iota // of no word, or of a script that writes no spaces
	latin          // Latin letters, and numbers of all scripts
	other          // letters of other scripts
)

func kindOf(r rune) int {
	switch {
	case unicode.IsNumber(r), unicode.Is(unicode.Latin, r):
		return latin
	case text.InPieces(r):
		return between
	case unicode.IsLetter(r):
		return other
	}
	return between
}

// eachWord calls yield for each word of a text, unchanged except for width and hyphens.
func eachWord(s string, yield func(word string)) {
	s = strings.Map(func(r rune) rune {
		switch {
		case text.Ignored(r):
			return -1
		case isHyphen(r):
			return '-'
		}
		return r
	}, width.Fold.String(s))
	runes := []rune(s)
	for i := 0; i < len(runes); {
		kind := kindOf(runes[i])
		if kind == between {
			i++
			continue
		}
		start := i
		i = wordEnd(runes, i, kind)
		word := lead(runes, start) + string(runes[start:i])
		if kind == latin {
			var tail string
			tail, i = trail(runes, i)
			word += tail
		}
		yield(word)
	}
}

// wordEnd returns the end of the word that begins at start, without the marks after it.
func wordEnd(runes []rune, start, kind int) int {
	i := start
	for i < len(runes) {
		switch {
		case kindOf(runes[i]) == kind || unicode.IsMark(runes[i]):
			i++
			continue
		case kind == latin:
			if n := inside(runes, i); n > 0 {
				i += n
				continue
			}
		}
		break
	}
	return i
}

// inside returns the number of marks at i that are inside a Latin word, 0 if the word ends there.
func inside(runes []rune, i int) int {
	n := 0
	for i+n < len(runes) && n < 4 && kindOf(runes[i+n]) == between && !unicode.IsSpace(runes[i+n]) {
		n++
	}
	if i+n == len(runes) || kindOf(runes[i+n]) != latin {
		return 0
	}
	before, after := runes[i-1], runes[i+n]
	marks, digits := string(runes[i:i+n]), unicode.IsNumber(before) && unicode.IsNumber(after)
	switch {
	case marks == "::" || marks == "://":
		return n
	case n > 1:
		return 0
	case strings.Contains(innerMarks, marks):
		return n
	case (marks == "-" || marks == ":") && unicode.IsNumber(after):
		return n
	case digits && strings.Contains(digitMarks, marks):
		return n
	}
	return 0
}

// lead returns the sign, decimal point or currency before a number that begins at i.
func lead(runes []rune, i int) string {
	if i == 0 || !unicode.IsNumber(runes[i]) {
		return ""
	}
	mark := runes[i-1]
	if mark != '-' && mark != '.' && mark != '+' && !unicode.Is(unicode.Sc, mark) {
		return ""
	}
	if i > 1 && (inWord(runes[i-2]) || runes[i-2] == mark) {
		return ""
	}
	return string(mark)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// trail returns the marks after a word, and where they end. A percent sign may follow white space.
func trail(runes []rune, i int) (string, int) {
	at := i
	if i+1 < len(runes) && unicode.IsSpace(runes[i]) && unicode.IsNumber(runes[i-1]) && (runes[i+1] == '%' || runes[i+1] == '‰') {
		at = i + 1
	}
	end := at
	for end < len(runes) && strings.ContainsRune(endMarks, runes[end]) {
		end++
	}
	if end == at {
		return "", i
	}
	return string(runes[at:end]), end
}

// isHyphen reports whether a character is a hyphen, a minus or a dash between numbers.
func isHyphen(r rune) bool {
	return r == '-' || r == '‐' || r == '‑' || r == '–' || r == '−' || r == '﹣'
}
