package eval

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestScores(t *testing.T) {
	t.Parallel()
	// Three references: at ranks 2 and 7, and one that is not found.
	s := scoresOf([]int{7, 0, 2})
	require.Equal(t, AtK{0, 1. / 3, 2. / 3, 2. / 3}, s.recall)
	require.Equal(t, AtK{0, 1, 1, 1}, s.hit)
	require.Equal(t, AtK{}, s.all)
	require.InDelta(t, 0.5, s.reciprocal, 0)
	// (1/log2(3) + 1/log2(8)) / (1 + 1/log2(3) + 1/log2(4)) = (0.630930 + 0.333333) / 2.130930
	require.InDelta(t, 0.452508, s.ndcg, 1e-6)

	s = scoresOf([]int{1})
	require.Equal(t, scores{AtK{1, 1, 1, 1}, AtK{1, 1, 1, 1}, AtK{1, 1, 1, 1}, 1, 1}, s)
	s = scoresOf([]int{20, 21})
	require.Equal(t, AtK{0, 0, 0, 0.5}, s.recall)
	require.Equal(t, AtK{}, s.all)
	require.Zero(t, s.ndcg)
	require.InDelta(t, 1, scoresOf([]int{1, 1}).ndcg, 0, "one result that satisfies both is ideal")
	require.Equal(t, scores{}, scoresOf([]int{0}))
}

func TestScoresHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 30).Draw(t, "ranks")
		s := scoresOf(ranks)
		for _, at := range []AtK{s.recall, s.hit, s.all} {
			values := []float64{0, at.At1, at.At5, at.At10, at.At20, 1}
			require.IsNonDecreasing(t, values, "monotone in k, and within 0 and 1")
		}
		for _, v := range []float64{s.reciprocal, s.ndcg} {
			require.True(t, v >= 0 && v <= 1+1e-12)
		}
		require.LessOrEqual(t, s.all.At10, s.recall.At10)
		require.LessOrEqual(t, s.recall.At10, s.hit.At10)
		shuffled := rapid.Permutation(ranks).Draw(t, "shuffled")
		require.Equal(t, s, scoresOf(shuffled))

		// A reference that is found earlier makes nothing worse.
		better := append([]int{}, ranks...)
		at := rapid.IntRange(0, len(ranks)-1).Draw(t, "at")
		better[at] = 1
		b := scoresOf(better)
		require.GreaterOrEqual(t, b.ndcg, s.ndcg-1e-12)
		require.GreaterOrEqual(t, b.reciprocal, s.reciprocal)
		require.GreaterOrEqual(t, b.recall.At10, s.recall.At10)
	})
}

func TestPerfectRanking(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, Deepest).Draw(t, "references")
		ranks := make([]int, n)
		for i := range ranks {
			ranks[i] = i + 1
		}
		s := scoresOf(rapid.Permutation(ranks).Draw(t, "ranks"))
		require.InDelta(t, 1, s.reciprocal, 0)
		require.InDelta(t, 1, s.ndcg, 1e-12)
		require.InDelta(t, 1, s.recall.At20, 0)
		require.InDelta(t, 1, s.all.At20, 0)
		require.InDelta(t, math.Min(1, 10/float64(n)), s.recall.At10, 1e-12)
	})
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	s := summarize([]Answer{
		{ID: "a", Ranks: []int{1}, Returned: 3, Took: 4 * time.Millisecond},
		{ID: "b", Ranks: []int{0, 2}, Returned: 3, Took: time.Millisecond},
		{ID: "c", Abstain: true, Returned: 1, Sure: 1, Took: 2 * time.Millisecond},
		{ID: "d", Abstain: true, Took: 3 * time.Millisecond},
	})
	require.Equal(t, 2, s.Questions)
	require.Equal(t, 2, s.Abstentions)
	require.Equal(t, 3, s.Refs)
	require.Equal(t, AtK{0.5, 0.75, 0.75, 0.75}, s.Recall)
	require.Equal(t, AtK{0.5, 1, 1, 1}, s.Hit)
	require.Equal(t, AtK{0.5, 0.5, 0.5, 0.5}, s.All)
	require.InDelta(t, 0.75, s.MRR, 0)
	require.InDelta(t, 0.5, s.Abstained, 0)
	require.Equal(t, Latency{2 * time.Millisecond, 4 * time.Millisecond, 4 * time.Millisecond}, s.Latency)
	require.Equal(t, [2]float64{0.5, 1}, s.Interval)
	for _, name := range MetricNames() {
		_, ok := s.Metric(name)
		require.True(t, ok, name)
		_, ok = Summary{}.Metric(name)
		require.False(t, ok, "of no question")
	}
	_, ok := s.Metric("f1")
	require.False(t, ok)
	require.Equal(t, Summary{}, summarize(nil))
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	values := make([]float64, 400)
	for i := range values {
		values[i] = float64(i % 2)
	}
	interval := bootstrap(values)
	require.Equal(t, interval, bootstrap(values), "the same each time")
	// The standard error is sqrt(0.25/400) = 0.025, so that the interval is about 0.451 to 0.549.
	require.InDelta(t, 0.451, interval[0], 0.01)
	require.InDelta(t, 0.549, interval[1], 0.01)
	require.Equal(t, [2]float64{1, 1}, bootstrap([]float64{1, 1, 1}))
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for i := range 100 {
		took = append(took, time.Duration(i+1))
	}
	require.Equal(t, []time.Duration{50, 95, 99}, []time.Duration{percentile(took, 50), percentile(took, 95), percentile(took, 99)})
	require.Equal(t, time.Duration(1), percentile(took[:1], 99))
}
