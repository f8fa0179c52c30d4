package normal

import (
	"unicode"
	"unicode/utf8"
)

// Kinds of a folded byte for Words.
const (
	kept = iota
	dropped
	inner // kept where innerFits allows it, otherwise dropped
)

var stripKind = func() (table [utf8.RuneSelf]uint8) {
	for _, c := range []byte(" ;?\"()[]{}*`~\x00\x01") {
		table[c] = dropped
	}
	for _, c := range []byte(".,:-_'!") {
		table[c] = inner
	}
	return table
}()

// Words returns a view of one in normal form 1 without the punctuation between words. A space replaces the
// omitted characters. Punctuation that is part of a number, a name or an operator stays.
func Words(v *View) *View {
	st := stripper{v: v, out: make([]byte, 0, len(v.Text)), runs: make([]run, 0, 1+len(v.Text)/32)}
	text := v.Text
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && st.keeps(i) {
			i++
		}
		st.keep(start, i)
		gap, apostrophe := i, false
		for i < len(text) && !st.keeps(i) {
			apostrophe = text[i] == '\'' && i == gap && st.inWord(i)
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
		if i > gap && !(apostrophe && i == gap+1) && len(st.out) > 0 && i < len(text) {
			from, to := v.Original(gap, i)
			st.runs = append(st.runs, run{to: len(st.out), from: from, size: to - from})
			st.out = append(st.out, ' ')
		}
	}
	return &View{Text: string(st.out), runs: st.runs}
}

type stripper struct {
	v    *View
	out  []byte
	runs []run
	next int // index of the run of v that contains the end of the kept text
}

// keeps reports whether the byte at i of the folded text stays. A rune beyond ASCII is judged at
// its first byte; its other bytes stay when asked for.
func (st *stripper) keeps(i int) bool {
	c := st.v.Text[i]
	if c < utf8.RuneSelf {
		switch stripKind[c] {
		case kept:
			return true
		case inner:
			return st.innerFits(i)
		}
		return c == ' ' && i > 0 && i+1 < len(st.v.Text) && st.plainly(i-1) && st.plainly(i+1)
	}
	if !utf8.RuneStart(c) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(st.v.Text[i:])
	return !unicode.IsPunct(r)
}

// plainly reports whether the byte at i stays in any context. A space between two such bytes stays too.
func (st *stripper) plainly(i int) bool {
	c := st.v.Text[i]
	return c < utf8.RuneSelf && stripKind[c] == kept || '\uac00' <= st.runeAround(i) && st.runeAround(i) <= '\ud7a3'
}

// runeAround returns the rune that contains a byte.
func (st *stripper) runeAround(i int) rune {
	for i > 0 && !utf8.RuneStart(st.v.Text[i]) {
		i--
	}
	r, _ := utf8.DecodeRuneInString(st.v.Text[i:])
	return r
}

// innerFits reports whether punctuation belongs to the word or number around it.
func (st *stripper) innerFits(i int) bool {
	before, _ := utf8.DecodeLastRuneInString(st.v.Text[:i])
	after, _ := utf8.DecodeRuneInString(st.v.Text[i+1:])
	switch st.v.Text[i] {
	case '.':
		return WordRune(before) && WordRune(after)
	case '_':
		return WordRune(before) && WordRune(after)
	case ',', ':':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	case '-':
		return unicode.IsDigit(after) && (unicode.IsDigit(before) || !WordRune(before))
	case '!':
		return after == '=' || unicode.IsLetter(after) && !WordRune(before)
	}
	return false
}

func (st *stripper) inWord(i int) bool {
	before, _ := utf8.DecodeLastRuneInString(st.v.Text[:i])
	after, _ := utf8.DecodeRuneInString(st.v.Text[i+1:])
	return unicode.IsLetter(before) && unicode.IsLetter(after)
}

// keep copies a range of the folded text with its runs.
func (st *stripper) keep(start, end int) {
	if start == end {
		return
	}
	runs := st.v.runs
	for st.next+1 < len(runs) && runs[st.next+1].to <= start {
		st.next++
	}
	for i := st.next; i < len(runs) && runs[i].to < end; i++ {
		r := runs[i]
		skip := max(start-r.to, 0)
		to := len(st.out) + r.to + skip - start
		if r.size == 0 {
			r.from += skip
			if last := len(st.runs) - 1; last >= 0 && st.runs[last].size == 0 && st.runs[last].from-st.runs[last].to == r.from-to {
				continue
			}
		}
		st.runs = append(st.runs, run{to: to, from: r.from, size: r.size})
	}
	st.out = append(st.out, st.v.Text[start:end]...)
}

// LettersOf returns the letters and digits of a text in normal form 1. It is faster than [Letters], which
// also keeps the mapping to the original.
func LettersOf(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && ('a' <= text[i] && text[i] <= 'z' || '0' <= text[i] && text[i] <= '9') {
			i++
		}
		out = append(out, text[start:i]...)
		if i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if WordRune(r) {
				out = append(out, text[i:i+size]...)
			}
			i += size
		}
	}
	return string(out)
}

// Letters returns a view of the letters and digits alone.
func Letters(v *View) *View {
	st := stripper{v: v, out: make([]byte, 0, len(v.Text)), runs: make([]run, 0, 1+len(v.Text)/8)}
	start := 0
	for i := 0; i < len(v.Text); {
		r, size := rune(v.Text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(v.Text[i:])
		}
		if !('a' <= r && r <= 'z') && !WordRune(r) {
			st.keep(start, i)
			start = i + size
		}
		i += size
	}
	st.keep(start, len(v.Text))
	return &View{Text: string(st.out), runs: st.runs}
}
