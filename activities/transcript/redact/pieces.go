package redact

import (
	"context"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"axiommind/schema"
)

// cut says how a long text is read in pieces, so that memory does not grow with it: the readings of a text take some thirty
// times its size.
type cut struct {
	// piece is the length of a piece in bytes.
	piece int
	// margin is how much of the text on either side is read with a piece. It is more than any rule looks around a word, in a
	// text that is escaped three times.
	margin int
	// overlap is how far beyond its piece a finding may begin. It is taken from both pieces, should they differ.
	overlap int
	// reach bounds how far a piece is read on for a finding that has not ended by then, such as a private key.
	reach int
}

var pieces = cut{piece: 1 << 20, margin: 64 << 10, overlap: 8 << 10, reach: 4 << 20}

// find finds the secrets of a text, private passages apart, piece by piece.
func (c cut) find(ctx context.Context, text string) ([]Finding, error) {
	var found []Finding
	var public [][]int
	if len(text) > c.piece {
		public = armor().FindAllStringIndex(text, -1) // It may be longer than a piece.
	}
	for start, end := 0, 0; end < len(text); start = end {
		if end = start + c.piece; end+c.margin >= len(text) {
			end = len(text)
		}
		more, err := c.findPiece(ctx, text, start, end)
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			n := sort.Search(len(public), func(i int) bool { return public[i][1] > f.Start })
			if f.Rule != RuleRandom || n == len(public) || f.Start < public[n][0] {
				found = append(found, f)
			}
		}
	}
	return found, nil
}

// findPiece finds the secrets that begin in a piece, or close to it.
func (c cut) findPiece(ctx context.Context, text string, start, end int) ([]Finding, error) {
	from := runeStart(text, max(0, start-c.margin))
	for ahead := c.margin; ; ahead *= 4 {
		to := tokenEnd(text, min(len(text), end+ahead))
		found, err := findShort(ctx, text[from:to])
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(f Finding) bool {
			return from > 0 && from+f.Start < start-c.overlap || to < len(text) && from+f.Start >= end+c.overlap
		})
		goesOn := func(f Finding) bool { return from+f.End+c.overlap >= to }
		if to < len(text) && ahead < c.reach && slices.ContainsFunc(found, goesOn) {
			continue
		}
		for i := range found {
			found[i].Start, found[i].End = found[i].Start+from, found[i].End+from
		}
		return found, nil
	}
}

// tokenEnd returns the end of the token around a place. A token must not be cut, because a part of it would be another
// token.
func tokenEnd(text string, at int) int {
	rest := text[at:min(len(text), at+maxEncoded)]
	if n := strings.IndexAny(rest, " \t\r\n\"'`<>"); n >= 0 {
		return at + n
	}
	return runeStart(text, at+len(rest))
}

// runeStart returns where the rune begins that a place is in.
func runeStart(text string, at int) int {
	for range utf8.UTFMax - 1 {
		if at == 0 || at == len(text) || utf8.RuneStart(text[at]) {
			break
		}
		at--
	}
	return at
}

// findShort finds the secrets of a text in all of its readings, without its placeholders.
func findShort(ctx context.Context, text string) ([]Finding, error) {
	var found []Finding
	err := eachReading(text, func(r reading) error {
		add := func(more []Finding) {
			for _, f := range more {
				f.Start, f.End = r.original(f.Start, f.End)
				found = append(found, f)
			}
		}
		add(scan(r.text, r.joined))
		add(scanEncoded(r.text, maxDecoded))
		return ctx.Err()
	})
	slices.SortFunc(found, compare)
	return without(slices.Compact(found), schema.Redactions(text)), err
}
