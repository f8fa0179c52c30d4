// Package fuzzy searches text for passages similar to a quote, and aligns the two by the fewest edits.
package fuzzy

import (
	"math/bits"
	"unicode/utf8"
)

const wordBits = 64

// Pattern is a quote prepared for Myers' bit-parallel search: for every rune, its rows in the edit
// matrix, as bits in blocks of 64 rows.
type Pattern struct {
	Runes  []rune
	blocks int
	ascii  [utf8.RuneSelf]int32
	keys   []rune // open addressing, 0 is free
	slots  []int32
	table  []uint64 // blocks words per row set; the first is of runes that are not in the quote
}

// NewPattern prepares a quote.
func NewPattern(runes []rune) *Pattern {
	p := &Pattern{Runes: runes, blocks: (len(runes) + wordBits - 1) / wordBits}
	size := 1 << bits.Len(uint(2*len(runes)))
	p.keys, p.slots = make([]rune, size), make([]int32, size)
	p.table = make([]uint64, p.blocks, p.blocks*(min(len(runes), 64)+1))
	for i, r := range runes {
		at := p.row(r)
		if at == 0 {
			at = int32(len(p.table))
			p.table = append(p.table, make([]uint64, p.blocks)...)
			if r < utf8.RuneSelf {
				p.ascii[r] = at
			} else {
				h := p.hash(r)
				p.keys[h], p.slots[h] = r, at
			}
		}
		p.table[int(at)+i/wordBits] |= 1 << (i % wordBits)
	}
	return p
}

// row returns where the bits of a rune begin in the table.
func (p *Pattern) row(r rune) int32 {
	if r < utf8.RuneSelf {
		return p.ascii[r]
	}
	return p.slots[p.hash(r)]
}

// hash returns the slot of a rune beyond ASCII, or the free one where it would go.
func (p *Pattern) hash(r rune) int {
	mask := len(p.keys) - 1
	h := int(uint32(r)*2654435769>>8) & mask
	for p.keys[h] != r && p.keys[h] != 0 {
		h = (h + 1) & mask
	}
	return h
}

// block is 64 rows of one column of the edit matrix in Myers' form: the vertical differences, and the
// distance at its last row, which bit last represents.
type block struct {
	plus, minus uint64
	score, rows int
	last        uint
}

// Ends calls yield with the byte offset after each place of a text where the whole pattern ends
// within limit edits of some stretch of it, and with that distance. Only the blocks that can still
// come within the limit are computed (Ukkonen's cut-off).
func (p *Pattern) Ends(text string, limit int, yield func(end, distance int)) {
	top := p.blocks - 1
	column := make([]block, p.blocks)
	for b := range column {
		rows := min(wordBits, len(p.Runes)-b*wordBits)
		column[b] = block{plus: ^uint64(0), score: b*wordBits + rows, rows: rows, last: uint(rows - 1)}
	}
	last := min(limit/wordBits, top)
	for i := 0; i < len(text); {
		var at int
		if c := text[i]; c < utf8.RuneSelf {
			at = int(p.ascii[c])
			i++
		} else {
			r, size := utf8.DecodeRuneInString(text[i:])
			at = int(p.slots[p.hash(r)])
			i += size
		}
		equal := p.table[at : at+p.blocks]
		var up, down uint64 // the difference above the block, 0 above the first
		for b := range column[:last+1] {
			up, down = column[b].advance(equal[b], up, down)
		}
		end := &column[last]
		before := end.score - int(up) + int(down)
		if last < top && before <= limit && (equal[last+1]&1 != 0 || down != 0) {
			last++
			below := &column[last]
			below.plus, below.minus, below.score = ^uint64(0), 0, before+below.rows
			below.advance(equal[last], up, down)
		} else {
			for last > 0 && column[last].score >= limit+column[last].rows {
				last--
			}
		}
		if last == top && column[top].score <= limit {
			yield(i, column[top].score)
		}
	}
}

// advance computes the next column of a block from its equal rows and the difference that comes in
// above it, and returns the difference at its last row.
func (b *block) advance(equal, up, down uint64) (outUp, outDown uint64) {
	plus, minus := b.plus, b.minus
	vertical := equal | minus
	equal |= down
	horizontal := (((equal & plus) + plus) ^ plus) | equal
	rise := minus | ^(horizontal | plus)
	fall := plus & horizontal
	outUp, outDown = rise>>b.last&1, fall>>b.last&1
	b.score += int(outUp) - int(outDown)
	rise = rise<<1 | up
	fall = fall<<1 | down
	b.plus = fall | ^(vertical | rise)
	b.minus = rise & vertical
	return outUp, outDown
}
