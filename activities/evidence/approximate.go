package evidence

import (
	"slices"
	"unicode/utf8"

	"axiommind/schema"
)

// Bounds of the approximate stage.
const (
	// MinSimilarity is the least similarity of an approximate match: one less the edit distance
	// of the normalized texts over the length of the longer.
	MinSimilarity = 0.85
	// MaxApproximateRunes is the length of the longest quote that is matched approximately.
	MaxApproximateRunes = 4096

	nearSimilarity = 0.84
	maxCandidates  = 16
	maxTies        = 6
	// maxCells bounds the edit matrices that choosing the borders of a candidate may fill.
	maxCells = 1 << 21
)

// candidate is a stretch of a folded text that may be a quote.
type candidate struct {
	distance int
	ends     []int
}

// similar finds a quote by its similarity. It reports whether something came near, whether or not
// it was near enough.
func (s *source) similar(q *quote) (m *match, near bool) {
	runes := q.runes()
	if len(runes) < MinLetters || len(runes) > MaxApproximateRunes {
		return nil, false
	}
	candidates := s.candidates(q)
	best, doubted := 0.0, false
	for _, c := range candidates {
		if m != nil && c.distance > candidates[0].distance+2 {
			break
		}
		x, similarity, doubts := s.fit(q, c)
		if similarity < MinSimilarity || m != nil && !doubted && len(doubts) > 0 {
			continue
		}
		switch {
		case m == nil || similarity > best || doubted && len(doubts) == 0:
			m = matchOf(schema.MethodApproximate, approximateConfidence(similarity), []extent{x})
			best, doubted = similarity, len(doubts) > 0
		case similarity == best && !slices.ContainsFunc(m.spans, func(y extent) bool { return x.start < y.end && y.start < x.end }):
			m.spans = append(m.spans, x)
		}
	}
	if m != nil {
		slices.SortFunc(m.spans, func(a, b extent) int { return a.start - b.start })
	}
	return m, len(candidates) > 0
}

// candidates returns the stretches nearest to a quote, at most one for each quote's length of text,
// the nearest first.
func (s *source) candidates(q *quote) []candidate {
	p := q.pattern()
	text := s.folded().text
	apart := len(p.runes) / 2
	limit := int(float64(len(p.runes)) * (1 - nearSimilarity) / nearSimilarity)
	var found []candidate
	p.ends(text, limit, func(end, distance int) {
		if n := len(found) - 1; n >= 0 {
			c := &found[n]
			if end-c.ends[len(c.ends)-1] <= apart {
				if distance < c.distance {
					c.distance, c.ends = distance, append(c.ends[:0], end)
				} else if distance == c.distance && len(c.ends) < maxTies {
					c.ends = append(c.ends, end)
				}
				return
			}
		}
		found = append(found, candidate{distance, []int{end}})
	})
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	return found[:min(len(found), maxCandidates)]
}

// fit chooses the borders of a candidate and returns its similarity to the quote, 0 when it says
// something else, and where it may. Of borders at the same distance it takes those whose first and
// last runes are the quote's, then those that need the fewest runes lost or gained, then those that
// agree longest from both ends.
func (s *source) fit(q *quote, c candidate) (best extent, similarity float64, doubts []schema.Doubt) {
	runes, v := q.runes(), s.folded()
	rank := -1
	tries := 1 + maxCells/(len(runes)*(2*c.distance+1))
	for _, end := range c.ends {
		tail := lastRunes(v.text[:end], len(runes)+c.distance)
		for _, length := range startsOf(runes, tail, c.distance) {
			if tries--; tries < 0 {
				break
			}
			covered := tail[len(tail)-length:]
			r := fitness(runes, covered, c.distance)
			if r <= rank {
				continue
			}
			if x, _ := s.whole(v, end-len(string(covered)), end); x.start < x.end {
				rank, best = r, x
			}
		}
	}
	if rank < 0 {
		return extent{}, 0, nil
	}
	similarity, doubts = s.similarityAt(q, best)
	return best, similarity, doubts
}

// fitness ranks texts at a distance from a quote by how likely their borders are the quote's.
func fitness(q, s []rune, distance int) int {
	columns, _, ok := path(q, s, distance)
	if !ok {
		return -1
	}
	indels := 0
	for _, c := range columns {
		if c.q < 0 || c.s < 0 {
			indels++
		}
	}
	most := min(len(q), len(s))
	head, tail := 0, 0
	for head < most && q[head] == s[head] {
		head++
	}
	for tail < most && q[len(q)-1-tail] == s[len(s)-1-tail] {
		tail++
	}
	const agreed = 1 << 10
	return (min(head, 1)+min(tail, 1))<<40 + (1<<12-min(indels, 1<<12))<<20 + min(head, agreed) + min(tail, agreed)
}

// similarityAt returns the similarity of a quote to a place of the message, 0 when it is below the
// threshold or says something else, and where it may say something else.
func (s *source) similarityAt(q *quote, x extent) (similarity float64, doubts []schema.Doubt) {
	v, runes := s.folded(), q.runes()
	start, end := v.within(x)
	text := []rune(v.text[start:end])
	longer := max(len(runes), len(text))
	limit := int(float64(longer) * (1 - MinSimilarity))
	columns, distance, ok := path(runes, text, limit)
	if !ok {
		return 0, nil
	}
	similarity = 1 - float64(distance)/float64(longer)
	if similarity < MinSimilarity {
		return 0, nil
	}
	g := guard{
		quote:   side{folded: q.literal().text, text: runes, view: q.literal(), original: q.text},
		source:  side{folded: v.text[start:end], text: text, view: v, original: s.text, offset: start},
		columns: columns,
	}
	if doubts, ok = g.judge(); !ok {
		return 0, nil
	}
	return similarity, doubts
}

func (s *source) similarAt(q *quote, x extent) bool {
	similarity, _ := s.similarityAt(q, x)
	return similarity >= MinSimilarity
}

// approximateConfidence maps a similarity in [0.85,1] to a confidence in [0.85,0.95).
func approximateConfidence(similarity float64) float64 {
	const low, high, top = 0.85, 0.95, 0.9499
	return min(low+(similarity-MinSimilarity)*(high-low)/(1-MinSimilarity), top)
}

// lastRunes returns the last n runes of a text, or all.
func lastRunes(text string, n int) []rune {
	start := len(text)
	for range n {
		if start == 0 {
			break
		}
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	return []rune(text[start:])
}
