package retrieve

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/vector"
	"axiommind/schema"
)

func TestRecency(t *testing.T) {
	t.Parallel()
	w := Weights{HalfLife: 100 * 24 * time.Hour, RecencyFloor: 0.6}
	day := 24 * time.Hour
	require.InDelta(t, 1.0, w.recency(0), 1e-12)
	require.InDelta(t, 1.0, w.recency(-day), 1e-12)
	require.InDelta(t, 0.8, w.recency(100*day), 1e-12)
	require.InDelta(t, 0.7, w.recency(200*day), 1e-12)
	require.InDelta(t, 0.6, w.recency(100*365*day), 1e-6)
	require.InDelta(t, 1.0, Weights{}.recency(day), 1e-12)
}

func TestFactorsAreOrdered(t *testing.T) {
	t.Parallel()
	w := DefaultWeights()
	last := 0.0
	for _, s := range []schema.Stage{schema.StageRaw, schema.StageWorking, schema.StageCandidate, schema.StageVerified, schema.StageCertified} {
		require.Greater(t, factor(w.Stage, s), last, s)
		last = factor(w.Stage, s)
	}
	require.InDelta(t, 0.8, factor(w.Stage, "unheard of"), 0)
	require.Less(t, factor(w.Status, schema.StatusContested), factor(w.Status, schema.StatusActive))
	require.Less(t, factor(w.Status, schema.StatusSuperseded), factor(w.Status, schema.StatusContested))
}

// Statements of more sessions rank higher, by less and less.
func TestCorroboration(t *testing.T) {
	t.Parallel()
	w := DefaultWeights()
	last, step := 0.0, 1.0
	for n := 1; n < 10; n++ {
		got := w.corroboration(n)
		require.Greater(t, got, last)
		require.Less(t, got-last, step)
		require.LessOrEqual(t, got, 1.0)
		last, step = got, got-last
	}
	require.InDelta(t, w.Corroboration, w.corroboration(1), 1e-12)
	require.InDelta(t, 1, Weights{}.corroboration(1), 0)
}

// candidates are possible results of a search: entries that repeat, contradict or succeed others, in chains and in
// circles.
var candidates = rapid.Custom(func(t *rapid.T) []Hit {
	w := DefaultWeights()
	id := rapid.Map(rapid.IntRange(0, 9), func(n int) string { return fmt.Sprint("e", n) })
	stages := append(schema.Stages(), "other")
	statuses := []schema.Status{schema.StatusActive, schema.StatusContested, schema.StatusSuperseded, schema.StatusDeprecated, ""}
	one := rapid.Custom(func(t *rapid.T) Hit {
		e := schema.Entry{
			ID: id.Draw(t, "id"), Title: rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "title"),
			SessionID: rapid.SampledFrom([]string{"s1", "s2", "s3"}).Draw(t, "session"),
			Stage:     rapid.SampledFrom(stages).Draw(t, "stage"), Status: rapid.SampledFrom(statuses).Draw(t, "status"),
			OccurredAt: start.Add(-time.Duration(rapid.IntRange(-10, 3).Draw(t, "age")) * 24 * time.Hour),
		}
		h := Hit{Entry: e, Explain: w.explain(vector.Candidate{Score: float64(rapid.IntRange(0, 4).Draw(t, "score")) / 4}, e, start)}
		if rapid.IntRange(0, 3).Draw(t, "linked") == 0 {
			h.OriginalID = id.Draw(t, "original")
		}
		if e.Status == schema.StatusSuperseded {
			h.SupersededBy = id.Draw(t, "successor")
		}
		h.Score = h.Explain.Score()
		return h
	})
	return rapid.SliceOfNDistinct(one, 1, 10, func(h Hit) string { return h.ID }).Draw(t, "hits")
})

// Every factor only lowers the hybrid score. The order is total and does not depend on the order of the candidates. A
// successor is above its predecessor. Each candidate is in one claim, with all candidates of the same statement. The
// claim is believed if one of them is, and no worse than any.
func TestRerank(t *testing.T) {
	t.Parallel()
	w := DefaultWeights()
	rapid.Check(t, func(t *rapid.T) {
		hits := candidates.Draw(t, "hits")
		next := map[string]string{}
		for _, h := range hits {
			next[h.ID] = h.SupersededBy
		}
		// Entries that are no candidates take places, too.
		for n := range 3 {
			next[fmt.Sprint("e", 10+n)] = rapid.SampledFrom([]string{"", "e1", "e5"}).Draw(t, "next")
		}
		ranked := func(hits []Hit) []*claim {
			claims := w.fold(hits)
			order(claims, func(id string) string { return next[id] })
			return claims
		}
		claims := ranked(hits)
		shown := func(claims []*claim) (out []Hit) {
			for _, c := range claims {
				out = append(out, c.Hit)
			}
			return out
		}
		require.Equal(t, shown(claims), shown(ranked(rapid.Permutation(hits).Draw(t, "order"))))

		place, members := map[string]int{}, 0
		for i, c := range claims {
			require.InDelta(t, c.Explain.Score(), c.Score, 0)
			require.LessOrEqual(t, c.Score, c.Explain.Hybrid)
			require.GreaterOrEqual(t, c.Score, 0.0)
			if i > 0 {
				require.LessOrEqual(t, c.Score, claims[i-1].Score)
			}
			for _, m := range c.members {
				place[m.ID] = i
				members++
				require.False(t, ended(c.Status) && !ended(m.Status))
				require.True(t, c.Explain.Limit != nil || c.Score >= m.Score || ended(m.Status) != ended(c.Status))
			}
		}
		require.Equal(t, len(hits), members)
		for _, a := range hits {
			for _, b := range hits {
				if a.original() == b.original() || wordingOf(a.Entry) == wordingOf(b.Entry) {
					require.Equal(t, place[a.ID], place[b.ID])
				}
			}
		}
		for i, c := range claims {
			if circular(c, claims, next) || !ended(c.Status) {
				continue
			}
			passed := map[string]bool{}
			for id := c.SupersededBy; id != "" && !passed[id]; id = next[id] {
				if p, found := place[id]; found && p != i {
					require.Less(t, p, i, "%s took the place of %s", id, c.ID)
					break
				}
				passed[id] = true
			}
		}
	})
}

// circular reports whether the claim took, by way of others, its own place.
func circular(c *claim, claims []*claim, next map[string]string) bool {
	holding := map[string]*claim{}
	for _, x := range claims {
		for _, m := range x.members {
			holding[m.ID] = x
		}
	}
	at := c
	for range len(claims) + 1 {
		if !ended(at.Status) {
			return false
		}
		if at = at.follow(holding, func(id string) string { return next[id] }); at == nil {
			return false
		}
	}
	return true
}
