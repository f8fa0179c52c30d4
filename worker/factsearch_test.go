package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// A fact that a person enters about the user is found in every project, in its current words, by that user alone, and
// no longer once it is deleted.
func TestEnteredFactsAreFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	searcher := retrieve.NewSearcher(b.ClickHouse, b.Weaviate, b.Embedder, retrieve.Options{})
	search := func(user, text string) []string {
		r, err := searcher.Search(t.Context(), retrieve.Query{Text: text, Project: b.project, User: user, Kinds: []retrieve.Kind{retrieve.KindFact}})
		require.NoError(t, err)
		var out []string
		for _, h := range r.Hits {
			require.Equal(t, retrieve.KindFact, h.Kind)
			require.Equal(t, schema.Scope{User: user}, h.Scope)
			require.NotZero(t, h.Score)
			out = append(out, h.Fact.ID+" "+h.Title)
		}
		return out
	}
	// Other tests write facts of the same user into the same vector store, which the log does not know.
	words, better := "The harbour of "+b.project+" has a blue crane.", "The harbour of "+b.project+" has two green cranes."
	_, err := b.command(t.Context(), fact.Command{Op: fact.OpCreate, Content: &words})
	require.NoError(t, err)
	known, err := fact.NewTables(b.ClickHouse).List(t.Context(), "u", "")
	require.NoError(t, err)
	id := known[0].ID
	b.awaitIndexed(t)
	require.Equal(t, []string{id + " " + words}, search("u", "blue crane"))
	require.Empty(t, search("somebody else", "blue crane"))

	_, err = b.command(t.Context(), fact.Command{Op: fact.OpUpdate, FactID: id, Content: &better})
	require.NoError(t, err)
	b.awaitIndexed(t)
	require.Equal(t, []string{id + " " + better}, search("u", "green crane harbour"))

	_, err = b.command(t.Context(), fact.Command{Op: fact.OpDelete, FactID: id})
	require.NoError(t, err)
	require.Empty(t, search("u", "green crane harbour"))
}
