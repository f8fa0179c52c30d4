package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"axiommind/activities/llm"
	"axiommind/activities/vector"
)

// Floored is an embedder whose similarity floor may be known.
type Floored interface {
	// SimilarityFloor is the cosine similarity that unrelated texts hardly ever reach. It is false if the floor of
	// the model is not known.
	SimilarityFloor() (float64, bool)
}

// unrelated are sentences that have nothing in common.
var unrelated = []string{
	"The train to Lisbon leaves at noon.",
	"Photosynthesis turns light into sugar.",
	"He repaired the violin with old glue.",
	"The stock exchange closed early on Thursday.",
	"Whales sing across whole oceans.",
	"Flour, eggs and butter make a simple dough.",
	"The treaty was signed in 1648.",
	"Her telescope showed four moons.",
	"Our goalkeeper broke his thumb.",
	"The compiler rejects unused imports.",
	"Rent is due on the first of the month.",
	"Glaciers carve valleys over thousands of years.",
	"The choir rehearses in the old chapel.",
	"Vaccines train the immune system.",
	"Bees dance to point at flowers.",
	"The museum lent three paintings to Vienna.",
}

// floorDeviations is the number of standard deviations between the mean similarity of unrelated texts and the floor.
// With 3, the floor of all-MiniLM-L6-v2 is 0.305; the similarity of nonsense to one of 1,200 turns of conversation
// reached 0.296.
const floorDeviations = 3

// embed returns the query's vector and sets the floor of the result. If the floor has to be measured, the first query
// embeds the sentences for that too.
func (r *search) embed(ctx context.Context) ([]float32, error) {
	if w, ok := r.embedder.(vector.WordsOnly); ok {
		r.result.Alpha, r.result.WordsOnly = 0, w.Reason.Error()
		return nil, nil
	}
	floor, known := r.knownFloor()
	if !known {
		vectors, err := r.embedder.Embed(ctx, unrelated)
		if err != nil {
			return nil, fmt.Errorf("measure the floor: %w", err)
		}
		if len(vectors) != len(unrelated) || slices.ContainsFunc(vectors, r.strange) {
			return nil, fmt.Errorf("measure the floor: %w", vector.ErrEmbedder)
		}
		measured := measure(vectors)
		r.measured.Store(&measured)
		floor = measured.floor
	}
	r.result.Floor = floor
	v, err := r.embedder.EmbedQuery(ctx, r.query.Text)
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	if r.strange(v) {
		return nil, fmt.Errorf("embed query: %w", vector.ErrEmbedder)
	}
	return v, nil
}

// baseline is the mean similarity of unrelated texts. It is 0 for an embedder that is not known to have another one.
func (s *Searcher) baseline() float64 {
	if m := s.measured.Load(); m != nil {
		return m.baseline
	}
	if e, ok := s.embedder.(llm.Baselined); ok {
		return e.Baseline()
	}
	return 0
}

// strange reports whether the vector is not one of the embedder's.
func (r *search) strange(v []float32) bool { return len(v) != r.embedder.Dimensions() }

func (s *Searcher) knownFloor() (float64, bool) {
	if s.floor != nil {
		return *s.floor, true
	}
	if e, ok := s.embedder.(Floored); ok {
		if floor, known := e.SimilarityFloor(); known {
			return floor, true
		}
	}
	if m := s.measured.Load(); m != nil {
		return m.floor, true
	}
	return 0, false
}

// measured is what is known of an embedder by its vectors of unrelated texts: their mean similarity, and the floor.
type measured struct{ baseline, floor float64 }

// measure computes it.
func measure(vectors [][]float32) measured {
	var sum, squares, pairs float64
	for i, a := range vectors {
		for _, b := range vectors[:i] {
			similarity := cosine(a, b)
			sum, squares, pairs = sum+similarity, squares+similarity*similarity, pairs+1
		}
	}
	mean := sum / pairs
	return measured{mean, mean + floorDeviations*math.Sqrt(max(squares/pairs-mean*mean, 0))}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}
