package normal

import (
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// OnBoundary reports whether a byte offset is between two grapheme clusters of a text.
func OnBoundary(text string, at int) bool {
	start, _ := Cluster(text, at)
	return start == at
}

// Cluster returns the grapheme cluster that contains byte at. It begins at at when at is a boundary. At
// the end of the text it is empty.
func Cluster(text string, at int) (start, end int) {
	if at <= 0 && len(text) == 0 || at >= len(text) {
		return len(text), len(text)
	}
	start = at
	for start > 0 && !clearBoundary(text, start) {
		start--
	}
	rest, state, cluster := text[start:], -1, ""
	for {
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		end = start + len(cluster)
		if at < end || rest == "" {
			return start, end
		}
		start = end
	}
}

// clearBoundary reports whether there is a boundary between the two runes at an offset in any context.
// It may return false where there is one.
func clearBoundary(text string, at int) bool {
	if !utf8.RuneStart(text[at]) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	if simple(before) && simple(after) {
		return true
	}
	return before < utf8.RuneSelf && before != '\r' && unicode.IsOneOf(leading, after) &&
		!unicode.Is(unicode.Other_Grapheme_Extend, after) && after != 0xE33 && after != 0xEB3
}

var leading = []*unicode.RangeTable{unicode.Lu, unicode.Ll, unicode.Lo, unicode.So, unicode.Han}

// simple reports whether a rune shares no cluster with another simple rune, in either order.
func simple(r rune) bool {
	return 0x20 <= r && r < 0x7F || r == '\n' || r == '\t' ||
		0x4E00 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3 ||
		0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FA ||
		0xC0 <= r && r <= 0x24F || 0x400 <= r && r <= 0x481 || 0x391 <= r && r <= 0x3C9 ||
		0x2010 <= r && r <= 0x2027 || 0x3000 <= r && r <= 0x3020 || 0xFF01 <= r && r <= 0xFF5E
}
