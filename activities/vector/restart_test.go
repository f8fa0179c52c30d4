package vector

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stack"
	"axiommind/schema"
)

func TestVectorsAreFoundAfterRestart(t *testing.T) {
	t.Parallel()
	foundAfterRestart(t, 2)
}

// foundAfterRestart checks that a vector search finds the objects after a restart of the server, in each of up to three
// runs. A class with a vector cache loses those of a small project on a restart (weaviate#12132).
func foundAfterRestart(t *testing.T, runs int) {
	t.Helper()
	opts := stack.Options{Dir: t.TempDir(), Weaviate: true}
	const collection = "Entry_restart"
	vectors := [][]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for run := range runs {
		s, err := stack.Start(t.Context(), opts)
		require.NoError(t, err)
		t.Cleanup(s.Stop)
		client, err := NewClient(ClientConfig{URL: "http://" + s.Addresses().WeaviateHost, APIKey: s.Addresses().WeaviateKey, Writer: weaviate.Open})
		require.NoError(t, err)
		_, err = client.EnsureCollection(t.Context(), collection)
		require.NoError(t, err)
		require.NoError(t, client.EnsureTenant(t.Context(), collection, "red"))
		look := func(known int) {
			for i, v := range vectors[:known] {
				found, err := client.Hybrid(t.Context(), HybridQuery{Collection: collection, Project: "red", Vector: v, Alpha: 1, Limit: 1})
				require.NoError(t, err)
				require.Len(t, found, 1)
				require.Equal(t, fmt.Sprint(i), found[0].ItemID)
			}
		}
		look(run)
		written := Item{ID: fmt.Sprint(run), Kind: schema.ItemEntry, Title: "t", OccurredAt: time.Unix(int64(run), 0)}
		results, err := client.Put(t.Context(), collection, "red", []Object{written.object("restart", vectors[run])})
		require.NoError(t, err)
		require.NoError(t, results[0])
		look(run + 1)
		s.Stop()
	}
}
