package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Terms analyzes text for keyword search, the same way for stored texts and for queries. The terms are
// separated by spaces and contain no other white space or control character.
//
//   - Text is normalized (NFKC) and case-folded, and split at anything but letters, marks and digits.
//   - A name joined by punctuation (go-client, a/b.go, 1.5, C++, .NET) is a term in addition to its
//     parts, and so is each word of a camelCase name.
//   - Text in scripts without spaces is split into pairs of characters where these are syllables or
//     words, as in Chinese and Japanese, and into threes where they are letters, as in Thai. A Korean
//     word is a term, and so are its pairs, which match whatever particle is attached.
//   - An English plural or inflected form is its stem.
//   - A pictogram, such as an emoji, is the same term in any colour or style.
func Terms(text string) string {
	var a analyzer
	text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	start := 0
	for i, r := range text {
		if !separates(r) {
			continue
		}
		a.field(text[start:i])
		if unicode.Is(unicode.So, r) && r != utf8.RuneError {
			a.emit(string(r))
		}
		start = i + utf8.RuneLen(r)
	}
	a.field(text[start:])
	return a.out.String()
}

type analyzer struct{ out strings.Builder }

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
	words := slices.DeleteFunc(strings.FieldsFunc(compound, func(r rune) bool { return !inWord(r) }), wordless)
	if len(words) == 0 {
		return
	}
	if w := strings.TrimLeft(compound, ".+#"); len(words) > 1 || w != words[0] || compound[0] == '.' {
		if !strings.ContainsFunc(compound, InPieces) {
			a.emit(foldCase(strings.TrimLeft(compound, "+#")))
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
		case scriptSyllabic:
			a.pieces(run, 2)
		case scriptAlphabetic:
			a.pieces(run, 3)
		case scriptHangul:
			if len(run) != 2 {
				a.emit(string(run))
			}
			a.pieces(run, 2)
		default:
			a.latin(run)
		}
		start = end
	}
}

// pieces emits each n neighbours of the run, and a shorter run as it is.
func (a *analyzer) pieces(run []rune, n int) {
	if len(run) < n {
		a.emit(string(run))
	}
	for i := 0; i+n <= len(run); i++ {
		a.emit(string(run[i : i+n]))
	}
}

func (a *analyzer) latin(run []rune) {
	folded := foldCase(string(run))
	if !functionWords[folded] {
		a.emit(Stem(folded))
	}
	start := 0
	for i := 1; i < len(run); i++ {
		if unicode.IsLower(run[i-1]) && unicode.IsUpper(run[i]) {
			a.emit(Stem(foldCase(string(run[start:i]))))
			start = i
		}
	}
	if start > 0 {
		a.emit(Stem(foldCase(string(run[start:]))))
	}
}

type script uint8

const (
	scriptSpaced script = iota
	scriptHangul
	scriptSyllabic
	scriptAlphabetic
)

func scriptOf(r rune) script {
	switch {
	case r < firstUnspaced:
		return scriptSpaced
	case unicode.Is(unicode.Hangul, r):
		return scriptHangul
	case isSyllabic(r):
		return scriptSyllabic
	case isAlphabetic(r):
		return scriptAlphabetic
	default:
		return scriptSpaced
	}
}

// InPieces reports whether search splits words in a character's script into pieces: see [Terms].
func InPieces(r rune) bool { return scriptOf(r) != scriptSpaced }

// wordless reports whether the text is only marks, such as the style selector of an emoji.
func wordless(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// separates reports whether r can't be inside a name.
func separates(r rune) bool { return !inWord(r) && !strings.ContainsRune("_-./:@'’+#", r) }

// functionWords are the English words that say nothing about the subject of a text.
var functionWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or but of to in on at by for with from as is are was
		were be been being am do does did has have had i you he she it we they me him her us them my your
		his its our their this that these those what which who whom whose when where why how s t`) {
		m[w] = true
	}
	return m
}()
