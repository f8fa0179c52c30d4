package retrieve

import (
	"axiommind/activities/llm"
	"axiommind/activities/vector"
)

// fuse computes the relative scores of all candidates of a query, from any index. Weaviate's own are relative to one
// result, and depend on the number of results asked for.
//
// The vector score goes from 0 at the baseline, which is the similarity of unrelated texts, to 1 for the most similar
// candidate. The keyword score is the share of the best one. Neither depends on the number of candidates. Alpha is the
// weight of the vector score, and 1-alpha that of the keyword score.
func (r *search) fuse(lists ...[]vector.Candidate) {
	alpha, baseline := r.result.Alpha, r.baseline()
	best, bm25 := 0.0, 0.0
	for _, list := range lists {
		for _, c := range list {
			best, bm25 = max(best, c.Similarity), max(bm25, c.BM25)
		}
	}
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			c.Vector, c.Keyword = 0, 0
			c.Words, c.Height = c.BM25 > 0, r.height(c.Similarity)
			if c.Similarity > baseline {
				c.Vector = alpha * (c.Similarity - baseline) / (best - baseline)
			}
			if bm25 > 0 {
				c.Keyword = (1 - alpha) * c.BM25 / bm25
			}
			c.Score = c.Vector + c.Keyword
		}
	}
}

// baseline is that of the embedder, or else the query's own over all languages. Where the former is known it ranks better:
// with the latter, recall@10 on LongMemEval falls.
func (r *search) baseline() float64 {
	if e, ok := r.embedder.(llm.Baselined); ok && e.Baseline() > 0 {
		return e.Baseline()
	}
	return r.mean
}
