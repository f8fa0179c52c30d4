package show

import (
	"slices"

	"axiommind/schema"
)

// Segment is a piece of a text that lies in the same spans throughout.
type Segment struct {
	Text string
	// In are the indexes of the lists with a span that contains the segment, in order.
	In []int
}

// Segments cuts the text at the borders of the spans. Spans beyond the text are ignored.
func Segments(text string, spans [][]schema.Span) (out []Segment) {
	valid := func(s schema.Span) bool { return 0 <= s.ByteStart && s.ByteStart < s.ByteEnd && s.ByteEnd <= len(text) }
	cuts := []int{0, len(text)}
	for _, list := range spans {
		for _, s := range list {
			if valid(s) {
				cuts = append(cuts, s.ByteStart, s.ByteEnd)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := range len(cuts) - 1 {
		piece := Segment{Text: text[cuts[i]:cuts[i+1]]}
		for of, list := range spans {
			if slices.ContainsFunc(list, func(s schema.Span) bool { return valid(s) && s.ByteStart <= cuts[i] && cuts[i] < s.ByteEnd }) {
				piece.In = append(piece.In, of)
			}
		}
		out = append(out, piece)
	}
	return out
}
