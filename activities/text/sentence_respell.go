package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// newMarks end sentences by the versions of Unicode since 15, which uniseg follows: in Balinese, Khmer,
// Coptic, Tulu-Tigalari and Kirat Rai, and the forms of those of Chinese for columns.
var newMarks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x17d4, Hi: 0x17d5, Stride: 1}, {Lo: 0x1b4e, Hi: 0x1b4f, Stride: 1}, {Lo: 0x1b7f, Hi: 0x1b7f, Stride: 1},
		{Lo: 0x2cf9, Hi: 0x2cfb, Stride: 1}, {Lo: 0x2e60, Hi: 0x2e61, Stride: 1}, {Lo: 0xfe12, Hi: 0xfe12, Stride: 1},
		{Lo: 0xfe15, Hi: 0xfe16, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x113d4, Hi: 0x113d5, Stride: 1}, {Lo: 0x16d6e, Hi: 0x16d6f, Stride: 1}},
}

// Marks that end sentences for uniseg, by their length in bytes.
var knownMarks = [...]string{1: "?", 2: "\u0589", 3: "\u3002", 4: "\U00011047"}

const greekQuestionMark = '\u037e'

// respell returns a line as uniseg should read it, each byte in its place. Newer marks, and the question mark
// of Greek, which UAX #29 leaves to the language, become marks that it knows. A no-break space, which it
// takes for a letter, becomes a space. Long runs of spaces and brackets, each of which it reads to the end,
// become characters that it skips.
func respell(line string) string {
	const longest = 8 // runes of a run that stay
	var out strings.Builder
	copied, run, filled := 0, 0, -1
	var greek greekWords
	replace := func(from, to int, by string) {
		out.WriteString(line[copied:from])
		out.WriteString(by)
		copied = to
	}
	for at := 0; at < len(line); {
		r, size := utf8.DecodeRuneInString(line[at:])
		if runs(r) || run > 0 && unicode.In(r, unicode.M, unicode.Cf) {
			run++
		} else {
			run = 0
		}
		if filled >= 0 && run == 0 {
			replace(filled, at, filler(line[filled:at]))
			filled = -1
		}
		switch {
		case run > longest:
			if filled < 0 {
				filled = at
			}
		case r == '\u00a0':
			replace(at, at+size, "  ")
		case unicode.Is(newMarks, r), greek.asks(r, line[at+size:]):
			replace(at, at+size, knownMarks[size])
		}
		greek.read(r)
		at += size
	}
	if filled >= 0 {
		replace(filled, len(line), filler(line[filled:]))
	}
	if copied == 0 {
		return line
	}
	out.WriteString(line[copied:])
	return out.String()
}

// runs reports whether a character is white space, a bracket or a quotation mark.
func runs(r rune) bool {
	return unicode.IsSpace(r) || r == '"' || r == '\'' || unicode.In(r, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf) ||
		0x275b <= r && r <= 0x2760 || 0x1f676 <= r && r <= 0x1f678
}

// filler returns characters of format that take as many bytes as a text.
func filler(text string) string {
	switch n := len(text); {
	case n < 2:
		return text
	case n%2 == 1:
		return "\u2060" + strings.Repeat("\u00ad", (n-3)/2)
	default:
		return strings.Repeat("\u00ad", n/2)
	}
}

// greekWords knows whether a sentence holds a word in Greek letters, which a variable is not.
type greekWords struct {
	last rune
	word bool
}

func (g *greekWords) read(r rune) {
	switch {
	case r == '.', r == ';', r == '!', r == greekQuestionMark:
		g.word = false
	case unicode.Is(unicode.Greek, r) && unicode.Is(unicode.Greek, g.last):
		g.word = true
	}
	g.last = r
}

// asks reports whether a character is the question mark of Greek: the semicolon behind a sentence in Greek,
// and before a space.
func (g *greekWords) asks(r rune, rest string) bool {
	if r != ';' && r != greekQuestionMark || !g.word {
		return false
	}
	rest = rest[closing(rest, `"'`):]
	return parted(rest) || strings.HasPrefix(rest, "!")
}
