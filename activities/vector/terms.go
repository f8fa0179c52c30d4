package vector

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Terms analyzes text for keyword search, the same way for what is stored and for what is asked.
// The terms are separated by spaces and hold no other white space or control character.
//
//   - Text is normalized (NFKC) and case-folded, and split at what is neither letter, mark nor digit.
//   - A name joined by punctuation (go-client, a/b.go, 1.5, C++, .NET) is a term besides its parts,
//     and so is each word of a camelCase name.
//   - Chinese and Japanese text, which has no spaces, is split into pairs of characters. A Korean
//     word is a term, and so are its pairs, which match whatever particle is attached.
//   - An English plural or inflected form is its stem.
func Terms(text string) string {
	var a analyzer
	a.fold = cases.Fold()
	for _, field := range strings.FieldsFunc(norm.NFKC.String(text), separates) {
		a.field(field)
	}
	return a.out.String()
}

type analyzer struct {
	fold cases.Caser
	out  strings.Builder
}

func (a *analyzer) emit(term string) {
	if term == "" {
		return
	}
	if a.out.Len() > 0 {
		a.out.WriteByte(' ')
	}
	a.out.WriteString(term)
}

// field analyzes text that is words and the punctuation between them.
func (a *analyzer) field(field string) {
	compound := strings.TrimRightFunc(strings.TrimLeft(field, "_-/:@'’"), func(r rune) bool {
		return !inWord(r) && r != '+' && r != '#'
	})
	words := strings.FieldsFunc(compound, func(r rune) bool { return !inWord(r) })
	if len(words) == 0 {
		return
	}
	if w := strings.TrimLeft(compound, ".+#"); len(words) > 1 || w != words[0] || compound[0] == '.' {
		if !hasWide(compound) {
			a.emit(a.fold.String(strings.TrimLeft(compound, "+#")))
		}
	}
	for _, w := range words {
		a.word(w)
	}
}

// word analyzes a run of letters, marks and digits: each script in it by its own rule.
func (a *analyzer) word(word string) {
	runes := []rune(word)
	for start := 0; start < len(runes); {
		kind := scriptOf(runes[start])
		end := start + 1
		for end < len(runes) && (scriptOf(runes[end]) == kind || unicode.IsMark(runes[end])) {
			end++
		}
		run := runes[start:end]
		switch kind {
		case scriptHan:
			a.pairs(run)
		case scriptHangul:
			if len(run) != 2 {
				a.emit(string(run))
			}
			a.pairs(run)
		default:
			a.latin(run)
		}
		start = end
	}
}

// pairs emits each two neighbours of the run, and a run of one as it is.
func (a *analyzer) pairs(run []rune) {
	if len(run) == 1 {
		a.emit(string(run))
	}
	for i := 0; i+1 < len(run); i++ {
		a.emit(string(run[i : i+2]))
	}
}

func (a *analyzer) latin(run []rune) {
	folded := a.fold.String(string(run))
	if !functionWords[folded] {
		a.emit(stem(folded))
	}
	start := 0
	for i := 1; i < len(run); i++ {
		if unicode.IsLower(run[i-1]) && unicode.IsUpper(run[i]) {
			a.emit(stem(a.fold.String(string(run[start:i]))))
			start = i
		}
	}
	if start > 0 {
		a.emit(stem(a.fold.String(string(run[start:]))))
	}
}

type script uint8

const (
	scriptOther script = iota
	scriptHan
	scriptHangul
)

func scriptOf(r rune) script {
	switch {
	case r < 0x1100:
		return scriptOther
	case unicode.Is(unicode.Hangul, r):
		return scriptHangul
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー' || r == '々':
		return scriptHan
	default:
		return scriptOther
	}
}

func hasWide(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return scriptOf(r) != scriptOther })
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// separates reports whether r can't be inside a name.
func separates(r rune) bool { return !inWord(r) && !strings.ContainsRune("_-./:@'’+#", r) }

// functionWords are the English words that say nothing of what a text is about.
var functionWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or but of to in on at by for with from as is are was
		were be been being am do does did has have had i you he she it we they me him her us them my your
		his its our their this that these those what which who whom whose when where why how s t`) {
		m[w] = true
	}
	return m
}()
