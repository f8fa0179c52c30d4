package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Title returns the form in which two spellings of one title are equal: compatibility forms, case,
// white space, punctuation at the edges of words, invisible characters and Markdown around the whole
// do not count, nor does white space between a minus and its number. Everything else does: symbols,
// punctuation between letters or digits, vowel signs, emoji, superscripts. A title of nothing but
// punctuation keeps it.
func Title(title string) string {
	// One pass may uncover another mark at the edges. Few titles take a third pass; the bound is for titles
	// made to take many.
	for range 16 {
		next := titleOnce(title)
		if next == title {
			break
		}
		title = next
	}
	return title
}

func titleOnce(title string) string {
	words := strings.Fields(unwrap(dropMarker(foldTitle(shown(title)))))
	kept := make([]string, 0, len(words))
	for i, w := range words {
		if w = trimWord(w); w == "" {
			continue
		}
		if i > 0 && words[i-1] == "-" && isNumber(w) { // A minus belongs to its number.
			w = "-" + w
		}
		kept = append(kept, w)
	}
	if len(kept) == 0 {
		return strings.Join(words, " ")
	}
	return strings.Join(kept, " ")
}

// shown replaces control characters by spaces and drops characters that show nothing. A joiner
// stays where it changes the glyph: between two characters that are not ASCII.
func shown(s string) string {
	// Composed first: an accented letter is not ASCII, however it is written.
	s = norm.NFC.String(strings.ToValidUTF8(s, "\uFFFD"))
	var b strings.Builder
	b.Grow(len(s))
	previous := rune(' ')
	for i, r := range s {
		switch {
		case r == nonJoiner || r == joiner:
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if previous < utf8.RuneSelf || next < utf8.RuneSelf || next == utf8.RuneError || unicode.IsSpace(next) {
				continue
			}
		case Ignored(r):
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r):
			r = ' '
		case dashes[r]:
			r = '-'
		case singleQuotes[r]:
			r = '\''
		case doubleQuotes[r]:
			r = '"'
		}
		b.WriteRune(r)
		previous = r
	}
	return b.String()
}

// foldTitle folds case and compatibility forms until neither changes anything. Superscripts,
// fractions and circled numbers keep their meaning and so their form.
func foldTitle(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	for range 4 {
		// A capital I with a dot folds to an i with a second dot, which shows nothing.
		next := strings.ReplaceAll(compatible(foldCase(compatible(s))), "i\u0307", "i")
		if next == s {
			break
		}
		s = next
	}
	return s
}

func compatible(s string) string {
	var b strings.Builder
	start := 0
	for i, r := range s {
		if !keepsForm(r) {
			continue
		}
		b.WriteString(norm.NFKC.String(s[start:i]))
		b.WriteRune(r)
		start = i + utf8.RuneLen(r)
	}
	b.WriteString(norm.NFKC.String(s[start:]))
	return b.String()
}

func keepsForm(r rune) bool {
	isSubscript := r >= '\u2080' && r <= '\u2089'
	return r >= utf8.RuneSelf && unicode.Is(unicode.No, r) && !isSubscript
}

func runeSet(s string) map[rune]bool {
	set := make(map[rune]bool, len(s))
	for _, r := range s {
		set[r] = true
	}
	return set
}

var (
	dashes       = runeSet("‐‑‒–—―﹘−")
	singleQuotes = runeSet("‘’‚‛‹›ʼ`´")
	doubleQuotes = runeSet("“”„‟〝〞〟«»「」『』《》〈〉")
	// wordStarts does not count before a word.
	wordStarts = runeSet(`'",;¡¿。、،؛`)
)

// trimWord returns the word without punctuation at its edges; empty when that is all it is.
func trimWord(w string) string {
	core := strings.TrimRightFunc(w, func(r rune) bool {
		return r == '\'' || r == '"' || unicode.Is(unicode.Terminal_Punctuation, r)
	})
	core = strings.TrimLeftFunc(core, func(r rune) bool { return wordStarts[r] })
	if strings.Trim(core, "-") == "" {
		return ""
	}
	return core
}

// isNumber reports whether the word is a number without a sign: digits with points, commas and percent
// signs.
func isNumber(w string) bool {
	return strings.ContainsFunc(w, unicode.IsNumber) &&
		!strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsNumber(r) && !strings.ContainsRune(".,%", r) })
}

// dropMarker removes a list bullet, a heading mark or a check box from the start.
func dropMarker(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "· ", "# ", "## ", "### ", "[ ] ", "[x] "} {
		if rest, ok := strings.CutPrefix(s, mark); ok && strings.TrimSpace(rest) != "" {
			return strings.TrimSpace(rest)
		}
	}
	return s
}

var wrappings = [][2]string{{"**", "**"}, {"__", "__"}, {"~~", "~~"}, {"*", "*"}, {"(", ")"}, {"[", "]"}, {"【", "】"}}

// unwrap removes one pair of brackets or emphasis marks around the whole of a title of several
// words; a single word such as __init__ or *ptr* may be a name.
func unwrap(s string) string {
	s = strings.TrimSpace(s)
	for _, w := range wrappings {
		inner, ok := strings.CutPrefix(s, w[0])
		if !ok {
			continue
		}
		inner, ok = strings.CutSuffix(inner, w[1])
		if ok && strings.Contains(strings.TrimSpace(inner), " ") && !strings.Contains(inner, w[0]) && !strings.Contains(inner, w[1]) {
			return strings.TrimSpace(inner)
		}
	}
	return s
}
