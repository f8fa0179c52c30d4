package retrieve

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// BenchmarkSearch searches 3,000 entries of one project, indexed by the writer, and reports the
// whole way: embedding, hybrid search, rows and rerank.
func BenchmarkSearch(b *testing.B) {
	const entries = 3000
	s := newHashBench(b)
	list := make([]schema.Entry, entries)
	for i := range list {
		list[i].Title = fmt.Sprintf("note %d: person %d decided topic %d on day %d", i, i%37, i%101, i%29)
	}
	started := time.Now()
	s.add(b, list...)
	indexed := time.Since(started)

	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		result, err := s.searcher.Search(b.Context(), Query{
			Text: fmt.Sprintf("what did person %d decide on topic %d", n%37, n%101), Project: "red",
		})
		require.NoError(b, err)
		require.NotEmpty(b, result.Hits)
		took = append(took, result.Took)
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*95/100]), "p95-ms")
	b.ReportMetric(entries/indexed.Seconds(), "entries-indexed/s")
}
