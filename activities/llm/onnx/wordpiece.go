package onnx

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// WordPiece cuts texts into words and marks, and words into the longest pieces of the vocabulary, as BERT does.
type WordPiece struct {
	Vocabulary map[string]int32
	// Unknown is the number of a word that has no pieces, or more than MaxWord characters.
	Unknown int32
	MaxWord int
	// Prefix marks a piece that does not begin a word.
	Prefix string
	// Lower makes letters small, and Accents leaves their accents on.
	Lower, Accents bool
}

// Tokens returns the numbers of the pieces of a text of valid UTF-8.
func (w *WordPiece) Tokens(text string) []int32 {
	var out []int32
	for _, word := range w.words(text) {
		out = append(out, w.pieces(word)...)
	}
	return out
}

func (w *WordPiece) words(text string) []string {
	if w.Lower {
		text = strings.ToLower(text)
	}
	if !w.Accents {
		text = norm.NFD.String(text)
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf) || !w.Accents && unicode.Is(unicode.Mn, r):
		case alone(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return strings.Fields(b.String())
}

// alone reports whether the character is a word: a mark, or an ideograph.
func alone(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return unicode.IsPunct(r) || unicode.Is(unicode.Unified_Ideograph, r)
}

func (w *WordPiece) pieces(word string) []int32 {
	if utf8.RuneCountInString(word) > w.MaxWord {
		return []int32{w.Unknown}
	}
	var out []int32
	prefix := ""
	for word != "" {
		end := len(word)
		id, ok := w.Vocabulary[prefix+word]
		for !ok && end > 0 {
			_, width := utf8.DecodeLastRuneInString(word[:end])
			end -= width
			id, ok = w.Vocabulary[prefix+word[:end]]
		}
		if end == 0 {
			return []int32{w.Unknown}
		}
		out = append(out, id)
		word, prefix = word[end:], w.Prefix
	}
	return out
}
