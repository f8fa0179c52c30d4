package evidence

import (
	"slices"
	"strings"
	"unicode"
)

// soundsAlike reports whether two Korean syllables differ only by vowels that are spoken alike.
func soundsAlike(a, b rune) bool {
	const first, last, vowels, finals = 0xAC00, 0xD7A3, 21, 28
	if a < first || b < first || a > last || b > last {
		return false
	}
	split := func(r rune) (rest, vowel rune) {
		r -= first
		return r/(vowels*finals)*finals + r%finals, r / finals % vowels
	}
	// Vowels in the order of Unicode: ae and e, yae and ye, wae, oe and we.
	sound := [vowels]rune{1: 1, 3: 2, 5: 1, 7: 2, 10: 3, 11: 3, 15: 3}
	restA, vowelA := split(a)
	restB, vowelB := split(b)
	return restA == restB && sound[vowelA] != 0 && sound[vowelA] == sound[vowelB]
}

// slipOfHangul reports whether an edit leaves a Korean word recognizable: a syllable lost or gained,
// save at the beginning where it may be an affix and at the end of a short word, or one changed inside
// a long word.
func (d *difference) slipOfHangul(e letterEdit) bool {
	n, last := len(d.s), e.at >= len(d.s)-1
	affix := e.at == 0 && (negatingPrefix[e.q] || negatingPrefix[e.s] || koreanPrefix[e.q] || koreanPrefix[e.s])
	switch {
	case critical[e.q] || critical[e.s] || denying[e.q] || denying[e.s] || affix:
		return false
	case e.q == 0:
		return n == 2 || !last || n >= 4
	case e.s == 0:
		return true
	}
	return n >= 5 && e.at+2 < n
}

// koreanNegated reports whether one side is the other with a Korean prefix that denies.
func (d *difference) koreanNegated() bool {
	long, short := d.q, d.s
	if len(long) < len(short) {
		long, short = short, long
	}
	return len(long) == len(short)+1 && len(short) > 1 && negatingPrefix[long[0]] && slices.Equal(long[1:], short)
}

// person reports whether a Korean or Japanese form of address follows a difference.
func (d *difference) person() bool {
	if !cjk(d.s[0]) {
		return false
	}
	s := &d.g.source
	after := strings.TrimLeft(string(s.text[d.sEnd:min(len(s.text), d.sEnd+4)]), " ")
	for _, title := range titles {
		if strings.HasPrefix(after, title) {
			return len(d.s) <= 4 || strings.HasSuffix(string(d.s), title)
		}
	}
	for _, e := range d.edits {
		rest := string(d.s[min(len(d.s), e.at+1):min(len(d.s), e.at+5)])
		for _, title := range attachedTitles {
			if strings.Contains(rest, title) {
				return true
			}
		}
	}
	return false
}

// knownKorean reports whether the quote's Korean word begins with a stem that is near to others,
// and the source's with another.
func knownKorean(q, s []rune) bool {
	return len(q) > 1 && len(s) > 1 && koreanStems[string(q[:2])] && q[0] != 0 && !slices.Equal(q[:2], s[:2])
}

// judgeHan doubts a single character that stands alone among equal ones and carries no number,
// direction, negation or name.
func (d *difference) judgeHan(i int) verdict {
	e := d.edits[i]
	if critical[e.q] || critical[e.s] || len(d.s) == 1 {
		return another
	}
	if i > 0 && e.at-d.edits[i-1].at < 4 || i+1 < len(d.edits) && d.edits[i+1].at-e.at < 4 {
		return another
	}
	for back := 1; back <= 2 && e.at-back >= 0; back++ {
		if surnames[d.s[e.at-back]] {
			return another
		}
	}
	if surnames[e.s] || surnames[e.q] {
		return another
	}
	return doubtful
}

// cjk reports whether a letter is of a script without capitals whose letters are syllables or words.
func cjk(r rune) bool {
	return unicode.In(r, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
