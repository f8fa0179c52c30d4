package tier

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// claims are the lines of a model's summary, each with its numbers and identifiers. A model that copies them wrongly, or
// makes them up, is found out: the messages don't hold them.
type claims []claimLine

type claimLine struct {
	text   string
	claims []string
}

var listMark = regexp.MustCompile(`^\s*(?:\d{1,3}[.)]|[-*+•])\s+`)

// claimsOf returns the claims of the summary, and adds them to those that no message was seen to hold yet.
func claimsOf(summary string, open map[string]bool) (out claims) {
	for line := range strings.SplitSeq(summary, "\n") {
		words := claimsIn(listMark.ReplaceAllString(line, ""))
		out = append(out, claimLine{line, words})
		for _, w := range words {
			open[w] = true
		}
	}
	return out
}

// claimsIn returns the numbers and identifiers of a line: words with a digit, or with a capital behind the first letter.
func claimsIn(line string) (out []string) {
	line = norm.NFKC.String(line)
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !claimRune(r) {
			i += size
			continue
		}
		end := i
		for end < len(line) {
			r, size := utf8.DecodeRuneInString(line[end:])
			if !claimRune(r) && !joins(line[:end], r, line[end+size:]) {
				break
			}
			end += size
		}
		if word := line[i:end]; evidence.CaseMatters(word) {
			out = append(out, strings.ToLower(word))
		}
		i = end
	}
	return out
}

// joins reports whether a mark is inside a number or an identifier, and not between two words.
func joins(before string, mark rune, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch mark {
	case '.', '_':
		return claimRune(next)
	case '-':
		return unicode.IsDigit(next)
	case ',', ':':
		return unicode.IsDigit(last) && unicode.IsDigit(next)
	}
	return false
}

// claimRune reports whether a rune may be part of a number or an identifier. Letters without case next to one are
// separate words: 3월에, v2版.
func claimRune(r rune) bool {
	return unicode.IsDigit(r) || unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r)
}

// see takes the claims that the text holds from those that are open.
func see(open map[string]bool, text string) {
	if len(open) == 0 {
		return
	}
	text = strings.ToLower(norm.NFKC.String(text))
	for word := range open {
		if holdsWord(text, word) {
			delete(open, word)
		}
	}
}

// holdsWord reports whether the text holds the word, and not only as a part of a longer one.
func holdsWord(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(word)
		if !goesOn(reversed(text[:at]), word[0]) && !goesOn(text[end:], word[len(word)-1]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		from = at + size
	}
}

// goesOn reports whether a word that ends with the byte goes on with the rest. A number also goes on behind a mark:
// 1.5 is not in 1.5.2.
func goesOn(rest string, last byte) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if claimRune(r) {
		return true
	}
	next, _ := utf8.DecodeRuneInString(rest[size:])
	return '0' <= last && last <= '9' && strings.ContainsRune(".,:", r) && unicode.IsDigit(next)
}

// reversed returns the last two runes of the text, the last one first.
func reversed(text string) string {
	last, size := utf8.DecodeLastRuneInString(text)
	if size == 0 {
		return ""
	}
	before, more := utf8.DecodeLastRuneInString(text[:len(text)-size])
	if more == 0 {
		return string(last)
	}
	return string(last) + string(before)
}

// supported returns the lines without an open claim, and the others.
func (c claims) supported(open map[string]bool) (text string, out []schema.LeftOut) {
	var kept []string
	for _, line := range c {
		missing := slices.DeleteFunc(slices.Clone(line.claims), func(w string) bool { return !open[w] })
		if len(missing) == 0 {
			kept = append(kept, line.text)
			continue
		}
		slices.Sort(missing)
		out = append(out, schema.LeftOut{
			Text: line.text, Reason: "no message holds " + strings.Join(slices.Compact(missing), ", "),
		})
	}
	return strings.TrimSpace(strings.Join(kept, "\n")), out
}
