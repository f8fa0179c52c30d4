package retrieve

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// paged notes how many candidates were asked for, page by page.
type paged struct {
	Index
	limits []int
}

func (p *paged) Hybrid(ctx context.Context, q vector.HybridQuery) ([]vector.Candidate, error) {
	p.limits = append(p.limits, q.Limit)
	return p.Index.Hybrid(ctx, q)
}

// Entries that have only function words in common with a query are not looked through for hits.
func TestFunctionWordsFetchOnePage(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	var entries []schema.Entry
	for i := range 120 {
		entries = append(entries,
			schema.Entry{Title: fmt.Sprintf("There will be more of such things in run %d.", i)},
			schema.Entry{Title: fmt.Sprintf("Wo ist der Bericht %d?", i)})
	}
	entries = append(entries, schema.Entry{Title: "There will be more rain."})
	b.add(t, entries...)
	for query, want := range map[string][]string{
		"will there be more weather": {}, "Wo ist der Bahnhof": {}, "will there be more rain": {"There will be more rain."},
	} {
		index := &paged{Index: b.client}
		r, err := NewSearcher(b.conn, index, b.embedder, Options{}).Search(t.Context(), Query{Text: query, Project: "red", Kinds: []Kind{KindEntry}, Limit: 1})
		require.NoError(t, err)
		require.Equal(t, want, titles(r.Hits), query)
		require.Equal(t, []int{minCandidates}, index.limits, query)
	}
}
