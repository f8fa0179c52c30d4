package entry

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text"
	"axiommind/activities/text/formtest"
	"axiommind/schema"
)

// SQL takes a title's part out of a canonical key, and Go makes it of the title: queries compare the two.
func TestTitleKeyColumnIsTitleKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	titles := append(formtest.Inputs(), "a@b", "@", "@@", "@1.0", "note@12.5", "task_note:x", ":", "x:y@z", "a\u200b@\u200bb")
	var entryTypes, keys, want []string
	for i, title := range titles {
		for _, entryType := range []schema.EntryType{schema.EntryDecision, schema.EntryTaskNote} {
			for _, evidence := range [][]schema.Evidence{nil, {{MessageIndex: i, Found: true, Span: schema.Span{ByteStart: i}}}, {{MessageIndex: i, QuoteHash: schema.HashText(title)}}} {
				key := CanonicalKey(schema.Entry{Type: entryType, Title: title, Evidence: evidence})
				entryTypes, keys, want = append(entryTypes, string(entryType)), append(keys, key), append(want, titleKey(title))
			}
		}
	}
	rows, err := b.conn.Query(t.Context(), `SELECT `+titleKeyColumn+` FROM (SELECT arrayJoin(arrayZip(?, ?)) AS pair,
		pair.1 AS entry_type, pair.2 AS canonical_key)`, entryTypes, keys)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	var got []string
	for rows.Next() {
		var key string
		require.NoError(t, rows.Scan(&key))
		got = append(got, key)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, want, got)
}

// What is one title to a task is one to an entry.
func TestEntriesOfOneTitleHaveOneKey(t *testing.T) {
	t.Parallel()
	key := func(title string) string { return CanonicalKey(schema.Entry{Type: schema.EntryDecision, Title: title}) }
	for _, title := range formtest.Inputs() {
		require.Equal(t, key(title), key(text.Title(title)), "%q", title)
	}
	require.Equal(t, key("Don't merge"), key("**Don’t\u200b  merge!**"))
	require.NotEqual(t, key("x² grows"), key("x2 grows"))
}
