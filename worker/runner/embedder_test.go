package runner

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/worker/service"
)

// A worker without a configured embedder takes the chosen one, and moves nothing to its default.
func TestDefaultEmbedderFollows(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	cfg := service.Config{Embedder: llm.EmbedderConfig{Provider: "openai", APIKey: "k"}}
	own, err := llm.NewEmbedder(t.Context(), cfg.Embedder)
	require.NoError(t, err)
	stores := &service.Stores{ClickHouse: conn, Log: projection.New(conn, eventlog.Options{}), Embedder: own}
	indexes := service.NewIndexes(stores, cfg)
	follow := func(byDefault bool) (version string, has bool) {
		cfg.EmbedderByDefault, stores.Embedder = byDefault, own
		has, err := followEmbedder(t.Context(), stores, cfg, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		return stores.Embedder.Version(), has
	}
	version, has := follow(true)
	require.Equal(t, own.Version(), version, "nothing is in use yet")
	require.True(t, has)

	_, err = indexes.Choose(t.Context(), llm.Hash{}.Version())
	require.NoError(t, err)
	version, has = follow(true)
	require.Equal(t, llm.Hash{}.Version(), version)
	require.True(t, has)
	version, has = follow(false)
	require.Equal(t, own.Version(), version, "it was asked for")
	require.True(t, has)

	_, err = indexes.Choose(t.Context(), "gemini-gemini-embedding-001-768")
	require.NoError(t, err)
	version, has = follow(true)
	require.Equal(t, own.Version(), version)
	require.False(t, has, "its key is not here, and that is no reason to choose another one")
}
