package retrieve

import (
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

// Every factor only lowers the hybrid score, the order is total, and it does not depend on the
// order in which candidates come.
func TestRerank(t *testing.T) {
	t.Parallel()
	w := DefaultWeights()
	stages := []schema.Stage{schema.StageRaw, schema.StageVerified, "other"}
	statuses := []schema.Status{schema.StatusActive, schema.StatusContested, ""}
	hit := rapid.Custom(func(t *rapid.T) Hit {
		e := schema.Entry{
			ID: rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "id"), Stage: rapid.SampledFrom(stages).Draw(t, "stage"),
			Status:     rapid.SampledFrom(statuses).Draw(t, "status"),
			OccurredAt: start.Add(-time.Duration(rapid.IntRange(-10, 3).Draw(t, "age")) * 24 * time.Hour),
		}
		c := vector.Candidate{Score: float64(rapid.IntRange(0, 4).Draw(t, "score")) / 4}
		explain := w.explain(c, e, start)
		return Hit{Entry: e, Explain: explain, Score: explain.Score()}
	})
	rapid.Check(t, func(t *rapid.T) {
		hits := rapid.SliceOfNDistinct(hit, 1, 10, func(h Hit) string { return h.ID }).Draw(t, "hits")
		shuffled := rapid.Permutation(hits).Draw(t, "order")
		sortHits(hits)
		sortHits(shuffled)
		require.Equal(t, hits, shuffled)
		for i, h := range hits {
			require.LessOrEqual(t, h.Score, h.Explain.Hybrid)
			require.GreaterOrEqual(t, h.Score, 0.0)
			if i > 0 {
				require.LessOrEqual(t, h.Score, hits[i-1].Score)
			}
		}
	})
}
