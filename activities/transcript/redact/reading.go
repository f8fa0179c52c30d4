package redact

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reading is one way to read a text, with the position of each byte in the original.
type reading struct {
	text string
	// from and to are where each byte begins and ends in the original. They are nil for the original itself.
	from, to []int32
	// joined says that lines were joined which may not belong together.
	joined bool
}

// original returns the place in the original.
func (r reading) original(start, end int) (from, to int) {
	if r.from == nil {
		return start, end
	}
	return int(r.from[start]), int(r.to[end-1])
}

// maxUnescaped bounds how deep a text is unescaped.
const maxUnescaped = 3

// eachReading calls the function with the text, and with the readings of it that differ, until it returns an error. At most three
// of them are in memory at once.
func eachReading(text string, fn func(reading) error) error {
	r, changed := reading{text: text}, true
	for n := 0; changed; n++ {
		if err := eachJoined(r, fn); err != nil {
			return err
		}
		if next, differs := r.rewrite("%", unescapeURL); differs {
			if err := eachJoined(next, fn); err != nil {
				return err
			}
		}
		if n == maxUnescaped {
			return nil
		}
		r, changed = r.rewrite(`\`, unescapeJSON)
	}
	return nil
}

// eachJoined calls the function with a reading, and with that of joined lines.
func eachJoined(r reading, fn func(reading) error) error {
	err := fn(r)
	if next, changed := r.rewrite("\\\"'`", joinLines); changed && err == nil {
		err = fn(next)
	}
	if next, changed := r.rewrite("\r\n", unwrapLines); changed && err == nil {
		next.joined = true
		err = fn(next)
	}
	return err
}

// rewrite returns another reading. At each of the marks the function returns how many bytes it replaces, and the text in their
// place; 0 for the byte as it is.
func (r reading) rewrite(marks string, f func(text string, at int) (n int, by string)) (reading, bool) {
	if len(r.text) > math.MaxInt32 {
		return reading{}, false
	}
	var next reading
	var b []byte
	kept := 0 // So far the text is in the next reading.
	keep := func(to int) {
		b = append(b, r.text[kept:to]...)
		for ; kept < to; kept++ {
			from, to := r.original(kept, kept+1)
			next.from, next.to = append(next.from, int32(from)), append(next.to, int32(to))
		}
	}
	for at := 0; at < len(r.text); {
		i := strings.IndexAny(r.text[at:], marks)
		if i < 0 {
			break
		}
		at += i
		n, by := f(r.text, at)
		if n == 0 {
			at++
			continue
		}
		if b == nil {
			b = make([]byte, 0, len(r.text))
			next.from, next.to = make([]int32, 0, len(r.text)), make([]int32, 0, len(r.text))
		}
		keep(at)
		from, to := r.original(at, at+n)
		for i := range len(by) {
			b = append(b, by[i])
			next.from, next.to = append(next.from, int32(from)), append(next.to, int32(to))
		}
		at += n
		kept = at
	}
	if b == nil {
		return reading{}, false
	}
	keep(len(r.text))
	next.text, next.joined = string(b), r.joined
	return next, true
}

// unescapeJSON replaces an escape of JSON, which other languages have too.
func unescapeJSON(text string, at int) (int, string) {
	if text[at] != '\\' || at+1 == len(text) {
		return 0, ""
	}
	switch c := text[at+1]; c {
	case '"', '\'', '\\', '/', '`':
		return 2, string(c)
	case 'n':
		return 2, "\n"
	case 't':
		return 2, "\t"
	case 'r':
		return 2, "\r"
	case 'u':
		if at+6 <= len(text) {
			if v, err := strconv.ParseUint(text[at+2:at+6], 16, 32); err == nil && v != 0 && utf8.ValidRune(rune(v)) {
				return 6, string(rune(v))
			}
		}
	}
	return 0, ""
}

// unescapeURL replaces a byte that is percent-encoded. Only printable ASCII can be part of a credential.
func unescapeURL(text string, at int) (int, string) {
	if text[at] != '%' || at+3 > len(text) {
		return 0, ""
	}
	v, err := strconv.ParseUint(text[at+1:at+3], 16, 8)
	if err != nil || v < ' ' || v > '~' {
		return 0, ""
	}
	return 3, string(rune(v))
}

// joinLines removes the continuation of a line or a string: a backslash at the end of a line, and the quotes between
// two parts of a string.
func joinLines(text string, at int) (int, string) {
	switch c := text[at]; c {
	case '\\':
		if n := newline(text[at+1:]); n > 0 {
			return 1 + n + blanks(text[at+1+n:]), ""
		}
	case '"', '\'', '`':
		rest := at + 1
		rest += anyBlanks(text[rest:])
		operator := false
		if rest < len(text) && strings.IndexByte("+.&", text[rest]) >= 0 {
			operator = true
			rest++
			if strings.HasPrefix(text[rest:], ".") {
				rest++
			}
			rest += anyBlanks(text[rest:])
		}
		if strings.HasPrefix(text[rest:], "\\") {
			if n := newline(text[rest+1:]); n > 0 {
				rest += 1 + n
				rest += anyBlanks(text[rest:])
				operator = true
			}
		}
		// Without an operator two strings on two lines are one in some languages.
		if rest < len(text) && text[rest] == c && rest > at+1 && (operator || strings.ContainsRune(text[at:rest], '\n')) {
			return rest + 1 - at, ""
		}
	}
	return 0, ""
}

// minWrapped is the least length of the token at the end of a wrapped line.
const minWrapped = 12

// unwrapLines removes the end of a line if a token fills the line up to it and goes on alone on the next line.
func unwrapLines(text string, at int) (int, string) {
	if text[at] != '\n' && text[at] != '\r' {
		return 0, ""
	}
	n := newline(text[at:])
	if n == 0 || at == 0 {
		return 0, ""
	}
	run := at
	for run > 0 && isToken(text[run-1]) {
		run--
	}
	if at-run < minWrapped {
		return 0, ""
	}
	n += blanks(text[at+n:])
	for n < len(text)-at && (text[at+n] == '>' || text[at+n] == '|') {
		n += 1 + blanks(text[at+n+1:])
	}
	next := at + n
	end := next
	for end < len(text) && isToken(text[end]) {
		end++
	}
	rest := text[end:]
	if end-next < 4 || rest != "" && newline(rest) == 0 && strings.IndexByte("\"'`,;)}] .", rest[0]) < 0 {
		return 0, ""
	}
	if rest != "" && rest[0] == ' ' {
		return 0, ""
	}
	return n, ""
}

func isToken(c byte) bool {
	return c == '+' || c == '/' || c == '_' || c == '-' || c == '=' || c == '.' || isAlnum(c)
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// newline returns the length of the line break that the text begins with.
func newline(text string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"):
		return 2
	case strings.HasPrefix(text, "\n"):
		return 1
	}
	return 0
}

// blanks returns how many blanks the text begins with.
func blanks(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

func anyBlanks(text string) int { return len(text) - len(strings.TrimLeft(text, " \t\r\n")) }
