package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/activities/llm/e5"
	"axiommind/schema"
)

// What one embedder has indexed is indexed for another one when a worker comes with it, if that costs nothing. So a
// machine on which the local embedder is installed later finds by meaning what was remembered before.
func TestAnotherEmbedder(t *testing.T) {
	t.Parallel()
	if !e5.Installed(e5.DefaultDir()) {
		t.Skip("the embedding library is not installed: go run ./deploy/local up does")
	}
	b := newBench(t)
	t.Run("hash", func(t *testing.T) {
		b.start(t)
		b.process(t, b.input("s", eventful(t, 1)))
		b.awaitIndexed(t)
	})
	b.cfg.Embedder = llm.EmbedderConfig{Provider: llm.ProviderLocal}
	embedder, err := llm.NewEmbedder(t.Context(), b.cfg.Embedder)
	require.NoError(t, err)
	b.start(t)
	indexed := func(version string) []string {
		return column(t, b.ClickHouse, "SELECT item_id FROM vector_outbox WHERE status = 'done' AND embedding_version = ? ORDER BY item_id", version)
	}
	want := indexed(llm.Hash{}.Version())
	require.NotEmpty(t, want)
	require.Eventually(t, func() bool {
		return strings.Join(want, " ") == strings.Join(indexed(embedder.Version()), " ")
	}, 2*time.Minute, 200*time.Millisecond)
	require.True(t, llm.Offline(embedder.Version()))
	require.False(t, llm.Offline("openai-text-embedding-3-small-1536"))
	require.NotEqual(t, schema.VectorCollection(llm.Hash{}.Version()), schema.VectorCollection(embedder.Version()))
}
