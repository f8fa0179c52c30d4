package fuzzy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzEdits compares the bit-parallel search and the banded path with the plain edit matrix.
func FuzzEdits(f *testing.F) {
	f.Add("kitten", "the sitting cat", 3)
	f.Add(strings.Repeat("abcdefg한글", 20), strings.Repeat("abcdeg한글", 25), 40)
	f.Fuzz(func(t *testing.T, pattern, text string, limit int) {
		p, s := []rune(pattern), []rune(text)
		if len(p) == 0 || len(p) > 300 || len(s) > 600 || !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		limit = min(max(limit, 0), len(p)-1)
		want := map[int]int{}
		row, previous := make([]int, len(p)+1), make([]int, len(p)+1)
		whole := make([]int, len(p)+1)
		for i := range row {
			previous[i], whole[i] = i, i
		}
		at := 0
		for j, r := range s {
			at += utf8.RuneLen(r)
			diagonal := whole[0]
			row[0], whole[0] = 0, j+1
			for i, q := range p {
				cost := 0
				if q != r {
					cost = 1
				}
				row[i+1] = min(previous[i]+cost, previous[i+1]+1, row[i]+1)
				diagonal, whole[i+1] = whole[i+1], min(diagonal+cost, whole[i+1]+1, whole[i]+1)
			}
			if row[len(p)] <= limit {
				want[at] = row[len(p)]
			}
			row, previous = previous, row
		}
		got := map[int]int{}
		NewPattern(p).Ends(text, limit, func(end, distance int) { got[end] = distance })
		require.Equal(t, want, got)

		columns, distance, ok := Path(p, s, max(len(p), len(s)))
		require.True(t, ok)
		require.Equal(t, whole[len(p)], distance)
		edits := 0
		for _, c := range columns {
			if c.Quote < 0 || c.Source < 0 || p[c.Quote] != s[c.Source] {
				edits++
			}
		}
		require.Equal(t, distance, edits)
		for end, d := range want {
			lengths := Starts(p, []rune(text[:end]), d)
			require.True(t, len(lengths) > 0 || d == len(p), "no start for an end within the limit")
			for _, n := range lengths {
				_, distance, ok := Path(p, lastRunes(text[:end], n), d)
				require.True(t, ok)
				require.Equal(t, d, distance)
			}
		}
	})
}

func lastRunes(text string, n int) []rune {
	runes := []rune(text)
	return runes[len(runes)-n:]
}
