package idris

import (
	"strconv"
	"strings"
)

// escape returns the content of an Idris string literal for a text, which is valid UTF-8. Only ASCII letters, digits,
// spaces and a few harmless marks are copied. All other characters become numeric escapes, including those that could
// end the literal, open an interpolation or a comment, or start an escape.
//
// A hex digit after such an escape would belong to it, and is escaped too. So no literal needs the empty escape \&, or
// has a named escape, where \SO before an H would mean another character.
func escape(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	numbered := false
	for _, r := range text {
		if plain(r) && !(numbered && isHex(r)) {
			b.WriteRune(r)
			numbered = false
			continue
		}
		b.WriteString(`\x`)
		b.WriteString(strconv.FormatInt(int64(r), 16))
		numbered = true
	}
	return b.String()
}

// plain reports whether a character needs no escape.
func plain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" .,_:;/", r)
}

func isHex(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' }
