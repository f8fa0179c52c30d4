package format

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// repeated is a reader of a text, many times.
func repeated(text string, times int) io.Reader {
	readers := make([]io.Reader, times)
	for i := range readers {
		readers[i] = strings.NewReader(text)
	}
	return io.MultiReader(readers...)
}

func zipped(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.Copy(w, r)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// A source that exceeds a limit is refused, and the error names the limit, the file and the remedy.
func TestParseRefusesTooMuch(t *testing.T) {
	t.Parallel()
	said, conversation := `{"role":"user","content":"hello"}`+"\n", `{"messages":[{"role":"user","content":"hello"}]}`+"\n"
	dump := "create table messages (id integer primary key, session_id text, role text, content text, timestamp real);\n" +
		strings.Repeat("insert into messages (session_id, role, content) values ('s', 'user', 'hello');\n", 20)
	for name, c := range map[string]struct {
		data []byte
		opts Options
		says string
	}{
		"bytes":            {[]byte(strings.Repeat(said, 100)), Options{MaxBytes: 1000}, "more than 1000 bytes"},
		"size":             {[]byte(said), Options{MaxBytes: 1000, Size: 1001}, "more than 1000 bytes"},
		"bytes unzipped":   {zipped(t, repeated(said, 100)), Options{MaxBytes: 1000}, "more than 1000 bytes"},
		"bytes of a list":  {zipped(t, repeated("["+strings.Repeat(strings.TrimSpace(said)+",", 100), 1)), Options{MaxBytes: 1000}, "more than 1000 bytes"},
		"texts":            {[]byte(strings.Repeat(said, 100)), Options{MaxDocument: 100}, "more than 100 bytes of text"},
		"messages":         {[]byte(strings.Repeat(said, 100)), Options{MaxMessages: 10}, "more than 10 messages and sessions"},
		"sessions":         {[]byte(strings.Repeat(conversation, 100)), Options{MaxMessages: 10}, "more than 10 messages and sessions"},
		"records":          {[]byte(said + strings.Repeat("{}\n", 100)), Options{MaxRecords: 10}, "more than 10 records"},
		"rows":             {[]byte(dump), Options{MaxRecords: 30}, "more than 30 records"},
		"time":             {[]byte(strings.Repeat(said, 100)), Options{MaxTime: time.Nanosecond}, "takes longer to read than 1ns"},
		"time of a dump":   {[]byte(dump), Options{MaxTime: time.Nanosecond}, "takes longer to read than 1ns"},
		"text in one read": {[]byte("User: " + strings.Repeat("hello ", 100)), Options{MaxDocument: 100, Format: "text"}, "more than 100 bytes in one piece"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.opts.Name = "dir/세션 1.jsonl"
			_, err := Parse(t.Context(), bytes.NewReader(c.data), c.opts)
			require.ErrorIs(t, err, ErrTooLarge)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, `parse "dir/세션 1.jsonl"`)
			require.ErrorContains(t, err, "split it, or leave it out")
		})
	}
}

// Of many lines that can't be read some are listed, and all are counted.
func TestParseCountsSkipped(t *testing.T) {
	t.Parallel()
	in := `{"role":"user","content":"hello"}` + "\n" + strings.Repeat("no JSON\n", 1000)
	s, err := parseOne(strings.NewReader(in), Options{Format: "messages"})
	require.NoError(t, err)
	require.Len(t, s.Skipped, DefaultMaxSkipped+1)
	require.Equal(t, 1000, schema.CountSkipped(s.Skipped))
	require.Equal(t, schema.Skipped{Line: 2, Reason: reasonNotJSON}, s.Skipped[0])
	require.Equal(t, schema.Skipped{Reason: reasonMore, Count: 500}, s.Skipped[DefaultMaxSkipped])
}

// A line of more values than memory has room for is skipped. Commas in a text are none.
func TestParseSkipsTooManyValues(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("1,", maxValues+1)
	s, err := parseOne(strings.NewReader(lines(`{"role":"user","content":[`+many+`1]}`, `{"role":"user","content":"`+many+`"}`)), Options{Format: "messages"})
	require.NoError(t, err)
	require.Equal(t, []schema.Skipped{{Line: 1, Reason: reasonTooDeep}}, s.Skipped)
	require.Len(t, s.Messages, 1)
}

// The reading of a file ends with its context, in any format.
func TestParseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	why := errors.New("the worker stops")
	for name, data := range map[string]string{
		"lines": strings.Repeat(`{"role":"user","content":"hello"}`+"\n", 100), "text": "User: hello\nAssistant: hello\n",
		"dump": "create table messages (session_id text, role text, content text, timestamp real);\ninsert into messages values (1, 2, 3, 4);",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			r := &cancelling{Reader: strings.NewReader(data), cancel: func() { cancel(why) }}
			_, err := Parse(ctx, r, Options{})
			require.ErrorIs(t, err, why)
			require.NotErrorIs(t, err, ErrTooLarge)
		})
	}
}

// cancelling ends a context once all was read.
type cancelling struct {
	io.Reader
	cancel func()
}

func (c *cancelling) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil {
		c.cancel()
	}
	return n, err
}

// A dump is read for its values: no statement of it computes rows, and functions can't fill the memory.
func TestParseDumpRunsNoQueries(t *testing.T) {
	t.Parallel()
	forever := "WITH RECURSIVE c(n) AS (VALUES(1) UNION ALL SELECT n+1 FROM c)"
	dump := `create table messages (id integer primary key, -- no select
 session_id text, role text, content text, timestamp real);
insert into messages values (1, 's', 'user', 'select; kept', 1785015600);
insert into messages ` + forever + ` SELECT NULL, 's', 'user', n, 1785015600 FROM c;
INSERT INTO messages SELECT NULL, 's', 'user', zeroblob(100000000), n FROM (VALUES(1));
insert into messages values (2, 's', 'user', (` + forever + ` select max(n) from c), 1785015600);
create table more as ` + forever + ` select * from c;
insert into messages values (3, 's', 'user', replace('a\nb', '\n', char(10)), 1785015600);
insert into messages values (4, 's', 'user', hex(zeroblob(20000000)), 1785015600);
`
	sessions, err := Parse(t.Context(), strings.NewReader(dump), Options{MaxTime: time.Minute})
	require.NoError(t, err)
	require.Equal(t, []string{"0 user/text: select; kept", "0 user/text: a\nb"}, render(sessions))
	var skipped []string
	for _, s := range sessions[0].Skipped {
		skipped = append(skipped, fmt.Sprint(s.Line, " ", s.Reason))
	}
	const query = "statement holds a query: only values are read"
	require.Len(t, skipped, 5)
	require.Equal(t, []string{"4 " + query, "5 " + query, "6 " + query, "7 " + query}, skipped[:4])
	require.Contains(t, skipped[4], "full")
}

// A database whose tables are computed, or are damaged so that few pages are many rows, is not read.
func TestParseHostileDatabase(t *testing.T) {
	t.Parallel()
	const columns = "session_id text, role text, content text, timestamp real"
	forever := "WITH RECURSIVE c(n) AS (VALUES(1) UNION ALL SELECT n+1 FROM c)"
	for name, statements := range map[string][]string{
		"endless view":     {"create view messages as " + forever + " select 's' as session_id, 'user' as role, zeroblob(100000000) as content, n as timestamp from c"},
		"computed columns": {"create table messages (" + columns + ", big blob as (zeroblob(60000000)), bigger blob as (zeroblob(60000000)))", "insert into messages values ('s', 'user', 'hello', 1)"},
		"virtual table":    {"create virtual table messages using fts5(session_id, role, content, timestamp)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(t.Context(), bytes.NewReader(madeBy(t, statements...)), Options{MaxTime: time.Minute})
			require.ErrorIs(t, err, ErrUnknownFormat)
		})
	}

	statements := []string{"create table messages (" + columns + ")"}
	for range 3000 {
		statements = append(statements, "insert into messages values ('s', 'user', '"+strings.Repeat("hello ", 300)+"', 1785015600)")
	}
	data := madeBy(t, statements...)
	sessions, err := Parse(t.Context(), bytes.NewReader(data), Options{})
	require.NoError(t, err)
	require.Len(t, sessions[0].Messages, 3000)
	_, err = Parse(t.Context(), bytes.NewReader(repeatPages(t, data)), Options{MaxTime: time.Minute})
	require.ErrorContains(t, err, `table "messages" is damaged`)
}

// madeBy is a database that the statements make.
func madeBy(t *testing.T, statements ...string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "made.db")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: name}).EscapedPath()+"?_pragma=page_size(4096)&_pragma=synchronous(off)")
	require.NoError(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	for _, s := range statements {
		_, err := tx.ExecContext(t.Context(), s)
		require.NoError(t, err, s)
	}
	require.NoError(t, tx.Commit())
	require.NoError(t, db.Close())
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

// repeatPages makes every entry of the inner pages of tables lead to the page that the first one leads to.
func repeatPages(t *testing.T, data []byte) []byte {
	t.Helper()
	const page, inner, header = 4096, 5, 12
	data, found := bytes.Clone(data), false
	for at := page; at < len(data); at += page {
		if data[at] != inner {
			continue
		}
		found = true
		cell := func(i int) []byte {
			pointer := at + header + 2*i
			return data[at+int(data[pointer])<<8+int(data[pointer+1]):]
		}
		for i := range int(data[at+3])<<8 + int(data[at+4]) {
			copy(cell(i)[:4], cell(0)[:4])
		}
	}
	require.True(t, found)
	return data
}
