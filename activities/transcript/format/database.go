package format

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"modernc.org/sqlite"
)

// Of SQLite's sqlite3_limit categories.
const (
	limitLength   = 0
	limitAttached = 7
)

var sqliteMagic = []byte("SQLite format 3\x00")

func isDatabase(head []byte) bool { return bytes.HasPrefix(head, sqliteMagic) }

// database is a copy of a SQLite database, or one loaded from a dump. It may be made to do harm. The driver interrupts a
// statement when its context ends, but only until the first row: see [database.sound].
type database struct {
	ctx  context.Context
	b    *builder
	conn *sql.Conn
	done []func()
}

func (s *source) openDatabase(b *builder) (_ *database, err error) {
	d := &database{ctx: b.ctx, b: b}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	if !isDatabase(s.head) {
		if err := d.connect(":memory:", s.opts.MaxLine); err != nil {
			return nil, err
		}
		data, err := s.all()
		if err != nil {
			return nil, err
		}
		return d, d.load(string(data))
	}
	dir, err := os.MkdirTemp("", "transcript-*")
	if err != nil {
		return nil, fmt.Errorf("copy database: %w: %w", ErrTryAgain, err)
	}
	d.done = append(d.done, func() { _ = os.RemoveAll(dir) })
	name := filepath.Join(dir, "copy.db")
	if s.opts.CopyDatabase == nil || s.decoded {
		err = s.spool(name)
	} else if err = s.opts.CopyDatabase(b.ctx, name, s.opts.MaxDatabase); err == nil {
		// A hash or a count of the source needs all of its bytes.
		_, err = io.Copy(io.Discard, s.r)
	}
	if err != nil {
		return nil, fmt.Errorf("copy database: %w", err)
	}
	if err := d.connect("file:"+(&url.URL{Path: name}).EscapedPath()+"?mode=rw", s.opts.MaxLine); err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" { // There an open file can't be removed.
		_ = os.RemoveAll(dir) // SQLite reads on, and a process that is killed leaves no copy. If it fails, done tries again.
	}
	return d, nil
}

// spool copies the source into a new file.
func (s *source) spool(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTryAgain, err)
	}
	n, err := io.Copy(f, io.LimitReader(s.r, int64(s.opts.MaxDocument)+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if n > int64(s.opts.MaxDocument) {
		return tooLarge(int64(s.opts.MaxDocument), "bytes in one piece")
	}
	return nil
}

func (d *database) connect(dsn string, maxLength int) error {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	conn, err := db.Conn(d.ctx)
	d.conn = conn
	if err == nil {
		err = d.exec("PRAGMA trusted_schema=OFF", "PRAGMA cell_size_check=ON", "SELECT count(*) FROM sqlite_master")
	}
	if err == nil {
		// Without attaching, no statement can reach another file.
		_, err = sqlite.Limit(conn, limitAttached, 0)
	}
	if err == nil {
		_, err = sqlite.Limit(conn, limitLength, maxLength)
	}
	if err != nil {
		_ = db.Close()
		return fmt.Errorf("open database: %w", err)
	}
	d.done = append(d.done, func() {
		_ = conn.Close()
		_ = db.Close()
	})
	return nil
}

func (d *database) close() {
	for i := len(d.done) - 1; i >= 0; i-- {
		d.done[i]()
	}
}

// exec runs statements.
func (d *database) exec(statements ...string) error {
	for _, s := range statements {
		if _, err := d.conn.ExecContext(d.ctx, s); err != nil {
			return err //nolint:wrapcheck // Its callers do.
		}
	}
	return nil
}

// columns returns the names of a table's columns in lower case; none when there is no such table. A view, a virtual
// table, and one with computed columns are none: to read them may take any time and memory.
func (d *database) columns(table string) map[string]bool {
	names, computed := make(map[string]bool), false
	_ = d.each(`SELECT lower(c.name) AS name, c.hidden AS hidden FROM pragma_table_list t, pragma_table_xinfo(t.name) c
		WHERE t.schema = 'main' AND t.type = 'table' AND lower(t.name) = ?`, func(r row) {
		names[r.text("name")] = true
		computed = computed || r["hidden"] != int64(0)
	}, table)
	if computed {
		return nil
	}
	if len(names) > 0 {
		d.b.fail(d.sound(table))
	}
	return names
}

// sound returns an error unless the pages of a table are a tree. A few pages that refer to each other may represent
// more rows than could be skipped in any time, and the driver can't interrupt that.
func (d *database) sound(table string) error {
	found := ""
	err := d.each("PRAGMA quick_check('"+table+"')", func(r row) { found = cmp.Or(found, r.text("quick_check")) })
	if err == nil && found != "ok" {
		err = fmt.Errorf("table %q is damaged: %s", table, found)
	}
	return err
}

// each calls fn with each row of a query.
func (d *database) each(query string, fn func(row), args ...any) error {
	rows, err := d.conn.QueryContext(d.ctx, query, args...)
	if err != nil {
		return fmt.Errorf("query database: %w", err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("query database: %w", err)
	}
	values := make([]any, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() && d.b.read() {
		if err := rows.Scan(targets...); err != nil {
			return fmt.Errorf("read row: %w", err)
		}
		r := make(row, len(names))
		for i, name := range names {
			r[strings.ToLower(name)] = values[i]
		}
		fn(r)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read rows: %w", err)
	}
	return d.b.err
}

// row maps column names in lower case to values.
type row map[string]any

func (r row) text(column string) string {
	switch v := r[column].(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	default:
		return fmt.Sprint(v)
	}
}

// rowTime reads the time in a column. Rows have no lines.
func (b *builder) rowTime(r row, column string) time.Time {
	switch v := r[column].(type) {
	case nil:
		return time.Time{}
	case time.Time:
		return b.timeValue(0, v, v.Format(time.RFC3339))
	case int64:
		return b.timeNumber(0, float64(v), r.text(column))
	case float64:
		return b.timeNumber(0, v, r.text(column))
	default:
		return b.timeText(0, r.text(column))
	}
}

// json returns the JSON value in a column, or one that does not exist.
func (r row) json(column string) gjson.Result {
	text := r.text(column)
	if !validJSON([]byte(text)) {
		return gjson.Result{}
	}
	return gjson.Parse(text)
}
