package text

import (
	"strings"
	"testing"

	"axiommind/deploy/local/sharedtest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The part that is read of a long line has the boundaries of the line as a whole.
func TestLongLines(t *testing.T) {
	t.Parallel()
	sharedtest.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"Ship it. ", "Why? ", "No! ", "e.g. ", "Dr. Who ", "v1.5. ", "\"So.\" ", "(It is.) ", "word ", "« Oui. » ", "结束了。", "Τι; ",
			"**Done.** ", "1. ", "- ", "> ", "\n", "\u2028", "A", "... ", ". A", "\u00a0", "\u0301", strings.Repeat("long ", 100), strings.Repeat("One. ", 100)})
		text := strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "text"), "")
		line := rapid.IntRange(0, len(text)).Draw(t, "at")
		b, whole := NewBoundaries(text), NewBoundaries(text)
		for n, at := range append([]int{line}, edges(text)...) {
			if n%7 == 0 {
				b = NewBoundaries(text)
			}
			start, end := wholeLine(text, at)
			l := &lineBoundaries{stretch: stretch{start, end}}
			l.split(text, true, false, 0)
			whole.last = l
			require.Equal(t, whole.Begins(at), b.Begins(at), "%d of %q", at, text)
			start, end = wholeLine(text, max(0, at-1))
			l = &lineBoundaries{stretch: stretch{start, end}}
			l.split(text, true, false, 0)
			whole.last = l
			require.Equal(t, whole.Ends(at), b.Ends(at), "%d of %q", at, text)
		}
	})
}

// edges are the places of a text where a sentence may begin or end.
func edges(text string) (found []int) {
	for at := range text {
		if at > 0 && strings.ContainsAny(text[at-1:at+1], " .?!\n") {
			found = append(found, at)
		}
	}
	return found
}

func wholeLine(text string, at int) (start, end int) {
	at = max(0, min(at, len(text)-1))
	start, end = at, min(at+1, len(text))
	for start > 0 && !breaksBefore(text, start) {
		start--
	}
	for end < len(text) && !breaksBefore(text, end) {
		end++
	}
	return start, end
}
