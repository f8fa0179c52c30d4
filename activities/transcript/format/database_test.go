package format

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// makeDatabase writes the dump into a new SQLite file, in write-ahead mode, and leaves it open.
func makeDatabase(t *testing.T, dump string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a store?.db")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: name}).EscapedPath()+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	eachStatement(dump, func(_ int, stmt string, _ bool) bool {
		if loadable.MatchString(stmt) {
			_, err := db.ExecContext(context.Background(), stmt)
			require.NoError(t, err)
		}
		return true
	})
	return name
}

// The sessions of a dump are read from the database that it makes, wherever that lies.
func TestParseDatabases(t *testing.T) {
	t.Parallel()
	for _, one := range samples(t) {
		if !strings.HasSuffix(one.name, ".sql") || one.format == anyDatabase.Name {
			continue
		}
		t.Run(one.format, func(t *testing.T) {
			t.Parallel()
			dumped, err := Parse(t.Context(), bytes.NewReader(one.data), Options{})
			require.NoError(t, err)

			name := makeDatabase(t, string(one.data))
			live, err := os.Open(name)
			require.NoError(t, err)
			defer func() { _ = live.Close() }()
			sessions, err := Parse(t.Context(), live, Options{CopyDatabase: copyOf(t, name), Format: "sqlite"})
			require.NoError(t, err)
			require.Equal(t, dumped, sessions, "a live database is read with its write-ahead log")

			checkpoint(t, name)
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			sessions, err = Parse(t.Context(), bytes.NewReader(data), Options{})
			require.NoError(t, err)
			require.Equal(t, dumped, sessions, "a database is read from a reader")

			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped)
			_, err = w.Write(data)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			sessions, err = Parse(t.Context(), &zipped, Options{CopyDatabase: func(context.Context, string, int64) error { return errors.New("there is none to copy") }})
			require.NoError(t, err)
			require.Equal(t, dumped, sessions, "a compressed database is not read in place")
		})
	}
}

// The copy of a database has no name any more while it is read, so that a process that is killed leaves none.
func TestOpenDatabaseLeavesNoFile(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	name := makeDatabase(t, "CREATE TABLE notes(text TEXT);\nINSERT INTO notes VALUES('the code of the door');\n")
	s := &source{opts: Options{CopyDatabase: copyOf(t, name)}.withDefaults(), head: sqliteMagic, r: bufio.NewReader(strings.NewReader(""))}
	d, err := s.openDatabase(newBuilder(t.Context(), s.opts))
	require.NoError(t, err)
	defer d.close()
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Empty(t, left)
	}
	var texts []string
	require.NoError(t, d.each("SELECT text FROM notes", func(r row) { texts = append(texts, r.text("text")) }))
	require.Equal(t, []string{"the code of the door"}, texts)
}

// copyOf copies a database with its write-ahead log.
func copyOf(t *testing.T, from string) func(context.Context, string, int64) error {
	return func(_ context.Context, to string, _ int64) error {
		for _, end := range []string{"", "-wal"} {
			data, err := os.ReadFile(from + end)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(to+end, data, 0o600))
		}
		return nil
	}
}

func checkpoint(t *testing.T, name string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: name}).EscapedPath())
	require.NoError(t, err)
	_, err = db.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestParseDatabaseOfNoHarness(t *testing.T) {
	t.Parallel()
	_, err := Parse(t.Context(), strings.NewReader("create table recipes (a text);"), Options{})
	require.ErrorIs(t, err, ErrUnknownFormat)

	name := makeDatabase(t, "create table recipes (a text);")
	checkpoint(t, name)
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	_, err = Parse(t.Context(), bytes.NewReader(data), Options{})
	require.ErrorIs(t, err, ErrUnknownFormat)

	_, err = Parse(t.Context(), bytes.NewReader(append(bytes.Clone(sqliteMagic), "garbage"...)), Options{})
	require.Error(t, err)
	_, err = Parse(t.Context(), bytes.NewReader(data), Options{MaxDocument: len(data) - 1})
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestParseHostileDump(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "written.db")
	dump := fmt.Sprintf(`create table messages (id integer primary key, session_id text, role text, content text, timestamp real);
ATTACH DATABASE '%[1]s' AS x;
VACUUM INTO '%[1]s';
DROP TABLE messages;
DELETE FROM messages;
insert into messages values (1, 's', 'user', 'still here', 1785015600);
insert into messages values (2, 's', 'user', load_extension('%[1]s'), 1785015600);
insert into nowhere values (1);
insert into messages values (3, 's', 'user', 'cut off`, target)
	sessions, err := Parse(t.Context(), strings.NewReader(dump), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"0 user/text: still here"}, render(sessions))
	require.Len(t, sessions[0].Skipped, 3)
	require.Equal(t, 7, sessions[0].Skipped[0].Line)
	require.Equal(t, 8, sessions[0].Skipped[1].Line)
	require.Equal(t, 9, sessions[0].Skipped[2].Line)
	require.NoFileExists(t, target)
}

func TestParseBrokenThreads(t *testing.T) {
	t.Parallel()
	sessions, err := Parse(t.Context(), strings.NewReader(`create table threads (id text, summary text, updated_at text, data_type text, data blob);
insert into threads values ('a', '', '2026-01-01', 'zstd', x'28b52ffd00');
insert into threads values ('b', '', '2026-01-02', 'json', '{');
insert into threads values ('c', '', '2026-01-03', 'json', '{"messages":[{"role":"user","segments":[{"type":"text","text":"kept"}]}]}');
`), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"== 0 a", "== 1 b", "== 2 c", "0 user/text: kept"}, render(sessions))
	require.Len(t, sessions[0].Skipped, 1)
	require.Len(t, sessions[1].Skipped, 1)
}
