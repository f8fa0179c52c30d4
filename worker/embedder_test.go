package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/llm"
	"axiommind/activities/retrieve"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/service"
)

// titles returns the titles that a search with the embedder in use finds of the session, entries and messages, in
// order.
func (b *bench) titles(t testing.TB, finder *retrieve.Finder, session string) []string {
	t.Helper()
	var out []string
	for _, kind := range []retrieve.Kind{retrieve.KindEntry, retrieve.KindMessage} { // A message that an entry quotes is not listed with it.
		r, err := finder.Search(t.Context(), retrieve.Query{
			Text: "ClickHouse tabs report release short functions", Project: b.project, User: "u", SessionID: session, Limit: 50,
			Kinds: []retrieve.Kind{kind},
		})
		require.NoError(t, err)
		require.Empty(t, r.WordsOnly)
		for _, h := range r.Hits {
			out = append(out, string(h.Kind)+" "+h.Text())
		}
	}
	slices.Sort(out)
	return out
}

// Another embedder is indexed in the background while searches use the current one: nothing is missing at any time.
// Sessions that come meanwhile are found at once. If a worker ends at any point, the next one goes on. Unused vectors
// are deleted, of this database alone. If their embedder is chosen again, it indexes everything again.
func anotherEmbedder(t *testing.T) {
	t.Helper()
	server := newEmbeddingServer(t, 0)
	b := newRemoteBench(t, server)
	b.cfg.Timing.Embedder = stacktest.Timing().Embedder // It waits for that often.
	// As a program that searches: without Temporal.
	indexes := service.NewIndexes(&service.Stores{ClickHouse: b.ClickHouse, Log: b.Log, Weaviate: b.Weaviate, Embedder: b.Embedder}, b.cfg)
	finder := retrieve.NewFinder(b.ClickHouse, b.Weaviate, indexes, retrieve.Options{})
	first := b.Embedder.Version()
	choice := func() vector.Choice {
		now, err := indexes.Now(t.Context())
		require.NoError(t, err)
		return now
	}
	var want []string
	t.Run("one embedder", func(t *testing.T) {
		b.start(t)
		b.process(t, b.input("before", eventful(t, 1)))
		b.awaitIndexed(t)
		want = b.titles(t, finder, "before")
		require.Contains(t, strings.Join(want, "\n"), "entry ")
		require.Contains(t, strings.Join(want, "\n"), "message ")
		require.Equal(t, []string{first}, choice().Versions())
	})
	stored := schema.VectorCollection(first)
	require.NoError(t, b.Weaviate.EnsureTenant(t.Context(), stored, "another database's"))

	original := b.cfg.Embedder
	b.cfg.Embedder.Model += "-other"
	server.away.Store(b.cfg.Embedder.Model)
	other, err := llm.NewEmbedder(t.Context(), b.cfg.Embedder)
	require.NoError(t, err)
	second := other.Version()
	var meanwhile []string
	t.Run("another one, which is away", func(t *testing.T) {
		b.start(t)
		b.process(t, b.input("meanwhile", eventful(t, 2)))
		eventually(t, func() bool {
			meanwhile = b.titles(t, finder, "meanwhile")
			return strings.Count(strings.Join(meanwhile, "\n"), "message ") == strings.Count(strings.Join(want, "\n"), "message ")
		})
		require.Contains(t, strings.Join(meanwhile, "\n"), "entry ")
		require.Equal(t, []string{first, second}, choice().Versions())
		require.Equal(t, want, b.titles(t, finder, "before"))
	})

	server.away.Store("")
	t.Run("it is back", func(t *testing.T) {
		b.start(t)
		eventually(t, func() bool {
			require.Equal(t, want, b.titles(t, finder, "before"))
			require.Equal(t, meanwhile, b.titles(t, finder, "meanwhile"))
			return slices.Contains(choice().Dropped, first)
		})
		require.Equal(t, second, choice().Used)
		eventually(t, func() bool {
			tenants, err := b.Weaviate.Tenants(t.Context(), stored)
			require.NoError(t, err)
			return slices.Equal([]string{schema.VectorTenant("another database's")}, tenants)
		})
		require.Equal(t, want, b.titles(t, finder, "before"))
	})

	b.cfg.Embedder = original
	t.Run("the first again", func(t *testing.T) {
		b.start(t)
		eventually(t, func() bool {
			require.Equal(t, want, b.titles(t, finder, "before"))
			return slices.Contains(choice().Dropped, second) // No search uses it any longer.
		})
		require.Equal(t, first, choice().Used)
		require.Equal(t, want, b.titles(t, finder, "before"))
		require.Equal(t, meanwhile, b.titles(t, finder, "meanwhile"))
	})
}

// The local embedder and the offline one are of other versions, and both can always be made.
func TestOfflineEmbedders(t *testing.T) {
	t.Parallel()
	local, err := llm.NewEmbedder(t.Context(), llm.EmbedderConfig{Provider: llm.ProviderLocal, Dir: stacktest.Embedder(t)})
	require.NoError(t, err)
	for _, want := range []string{local.Version(), llm.Hash{}.Version()} {
		e, err := llm.EmbedderOf(t.Context(), llm.EmbedderConfig{Provider: llm.ProviderOpenAI, APIKey: "k"}, want)
		require.NoError(t, err)
		require.Equal(t, want, e.Version())
	}
}
