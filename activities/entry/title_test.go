package entry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/text"
	"axiommind/activities/text/formtest"
	"axiommind/schema"
)

// The table takes a title's part out of a canonical key, and Go makes it of the title: queries compare the two.
func TestTitleKeyColumnIsTitleKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	titles := append(formtest.Inputs(), "a@b", "@", "@@", "@1.0", "note@12.5", "task_note:x", ":", "x:y@z", "a\u200b@\u200bb")
	var entryTypes, keys, want []string
	for _, title := range titles {
		e := schema.Entry{Type: schema.EntryFact, Title: title, Section: schema.SectionTopOfMind}
		entryTypes, keys, want = append(entryTypes, string(e.Type)), append(keys, CanonicalKey(e)), append(want, statedKey(&e))
		require.NotContains(t, titleKey(title), "  ", "what parts the section from the title")
	}
	for i, title := range titles {
		for _, entryType := range []schema.EntryType{schema.EntryDecision, schema.EntryTaskNote} {
			for _, evidence := range [][]schema.Evidence{nil, {{MessageIndex: i, Found: true, Span: schema.Span{ByteStart: i}}}, {{MessageIndex: i, QuoteHash: schema.HashText(title)}}} {
				key := CanonicalKey(schema.Entry{Type: entryType, Title: title, Evidence: evidence})
				entryTypes, keys, want = append(entryTypes, string(entryType)), append(keys, key), append(want, titleKey(title))
			}
		}
	}
	rows := make([][]any, len(keys))
	for i := range keys {
		rows[i] = []any{fmt.Sprintf("%06d", i), entryTypes[i], keys[i]}
	}
	require.NoError(t, clickhouse.Insert(t.Context(), b.conn, "entries_raw (entry_id, entry_type, canonical_key)", rows))
	var got []string
	require.NoError(t, clickhouse.Query(t.Context(), b.conn, clickhouse.Column(&got), "SELECT title_key FROM entries_raw ORDER BY entry_id"))
	require.Equal(t, want, got)
}

// Titles that are equal for tasks are equal for entries.
func TestEntriesOfOneTitleHaveOneKey(t *testing.T) {
	t.Parallel()
	key := func(title string) string { return CanonicalKey(schema.Entry{Type: schema.EntryDecision, Title: title}) }
	for _, title := range formtest.Inputs() {
		require.Equal(t, key(title), key(text.Title(title)), "%q", title)
	}
	require.Equal(t, key("Don't merge"), key("**Don’t\u200b  merge!**"))
	require.NotEqual(t, key("x² grows"), key("x2 grows"))
}
