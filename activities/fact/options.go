package fact

import (
	"fmt"
	"math"
	"slices"

	"axiommind/activities/llm"
	"axiommind/schema"
)

// Defaults of [Options].
const (
	DefaultThreshold = 0.5
	DefaultMaxFacts  = 500
	// DefaultMergeSimilarity is the least cosine of the vectors of facts that are merged.
	DefaultMergeSimilarity = 0.8
)

// DefaultConfidence is the confidence of a fact that a person adds without one. A fact of a session needs its own.
const DefaultConfidence = 0.5

// Options configures a memory of facts. The zero value uses the defaults.
type Options struct {
	// Threshold is the minimum confidence, up to 1, of a fact from a session. It does not apply to a person's
	// commands. Default [DefaultThreshold]. A negative value means no threshold.
	Threshold float64
	// MaxFacts is the maximum number of facts for each user and agent. Default [DefaultMaxFacts].
	MaxFacts int
	// Eviction is the policy for evicting a fact for a new one, of [schema.EvictionPolicies]. Default: the first.
	Eviction string
	// Reserve is the number of corrections, the best by the policy, that only other corrections can evict. Default: none,
	// or with [schema.EvictHybrid] a tenth of MaxFacts and at most 10. A negative value means none.
	Reserve int
	// MergeOverlap is the least share of words that two facts have in common if the newer one is merged into the older.
	// Default: 0, which merges none.
	MergeOverlap float64
	// MergeSimilarity is the least cosine of their vectors. Default [DefaultMergeSimilarity].
	MergeSimilarity float64
	// Embedder makes the vectors. It is needed if facts are merged.
	Embedder llm.Embedder
}

// maxReserve is how many corrections are kept by default, at most.
const maxReserve = 10

// withDefaults returns the options with defaults filled in, or an error if they are invalid.
func (o Options) withDefaults() (Options, error) {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if o.MaxFacts == 0 {
		o.MaxFacts = DefaultMaxFacts
	}
	if o.Eviction == "" {
		o.Eviction = schema.EvictConfidence
	}
	if o.Reserve == 0 && o.Eviction == schema.EvictHybrid {
		o.Reserve = min(maxReserve, (o.MaxFacts+9)/10)
	}
	o.Reserve = max(o.Reserve, 0)
	if o.MergeSimilarity == 0 {
		o.MergeSimilarity = DefaultMergeSimilarity
	}
	invalid := func(format string, args ...any) (Options, error) {
		return o, fmt.Errorf("fact options: "+format, args...)
	}
	switch {
	case math.IsNaN(o.Threshold) || o.Threshold > 1:
		return invalid("threshold is %v, want at most 1", o.Threshold)
	case o.MaxFacts < 0:
		return invalid("max facts is %d, want at least 1", o.MaxFacts)
	case !slices.Contains(schema.EvictionPolicies(), o.Eviction):
		return invalid("eviction is %q, want one of %q", o.Eviction, schema.EvictionPolicies())
	case !(o.MergeOverlap >= 0 && o.MergeOverlap <= 1):
		return invalid("merge overlap is %v, want 0 to 1", o.MergeOverlap)
	case !(o.MergeSimilarity >= -1 && o.MergeSimilarity <= 1):
		return invalid("merge similarity is %v, want -1 to 1", o.MergeSimilarity)
	}
	return o, nil
}

// all reports whether a plan must know all facts of a memory.
func (o Options) all() bool {
	return o.Eviction == schema.EvictHybrid || o.Reserve > 0 || o.MergeOverlap > 0
}
