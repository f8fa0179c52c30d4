package tier

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// Of a thousand dated files, only those are read whose listing has changed. A file that is changed behind the listing's
// back is recorded once it is read.
func TestSyncFilesReadsWhatChanged(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	var names []string
	put := func(name, text string, at time.Time) {
		b.edit(t, name, text)
		require.NoError(t, os.Chtimes(b.path(name), at, at))
	}
	for i := range 1000 {
		names = append(names, "memory/"+filesAt.AddDate(0, 0, -i).Format(schema.DateLayout)+".md")
		put(names[i], "- one", old)
	}
	put("MEMORY.md", "- one", old)
	require.Equal(t, 1001, b.syncAll(t).Edited)
	require.Equal(t, FilesResult{Head: b.log.Head(schema.MemoryStream("default", ""))}, b.syncAll(t))
	for _, name := range append(names, "MEMORY.md") {
		put(name, "- two", old)
	}
	require.Equal(t, 1, b.syncAll(t).Edited, "MEMORY.md is always read")
	put(names[1], "- two", old.Add(time.Second))
	put(names[2], "- three", old)
	require.NoError(t, os.Remove(b.path(names[3])))
	result := b.syncAll(t)
	require.Equal(t, 2, result.Edited, "another time, another size")
	require.Equal(t, 1, result.Written, "what was removed")
	require.Equal(t, "- one", b.read(t, names[3]))

	// A file that the program wrote is read once, and then no more.
	put(names[3], "- two", old)
	require.Equal(t, 1, b.syncAll(t).Edited)
	put(names[3], "- six", old)
	require.Zero(t, b.syncAll(t).Edited)

	// Without a row each is read.
	require.NoError(t, b.conn.Exec(t.Context(), "TRUNCATE TABLE memory_files_raw"))
	require.Equal(t, 998, b.syncAll(t).Edited)
}
