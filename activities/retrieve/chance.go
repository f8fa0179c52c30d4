package retrieve

import (
	"context"
	"fmt"
	"math"

	"axiommind/activities/llm"
	"axiommind/activities/spans"
	"axiommind/activities/vector"
)

// A hit is judged by the words that it shares with the query, and by its height: the number of standard deviations by which
// its similarity to the query exceeds that of texts that have nothing to do with it. If no hit shares a word, and none
// reaches [Near], the answer is empty. Otherwise hits are listed up to the limit. A hit is weak if it does not reach strong
// and has less than most of the query's words. Other hits have no influence, so that a hit is weak whatever the limit is.
//
// Near and strong were chosen on all of eval/testdata/distant-questions.jsonl: no answer is lower than Near, and nothing reaches
// strong that has nothing to do with the question. TestDistant asks fresh-questions.jsonl, which was written afterwards.
// There, none of 48 answers is hidden, and all hits for 36 questions about other things are weak, but only 4 of these 36
// answers are empty: by chance alone the nearest of 90 sentences is above Near, where the lowest answers are. The mark is the
// boundary, not the empty answer. A word in common raises the similarity, so that half of 12 questions about other things that
// share a word with a message have a hit that is not weak. Turns of one conversation are all near to questions about it: of
// 1,490 hits for 149 questions of LoCoMo 28 are weak. Tried on the first set, the distance to the next hit, the deviation
// of all hits and the bare similarity separate answers less well than the height.
const (
	Near   = 0.75
	strong = 2.5
	most   = 0.5
)

// embed returns the query's vector, and sets the similarity that chance gives to texts. If the chance of the embedder has
// to be measured, the first query of the process does so, at the cost of [llm.MeasureChance].
func (r *search) embed(ctx context.Context) ([]float32, error) {
	r.deviation = math.Inf(1)
	if w, ok := r.embedder.(vector.WordsOnly); ok {
		r.result.Alpha, r.result.WordsOnly = 0, w.Reason.Error()
		return nil, nil
	}
	chance, err := r.knownChance(ctx)
	if err != nil {
		return nil, err
	}
	calling, s := spans.Embedding(ctx, r.embedder.Version())
	v, err := r.embedder.EmbedQuery(calling, r.query.Text)
	spans.End(s, err)
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	if len(v) != r.embedder.Dimensions() {
		return nil, fmt.Errorf("embed query: %w", vector.ErrEmbedder)
	}
	r.expected, r.mean = chance.Similarity(v)
	r.deviation = chance.Deviation
	return v, nil
}

// knownChance returns the embedder's chance. If it has to be measured, searches at the same time wait for one measurement.
func (s *Searcher) knownChance(ctx context.Context) (llm.Chance, error) {
	if e, ok := s.embedder.(llm.Calibrated); ok {
		return e.Chance(), nil
	}
	select {
	case s.measuring <- struct{}{}:
		defer func() { <-s.measuring }()
	case <-ctx.Done():
		return llm.Chance{}, ctx.Err()
	}
	if s.chance == nil {
		measured, err := llm.MeasureChance(ctx, s.embedder)
		if err != nil {
			return llm.Chance{}, err
		}
		s.chance = &measured
	}
	return *s.chance, nil
}

// height returns the height of a similarity, 0 where chance explains it.
func (r *search) height(similarity float64) float64 {
	return max(similarity-r.expected, 0) / r.deviation
}

// related reports whether the candidate has anything to do with the query. The neighbour of a hit is no hit by that.
func related(c vector.Candidate) bool { return c.Words || c.Height > 0 }

// near reports whether the hit is a reason to answer the query.
func (e Explain) near() bool { return e.Words || e.Height >= Near }

// answer returns the claims, or none if none is near.
func (r *search) answer(claims []*claim) []*claim {
	r.result.Nearest = 0
	near := false
	for _, c := range claims {
		r.result.Nearest, near = max(r.result.Nearest, c.Explain.Height), near || c.Explain.near()
	}
	if !near {
		r.result.Unrelated += len(claims)
		return nil
	}
	return claims
}

// weak reports whether the hit may have nothing to do with the query.
func (e Explain) weak() bool { return e.Height < strong && e.Share < most }
