package idris

import (
	"strconv"
	"strings"
)

// escape returns the inside of an Idris string literal that denotes a text, which is valid UTF-8. Only ASCII letters,
// digits, spaces and a few harmless marks stand for themselves; all else, and with it whatever could end the literal,
// open an interpolation or a comment, or be an escape, is a number.
//
// A hex digit behind such a number would belong to it, and is a number too. So no literal needs the empty escape \&,
// and none has an escape with a name, where \SO before an H would be another.
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

// plain reports whether a character stands for itself.
func plain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" .,_:;/", r)
}

func isHex(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' }
