package text

import (
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character must be escaped for people to see it, because it commands a
// terminal or has no glyph: Unicode's controls, line and paragraph separators, and default ignorable
// characters.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.In(r, unicode.Prepended_Concatenation_Mark), 0x13430 <= r && r <= 0x1345f:
		return false // Format characters that are drawn: Arabic number signs, hieroglyphic joins.
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Ignored reports whether a character does not count when texts are compared. Of the hidden characters
// these are the soft hyphen, joiners, marks of direction, invisible operators and variation selectors.
// The others distinguish texts: controls, tags, fillers and Mongolian variants.
func Ignored(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case 0x200b <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x2064,
		0x2066 <= r && r <= 0x206f, textStyle <= r && r <= emojiStyle, ideographStyle <= r && r <= lastIdeographStyle:
		return true
	}
	return false
}

const (
	nonJoiner, joiner  = '\u200c', '\u200d'
	textStyle          = '\ufe00'     // The first variation selector.
	emojiStyle         = '\ufe0f'     // The last.
	ideographStyle     = '\U000e0100' // The first of those for ideographs.
	lastIdeographStyle = '\U000e01ef'
)
