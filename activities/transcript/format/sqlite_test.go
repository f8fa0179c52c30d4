package format

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

type dumpCase struct {
	format, dump string
	want         []string
}

func frame(text string) string {
	var b bytes.Buffer
	enc, _ := zstd.NewWriter(&b)
	_, _ = enc.Write([]byte(text))
	_ = enc.Close()
	return hex.EncodeToString(b.Bytes())
}

func dumpCases() []dumpCase {
	return []dumpCase{
		{
			format: "goose",
			dump: `-- a comment; with a semicolon
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "sessions" (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT, created_at TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
CREATE TRIGGER t AFTER INSERT ON messages BEGIN INSERT INTO log VALUES (1); DELETE FROM messages; END;
INSERT INTO sessions VALUES ('g1', 'it''s; fine', '/w', '2026-07-24T11:00:00Z');
INSERT INTO messages VALUES (1, 'g1', 'user', '[{"type":"text","text":"hi; there"}]', 1784282401),
 (2, 'g1', 'assistant', '[{"type":"toolRequest","id":"t","toolCall":{"value":{"name":"shell","arguments":{}}}}]', 1784282402);
COMMIT;
`,
			want: []string{"0 user/text: hi; there", "0 assistant/tool_call shell#t: {}"},
		},
		{
			format: "hermes",
			dump: `create table sessions (id text primary key, cwd text, title text);
create table messages (id integer primary key, session_id text, role text, content text, tool_call_id text, tool_calls text, tool_name text, timestamp real, active integer default 1);
insert into sessions values ('h1', '/w', 'Backoff');
insert into messages values (1, 'h1', 'user', 'q', null, null, null, 1785015600.25, 1);
insert into messages values (2, 'h1', 'user', 'taken back', null, null, null, 1785015600.5, 0);
insert into messages values (3, 'h1', 'assistant', null, null, '[{"id":"t","function":{"name":"terminal","arguments":"{}"}}]', null, 1785015601, 1);
insert into messages values (4, 'h1', 'tool', '{"output":"ok"}', 't', null, null, 1785015602, 1);
insert into messages values (5, 'h1', 'user', '[CONTEXT COMPACTION] so far', null, null, null, 1785015603, 1);
insert into messages values (6, 'h1', 'user', cast(x'006a736f6e3a5b7b2274797065223a2274657874222c2274657874223a22736565227d5d' as text), null, null, null, 1785015604, 1);
`,
			want: []string{"0 user/text: q", "0 assistant/tool_call terminal#t: {}", `0 tool/tool_result terminal#t: {"output":"ok"}`,
				"0 user/context: [CONTEXT COMPACTION] so far", "0 user/text: see"},
		},
		{
			format: "opencode",
			dump: `create table session (id text primary key, directory text, title text, time_created any, time_updated any);
create table message (id text primary key, session_id text, time_created any, data text);
create table part (id text primary key, message_id text, data text);
insert into session values ('o1', '/w', 'T', 1784278801000, 1784278802000);
insert into message values ('m1', 'o1', 1784278801000, '{"role":"user","time":{"created":1784278801000}}');
insert into message values ('m2', 'o1', 1784278802000, '{"role":"assistant"}');
insert into part values ('p1', 'm1', '{"type":"text","text":"q"}');
insert into part values ('p2', 'm1', '{"type":"text","text":"injected","synthetic":true}');
insert into part values ('p3', 'm2', '{"type":"step-start"}');
insert into part values ('p4', 'm2', '{"type":"reasoning","text":"hm"}');
insert into part values ('p5', 'm2', '{"type":"tool","callID":"t","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a.go"}}');
insert into part values ('p6', 'm2', '{"type":"text","text":"a"}');
`,
			want: []string{"0 user/text: q", "0 user/context: injected", "0 assistant/thinking: hm", `0 assistant/tool_call bash#t: {"command":"ls"}`,
				"0 tool/tool_result bash#t: a.go", "0 assistant/text: a"},
		},
		{
			format: "zed",
			dump: `create table threads (id text primary key, summary text not null, updated_at text not null, data_type text not null, data blob not null, folder_paths text);
insert into threads values ('z1', 'old', '2026-07-19T08:00:02+00:00', 'json', '{"messages":[{"id":1,"role":"user","segments":[{"type":"text","text":"q"}],"tool_uses":[]},{"id":2,"role":"assistant","segments":[{"type":"text","text":"a"}],"tool_uses":[{"id":"t","name":"ls","input":{}}]},{"id":3,"role":"user","segments":[],"tool_results":[{"tool_use_id":"t","content":"out"}]}]}', '/w' || char(10) || '/x');
insert into threads values ('z2', 'new', '2026-07-19T09:00:02+00:00', 'zstd', x'` +
				frame(`{"messages":[{"User":{"id":"u","content":[{"Text":"q2"},{"Mention":{"uri":"f","content":"file text"}}]}},{"Agent":{"content":[{"Thinking":{"text":"hm"}},{"ToolUse":{"id":"t","name":"ls","input":{}}}],"tool_results":{"t":{"tool_name":"ls","content":{"Text":"out"}}}}},"Resume"]}`) + `', '/w');
`,
			want: []string{"== 0 z1", "0 user/text: q", "0 assistant/text: a", "0 assistant/tool_call ls#t: {}", "0 tool/tool_result ls#t: out",
				"== 1 z2", "0 user/text: q2", "0 user/context: file text", "0 assistant/thinking: hm", "0 assistant/tool_call ls#t: {}", "0 tool/tool_result ls#t: out"},
		},
		{
			format: "cursor",
			dump: `create table cursorDiskKV (key text unique, value blob);
insert into cursorDiskKV values ('composerData:c1', '{"composerId":"c1","name":"N","createdAt":1784278800000,"fullConversationHeadersOnly":[{"bubbleId":"b2","type":1},{"bubbleId":"b1","type":2}]}');
insert into cursorDiskKV values ('bubbleId:c1:b1', '{"bubbleId":"b1","type":2,"text":"a","toolFormerData":{"toolCallId":"t","name":"ls","rawArgs":"{}","result":"out"}}');
insert into cursorDiskKV values ('bubbleId:c1:b2', '{"bubbleId":"b2","type":1,"text":"q","workspaceProjectDir":"/w"}');
insert into cursorDiskKV values ('other', null);
`,
			want: []string{"0 user/text: q", "0 assistant/text: a", "0 assistant/tool_call ls#t: {}", "0 tool/tool_result ls#t: out"},
		},
	}
}

// makeDatabase writes the dump into a new SQLite file, in write-ahead mode, and leaves it open.
func makeDatabase(t *testing.T, dump string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a store?.db")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: name}).EscapedPath()+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	eachStatement(dump, func(_ int, stmt string, _ bool) bool {
		if harmless.MatchString(stmt) {
			_, err := db.ExecContext(context.Background(), stmt)
			require.NoError(t, err)
		}
		return true
	})
	return name
}

func TestParseDatabases(t *testing.T) {
	t.Parallel()
	for _, tt := range dumpCases() {
		t.Run(tt.format, func(t *testing.T) {
			t.Parallel()
			format, err := Detect("", []byte(tt.dump))
			require.NoError(t, err)
			require.Equal(t, tt.format, format)

			dumped, err := ParseAll(strings.NewReader(tt.dump), Options{})
			require.NoError(t, err)
			requireSound(t, dumped)
			require.Equal(t, tt.want, render(dumped))
			for _, s := range dumped {
				require.Equal(t, tt.format, s.Format)
				require.Contains(t, []string{"", "/w"}, s.CWD)
				require.Empty(t, s.Skipped)
			}

			name := makeDatabase(t, tt.dump)
			live, err := os.Open(name)
			require.NoError(t, err)
			defer func() { _ = live.Close() }()
			sessions, err := ParseAll(live, Options{CopyDatabase: copyOf(t, name), Format: "sqlite"})
			require.NoError(t, err)
			require.Equal(t, dumped, sessions, "a live database is read with its write-ahead log")

			checkpoint(t, name)
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			sessions, err = ParseAll(bytes.NewReader(data), Options{})
			require.NoError(t, err)
			require.Equal(t, dumped, sessions, "a database is read from a reader")

			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped)
			_, err = w.Write(data)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			sessions, err = ParseAll(&zipped, Options{CopyDatabase: func(string) error { return errors.New("there is none to copy") }})
			require.NoError(t, err)
			require.Equal(t, dumped, sessions, "a compressed database is not read in place")
		})
	}
}

// copyOf copies a database with its write-ahead log.
func copyOf(t *testing.T, from string) func(string) error {
	return func(to string) error {
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
	_, err := ParseAll(strings.NewReader("create table recipes (a text);"), Options{})
	require.ErrorIs(t, err, ErrUnknownFormat)

	name := makeDatabase(t, "create table recipes (a text);")
	checkpoint(t, name)
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	_, err = ParseAll(bytes.NewReader(data), Options{})
	require.ErrorIs(t, err, ErrUnknownFormat)

	_, err = ParseAll(bytes.NewReader(append(bytes.Clone(sqliteMagic), "garbage"...)), Options{})
	require.Error(t, err)
	_, err = ParseAll(bytes.NewReader(data), Options{MaxDocument: len(data) - 1})
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
	sessions, err := ParseAll(strings.NewReader(dump), Options{})
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
	sessions, err := ParseAll(strings.NewReader(`create table threads (id text, summary text, updated_at text, data_type text, data blob);
insert into threads values ('a', '', '2026-01-01', 'zstd', x'28b52ffd00');
insert into threads values ('b', '', '2026-01-02', 'json', '{');
insert into threads values ('c', '', '2026-01-03', 'json', '{"messages":[{"role":"user","segments":[{"type":"text","text":"kept"}]}]}');
`), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"== 0 a", "== 1 b", "== 2 c", "0 user/text: kept"}, render(sessions))
	require.Len(t, sessions[0].Skipped, 1)
	require.Len(t, sessions[1].Skipped, 1)
}
