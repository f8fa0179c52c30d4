package evidence

import (
	"slices"
	"strings"
	"unicode/utf8"

	"axiommind/activities/evidence/fuzzy"
	"axiommind/activities/evidence/normal"
	"axiommind/schema"
)

// Bounds of the approximate stage.
const (
	// MinSimilarity is the least similarity of an approximate match. Similarity is 1 - d/n, where d is the
	// edit distance of the normal forms and n the length of the longer, in runes.
	MinSimilarity = 0.85
	// MinLettersAlone is the minimum number of letters and digits of a quote that is found by these alone.
	MinLettersAlone = 10
	// MaxApproximateRunes is the length of the longest quote that is matched approximately.
	MaxApproximateRunes = 4096

	nearSimilarity = 0.84
	maxCandidates  = 16
	maxTies        = 6
	// maxCells bounds the edit matrices that choosing the boundaries of a candidate may fill.
	maxCells = 1 << 21
)

// candidate is a stretch of a text in normal form that may be a quote.
type candidate struct {
	distance int
	ends     []int
}

// similar finds a quote by its similarity: the most similar places. It reports whether any place came near,
// near enough or not.
func (s *Source) similar(q *quote) (m *match, near bool) {
	runes := q.pattern().Runes
	if len(runes) < schema.MinLetters || len(runes) > MaxApproximateRunes {
		return nil, false
	}
	if m := s.asLetters(q); m != nil {
		return m, true
	}
	candidates := s.candidates(q)
	best := 0.0
	var places []extent
	for _, c := range candidates {
		if len(places) > 0 && c.distance > candidates[0].distance+2 {
			break
		}
		x, similarity := s.fit(q, c)
		switch {
		case similarity < MinSimilarity:
		case similarity > best:
			places, best = []extent{x}, similarity
		case similarity == best && !slices.ContainsFunc(places, func(y extent) bool { return x.start < y.end && y.start < x.end }):
			places = append(places, x)
		}
	}
	slices.SortFunc(places, func(a, b extent) int { return a.start - b.start })
	return matchOf(schema.MethodApproximate, approximateConfidence(best), places), len(candidates) > 0
}

// asLetters finds a quote whose letters and digits follow each other in the message, regardless of the
// characters between them. Such a quote has lost its punctuation and its spaces.
func (s *Source) asLetters(q *quote) *match {
	letters := q.letters().Text
	if utf8.RuneCountInString(letters) < MinLettersAlone {
		return nil
	}
	if s.lettersText == "" {
		s.lettersText = normal.LettersOf(s.form().Text)
	}
	if !strings.Contains(s.lettersText, letters) {
		return nil
	}
	places := listed(s.through(s.letters(), letters, 0))
	s.growAll(q, q.letters(), s.letters(), places, s.lettersAt)
	return matchOf(schema.MethodApproximate, confidenceLetters, places)
}

func (s *Source) lettersAt(q *quote, x extent) bool {
	start, end := s.letters().Within(x.start, x.end)
	letters := s.letters().Text[start:end]
	return letters == q.letters().Text && utf8.RuneCountInString(letters) >= MinLettersAlone
}

// candidates returns the stretches nearest to a quote, at most one for each half of the quote's length, the
// nearest first.
func (s *Source) candidates(q *quote) []candidate {
	p := q.pattern()
	apart := len(p.Runes) / 2
	limit := int(float64(len(p.Runes)) * (1 - nearSimilarity) / nearSimilarity)
	var found []candidate
	p.Ends(s.form().Text, limit, func(end, distance int) {
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

// fit chooses the boundaries of a candidate and returns its similarity to the quote. At the same distance it
// prefers boundaries whose first and last runes are the quote's, then those that need the fewest runes lost or
// gained, then those that agree longest from both ends.
func (s *Source) fit(q *quote, c candidate) (best extent, similarity float64) {
	runes, v := q.pattern().Runes, s.form()
	rank := -1
	tries := 1 + maxCells/(len(runes)*(2*c.distance+1))
	for _, end := range c.ends {
		tail := lastRunes(v.Text[:end], len(runes)+c.distance)
		for _, length := range fuzzy.Starts(runes, tail, c.distance) {
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
		return extent{}, 0
	}
	return best, s.similarityAt(q, best)
}

// fitness ranks texts at a distance from a quote by how likely their boundaries are the quote's.
func fitness(q, s []rune, distance int) int {
	columns, _, ok := fuzzy.Path(q, s, distance)
	if !ok {
		return -1
	}
	indels := 0
	for _, c := range columns {
		if c.Quote < 0 || c.Source < 0 {
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

// similarityAt returns the similarity of a quote to a place of the message, 0 when it is below the threshold.
func (s *Source) similarityAt(q *quote, x extent) float64 {
	runes := q.pattern().Runes
	start, end := s.form().Within(x.start, x.end)
	text := []rune(s.form().Text[start:end])
	longer := float64(max(len(runes), len(text)))
	_, distance, ok := fuzzy.Path(runes, text, int(longer*(1-MinSimilarity)))
	if similarity := 1 - float64(distance)/longer; ok && similarity >= MinSimilarity {
		return similarity
	}
	return 0
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
