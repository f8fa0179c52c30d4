package evidence

import (
	"slices"

	"axiommind/schema"
)

// settle chooses, for each quote with several occurrences, the one nearest to the entry's other
// evidence in the same message. Evidence with one place counts first; where all have several, the
// closest two decide.
func settle(evidence []schema.Evidence, found []*source) {
	var fixed, open []int
	for i := range evidence {
		switch {
		case !evidence[i].Aligned:
		case len(evidence[i].Occurrences) > 1:
			open = append(open, i)
		default:
			fixed = append(fixed, i)
		}
	}
	for len(open) > 0 {
		i, span, ok := nearest(evidence, open, fixed)
		if !ok {
			i, span, ok = nearest(evidence, open, open)
		}
		if !ok {
			return
		}
		evidence[i].Span = span
		evidence[i].Text = found[i].text[span.ByteStart:span.ByteEnd]
		fixed = append(fixed, i)
		open = slices.DeleteFunc(open, func(j int) bool { return j == i })
	}
}

// nearest returns the evidence among open, and which of its occurrences, that lies nearest to an
// occurrence of one of the anchors.
func nearest(evidence []schema.Evidence, open, anchors []int) (best int, span schema.Span, ok bool) {
	least := 0
	for _, i := range open {
		for _, j := range anchors {
			if i == j || evidence[i].MessageIndex != evidence[j].MessageIndex {
				continue
			}
			places := evidence[j].Occurrences
			if !slices.Contains(open, j) {
				places = []schema.Span{evidence[j].Span}
			}
			for _, a := range evidence[i].Occurrences {
				for _, b := range places {
					if d := away(a, b); !ok || d < least {
						best, span, least, ok = i, a, d, true
					}
				}
			}
		}
	}
	return best, span, ok
}

// away is the number of bytes between two spans, 0 when they touch or overlap.
func away(a, b schema.Span) int {
	return max(0, a.ByteStart-b.ByteEnd, b.ByteStart-a.ByteEnd)
}
