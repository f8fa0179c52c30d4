package entry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// The last judgement decides whether an entry is proven, in every project of one user and agent, and between two times.
func TestProven(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n, a := range []act{
		{session: 0, entry: 0, origin: 0, is: "aligned", made: true}, {session: 0, entry: 1, origin: 1, is: "proven", made: true},
		{session: 0, entry: 0, origin: 0, is: "proven"}, {session: 0, entry: 1, origin: 1, is: "aligned"},
	} {
		b.logAct("red", n, a)
	}
	b.logAct("blue", 10, act{session: 1, entry: 2, origin: 12, is: "proven", made: true})
	b.project(sessionKey("red", "u", "a", "0"))
	b.project(sessionKey("blue", "u", "a", "1"))
	r := NewReader(b.conn)
	titles := func(s Selection) (found []string) {
		rows, err := r.Read(t.Context(), s.OldestFirst(), Statement)
		require.NoError(t, err)
		for _, row := range rows {
			found = append(found, row.Project+" "+row.Title)
		}
		return found
	}
	all := OfMemory("u", "a").Proven()
	require.ElementsMatch(t, []string{"red 0", "blue 2"}, titles(all))
	require.ElementsMatch(t, []string{"red 0", "blue 2"}, titles(all.NotType(schema.EntryTaskNote)))
	require.Empty(t, titles(all.NotType(schema.EntryDecision)))
	require.Empty(t, titles(OfMemory("u", "").Proven()))
	require.Equal(t, []string{"red 0"}, titles(OfUser("red", "u").Proven()))
	day := sessionDate.Truncate(time.Second)
	require.Len(t, titles(all.Between(time.Time{}, day.Add(time.Second))), 2)
	require.Len(t, titles(all.Between(day, day.Add(time.Second))), 2)
	require.Empty(t, titles(all.Between(time.Time{}, day)))
	require.Empty(t, titles(all.Between(day.Add(time.Second), day.Add(time.Hour))))
	stated, err := r.Stated(t.Context(), all)
	require.NoError(t, err)
	require.Len(t, stated, 2)
	for _, e := range stated {
		require.Equal(t, 1, e.Bytes)
		require.WithinDuration(t, sessionDate, e.At, 0)
		require.NotEmpty(t, e.ID)
	}
}
