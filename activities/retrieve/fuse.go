package retrieve

import "axiommind/activities/vector"

// fuse computes the relative scores of all candidates of a query, whichever index they are from. Weaviate's own are
// relative to one result, and depend on how many were asked for.
//
// The vector score goes from 0 at the similarity that unrelated texts have to the query, to 1 for the most similar
// candidate. The keyword score is the share of the best one. Neither moves with the number of candidates. Alpha is the weight
// of the first, and 1-alpha that of the second.
func (r *search) fuse(lists ...[]vector.Candidate) {
	alpha := r.result.Alpha
	best, bm25 := 0.0, 0.0
	for _, list := range lists {
		for _, c := range list {
			best, bm25 = max(best, c.Similarity), max(bm25, c.BM25)
		}
	}
	r.result.Nearest = r.height(best)
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			c.Vector, c.Keyword = 0, 0
			c.Words, c.Height = c.BM25 > 0, r.height(c.Similarity)
			if c.Similarity > r.expected {
				c.Vector = alpha * (c.Similarity - r.expected) / (best - r.expected)
			}
			if bm25 > 0 {
				c.Keyword = (1 - alpha) * c.BM25 / bm25
			}
			c.Score = c.Vector + c.Keyword
		}
	}
}
