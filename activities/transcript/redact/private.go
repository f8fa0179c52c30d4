package redact

import "strings"

// private returns the passages between <private> and </private>, tags included. An inner element belongs to the outer
// one. An element that is not closed ends with the text: its author meant to hide the rest. A tag alone in backticks
// only mentions the tag, and opens nothing unless it is closed.
func private(text string) []Finding {
	var found []Finding
	for _, tags := range []struct{ open, close string }{{"<private", "</private"}, {`\u003cprivate`, `\u003c/private`}, {"&lt;private", "&lt;/private"}} {
		found = append(found, elements(text, tags.open, tags.close)...)
	}
	return found
}

// maxTagLen bounds the attributes of a tag.
const maxTagLen = 1 << 10

func elements(text, open, end string) []Finding {
	lower := lowerASCII(text)
	if !strings.Contains(lower, open) {
		return nil
	}
	var found []Finding
	depth, start, last := 0, 0, strings.LastIndex(lower, end)
	for at := 0; at < len(text); {
		i := strings.Index(lower[at:], open[:len(open)-len("private")])
		if i < 0 {
			break
		}
		at += i
		switch rest := lower[at:]; {
		case strings.HasPrefix(rest, end) && tagEnds(rest, len(end)) > 0:
			at += tagEnds(rest, len(end))
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				found = append(found, Finding{RulePrivate, start, at})
			}
		case strings.HasPrefix(rest, open) && tagEnds(rest, len(open)) > 0:
			n := tagEnds(rest, len(open))
			if depth == 0 && mentioned(text, at, at+n) && last < at {
				at += n
				continue
			}
			if depth == 0 {
				start = at
			}
			depth++
			at += n
		default:
			at++
		}
	}
	if depth > 0 {
		found = append(found, Finding{RulePrivate, start, len(text)})
	}
	return found
}

// tagEnds returns the length of the tag whose name ends at a byte, or 0 if it is another tag. A tag that the text breaks off
// in is one.
func tagEnds(rest string, name int) int {
	tail := rest[name:min(len(rest), name+maxTagLen)]
	if tail != "" && strings.IndexByte("> \t\r\n/\\&", tail[0]) < 0 {
		return 0
	}
	for _, mark := range []string{">", `\u003e`, "&gt;"} {
		if i := strings.Index(tail, mark); i >= 0 {
			if mark == ">" || !strings.Contains(tail[:i], "<") {
				return name + i + len(mark)
			}
		}
	}
	return len(rest[:name]) + len(tail)
}

// mentioned reports whether a tag is alone in backticks.
func mentioned(text string, start, end int) bool {
	return start > 0 && text[start-1] == '`' && end < len(text) && text[end] == '`'
}

// lowerASCII lowers the letters of ASCII, so that positions do not change.
func lowerASCII(text string) string {
	for i := range len(text) {
		if c := text[i]; 'A' <= c && c <= 'Z' {
			b := []byte(text)
			for ; i < len(b); i++ {
				if c := b[i]; 'A' <= c && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return text
}
