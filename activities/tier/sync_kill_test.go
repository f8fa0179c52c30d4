package tier

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// lose compares the files as a worker that is killed before it stores their rows.
func (b *filesBench) lose(t *testing.T) {
	t.Helper()
	b.conn.loses.Store(true)
	_, err := b.syncFiles(t.Context(), b.input())
	b.conn.loses.Store(false)
	require.ErrorIs(t, err, errKilled)
}

// After a kill, only the exact bytes of a recorded edit are no new edit. A file whose end the person removed meanwhile,
// or that they emptied, is not overwritten, and the removed text does not come back.
func TestSyncFilesTakesInEditBehindKill(t *testing.T) {
	t.Parallel()
	const mine = "- Uses Go.\n- Has a cat.\n"
	for name, tt := range map[string]struct {
		dreamt bool
		text   string
		want   string
	}{
		"the end removed":                  {false, "- Uses Go.\n", "- Uses Go.\n"},
		"emptied":                          {false, "", ""},
		"changed":                          {false, "- Uses Go.\n- Has a dog.\n", "- Uses Go.\n- Has a dog.\n"},
		"the end removed while one dreamt": {true, "- Uses Go.\n", "- Uses Go.\n\n## Knowledge\n\n- Lives in Bonn.\n"},
		"emptied while one dreamt":         {true, "", "## Knowledge\n\n- Lives in Bonn.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFilesBench(t, "default", "")
			b.remember(t, "Uses Go.")
			b.sync(t)
			b.edit(t, "MEMORY.md", mine)
			if tt.dreamt {
				b.remember(t, "Uses Go.", "Lives in Bonn.")
			}
			b.lose(t)
			before := b.versions(t)
			require.Equal(t, schema.OriginEdit, before[0].Origin)
			require.Equal(t, hashText(mine), before[0].Read)

			// As it was read, it is the same edit.
			b.edit(t, "MEMORY.md", mine)
			b.lose(t)
			require.Len(t, b.versions(t), len(before))
			require.Equal(t, before[0].Text, b.read(t, "MEMORY.md"))

			b.edit(t, "MEMORY.md", tt.text)
			require.Equal(t, 1, b.sync(t).Edited)
			require.Equal(t, tt.want, b.versions(t)[0].Text)
			require.Equal(t, hashText(tt.text), b.versions(t)[0].Read)
			require.Equal(t, tt.want, b.read(t, "MEMORY.md"))
			require.Empty(t, b.versions(t)[len(before)].Read, "a dream reads no file")
		})
	}
}

// A recorded edit stays the same one after a later version, too.
func TestSyncFilesTakesInEditOnce(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	b.remember(t, "Uses Go.")
	b.sync(t)
	b.edit(t, "MEMORY.md", "- Has a cat.")
	b.remember(t, "Uses Go.", "Lives in Bonn.")
	s := &filesSync{Activities: b.Activities, in: b.input(), layout: b.layoutOf(), stream: schema.MemoryStream("default", "")}
	_, err := s.record(t.Context())
	require.NoError(t, err)
	b.remember(t, "Has a cat.")
	require.Zero(t, b.sync(t).Edited)
	require.Equal(t, b.versions(t)[0].Text, b.read(t, "MEMORY.md"))
}

// A dated file is no new edit as long as it has the bytes of a recorded one.
func TestSyncFilesTakesInRecordBehindKill(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "mine", "other\n"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			b := newFilesBench(t, "default", "")
			b.say(t, "one")
			b.sync(t)
			b.edit(t, dayFile, "mine\nmore\n")
			b.say(t, "two")
			b.lose(t)
			b.edit(t, dayFile, "mine\nmore\n")
			b.lose(t)
			require.Equal(t, "mine\nmore\n"+sayBlock("two"), b.read(t, dayFile))
			require.Len(t, b.edits(t, schema.RecordDaily), 1)
			b.edit(t, dayFile, text)
			require.Equal(t, 1, b.syncAll(t).Edited, "%q", text)
			require.NotContains(t, b.read(t, dayFile), "more")
			require.Contains(t, b.read(t, dayFile), "two")
			require.Contains(t, b.read(t, dayFile), text)
			records, err := b.tables.Records(t.Context(), "default", "", schema.RecordDaily)
			require.NoError(t, err)
			require.Equal(t, hashText(text), records[len(records)-1].Read)
			require.Empty(t, records[0].Read)
		})
	}
}
