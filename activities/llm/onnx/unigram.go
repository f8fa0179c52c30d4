package onnx

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Unigram cuts texts into the pieces of a SentencePiece model, so that the sum of their scores is the largest.
type Unigram struct {
	// Normalize maps a character to its replacement. ok is false for one that stays as it is. It may be nil.
	Normalize func(r rune) (to []rune, ok bool)

	pieces  []byte
	ends    []uint32
	scores  []float32
	unknown int32
	// worst is the score of a character that no piece holds.
	worst float32
	// longest is the length of the longest piece in bytes.
	longest int
	// table has the number of a piece plus one at the place of its hash, or at the next free one.
	table []int32
}

// NewUnigram returns the tokenizer whose piece i is pieces[ends[i-1]:ends[i]].
func NewUnigram(pieces []byte, ends []uint32, scores []float32, unknown int32) *Unigram {
	size := 2
	for size < 2*len(ends) {
		size *= 2
	}
	u := &Unigram{pieces: pieces, ends: ends, scores: scores, unknown: unknown, table: make([]int32, size)}
	for i := range ends {
		piece := u.piece(int32(i))
		if len(piece) == 0 {
			continue
		}
		u.longest = max(u.longest, len(piece))
		at := hash(hashStart, piece) & uint64(size-1)
		for u.table[at] != 0 {
			at = (at + 1) & uint64(size-1)
		}
		u.table[at] = int32(i) + 1
	}
	u.worst = slices.Min(scores) - 10
	return u
}

func (u *Unigram) piece(i int32) []byte {
	start := uint32(0)
	if i > 0 {
		start = u.ends[i-1]
	}
	return u.pieces[start:u.ends[i]]
}

// hashStart and hash are FNV-1a: the hash of a longer piece begins with that of a shorter one.
const hashStart = 14695981039346656037

func hash(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

func (u *Unigram) find(h uint64, piece []byte) int32 {
	mask := uint64(len(u.table) - 1)
	for at := h & mask; u.table[at] != 0; at = (at + 1) & mask {
		if i := u.table[at] - 1; string(u.piece(i)) == string(piece) {
			return i
		}
	}
	return -1
}

// space is the mark that replaces a space.
const space = '\u2581'

// marked returns the text with a mark for each run of spaces, and one before its first character.
func (u *Unigram) marked(text string) []byte {
	out := utf8.AppendRune(make([]byte, 0, len(text)+8), space)
	afterSpace := true
	add := func(r rune) {
		switch {
		case r != ' ':
			out = utf8.AppendRune(out, r)
		case !afterSpace:
			out = utf8.AppendRune(out, space)
		}
		afterSpace = r == ' '
	}
	for _, r := range text {
		to, ok := []rune(nil), false
		if u.Normalize != nil {
			to, ok = u.Normalize(r)
		}
		if !ok {
			add(r)
		}
		for _, r := range to {
			add(r)
		}
	}
	return out
}

// Tokens returns the numbers of the pieces of a text of valid UTF-8.
func (u *Unigram) Tokens(text string) []int32 {
	b := u.marked(text)
	type step struct {
		score float32
		from  int32
		piece int32
	}
	best := make([]step, len(b)+1)
	for i := range best {
		best[i].score = float32(math.Inf(-1))
	}
	best[0].score = 0
	for start := 0; start < len(b); {
		_, width := utf8.DecodeRune(b[start:])
		from, h := best[start].score, uint64(hashStart)
		for end := start; end < len(b); {
			_, w := utf8.DecodeRune(b[end:])
			if end+w-start > u.longest {
				break
			}
			h = hash(h, b[end:end+w])
			end += w
			if i := u.find(h, b[start:end]); i >= 0 && i != u.unknown && from+u.scores[i] > best[end].score {
				best[end] = step{from + u.scores[i], int32(start), i}
			}
		}
		if next := &best[start+width]; from+u.worst > next.score {
			*next = step{from + u.worst, int32(start), u.unknown}
		}
		start += width
	}
	var out []int32
	for at := len(b); at > 0; at = int(best[at].from) {
		out = append(out, best[at].piece)
	}
	slices.Reverse(out)
	return out
}
