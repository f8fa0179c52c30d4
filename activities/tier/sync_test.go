package tier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// filesBench is a memory with files.
type filesBench struct {
	*Activities
	user, agent string
	dir         string
	conn        *faultyConn
	flush       int
}

// faultyConn counts requests and can lose the rows of written files, as if the worker was killed before them.
type faultyConn struct {
	driver.Conn
	loses    atomic.Bool
	requests atomic.Int64
}

var errKilled = errors.New("killed")

func (c *faultyConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.requests.Add(1)
	return c.Conn.Query(ctx, query, args...)
}

func (c *faultyConn) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.requests.Add(1)
	if c.loses.Load() && strings.Contains(query, "memory_files_raw") {
		return nil, errKilled
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

func newFilesBench(t *testing.T, user, agent string) *filesBench {
	t.Helper()
	conn := stacktest.Migrated(t)
	return filesOf(t, conn, t.TempDir(), user, agent)
}

// filesOf returns the files of a memory below the directory.
func filesOf(t *testing.T, conn driver.Conn, dir, user, agent string) *filesBench {
	t.Helper()
	faulty := &faultyConn{Conn: conn}
	a := &Activities{
		log: projection.New(conn, eventlog.Options{}), conn: faulty, tables: NewTables(faulty), projector: NewProjector(conn), root: openDir(t, dir),
	}
	return &filesBench{Activities: a, user: user, agent: agent, dir: dir, conn: faulty}
}

// append stores the payload in the memory's stream and projects it.
func (b *filesBench) append(t *testing.T, key string, payload any) {
	t.Helper()
	stream := schema.MemoryStream(b.user, b.agent)
	event, err := schema.NewEvent(payload, schema.Event{TS: filesAt, Actor: "worker", DedupeKey: key})
	require.NoError(t, err)
	_, err = b.log.Append(t.Context(), stream, []schema.Event{event})
	require.NoError(t, err)
	_, err = b.log.Project(t.Context(), b.projector, stream)
	require.NoError(t, err)
}

func (b *filesBench) input() FilesInput { return FilesInput{User: b.user, Agent: b.agent, At: filesAt} }

// sync compares the files, and then once more: there must be nothing left to do.
func (b *filesBench) sync(t *testing.T) FilesResult {
	t.Helper()
	result, err := b.syncFiles(t.Context(), b.input())
	require.NoError(t, err)
	again, err := b.syncFiles(t.Context(), b.input())
	require.NoError(t, err)
	require.Zero(t, again.Edited+again.Written)
	require.Equal(t, result.Head, again.Head)
	return result
}

func (b *filesBench) syncAll(t *testing.T) FilesResult {
	t.Helper()
	in := b.input()
	in.All = true
	result, err := b.syncFiles(t.Context(), in)
	require.NoError(t, err)
	return result
}

// say flushes a text into the daily record.
func (b *filesBench) say(t *testing.T, text string) {
	t.Helper()
	b.flush++
	session := schema.SessionKey{Scope: schema.Scope{Project: "p", User: b.user, Agent: b.agent}, SessionID: "s"}
	b.append(t, schema.ContextFlushedKey(session, b.flush, b.flush), schema.ContextFlushedPayload{
		SessionKey: session, Date: "2026-06-07", Clock: "14:30", First: b.flush, Last: b.flush, Text: text,
	})
}

// remember makes a version of core memory of the items, as a dream does.
func (b *filesBench) remember(t *testing.T, items ...string) {
	t.Helper()
	current, err := b.tables.Current(t.Context(), b.user, b.agent)
	require.NoError(t, err)
	p := schema.CoreCommittedPayload{Version: current.Version + 1, Parent: current.Version, Origin: schema.OriginDream}
	for _, item := range items {
		p.Items = append(p.Items, schema.CoreItem{Text: item, Heading: "Knowledge", Sources: []string{"source of " + item}})
	}
	p.Text = RenderCore(p.Items)
	b.append(t, schema.CoreOfDreamKey(b.user, b.agent, p.Version), p)
}

func (b *filesBench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *filesBench) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(b.path(name))
	require.NoError(t, err)
	return string(data)
}

func (b *filesBench) edit(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(b.path(name)), 0o700))
	require.NoError(t, os.WriteFile(b.path(name), []byte(text), 0o600))
}

// block makes a directory in the place of the file, so that the file cannot be written.
func (b *filesBench) block(t *testing.T, name string) (unblock func()) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(b.path(name), "x"), 0o700))
	return func() { require.NoError(t, os.RemoveAll(b.path(name))) }
}

func (b *filesBench) versions(t *testing.T) []Core {
	t.Helper()
	versions, err := b.tables.Versions(t.Context(), b.user, b.agent, 100, 0)
	require.NoError(t, err)
	return versions
}

func (b *filesBench) edits(t *testing.T, kind schema.RecordKind) (texts []string) {
	t.Helper()
	records, err := b.tables.Records(t.Context(), b.user, b.agent, kind)
	require.NoError(t, err)
	for _, r := range records {
		if r.Edited {
			texts = append(texts, r.Text)
		}
	}
	return texts
}

var filesAt = time.Date(2026, 6, 7, 21, 30, 0, 0, time.UTC)

const (
	dayFile   = "memory/2026-06-07.md"
	diaryFile = "memory/dreams/2026-06-07.md"
	dayHeader = "# Daily Memory: 2026-06-07\n\n"
)

func sayBlock(text string) string { return "\n## Session Notes (14:30)\n\n" + text + "\n" }

// Files follow the log: each event shows in its file, and nothing is there before there is something to say.
func TestSyncFiles(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	require.Equal(t, FilesResult{Head: schema.StreamHead{Known: true}}, b.sync(t))
	b.say(t, "")
	require.Zero(t, b.sync(t).Written)
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	require.Empty(t, entries)

	b.say(t, "- 사과\n- apple")
	require.Equal(t, 1, b.sync(t).Written)
	require.Equal(t, dayHeader+sayBlock("- 사과\n- apple"), b.read(t, dayFile))
	b.say(t, "more")
	b.remember(t, "Uses Go.", "한국어를 쓴다.")
	b.append(t, schema.DreamFinishedKey("default", "", 1), schema.DreamFinishedPayload{Ordinal: 1, Date: "2026-06-07", Status: schema.DreamCommitted, Diary: "I slept."})
	result := b.sync(t)
	require.Equal(t, 3, result.Written)
	require.Equal(t, schema.StreamHead{Known: true, Seq: 5}, result.Head)
	require.Equal(t, dayHeader+sayBlock("- 사과\n- apple")+sayBlock("more"), b.read(t, dayFile))
	require.Equal(t, b.versions(t)[0].Text, b.read(t, "MEMORY.md"))
	require.Equal(t, "# Dream Diary: 2026-06-07\n\nI slept.\n", b.read(t, diaryFile))
	require.Zero(t, b.syncAll(t).Written)

	// Deleted files are written again: MEMORY.md at once, the others when all are compared.
	require.NoError(t, os.Remove(b.path("MEMORY.md")))
	require.NoError(t, os.Remove(b.path(dayFile)))
	require.Equal(t, 1, b.sync(t).Written)
	require.Equal(t, 1, b.syncAll(t).Written)
	require.Equal(t, dayHeader+sayBlock("- 사과\n- apple")+sayBlock("more"), b.read(t, dayFile))
	require.Empty(t, b.edits(t, schema.RecordDaily))
}

// The usual comparison after a flush costs three requests.
func TestSyncFilesBudget(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	b.remember(t, "Uses Go.")
	for i := range 3 {
		b.say(t, fmt.Sprint("block ", i))
		b.conn.requests.Store(0)
		_, err := b.syncFiles(t.Context(), b.input())
		require.NoError(t, err)
		if i > 0 {
			require.LessOrEqual(t, b.conn.requests.Load(), int64(3))
		}
	}
	b.conn.requests.Store(0)
	b.sync(t)
	require.Equal(t, int64(2), b.conn.requests.Load(), "two comparisons with nothing to do")
}

// A person's edit of MEMORY.md becomes a version whose new items say that a person wrote them, and is never overwritten.
func TestSyncFilesTakesInCore(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	b.remember(t, "Uses Go.", "Has a cat.")
	b.sync(t)
	text := "## Knowledge\r\n- Uses Go.\n- قطة — 猫 \"quoted\" `code`\n\nFree text."
	b.edit(t, "MEMORY.md", text)
	result := b.sync(t)
	require.Equal(t, 1, result.Edited)
	require.Zero(t, result.Written)
	require.Equal(t, text, b.read(t, "MEMORY.md"))
	current := b.versions(t)[0]
	require.Equal(t, text, current.Text)
	require.Equal(t, []int{2, 1}, []int{current.Version, current.Parent})
	require.Equal(t, schema.OriginEdit, current.Origin)
	require.Equal(t, editActor, current.Actor)
	require.NotEmpty(t, current.Diff)
	require.Contains(t, fmt.Sprint(current.Dropped), "Has a cat.")
	require.Equal(t, []string{"source of Uses Go."}, current.Items[0].Sources)
	require.Contains(t, fmt.Sprint(current.Items[1:]), current.EventID)

	// Set back to an earlier version, emptied, and filled again: each is an edit.
	for i, text := range []string{b.versions(t)[1].Text, "", text} {
		b.edit(t, "MEMORY.md", text)
		require.Equal(t, 1, b.sync(t).Edited)
		require.Equal(t, text, b.read(t, "MEMORY.md"))
		require.Equal(t, text, b.versions(t)[0].Text)
		require.Equal(t, i+3, b.versions(t)[0].Version)
	}
}

// A MEMORY.md that is older than the program's first write is recorded.
func TestSyncFilesTakesInFirst(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "사용자/1", "Coder")
	core := b.layoutOf().core()
	b.edit(t, core, "\n")
	require.Zero(t, b.sync(t).Edited)
	b.edit(t, core, "- Likes tea.\n")
	require.Equal(t, 1, b.sync(t).Edited)
	require.Equal(t, "- Likes tea.\n", b.versions(t)[0].Text)
	require.Zero(t, b.versions(t)[0].Parent)
	daily, err := b.layoutOf().record(schema.RecordDaily, "2025-01-02")
	require.NoError(t, err)
	b.edit(t, daily, "old notes")
	b.edit(t, filepath.Dir(daily)+"/notes.md", "not mine")
	require.Zero(t, b.sync(t).Edited)
	require.Equal(t, 1, b.syncAll(t).Edited)
	require.Zero(t, b.syncAll(t).Edited)
	require.Equal(t, []string{"old notes"}, b.edits(t, schema.RecordDaily))
}

func (b *filesBench) layoutOf() layout { return layout{b.user, b.agent} }

// If a person edits MEMORY.md while a dream makes a version, neither the edit nor the version is lost.
func TestSyncFilesMergesCore(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"smoothly": false, "killed after the append": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFilesBench(t, "default", "")
			b.remember(t, "Uses Go.", "Has a cat.")
			b.sync(t)
			b.edit(t, "MEMORY.md", "## Knowledge\n- Uses Go.\n- Has a dog.")
			b.remember(t, "Uses Go.", "Has a cat.", "Lives in Bonn.")
			if killed {
				s := &filesSync{Activities: b.Activities, in: b.input(), layout: b.layoutOf(), stream: schema.MemoryStream("default", "")}
				_, err := s.record(t.Context())
				require.NoError(t, err)
			}
			result := b.sync(t)
			require.Equal(t, map[bool]int{true: 0, false: 1}[killed], result.Edited)
			require.Equal(t, 1, result.Written)
			text := b.read(t, "MEMORY.md")
			require.True(t, strings.HasPrefix(text, "## Knowledge\n- Uses Go.\n- Has a dog."), "%q", text)
			require.Contains(t, text, "- Lives in Bonn.")
			require.NotContains(t, text, "cat", "the person removed it and the dream did not say otherwise")
			require.Equal(t, text, b.versions(t)[0].Text)
			require.Len(t, b.versions(t), 3)
		})
	}
}

// An item that leaves core memory while a person edits the file is in the file still, but it is not the person's.
func TestSyncFilesKnowsWhoWrote(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	b.remember(t, "Uses Go.", "Has a cat.")
	b.sync(t)
	b.edit(t, "MEMORY.md", b.read(t, "MEMORY.md")+"- Has a dog.\n")
	b.remember(t, "Has a cat.")
	require.Equal(t, 1, b.sync(t).Edited)
	written := map[string]bool{}
	for _, item := range b.versions(t)[0].Items {
		written[item.Text] = item.Written
	}
	require.Equal(t, map[string]bool{"Uses Go.": false, "Has a cat.": false, "Has a dog.": true}, written)
}

// A person edits yesterday's state of a dated file while a block is added: neither is lost.
func TestSyncFilesTakesInRecords(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "ann", "coder")
	day, err := b.layoutOf().record(schema.RecordDaily, "2026-06-07")
	require.NoError(t, err)
	b.say(t, "one")
	b.say(t, "two")
	b.sync(t)
	b.edit(t, day, dayHeader+sayBlock("one, as I remember it"))
	b.say(t, "three")
	result := b.sync(t)
	require.Equal(t, 1, result.Edited)
	require.Equal(t, 1, result.Written)
	want := dayHeader + sayBlock("one, as I remember it") + sayBlock("three")
	require.Equal(t, want, b.read(t, day))
	require.Equal(t, []string{want}, b.edits(t, schema.RecordDaily))
	b.say(t, "four")
	require.Equal(t, 1, b.sync(t).Written)
	require.Equal(t, want+sayBlock("four"), b.read(t, day))

	// An edit that nothing was added to is noticed when all files are compared, and so is one that sets the file back.
	for _, text := range []string{"", "mine", want, want + sayBlock("four")} {
		b.edit(t, day, text)
		require.Equal(t, 1, b.syncAll(t).Edited, "%q", text)
		require.Zero(t, b.syncAll(t).Edited)
		require.Equal(t, text, b.read(t, day))
	}
	require.Len(t, b.edits(t, schema.RecordDaily), 5)
}

// I2: wherever the worker is killed, the next comparison ends in the same state, and no edit is recorded twice.
func TestSyncFilesSurvivesKill(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	b.say(t, "one")
	b.remember(t, "Uses Go.")

	// Between the write and the insert of its row.
	lose := func() {
		b.conn.loses.Store(true)
		_, err := b.syncFiles(t.Context(), b.input())
		require.ErrorIs(t, err, errKilled)
		b.conn.loses.Store(false)
	}
	lose()
	require.Equal(t, dayHeader+sayBlock("one"), b.read(t, dayFile))
	require.Zero(t, b.sync(t).Written)
	b.say(t, "two")
	b.remember(t, "Uses Go.", "Has a cat.")
	lose()
	b.say(t, "three")
	b.remember(t, "Uses Go.", "Has a cat.", "Has a dog.")
	result := b.sync(t)
	require.Zero(t, result.Edited, "the files show what was written before the kill")
	require.Equal(t, 2, result.Written)
	require.Equal(t, dayHeader+sayBlock("one")+sayBlock("two")+sayBlock("three"), b.read(t, dayFile))

	// Between the append of an edit and the write of the blocks below it.
	b.edit(t, dayFile, "mine\n")
	b.say(t, "four")
	s := &filesSync{Activities: b.Activities, in: b.input(), layout: b.layoutOf(), stream: schema.MemoryStream("default", "")}
	_, err := s.record(t.Context())
	require.NoError(t, err)
	require.Equal(t, "mine\n", b.read(t, dayFile))
	b.say(t, "five")
	result = b.sync(t)
	require.Zero(t, result.Edited)
	require.Equal(t, "mine\n"+sayBlock("four")+sayBlock("five"), b.read(t, dayFile))
	require.Len(t, b.edits(t, schema.RecordDaily), 1)
	require.Len(t, b.versions(t), 3)
}

// A file that can't be written or recorded is named, stays as it is, and does not stop the others.
func TestSyncFilesNamesWhatFails(t *testing.T) {
	t.Parallel()
	b := newFilesBench(t, "default", "")
	b.say(t, "one")
	b.remember(t, "Uses Go.")
	unblock := b.block(t, dayFile)
	fails := func(names ...string) {
		_, err := b.syncFiles(t.Context(), b.input())
		var files *FilesError
		require.ErrorAs(t, err, &files)
		require.False(t, files.Temporary)
		for _, name := range names {
			require.ErrorContains(t, err, name)
		}
	}
	fails(b.path(dayFile), "it is not a file")
	require.Equal(t, b.versions(t)[0].Text, b.read(t, "MEMORY.md"))
	unblock()
	require.Equal(t, 1, b.sync(t).Written)

	for text, reason := range map[string]string{
		"\xff\xfe- Uses Go.":                "not UTF-8",
		"- Uses\x00Go.":                     "zero byte",
		strings.Repeat("- x.\n", 2<<20):     "may have 4194304",
		strings.Repeat("x", MaxEditBytes+1): "may have 4194304",
	} {
		b.edit(t, "MEMORY.md", text)
		b.say(t, "more")
		fails(b.path("MEMORY.md"), reason, "delete it to get the last text of the log back")
		require.Equal(t, text, b.read(t, "MEMORY.md"))
		require.True(t, strings.HasSuffix(b.read(t, dayFile), sayBlock("more")))
		require.Len(t, b.versions(t), 1)
	}
	require.NoError(t, os.Remove(b.path("MEMORY.md")))
	require.Equal(t, 1, b.sync(t).Written)

	// A file is measured as it is, before it is redacted.
	b.say(t, "again")
	b.edit(t, dayFile, "<private>"+strings.Repeat("x", MaxEditBytes)+"</private>")
	fails(b.path(dayFile), "may have 4194304")
	require.NoError(t, os.Remove(b.path(dayFile)))
	require.Equal(t, 1, b.sync(t).Written)
}

// Memories have files of their own, whatever their names are.
func TestSyncFilesKeepsMemoriesApart(t *testing.T) {
	t.Parallel()
	first := newFilesBench(t, "../MEMORY.md\x01", "a/b")
	second := filesOf(t, first.conn.Conn, first.dir, "ann", "")
	third := filesOf(t, first.conn.Conn, first.dir, "Ann", "")
	for i, b := range []*filesBench{first, second, third} {
		b.remember(t, fmt.Sprint("Number ", i, "."))
		b.say(t, fmt.Sprint("Day ", i))
	}
	for i, b := range []*filesBench{first, second, third} {
		require.Equal(t, 2, b.sync(t).Written)
		require.Contains(t, b.read(t, b.layoutOf().core()), fmt.Sprint("Number ", i, "."))
	}
	second.edit(t, second.layoutOf().core(), "mine")
	require.Equal(t, 1, second.sync(t).Edited)
	require.Zero(t, first.syncAll(t).Edited+third.syncAll(t).Edited)
	var all []string
	require.NoError(t, filepath.WalkDir(first.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	}))
	require.Len(t, all, 6)
}

func TestSyncFilesRefusesInput(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, FilesInput{At: filesAt}.Validate(), "user")
	require.ErrorContains(t, FilesInput{User: "u"}.Validate(), "at")
	require.NoError(t, FilesInput{User: "u", At: filesAt}.Validate())
}
