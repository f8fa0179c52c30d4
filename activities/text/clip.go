package text

import (
	"strings"
	"unicode/utf8"
)

// Head returns the first bytes of the text, at most n, without a partial character at the end.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Clip shortens a text of more than n bytes to its head, as valid UTF-8, and "…".
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
