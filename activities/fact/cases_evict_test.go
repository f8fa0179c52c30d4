package fact

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"axiommind/deploy/local/sharedtest"
)

func judgeEviction(input, expect json.RawMessage) string {
	var in struct {
		Facts []struct {
			givenFact
			LastConfirmedAt time.Time `json:"lastConfirmedAt"`
		} `json:"facts"`
		MaxFacts int    `json:"max_facts"`
		Policy   string `json:"policy"`
		Usage    map[string]struct {
			AccessHeat     float64   `json:"accessHeat"`
			LastAccessedAt time.Time `json:"lastAccessedAt"`
		} `json:"usage"`
		Now     time.Time `json:"now"`
		Reserve *int      `json:"reserve"`
	}
	var want struct {
		Kept    []string           `json:"kept"`
		Evicted []string           `json:"evicted"`
		Scores  map[string]float64 `json:"scores"`
	}
	if problem := sharedtest.Decode(input, &in) + sharedtest.Decode(expect, &want); problem != "" {
		return problem
	}
	opts := Options{MaxFacts: in.MaxFacts, Eviction: in.Policy}
	if in.Reserve != nil {
		if opts.Reserve = *in.Reserve; opts.Reserve == 0 {
			opts.Reserve = -1
		}
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return err.Error()
	}
	m, uses := newMemory(&failer{}), map[string]Use{}
	for _, g := range in.Facts {
		m.given([]givenFact{g.givenFact})
		hits := in.Usage[g.ID]
		uses[g.ID] = Use{Confirmed: g.LastConfirmedAt, Heat: hits.AccessHeat * decay(in.Now.Sub(hits.LastAccessedAt), heatHalfLife)}
	}
	state := m.state()
	state.Uses, state.Now = uses, in.Now
	v, scores, evicted := newOverlay(state, opts), map[string]float64{}, []string{}
	for id, f := range v.facts {
		scores[id] = math.Round(v.evicter.score(f)*1e6) / 1e6
	}
	for v.active > in.MaxFacts {
		f, _ := v.weakest()
		f.Status = Evicted
		v.put(f)
		evicted = append(evicted, f.ID)
	}
	var kept []string
	for id, f := range v.facts {
		if f.Status == Active {
			kept = append(kept, id)
		}
	}
	same := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	switch {
	case want.Kept != nil && !same(kept, want.Kept):
		return fmt.Sprintf("kept %q, want %q", kept, want.Kept)
	case want.Evicted != nil && !same(evicted, want.Evicted):
		return fmt.Sprintf("evicted %q, want %q", evicted, want.Evicted)
	case want.Scores != nil && !maps.Equal(scores, want.Scores):
		return fmt.Sprintf("scores are %v, want %v", scores, want.Scores)
	}
	return ""
}
