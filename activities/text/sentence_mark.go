package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineMark returns how many bytes a mark takes that Markdown gives a line, 0 when a line begins with none.
func lineMark(line string) int {
	r, size := utf8.DecodeRuneInString(line)
	rest := line[size:]
	next, _ := utf8.DecodeRuneInString(rest)
	spaced := unicode.IsSpace(next)
	switch {
	case r == '>':
		opens := unicode.IsLetter(next) || unicode.In(next, unicode.Ps, unicode.Pi) || strings.ContainsRune(`>*_"#`, next)
		opens = opens && !strings.HasPrefix(rest, ">=") || strings.HasPrefix(rest, "- ")
		if opens || spaced && !number(rest) {
			return size
		}
	case strings.ContainsRune("-+–—―−", r):
		if spaced && !number(rest) || (r == '—' || r == '―') && (unicode.IsLetter(next) || next == '¿' || next == '¡') {
			return size
		}
	case r == '*':
		if spaced {
			return size
		}
	case r == '·':
		if !unicode.IsDigit(next) {
			return size
		}
	case strings.ContainsRune("•‣⁃◦▪●○■◆◇▶►➤※・", r), circled(r):
		return size
	case r == '#':
		n := len(line) - len(strings.TrimLeft(line, "#"))
		if next, _ := utf8.DecodeRuneInString(line[n:]); n <= 6 && unicode.IsSpace(next) {
			return n
		}
	}
	return itemNumber(line)
}

// number reports whether the first letter or digit of a text begins a number, except one of a list item.
func number(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsNumber(r) && !circled(r) && itemNumber(text) == 0
}

// circled reports whether a character is a number in a circle, in brackets or with a full stop.
func circled(r rune) bool {
	return 0x2460 <= r && r <= 0x24ff || 0x2776 <= r && r <= 0x2793 || 0x3220 <= r && r <= 0x3229 || 0x3280 <= r && r <= 0x3289
}

const hanNumbers = "一二三四五六七八九十"

// itemNumber returns how many bytes the number or letter of a list's item takes with its mark, or 0.
func itemNumber(line string) int {
	open := 0
	if r, size := utf8.DecodeRuneInString(line); r == '(' || r == '（' {
		open = size
	}
	n, digits := countItem(line[open:])
	if n == 0 {
		return 0
	}
	n += open
	r, size := utf8.DecodeRuneInString(line[n:])
	n += size
	next, _ := utf8.DecodeRuneInString(line[n:])
	switch {
	case r == '）',
		r == ')' && unicode.IsSpace(next),
		r == '.' && open == 0 && unicode.IsSpace(next) && !unicode.IsUpper(rune(line[0])),
		(r == '、' || r == '．') && open == 0 && digits && !unicode.IsNumber(next) && !strings.ContainsRune(hanNumbers, next):
		return n
	}
	return 0
}

// countItem returns how many bytes the number of an item takes, and whether it is one in digits: "12", "1.2",
// "十二", "iv" or "a".
func countItem(s string) (n int, digits bool) {
	const longest = 3 // digits: a longer number is a year, or counts something
	for count := 0; n < len(s); {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch next, _ := utf8.DecodeRuneInString(s[n+size:]); {
		case unicode.IsDigit(r) || strings.ContainsRune(hanNumbers, r):
			if count++; count > longest {
				return 0, false
			}
		case r == '.' && count > 0 && unicode.IsDigit(next):
			count = 0
		default:
			if n > 0 {
				return n, true
			}
			if roman := len(s) - len(strings.TrimLeft(s, "ivx")); 0 < roman && roman <= 4 {
				return roman, false
			}
			if roman := len(s) - len(strings.TrimLeft(s, "IVX")); 0 < roman && roman <= 4 {
				return roman, false
			}
			if unicode.IsLetter(r) {
				return size, false
			}
			return 0, false
		}
		n += size
	}
	return n, true
}

// fence is a fenced block of code with its fences, within so many block quotes.
type fence struct {
	stretch
	depth int
}

// fences returns the fenced blocks of code of a text, in order. A block that is not closed ends with its
// block quote, or with the text.
func fences(text string, starts []int) []fence {
	var found []fence
	open, in := "", fence{}
	for n, start := range starts {
		end := len(text)
		if n+1 < len(starts) {
			end = starts[n+1]
		}
		line := text[start:end]
		if open != "" {
			depth, rest := unquote(line, in.depth)
			mark := fenceMark(rest)
			switch {
			case depth < in.depth:
				in.end = start
			case strings.HasPrefix(mark, open) && strings.TrimSpace(rest[len(mark):]) == "":
				in.end = end
			default:
				continue
			}
			found, open = append(found, in), ""
			if in.end == end {
				continue
			}
		}
		depth, rest := unquote(line, len(line))
		if mark := fenceMark(rest); mark != "" && (mark[0] == '~' || !strings.Contains(rest[len(mark):], "`")) {
			open, in = mark, fence{stretch{start, end}, depth}
		}
	}
	if open != "" {
		in.end = len(text)
		found = append(found, in)
	}
	return found
}

// unquote takes the marks of at most so many block quotes off a line, and those of list items between them
// when it may take any number. It returns how many quotes there were.
func unquote(line string, most int) (depth int, rest string) {
	for rest = strings.TrimSpace(line); ; rest = strings.TrimSpace(rest) {
		switch n := lineMark(rest); {
		case depth < most && strings.HasPrefix(rest, ">"):
			depth++
			rest = rest[1:]
		case most == len(line) && n > 0 && rest[0] != '#':
			rest = rest[n:]
		default:
			return depth, rest
		}
	}
}

// fenceMark returns the fence that a line begins with, "" when it begins with none.
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
