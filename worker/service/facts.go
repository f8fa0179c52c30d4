package service

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/worker/settings"
)

// facts are the settings that say which facts are remembered. In [fact.Options] 0 means the default: a 0 that is given becomes the
// value next to it that means the same.
func (c *Config) facts() []settings.Setting {
	o := &c.Facts
	return []settings.Setting{
		{Name: "fact-threshold", Default: fmt.Sprint(fact.DefaultThreshold), Usage: "least confidence, 0 to 1, of a fact that a session states", More: "; 0 takes all",
			Into: func(text string) error { return orElse(number(&o.Threshold, 0, 1)(text), &o.Threshold, -1) }},
		{Name: "max-facts", Default: strconv.Itoa(fact.DefaultMaxFacts), Usage: "most facts of one user and agent; one more evicts another", Into: count(&o.MaxFacts, 1)},
		{Name: "fact-eviction", Default: schema.EvictConfidence, Usage: "which fact is evicted: `" + strings.Join(schema.EvictionPolicies(), "` or `") + "`",
			More: ". The first is the fact with the lowest confidence, of equals the oldest; the second the one with the lowest score of confidence (65 %), freshness (25 %) and use (10 %)",
			Into: oneOf(&o.Eviction, schema.EvictionPolicies()...)},
		{Name: "fact-reserve", Absent: "none; with `hybrid-v1` a tenth of `--max-facts`, at most 10", Usage: "corrections that only other corrections evict",
			Into: func(text string) error { return orElse(count(&o.Reserve, 0)(text), &o.Reserve, -1) }},
		{Name: "fact-merge", Default: "0", Usage: "share of words, 0 to 1, from which a session's fact is merged into an older one; 0 merges none", Into: number(&o.MergeOverlap, 0, 1),
			More: ". The older one keeps its text and gets the higher confidence. Facts that contradict each other or differ in a number are never merged"},
		{Name: "fact-merge-similarity", Default: fmt.Sprint(fact.DefaultMergeSimilarity), Usage: "least similarity, -1 to 1, of the vectors of merged facts",
			Into: func(text string) error {
				return orElse(number(&o.MergeSimilarity, -1, 1)(text), &o.MergeSimilarity, math.SmallestNonzeroFloat64)
			}},
	}
}
