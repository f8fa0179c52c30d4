package transcript

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

const sqliteMagic = "SQLite format 3\x00"

// makeDatabase makes a store of Hermes whose message lies in the write-ahead log, and leaves it open.
func makeDatabase(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a store?.db")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: name}).EscapedPath()+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, stmt := range []string{
		"create table messages (id integer primary key, session_id text, role text, content text, timestamp real)",
		"insert into messages values (1, 'h1', 'user', 'still in the log', 1785015600)",
	} {
		_, err = db.ExecContext(t.Context(), stmt)
		require.NoError(t, err)
	}
	return name
}

// requireLive checks that the database of makeDatabase was read with its write-ahead log.
func requireLive(t *testing.T, sessions []*Session) {
	t.Helper()
	require.Len(t, sessions, 1)
	require.Len(t, sessions[0].Messages, 1)
	require.Equal(t, "still in the log", sessions[0].Messages[0].Text)
}

// A database is read with its SQLite sidecars, but no link in their place is followed.
func TestAccessDatabase(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	made := makeDatabase(t)
	in := uriOf(t, made)
	a := access(t, AccessOptions{Roots: []string{filepath.Dir(made)}})
	before, err := os.ReadDir(filepath.Dir(made))
	require.NoError(t, err)
	sessions, source, err := a.ReadSource(t.Context(), in)
	require.NoError(t, err)
	requireLive(t, sessions)
	require.Equal(t, "hermes", source.Format)
	after, err := os.ReadDir(filepath.Dir(made))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(before), fmt.Sprint(after), "nothing is written beside the database")

	// A single file is a root together with its sidecars. A grant covers them too.
	requireSame := func(a *Access, in schema.ProcessSessionInput) {
		sessions, _, err := a.ReadSource(t.Context(), in)
		require.NoError(t, err)
		requireLive(t, sessions)
	}
	requireSame(access(t, AccessOptions{Roots: []string{made}}), in)
	in.Grant, err = Grant(p.options().KeyFile, in)
	require.NoError(t, err)
	requireSame(access(t, AccessOptions{KeyFile: p.options().KeyFile}), in)

	copied := filepath.Join(p.root, "copy.db")
	data, err := os.ReadFile(made)
	require.NoError(t, err)
	put(t, copied, string(data))
	link(t, made+"-wal", copied+"-wal")
	reason := requireRefused(t, access(t, p.options()), uriOf(t, copied), schema.ErrorSourceUnreadable)
	require.Contains(t, reason, `-wal" is or has become a link`)
}

// A broken database is a final error: a second attempt would not mend it.
func TestBrokenDatabaseIsFinal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	path := put(t, filepath.Join(p.root, "s.db"), sqliteMagic+strings.Repeat("garbage", 100))
	requireRefused(t, access(t, p.options()), uriOf(t, path), schema.ErrorSourceUnreadable)
	zipped := put(t, filepath.Join(p.root, "s.gz"), "\x1f\x8b\x08broken")
	requireRefused(t, access(t, p.options()), uriOf(t, zipped), schema.ErrorSourceUnreadable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := access(t, p.options()).ReadSource(ctx, uriOf(t, put(t, filepath.Join(p.root, "s.txt"), secret)))
	require.ErrorIs(t, err, context.Canceled)
	var failure boundary.Failure
	require.NotErrorAs(t, err, &failure)
}

// A database that is larger than the limit, with its log, is not copied.
func TestSnapshotIsBounded(t *testing.T) {
	t.Parallel()
	name := makeDatabase(t)
	var size int64
	for _, each := range []string{name, name + "-wal"} {
		info, err := os.Stat(each)
		require.NoError(t, err)
		require.NotZero(t, info.Size())
		size += info.Size()
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, snapshot(t.Context(), name, copied, size))
	for _, limit := range []int64{size - 1, 1} {
		require.ErrorIs(t, snapshot(t.Context(), name, filepath.Join(t.TempDir(), "copy.db"), limit), format.ErrTooLarge)
	}
}

// A database of gigabytes is refused before any of it is copied, and one large source is read at a time.
func TestLargeSources(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	name := put(t, filepath.Join(t.TempDir(), "state.vscdb"), sqliteMagic)
	require.NoError(t, os.Truncate(name, format.DefaultMaxDatabase+1)) // The file is sparse.
	uri := uriOf(t, name).URI
	requireNoCopy := func() {
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		require.Empty(t, left)
	}
	_, _, err := ReadSource(t.Context(), uri, "")
	require.ErrorIs(t, err, format.ErrTooLarge)
	requireNoCopy()

	readingLarge <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, _, err = ReadSource(ctx, uri, "")
	require.ErrorIs(t, err, context.DeadlineExceeded, "it waits")
	sessions, _, err := ReadSource(t.Context(), uriOf(t, makeDatabase(t)).URI, "")
	require.NoError(t, err)
	requireLive(t, sessions)
	<-readingLarge
	_, _, err = ReadSource(t.Context(), uri, "")
	require.ErrorIs(t, err, format.ErrTooLarge)
	requireNoCopy()
}

// A database that is written while it is copied is read in a state it was in: money moved between two rows
// is never lost or doubled.
func TestSnapshotOfLiveDatabase(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"WAL", "DELETE"} {
		dir := t.TempDir()
		name := filepath.Join(dir, "live.db")
		db, err := sql.Open("sqlite", "file:"+name+"?_pragma=journal_mode("+mode+")&_pragma=wal_autocheckpoint(8)&_pragma=synchronous(off)")
		require.NoError(t, err)
		db.SetMaxOpenConns(1)
		for _, stmt := range []string{
			"CREATE TABLE account (id integer primary key, balance integer, pad blob)",
			"INSERT INTO account VALUES (1, 500, randomblob(3000)), (2, 500, randomblob(3000)), (3, 0, randomblob(20000))",
		} {
			_, err = db.ExecContext(t.Context(), stmt)
			require.NoError(t, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ctx.Err() == nil {
				_, _ = db.ExecContext(ctx, "UPDATE account SET balance = balance + (CASE id WHEN 1 THEN 1 WHEN 2 THEN -1 ELSE 0 END), pad = randomblob(length(pad))")
			}
		}()
		whole := 0
		for i := range 60 {
			copied := filepath.Join(dir, fmt.Sprint("copy", i, ".db"))
			ok, err := copyOnce(t.Context(), name, copied, 1<<30)
			if err != nil || !ok {
				continue
			}
			whole++
			snap, err := sql.Open("sqlite", "file:"+copied+"?mode=rw")
			require.NoError(t, err)
			var sum int
			var check string
			require.NoError(t, snap.QueryRowContext(t.Context(), "SELECT sum(balance) FROM account").Scan(&sum))
			require.NoError(t, snap.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&check))
			require.Equal(t, 1000, sum, mode)
			require.Equal(t, "ok", check, mode)
			require.NoError(t, snap.Close())
		}
		cancel()
		<-done
		require.NoError(t, db.Close())
		t.Logf("%s: %d of 60 copies were whole", mode, whole)
		require.NoError(t, snapshot(t.Context(), name, filepath.Join(dir, "still.db"), 1<<30))
	}
}
