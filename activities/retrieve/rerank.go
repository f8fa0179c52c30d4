package retrieve

import (
	"math"
	"time"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// Weights determine a hit's score from its hybrid score. Each factor is in (0,1].
type Weights struct {
	Stage map[schema.Stage]float64
	// Message, Task and Fact replace the stage's weight for messages, tasks and facts that a person entered; 0 means 1.
	Message, Task, Fact float64
	Neighbours          Neighbours
	Status              map[schema.Status]float64
	// HalfLife is the age at which the recency factor is halfway between 1 and RecencyFloor.
	HalfLife     time.Duration
	RecencyFloor float64
	// Corroboration is the factor of a hit that one session states. It nears 1 with each further session that states
	// the same. 0 turns it off.
	Corroboration float64
}

// DefaultWeights prefers proven, recent and corroborated entries, but not over much better matches: an old raw entry of
// one session keeps 0.66 of its hybrid score. Contradicted or superseded entries rank below others.
func DefaultWeights() Weights {
	return Weights{
		Stage: map[schema.Stage]float64{
			schema.StageRaw: 0.80, schema.StageWorking: 0.85, schema.StageCandidate: 0.90,
			schema.StageVerified: 0.97, schema.StageCertified: 1,
		},
		Message: 0.75, Task: 0.90,
		Neighbours: Neighbours{Next: 0.4, Second: 0.24, Long: 50},
		Status: map[schema.Status]float64{
			schema.StatusActive: 1, schema.StatusContested: 0.6,
			schema.StatusDeprecated: 0.4, schema.StatusSuperseded: 0.3,
		},
		HalfLife:      180 * 24 * time.Hour,
		RecencyFloor:  0.85,
		Corroboration: 0.97,
	}
}

// Explain shows how a hit's score is computed: Score = Hybrid × StageWeight × StatusPenalty × Recency × Corroboration,
// but at most Limit, and Hybrid = Vector + Keyword + Context. If several entries have the same statement, Hybrid is
// that of the best matching wording, and Recency that of the newest; Height, Words and Share are the best of any
// wording.
type Explain struct {
	Hybrid float64 `json:"hybrid"`
	// Vector and Keyword are the weighted relative scores of the two searches. Each is 0 if its search did not find
	// the entry. They are relative to the other candidates of the same query.
	Vector  float64 `json:"vector"`
	Keyword float64 `json:"keyword"`
	// Context is the score from the messages before and after a message.
	Context float64 `json:"context,omitempty"`
	// Similarity is the cosine similarity behind Vector, and BM25 the keyword score behind Keyword.
	Similarity float64 `json:"similarity"`
	BM25       float64 `json:"bm25"`
	// Height is the number of standard deviations by which Similarity exceeds that of texts unrelated to the query. It
	// is 0 for an embedder that knows no meaning. Words is true if the hit shares a word with the query, and Share is
	// the share of the query's content words that the hit contains.
	Height        float64 `json:"height"`
	Words         bool    `json:"words"`
	Share         float64 `json:"share"`
	StageWeight   float64 `json:"stage_weight"`
	StatusPenalty float64 `json:"status_penalty"`
	Recency       float64 `json:"recency"`
	// Corroboration grows with the number of sessions among the candidates that say the same.
	Corroboration float64 `json:"corroboration"`
	// Limit is the score of the hit that took the place of this one, if the product exceeds it.
	Limit *float64 `json:"limit,omitempty"`
}

// Score returns the product of the factors, or Limit.
func (e Explain) Score() float64 {
	if e.Limit != nil {
		return *e.Limit
	}
	return e.Hybrid * e.StageWeight * e.StatusPenalty * e.Recency * e.Corroboration
}

// explain computes a candidate's score from its entry's row.
func (w Weights) explain(c vector.Candidate, e schema.Entry, now time.Time) Explain {
	return w.explainCandidate(c, factor(w.Stage, e.Stage), factor(w.Status, e.Status), w.recency(now.Sub(e.OccurredAt)))
}

// explainCandidate computes the score of a candidate that one session says, from its factors.
func (w Weights) explainCandidate(c vector.Candidate, stage, status, recency float64) Explain {
	return Explain{
		Hybrid: c.Score, Vector: c.Vector, Keyword: c.Keyword, Context: c.Context, Similarity: c.Similarity, BM25: c.BM25,
		Height: c.Height, Words: c.Words, StageWeight: stage, StatusPenalty: status, Recency: recency, Corroboration: w.corroboration(1),
	}
}

// factor returns the weight of the key. A key without a weight gets the lowest one.
func factor[K comparable](weights map[K]float64, key K) float64 {
	if f, ok := weights[key]; ok {
		return f
	}
	lowest := 1.0
	for _, f := range weights {
		lowest = min(lowest, f)
	}
	return lowest
}

// recency falls from 1 towards the floor with age. A time in the future counts as now.
func (w Weights) recency(age time.Duration) float64 {
	if w.HalfLife <= 0 || age <= 0 {
		return 1
	}
	return w.RecencyFloor + (1-w.RecencyFloor)*math.Exp2(-float64(age)/float64(w.HalfLife))
}

// corroboration returns the factor of a hit that so many sessions state.
func (w Weights) corroboration(sessions int) float64 {
	if w.Corroboration <= 0 {
		return 1
	}
	return 1 - (1-w.Corroboration)/float64(max(sessions, 1))
}
