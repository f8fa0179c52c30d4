package service

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/activities/fact"
	"axiommind/schema"
)

// factFlags adds the flags that say which facts are remembered.
func (c *Config) factFlags(f *pflag.FlagSet) {
	o := &c.Facts
	*o = fact.Options{MaxFacts: fact.DefaultMaxFacts}
	share := func(into *float64, least float64) func(string) error {
		return func(text string) error {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || !(n >= least && n <= 1) {
				return fmt.Errorf("want a number from %v to 1", least)
			}
			*into = n
			return nil
		}
	}
	f.Func("fact-threshold", fmt.Sprintf("least confidence, 0 to 1, of a fact that a session states (default %v)", fact.DefaultThreshold), func(text string) error {
		err := share(&o.Threshold, 0)(text)
		if o.Threshold == 0 {
			o.Threshold = -1 // 0 means the default.
		}
		return err
	})
	f.Func("max-facts", fmt.Sprintf("facts of one user and agent; one more makes another give way (default %d)", fact.DefaultMaxFacts), count(&o.MaxFacts, 1))
	f.Func("fact-eviction", "which fact gives way: "+strings.Join(schema.EvictionPolicies(), " or ")+" (default "+schema.EvictConfidence+")", func(text string) error {
		if !slices.Contains(schema.EvictionPolicies(), text) {
			return errors.New("want " + strings.Join(schema.EvictionPolicies(), " or "))
		}
		o.Eviction = text
		return nil
	})
	f.Func("fact-reserve", "corrections that give way to other corrections only\n(default: none; with "+schema.EvictHybrid+" a tenth of --max-facts, at most 10)", func(text string) error {
		err := count(&o.Reserve, 0)(text)
		if o.Reserve == 0 {
			o.Reserve = -1 // 0 means the default.
		}
		return err
	})
	f.Func("fact-merge", "share of words, 0 to 1, from which a session's fact is merged into an older one (default 0: none is)", share(&o.MergeOverlap, 0))
	f.Func("fact-merge-similarity", fmt.Sprintf("least similarity, -1 to 1, of the vectors of merged facts (default %v)", fact.DefaultMergeSimilarity),
		func(text string) error {
			err := share(&o.MergeSimilarity, -1)(text)
			o.MergeSimilarity = cmp.Or(o.MergeSimilarity, math.SmallestNonzeroFloat64) // 0 means the default.
			return err
		})
}

func count(into *int, least int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return fmt.Errorf("want a whole number from %d on", least)
		}
		*into = n
		return nil
	}
}
