package evidence

import (
	"slices"

	"axiommind/schema"
)

// chooseNearest chooses, for each quote with several places, the one nearest to the entry's other evidence
// in the same message. Evidence with one place counts first; where all have several, the closest two
// decide.
func chooseNearest(evidence []schema.Evidence, found []*finding) {
	var fixed, open []int
	for i, f := range found {
		switch {
		case f == nil:
		case len(f.places) > 1:
			open = append(open, i)
		default:
			fixed = append(fixed, i)
		}
	}
	for len(open) > 0 {
		i, p, ok := nearest(found, open, fixed)
		if !ok {
			i, p, ok = nearest(found, open, open)
		}
		if !ok {
			return
		}
		found[i].choose(&evidence[i], p)
		found[i].places = []occurrence{p}
		fixed = append(fixed, i)
		open = slices.DeleteFunc(open, func(j int) bool { return j == i })
	}
}

// nearest returns the finding among open, and its place, that is nearest to a place of one of the
// anchors.
func nearest(found []*finding, open, anchors []int) (best int, chosen occurrence, ok bool) {
	least := 0
	for _, i := range open {
		for _, j := range anchors {
			if i == j || found[i].source != found[j].source {
				continue
			}
			for _, a := range found[i].places {
				for _, b := range found[j].places {
					if d := distance(a, b); !ok || d < least {
						best, chosen, least, ok = i, a, d, true
					}
				}
			}
		}
	}
	return best, chosen, ok
}

// distance is the number of bytes between two places, 0 when they touch or overlap.
func distance(a, b occurrence) int {
	return max(0, a.start-b.end, b.start-a.end)
}
