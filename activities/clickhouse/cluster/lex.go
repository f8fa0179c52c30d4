package cluster

import "strings"

// token is a word, a quoted name, a string, or a sign of a statement. Blanks and comments are between tokens.
type token struct {
	kind       kind
	start, end int
	// depth counts the open brackets before the token.
	depth int
}

type kind int

const (
	sign kind = iota
	word
	quotedName
	text
)

// tokens splits a statement. A quote without an end reaches to the end of the statement.
func tokens(sql string) []token {
	var out []token
	depth := 0
	for at := 0; at < len(sql); {
		if end := skipBlank(sql, at); end > at {
			at = end
			continue
		}
		t := token{start: at, end: at + 1, depth: depth}
		switch c := sql[at]; {
		case c == '\'':
			t.kind, t.end = text, quoted(sql, at)
		case c == '`' || c == '"':
			t.kind, t.end = quotedName, quoted(sql, at)
		case wordByte(c):
			t.kind = word
			for t.end < len(sql) && wordByte(sql[t.end]) {
				t.end++
			}
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
			t.depth = depth
		}
		out = append(out, t)
		at = t.end
	}
	return out
}

// skipBlank returns where the blanks and the comment that begin at a place end.
func skipBlank(sql string, at int) int {
	rest := sql[at:]
	var end int
	switch {
	case strings.HasPrefix(rest, "--"):
		end = strings.IndexByte(rest, '\n')
	case strings.HasPrefix(rest, "/*"):
		if end = strings.Index(rest, "*/"); end >= 0 {
			end += len("*/")
		}
	case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
		end = 1
	default:
		return at
	}
	if end < 0 {
		return len(sql)
	}
	return at + end
}

// quoted returns where the quote that begins at a place ends. A backslash or a second quote escapes.
func quoted(sql string, at int) int {
	quote := sql[at]
	for at++; at < len(sql); at++ {
		switch sql[at] {
		case '\\':
			at++
		case quote:
			if at+1 == len(sql) || sql[at+1] != quote {
				return at + 1
			}
			at++
		}
	}
	return len(sql)
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
