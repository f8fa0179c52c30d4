package evidence

import (
	"math/bits"
	"unicode/utf8"
)

const wordBits = 64

// pattern is a quote prepared for Myers' bit-parallel search: for every rune, in which rows of the
// edit matrix it stands, as bits in blocks of 64 rows.
type pattern struct {
	runes  []rune
	blocks int
	ascii  [utf8.RuneSelf]int32
	keys   []rune // open addressing, 0 is free
	slots  []int32
	table  []uint64 // blocks words per row set; the first is of runes that the quote has not
}

func newPattern(runes []rune) *pattern {
	p := &pattern{runes: runes, blocks: (len(runes) + wordBits - 1) / wordBits}
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
func (p *pattern) row(r rune) int32 {
	if r < utf8.RuneSelf {
		return p.ascii[r]
	}
	return p.slots[p.hash(r)]
}

// hash returns the slot of a rune beyond ASCII, or the free one where it would go.
func (p *pattern) hash(r rune) int {
	mask := len(p.keys) - 1
	h := int(uint32(r)*2654435769>>8) & mask
	for p.keys[h] != r && p.keys[h] != 0 {
		h = (h + 1) & mask
	}
	return h
}

// column is one column of the edit matrix in Myers' form: vertical differences of each block, and
// the distance at the block's last row.
type column struct {
	plus, minus []uint64
	score       []int
}

// ends calls yield with the byte offset after each place of a text where the whole pattern ends
// within limit edits of some stretch of it, and with that distance. Only the blocks that can still
// come within the limit are computed (Ukkonen's cut-off).
func (p *pattern) ends(text string, limit int, yield func(end, distance int)) {
	m := len(p.runes)
	c := column{make([]uint64, p.blocks), make([]uint64, p.blocks), make([]int, p.blocks)}
	top := p.blocks - 1
	bottomBit := uint((m - 1) % wordBits)
	last := min(limit/wordBits, top)
	for b := 0; b <= last; b++ {
		c.plus[b], c.score[b] = ^uint64(0), min((b+1)*wordBits, m)
	}
	for i := 0; i < len(text); {
		var at int32
		if ch := text[i]; ch < utf8.RuneSelf {
			at = p.ascii[ch]
			i++
		} else {
			r, size := utf8.DecodeRuneInString(text[i:])
			at = p.slots[p.hash(r)]
			i += size
		}
		eq := p.table[at : int(at)+p.blocks]
		carry := 0
		for b := 0; b <= last; b++ {
			bit := uint(wordBits - 1)
			if b == top {
				bit = bottomBit
			}
			carry = c.advance(b, eq[b], carry, bit)
			c.score[b] += carry
		}
		if last < top && c.score[last]-carry <= limit && (eq[last+1]&1 != 0 || carry < 0) {
			bit, rows := uint(wordBits-1), wordBits
			if last+1 == top {
				bit, rows = bottomBit, m-top*wordBits
			}
			below := c.score[last] - carry + rows
			last++
			c.plus[last], c.minus[last] = ^uint64(0), 0
			c.score[last] = below + c.advance(last, eq[last], carry, bit)
		} else {
			for last > 0 && c.score[last] >= limit+p.rowsOf(last) {
				last--
			}
		}
		if last == top && c.score[top] <= limit {
			yield(i, c.score[top])
		}
	}
}

func (p *pattern) rowsOf(block int) int {
	return min(wordBits, len(p.runes)-block*wordBits)
}

// advance computes the next column of one block from the difference that comes in above it, and
// returns the one at the given bit, its last row.
func (c *column) advance(b int, eq uint64, in int, bit uint) int {
	plus, minus := c.plus[b], c.minus[b]
	vertical := eq | minus
	if in < 0 {
		eq |= 1
	}
	horizontal := (((eq & plus) + plus) ^ plus) | eq
	up := minus | ^(horizontal | plus)
	down := plus & horizontal
	out := int(up>>bit&1) - int(down>>bit&1)
	up <<= 1
	down <<= 1
	if in < 0 {
		down |= 1
	} else if in > 0 {
		up |= 1
	}
	c.plus[b] = down | ^(vertical | up)
	c.minus[b] = up & vertical
	return out
}
