package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/llm"
)

// The embedder of a version is the one that has it, or none.
func TestEmbedderOf(t *testing.T) {
	t.Parallel()
	openai := llm.EmbedderConfig{Provider: llm.ProviderOpenAI, APIKey: "k"}
	tests := []struct {
		version string
		cfg     llm.EmbedderConfig
		fault   string
	}{
		{version: "hash-v2-384"},
		{version: "hash-v2-384", cfg: openai},
		{version: "hash-v1-384", fault: "hash-v2-384"},
		{version: "openai-text-embedding-3-small-1536", cfg: openai},
		{version: "openai-text-embedding-3-large-256", cfg: openai},
		{version: "openai-text-embedding-3-small-1536", fault: "openai, which is not configured"},
		{version: "gemini-gemini-embedding-001-768", cfg: openai, fault: "gemini, which is not configured"},
		{version: "openai-nomic-embed-deadbeef-384", cfg: openai}, // A name can end in anything.
		{version: "openai-small", cfg: openai, fault: "dimensions"},
		{version: "openai", cfg: openai, fault: "dimensions"},
		{version: "bert-x-3", fault: "no provider"},
		{version: "", fault: "no provider"},
	}
	for _, test := range tests {
		e, err := llm.EmbedderOf(t.Context(), test.cfg, test.version)
		if test.fault != "" {
			require.ErrorContains(t, err, test.fault, test.version)
			continue
		}
		require.NoError(t, err, test.version)
		require.Equal(t, test.version, e.Version())
	}
	named := openai
	named.Model, named.Dimensions = "Nomic/Embed_Text v1.5", 3
	own, err := llm.NewEmbedder(t.Context(), named)
	require.NoError(t, err)
	e, err := llm.EmbedderOf(t.Context(), named, own.Version())
	require.NoError(t, err)
	require.Equal(t, own.Version(), e.Version())
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.OneOf(rapid.String(), rapid.StringMatching(`(openai|hash|local|gemini)-[a-z0-9-]{0,12}`)).Draw(t, "version")
		if e, err := llm.EmbedderOf(t.Context(), openai, version); err == nil {
			require.Equal(t, version, e.Version())
		}
	})
}
