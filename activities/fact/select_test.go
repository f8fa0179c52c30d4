package fact_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/schema"
)

// A handle names a fact of one agent, or of any of the user's, and never another user's.
func TestResolve(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	for _, owner := range [][2]string{{"ann", "coder"}, {"ann", "\"책/\n"}, {"bob", "coder"}} {
		_, err := b.writer.ApplyOne(t.Context(), batchOf(owner[0], owner[1], "s1", "Of "+owner[0]+" and "+owner[1]))
		require.NoError(t, err)
	}
	only := func(user, agent string) fact.Fact {
		facts, err := b.tables.List(t.Context(), user, agent)
		require.NoError(t, err)
		require.Len(t, facts, 1)
		return facts[0]
	}
	for _, agent := range []string{"coder", "\"책/\n"} {
		f := only("ann", agent)
		for _, handle := range []string{f.ID, f.ID[:13], f.ID[len("fact_"):]} {
			found, err := b.tables.ResolveOfUser(t.Context(), "ann", handle)
			require.NoError(t, err)
			require.Equal(t, f, found)
		}
		_, err := b.tables.Resolve(t.Context(), "ann", "another", f.ID)
		require.ErrorIs(t, err, fact.ErrFactNotFound)
		_, err = b.tables.ResolveOfUser(t.Context(), "bob", f.ID)
		require.ErrorIs(t, err, fact.ErrFactNotFound)
	}
	_, err := b.tables.ResolveOfUser(t.Context(), "ann", "fact_1")
	require.ErrorIs(t, err, fact.ErrFactNotFound)

	// Two agents have the same fact.
	for _, agent := range []string{"one", "two"} {
		_, err := b.writer.ApplyOne(t.Context(), batchOf("eve", agent, "s1", "Plays chess"))
		require.NoError(t, err)
	}
	one, two := only("eve", "one"), only("eve", "two")
	found, err := b.tables.ResolveOfUser(t.Context(), "eve", one.ID)
	require.NoError(t, err)
	require.Contains(t, []fact.Fact{one, two}, found)
}

// A fact is of every project that stated it, however the statement was taken, and forgets none of them.
func TestFactOfEveryProjectThatStatesIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	stated := func(user, project, session string, contents ...string) {
		batch := batchOf(user, "", session, contents...)
		batch.Project = project
		for i := range batch.Entries {
			batch.Entries[i].Project = project
		}
		_, err := b.writer.ApplyOne(t.Context(), batch)
		require.NoError(t, err)
	}
	stated("ann", "one", "s1", "Plays chess", "Lives in Seoul")
	stated("ann", "\"둘'/\n", "s2", "Plays chess")
	stated("bob", "three", "s3", "Plays chess")
	stated("ann", "three", "s4", "Owns a boat")

	sessions := map[string]string{"one": "s1", "\"둘'/\n": "s2", "three": "s4"}
	for project, want := range map[string][]string{
		"one": {"Plays chess", "Lives in Seoul"}, "\"둘'/\n": {"Plays chess"}, "three": {"Owns a boat"}, "four": nil,
	} {
		listed, err := b.tables.ListIn(t.Context(), "ann", "", project)
		require.NoError(t, err)
		selected, err := b.tables.Select(t.Context(), fact.Selection{User: "ann", Project: project, Limit: 10})
		require.NoError(t, err)
		require.Equal(t, listed, selected)
		var got []string
		for _, f := range listed {
			got = append(got, f.Content)
			require.Equal(t, project, f.Project)
			require.Equal(t, schema.DerivedID("entry", "ann", "", sessions[project], f.Content), f.EntryID)
			require.Equal(t, sessions[project], f.SessionID)
		}
		require.Equal(t, want, got, project)
	}
}
