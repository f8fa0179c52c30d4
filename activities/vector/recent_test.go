package vector

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

func TestRecent(t *testing.T) {
	t.Parallel()
	at := func(seq uint64) schema.StreamHead { return schema.StreamHead{Known: true, Seq: seq} }
	row := map[string]Row{"a": {Rank: 1}}
	var r recent
	require.False(t, r.at(schema.StreamHead{}), "an unknown head")
	r.put(row)
	require.False(t, r.at(schema.StreamHead{}), "an unknown head says nothing the second time either")
	_, ok := r.get("a")
	require.False(t, ok)

	require.False(t, r.at(at(5)), "another process has written")
	r.put(row)
	r.move(at(6))
	require.True(t, r.at(at(6)))
	got, ok := r.get("a")
	require.True(t, ok)
	require.Equal(t, row["a"], got)
	r.put(map[string]Row{"a": {Rank: 2}})
	got, _ = r.get("a")
	require.EqualValues(t, 2, got.Rank)

	require.False(t, r.at(at(7)), "another process has written")
	_, ok = r.get("a")
	require.False(t, ok)
	require.True(t, r.at(at(7)))
}

func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	var r recent
	const each, rounds = 1000, 100
	for i := range rounds {
		rows := map[string]Row{}
		for j := range each {
			rows[fmt.Sprint(i, "/", j)] = Row{}
		}
		r.put(rows)
		_, ok := r.get(fmt.Sprint(i, "/", 0))
		require.True(t, ok)
		require.LessOrEqual(t, len(r.young)+len(r.old), 2*maxRecent)
	}
	_, ok := r.get("0/0")
	require.False(t, ok)
	_, ok = r.get(fmt.Sprint(rounds-maxRecent/each, "/0"))
	require.True(t, ok, "the last ones are kept")
}
