package exchange_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/exchange"
)

// partOfBackup is the printed result of a backup.
type partOfBackup struct {
	Part, Streams, Events, Removed int
	Full, Erased                   bool
	Total                          struct{ Streams, Events int }
}

func backUp(t *testing.T, c *commandtest.Remembered, to string, args ...string) partOfBackup {
	t.Helper()
	o := c.Run(append([]string{"backup", to, "-o", "json"}, args...)...)
	require.Zero(t, o.Code, o)
	return commandtest.Decode[partOfBackup](t, o)
}

// keysFrom restores a backup into an empty database without a worker, and returns the keys of its events.
func keysFrom(t *testing.T, from string) (keys []string, o commandtest.Output) {
	t.Helper()
	c := commandtest.NewRemembered(t)
	o = c.Run("restore", from)
	return idsOf(t, c.Log), o
}

// A part has the events since the part before. Names that are hard for a file system are in it as they are.
func TestBackupParts(t *testing.T) {
	t.Parallel()
	c := commandtest.NewRemembered(t)
	to := filepath.Join(t.TempDir(), "a'b ü", "backup")
	o := c.Run("backup", to)
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "there is nothing to back up")

	ann, batch := schema.MemoryStream("ann\n'\"/\x01é", ""), schema.BatchStream("b1")
	put(t, c.Log, ann, "one", schema.FactsClearedPayload{Facts: 1})
	put(t, c.Log, batch, "batch", schema.FactsClearedPayload{Facts: 1})
	put(t, c.Log, schema.VectorStream("v"), "vector", schema.FactsClearedPayload{Facts: 1})
	require.Equal(t, partOfBackup{Part: 1, Streams: 2, Events: 2, Full: true, Total: struct{ Streams, Events int }{2, 2}}, backUp(t, c, to))
	require.Equal(t, partOfBackup{Part: 1, Total: struct{ Streams, Events int }{2, 2}}, backUp(t, c, to), "nothing is new")
	put(t, c.Log, ann, "two", schema.FactsClearedPayload{Facts: 2})
	put(t, c.Log, schema.MemoryStream("bob", ""), "three", schema.FactsClearedPayload{Facts: 3})
	require.Equal(t, partOfBackup{Part: 2, Streams: 2, Events: 2, Total: struct{ Streams, Events int }{3, 4}}, backUp(t, c, to))
	require.Contains(t, c.Run("backup", to).Out, "nothing new since part 2, with 4 events of 3 streams in all")
	for _, name := range files(t, to) {
		info, err := os.Stat(filepath.Join(to, name))
		require.NoError(t, err)
		require.Zero(t, info.Mode()&0o077, "%s: only its owner reads it", name)
	}

	keys, o := keysFrom(t, to)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, "all events are in the log, but not all is derived from them", "there is no worker")
	require.ElementsMatch(t, []string{"one", "batch", "two", "three"}, keys)

	// A run that broke off has left files, and no manifest.
	require.NoError(t, os.MkdirAll(filepath.Join(to, "part-000003-aaaaaaaa"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(to, "part-000003-aaaaaaaa", "events-000001.jsonl.gz"), []byte("cut"), 0o600))
	put(t, c.Log, ann, "four", schema.FactsClearedPayload{Facts: 4})
	require.Equal(t, 3, backUp(t, c, to).Part)
	keys, _ = keysFrom(t, to)
	require.ElementsMatch(t, []string{"one", "batch", "two", "three", "four"}, keys)

	require.Equal(t, partOfBackup{Part: 4, Streams: 3, Events: 5, Full: true, Removed: 3, Total: struct{ Streams, Events int }{3, 5}}, backUp(t, c, to, "--full"))
	require.Len(t, files(t, to), 3, "the manifest, the ends and a volume")
	again, _ := keysFrom(t, to)
	require.ElementsMatch(t, keys, again)
}

// files returns the names of all files in the directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	}))
	return names
}

// A backup of another log, and one with a fault, are refused by name, and nothing is written.
func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	c, other := commandtest.NewRemembered(t), commandtest.NewRemembered(t)
	to := t.TempDir()
	stream := schema.MemoryStream("ann", "")
	put(t, c.Log, stream, "one", schema.FactsClearedPayload{Facts: 1})
	backUp(t, c, to)
	put(t, c.Log, stream, "two", schema.FactsClearedPayload{Facts: 2})
	backUp(t, c, to)

	refused := func(o commandtest.Output, says string) {
		t.Helper()
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, says)
	}
	refused(other.Run("backup", to), "is of another log")
	for _, key := range []string{"x", "y", "z"} {
		put(t, other.Log, stream, key, schema.FactsClearedPayload{Facts: 1})
	}
	refused(other.Run("backup", to), "is of another log")
	refused(other.Run("restore", filepath.Join(to, "none")), "no such file")
	refused(other.Run("restore", t.TempDir()), "no backup in")
	refused(other.Run("restore", to), "the log has another event in its place")
	refused(other.Run("backup", "ftp://host/x"), "not in ftp://")
	require.Equal(t, []string{"x", "y", "z"}, idsOf(t, other.Log))

	empty := commandtest.NewRemembered(t)
	for _, name := range files(t, to) {
		if strings.HasSuffix(name, "ends.json.gz") {
			continue
		}
		path := filepath.Join(to, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text[:len(text)-9], 0o600))
		o := empty.Run("restore", to)
		require.NotZero(t, o.Code, o)
		require.Contains(t, o.Err, name, "the error names the file")
		require.NotContains(t, o.Err, "nothing was imported")
		require.NoError(t, os.Rename(path, path+".away"))
		if name != "manifest-000002.json" { // Without its last manifest, it is the backup before.
			o = empty.Run("restore", to)
			require.NotZero(t, o.Code, o)
			require.Contains(t, o.Err, "missing")
		}
		require.NoError(t, os.Rename(path+".away", path))
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	require.Empty(t, idsOf(t, empty.Log))
	require.Contains(t, empty.Run("restore", to, "--dry-run").Out, "nothing was restored; it would be 2 of 2 events")
}

// An erasure rewrites the log, so the part after it is full and takes the place of the earlier ones.
func TestBackupAfterAnErasure(t *testing.T) {
	t.Parallel()
	c := commandtest.NewRemembered(t)
	to, stream := t.TempDir(), schema.MemoryStream("ann", "")
	put(t, c.Log, stream, "one", schema.FactsClearedPayload{Facts: 1})
	backUp(t, c, to)
	put(t, c.Log, schema.AuditStream(), "begun", schema.ErasureBegunPayload{ErasureID: "e1", Kind: schema.EraseQuery, By: "ann", Salt: "x"})
	o := c.Run("backup", to)
	require.Contains(t, o.Err, `erasure "e1" is at work`, "it has not locked the streams yet")
	put(t, c.Log, schema.AuditStream(), "locked", schema.ErasureLockedPayload{ErasureID: "e1", Streams: []string{eventlog.StreamHash("x", stream)}})
	o = c.Run("backup", to)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Err, "try again once it has ended")
	put(t, c.Log, schema.AuditStream(), "finished", schema.ErasureFinishedPayload{ErasureID: "e1"})
	part := backUp(t, c, to)
	require.True(t, part.Full && part.Erased)
	require.Equal(t, 1, part.Removed)
	require.Equal(t, 4, part.Events)
	keys, _ := keysFrom(t, to)
	require.Equal(t, []string{"one"}, keys)

	// The log is lost, and its successor has no erasures, or others: neither takes the place of the backup.
	lost := commandtest.NewRemembered(t)
	for _, key := range []string{"", "other"} {
		if key != "" {
			put(t, lost.Log, stream, key, schema.FactsClearedPayload{Facts: 1})
			for _, audit := range []string{"1", "2", "3", "4"} {
				put(t, lost.Log, schema.AuditStream(), audit, schema.ErasureFinishedPayload{ErasureID: audit})
			}
		}
		o = lost.Run("backup", to)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, "is of another log, and nothing was changed")
	}
	keys, _ = keysFrom(t, to)
	require.Equal(t, []string{"one"}, keys)
}

// Files that the backup has not written stay, whatever their names. A removal that broke off is continued, and a damaged
// backup is replaced by --full.
func TestBackupPlaces(t *testing.T) {
	t.Parallel()
	c := commandtest.NewRemembered(t)
	stream, real := schema.MemoryStream("ann", ""), t.TempDir()
	to := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, to))
	foreign := []string{"manifest-of-cargo.txt", "part-00000-abc.snappy.parquet", "part-000001-theirs/x"}
	for _, name := range foreign {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(real, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(real, name), nil, 0o600))
	}
	for n := 1; n <= 3; n++ {
		put(t, c.Log, stream, strconv.Itoa(n), schema.FactsClearedPayload{Facts: n})
		require.Equal(t, n, backUp(t, c, to).Part)
	}
	before := t.TempDir()
	require.NoError(t, os.CopyFS(before, os.DirFS(real)))
	require.Equal(t, 3, backUp(t, c, to, "--full").Removed)
	for _, name := range foreign {
		require.FileExists(t, filepath.Join(real, name))
	}

	for _, name := range []string{"manifest-000002.json", "manifest-000003.json"} { // The removal was interrupted.
		text, err := os.ReadFile(filepath.Join(before, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(real, name), text, 0o600))
	}
	keys, _ := keysFrom(t, to)
	require.Equal(t, []string{"1", "2", "3"}, keys)
	require.Equal(t, 2, backUp(t, c, to).Removed, "nothing is new, and the removal is done")

	require.NoError(t, os.WriteFile(filepath.Join(real, "manifest-000005.json"), []byte("{"), 0o600))
	require.NotZero(t, c.Run("backup", to).Code)
	require.Equal(t, 6, backUp(t, c, to, "--full").Part)
	keys, _ = keysFrom(t, to)
	require.Equal(t, []string{"1", "2", "3"}, keys)

	volumes, err := filepath.Glob(filepath.Join(real, "part-000006-*", "events-*"))
	require.NoError(t, err)
	require.Len(t, volumes, 1)
	text, err := exec.CommandContext(t.Context(), "gzip", "-dc", volumes[0]).Output()
	require.NoError(t, err)
	o := c.Run("import", commandtest.Write(t, "events.jsonl", string(text)))
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "it is a volume of a backup")
	o = c.Run("restore", "file://relative/dir")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "want an absolute path")
}

// A part ends at its snapshot. An erasure that begins while it is written, and another backup at the same time, keep it from
// becoming one.
func TestBackupBesideOthers(t *testing.T) {
	t.Parallel()
	c := commandtest.NewRemembered(t)
	to, stream := t.TempDir(), schema.MemoryStream("ann", "")
	put(t, c.Log, stream, "one", schema.FactsClearedPayload{Facts: 1})
	put(t, c.Log, stream, "another", schema.FactsClearedPayload{Facts: 1})
	put(t, c.Log, schema.MemoryStream("cy", ""), "last", schema.FactsClearedPayload{Facts: 1})
	require.NoError(t, exchange.BackUp(t.Context(), c.Conn, to, 40, func() {
		put(t, c.Log, stream, "two", schema.FactsClearedPayload{Facts: 2})
		put(t, c.Log, schema.MemoryStream("bob", ""), "three", schema.FactsClearedPayload{Facts: 3})
	}))
	keys, _ := keysFrom(t, to)
	require.Equal(t, []string{"one", "another", "last"}, keys, "of several volumes")
	require.Equal(t, 2, backUp(t, c, to).Events)
	keys, _ = keysFrom(t, to)
	require.ElementsMatch(t, []string{"one", "another", "last", "two", "three"}, keys)

	to = t.TempDir()
	err := exchange.BackUp(t.Context(), c.Conn, to, 40, func() { backUp(t, c, to) })
	require.ErrorContains(t, err, "another backup has written part 1")
	to = t.TempDir()
	err = exchange.BackUp(t.Context(), c.Conn, to, 40, func() {
		put(t, c.Log, schema.AuditStream(), "begun", schema.ErasureBegunPayload{ErasureID: "e1", Kind: schema.EraseQuery, By: "ann", Salt: "x"})
	})
	require.ErrorContains(t, err, "an erasure has begun")
	require.Empty(t, files(t, to), "it has removed its files")
	require.Contains(t, c.Run("restore", to).Err, "no backup in")

	// The answer about a manifest is lost. The part is there.
	to, c = t.TempDir(), commandtest.NewRemembered(t)
	put(t, c.Log, stream, "one", schema.FactsClearedPayload{Facts: 1})
	err = exchange.BackUp(t.Context(), c.Conn, to, 40, func() { require.NoError(t, os.WriteFile(filepath.Join(to, "lost"), nil, 0o600)) })
	require.ErrorContains(t, err, "no answer")
	keys, _ = keysFrom(t, to)
	require.Equal(t, []string{"one"}, keys)
}

// I3 after the loss of all servers: a restore has the same events, tables and search. A user who was forgotten before the last
// backup does not come back, not even from a copy of an earlier one.
func TestI3BackupAndRestore(t *testing.T) {
	t.Parallel()
	from, to := commandtest.NewCLI(t), commandtest.NewCLI(t)
	// Vectors are rebuilt for all users of an embedder. No other test uses these.
	embedder := httptest.NewServer(http.HandlerFunc(commandtest.Embed))
	t.Cleanup(embedder.Close)
	for _, c := range []*commandtest.CLI{from, to} {
		c.Env["OPENAI_API_KEY"] = "any"
		c.Servers = append(slices.Clone(c.Servers), "--embedder", "openai", "--embedder-model", c.Project, "--embedder-url", embedder.URL+"/v1", "--embedder-dimensions", "8")
	}
	from.Timing = stacktest.Timing()
	from.Work(t, "--eraser-dsn", from.Config(t).ClickHouseDSN, "--memory-root", t.TempDir())
	to.Work(t, "--memory-root", t.TempDir())
	ok := func(c *commandtest.CLI, args ...string) commandtest.Output {
		t.Helper()
		o := c.Run(args...)
		require.Zero(t, o.Code, "%q: %s", args, o)
		return o
	}
	project, place := `p/"é`, t.TempDir()
	say := func(user, session, text string) {
		ok(from, "process", commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", text)), "--project", project, "--user", user, "--session", session)
	}
	say("ann", "a", commandtest.Decision)
	say("eve", "e", "I prefer trackballs of cork. We decided to use Pulsar for the invoices.")
	ok(from, "backup", place)
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(place)))
	say("ann", "b", "TODO: write the report.")
	ok(from, "facts", "add", "I drink tea", "--user", "ann", "--project", project)
	require.Contains(t, ok(from, "backup", place).Out, "part 2: ")
	ok(from, "forget", "--user", "eve", "--yes")
	require.Contains(t, ok(from, "backup", place).Out, "it is full: data was forgotten")

	out := ok(to, "restore", place).Out
	require.Contains(t, out, "1 part: restored ")
	before := digests(t, from)
	require.Equal(t, before, digests(t, to))
	require.Equal(t, kept(events(t, from, "")), kept(events(t, to, "")))
	require.Contains(t, ok(to, "restore", place).Out, "restored 0 of ", "a second restore appends nothing")
	require.Equal(t, before, digests(t, to))
	commandtest.Eventually(t, func() bool {
		return strings.Contains(to.Run("search", "event log", "--project", project, "--user", "ann").Out, "We decided to use ClickHouse")
	})

	o := to.Run("restore", copied)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "that were forgotten", o)
	for _, line := range events(t, to, "") {
		require.NotContains(t, line, "Pulsar")
		require.NotContains(t, line, "trackballs")
	}
}

// kept are the events that a backup has.
func kept(events []string) []string {
	return slices.DeleteFunc(events, func(line string) bool {
		return strings.Contains(line, `"stream":"vector/`) || strings.Contains(line, `"stream":"rebuild/`)
	})
}
