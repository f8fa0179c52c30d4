package fact

import (
	"math"
	"time"

	"axiommind/schema"
)

// Use records how a fact was used.
type Use struct {
	// Confirmed is when a session last repeated the fact. It is zero if none did.
	Confirmed time.Time
	// Heat counts how often a search returned the fact, each time counting half as much after every [heatHalfLife].
	Heat float64
}

// Half-lives of the policy [schema.EvictHybrid].
const (
	freshHalfLife = 90 * 24 * time.Hour
	heatHalfLife  = 30 * 24 * time.Hour
)

// maxHeat is the heat that counts fully.
const maxHeat = 8

// hybrid is the score of a fact, of 0 to 1: 65 % its confidence, 25 % how fresh it is, and 10 % how much it is used. A
// fact that was never confirmed after its creation is half as fresh.
func hybrid(f Fact, use Use, now time.Time) float64 {
	fresh := decay(now.Sub(f.CreatedAt), freshHalfLife) / 2
	if !use.Confirmed.IsZero() {
		fresh = max(fresh, decay(now.Sub(use.Confirmed), freshHalfLife))
	}
	heat := min(1, math.Log1p(max(0, use.Heat))/math.Log1p(maxHeat))
	return 0.65*f.Confidence + 0.25*fresh + 0.10*heat
}

func decay(age, halfLife time.Duration) float64 {
	return math.Exp2(-max(0, age.Hours()) / halfLife.Hours())
}

// evicter selects the fact to evict for a new one.
type evicter struct {
	policy  string
	reserve int
	uses    map[string]Use
	now     time.Time
}

func (v evicter) score(f Fact) float64 {
	if v.policy == schema.EvictHybrid {
		return hybrid(f, v.uses[f.ID], v.now)
	}
	return f.Confidence
}

// before reports whether the fact a is evicted before b.
func (v evicter) before(a, b Fact) bool {
	x, y := v.score(a), v.score(b)
	if x != y {
		return x < y
	}
	if v.policy == schema.EvictHybrid {
		a, b = b, a
	}
	if !a.CreatedAt.Equal(b.CreatedAt) {
		return a.CreatedAt.Before(b.CreatedAt)
	}
	return a.CreatedSeq < b.CreatedSeq
}

// weakest returns the active fact to evict first. As long as there are no more corrections than are reserved, it is no
// correction, unless there is nothing else.
func (v *overlay) weakest() (Fact, bool) {
	corrections := 0
	for _, f := range v.facts {
		if f.Status == Active && f.Category == schema.CategoryCorrection {
			corrections++
		}
	}
	var out Fact
	found, kept := false, false
	for _, f := range v.facts {
		if f.Status != Active {
			continue
		}
		keep := corrections <= v.evicter.reserve && f.Category == schema.CategoryCorrection
		if !found || kept && !keep || kept == keep && v.evicter.before(f, out) {
			out, found, kept = f, true, keep
		}
	}
	return out, found
}

func (p *planner) evict(x proposal, victim Fact) error {
	id, err := p.idOf(x)
	if err != nil {
		return err
	}
	return p.emit(schema.FactEvictedKey(x.key, victim.ID), x.at, schema.FactEvictedPayload{
		Act: x.act, FactID: victim.ID, For: id, MaxFacts: p.opts.MaxFacts,
		Policy: p.opts.Eviction, Score: p.overlay.evicter.score(victim), Reserve: p.opts.Reserve,
	})
}
