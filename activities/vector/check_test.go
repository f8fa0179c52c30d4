package vector

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestKeywordSearchFindsRareWords(t *testing.T) {
	t.Parallel()
	require.NoError(t, newClient(t).CheckKeywordSearch(t.Context()))
}

// BenchmarkPut writes batches of 384 dimensions into one tenant.
func BenchmarkPut(b *testing.B) {
	s := newShelf(b)
	require.NoError(b, s.client.EnsureTenant(b.Context(), s.collection, "p"))
	e := &words{version: "v", dims: 384}
	for n := 0; b.Loop(); n++ {
		items, texts := make([]Item, DefaultBatchSize), make([]string, DefaultBatchSize)
		for i := range items {
			title := fmt.Sprintf("note %d of batch %d on topic %d and person %d", i, n, n%17, i%23)
			items[i] = Item{Kind: schema.ItemEntry, ID: fmt.Sprint(n, i), Project: "p", Title: title}
			texts[i] = title
		}
		vectors, err := e.Embed(b.Context(), texts)
		require.NoError(b, err)
		objects := make([]Object, len(items))
		for i := range items {
			objects[i] = items[i].object("v", vectors[i])
		}
		_, err = s.client.Put(b.Context(), s.collection, "p", objects)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.N*DefaultBatchSize)/b.Elapsed().Seconds(), "objects/s")
}
