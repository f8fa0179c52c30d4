package retrieve

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// pages returns the keys of all hits, page after page. After the first page it calls between.
func (b *bench) pages(t *testing.T, q Query, between func()) []uint32 {
	t.Helper()
	var keys []uint32
	for n := 0; ; n++ {
		r := b.search(t, q)
		for _, h := range r.Hits {
			keys = append(keys, h.key())
		}
		if r.Next == "" {
			return keys
		}
		require.Len(t, r.Hits, q.Limit, "only the last page is short")
		q.Cursor = r.Next
		if n == 0 {
			between()
		}
	}
}

// Successive pages contain the same hits as one long page, of all kinds, however much time passes between them. With
// new memories in between, no hit comes twice and none is passed over.
func TestCursor(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	now := start
	b.searcher.now = func() time.Time { return now }
	var entries []schema.Entry
	var said []string
	for i := range 12 {
		entries = append(entries, schema.Entry{
			Title: fmt.Sprintf("Invoice %d is kept in Postgres by person %d.", i, i), OccurredAt: start.AddDate(0, 0, -20*i),
		})
		said = append(said, fmt.Sprintf("Who looks for invoice %d of person %d?", i, i))
	}
	b.add(t, entries...)
	b.say(t, sessionOf("red", "", "", "s"), said...)
	q := Query{Text: "invoice of a person in Postgres", Limit: 200}
	var want []uint32
	for _, h := range b.search(t, q).Hits {
		want = append(want, h.key())
	}
	require.Len(t, want, 24)
	for _, limit := range []int{1, 3, 5, 7, 23, 24} {
		q.Limit = limit
		require.Equal(t, want, b.pages(t, q, func() {}), limit)
	}
	q.Limit = 5
	require.Equal(t, want, b.pages(t, q, func() { now = now.AddDate(1, 0, 0) }))
	got := b.pages(t, q, func() { // It is the best from now on, by words and so much so that the order of all others changes.
		b.add(t, schema.Entry{Title: "An invoice of a person in Postgres"})
	})
	require.Len(t, got, len(want)+1)
	require.Subset(t, got, want)
	slices.Sort(got)
	require.Len(t, slices.Compact(got), len(want)+1)
}

// A cursor that does not fit the query is refused, with the reason.
func TestCursorIsRefused(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	b.add(t, schema.Entry{Title: "Invoice one"}, schema.Entry{Title: "Invoice two"})
	q := Query{Text: "invoice", Project: "red", Limit: 1}
	q.Cursor = b.search(t, q).Next
	require.NotEmpty(t, q.Cursor)
	change := func(change func(*cursor)) string {
		var c cursor
		data, err := base64.RawURLEncoding.DecodeString(q.Cursor)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &c))
		change(&c)
		return c.String()
	}
	for fault, cursor := range map[string]string{
		"none that a search has returned":     "한국어 '1'\x00",
		"none that a search has returned ":    base64.RawURLEncoding.EncodeToString([]byte("null")),
		"another version of the program":      change(func(c *cursor) { c.Version++ }),
		"another query, or of another embedd": change(func(c *cursor) { c.Query = "x" }),
		"none that a search has returned  ":   change(func(c *cursor) { c.Seen = nil }),
	} {
		q := q
		q.Cursor = cursor
		_, err := b.searcher.Search(t.Context(), q)
		require.ErrorIs(t, err, ErrQuery)
		require.ErrorContains(t, err, fault[:len(fault)-2])
	}
	other := q
	other.User = "ann"
	_, err := b.searcher.Search(t.Context(), other)
	require.ErrorIs(t, err, ErrQuery, "it is of another user's memory")
	q.Cursor = change(func(c *cursor) { c.Seen = []uint32{7} })
	require.Len(t, b.search(t, q).Hits, 1, "what was listed may be gone")
}
