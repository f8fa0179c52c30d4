package clickhouse

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// maxQuerySize, in bytes, allows queries that contain the ids and contents of a whole page.
const maxQuerySize = 64 << 20

// Conn is the part of a ClickHouse connection that projections use.
type Conn interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// Query runs a select and calls scan once per row.
func Query(ctx context.Context, conn Conn, scan func(driver.Rows) error, sql string, args ...any) error {
	return Select(With(ctx, Settings{"max_query_size": maxQuerySize}), conn, scan, sql, args...)
}

// Column returns a scan for [Query] that appends the value of the only column to the slice.
func Column[T any](into *[]T) func(driver.Rows) error {
	return Rows(into, func(rows driver.Rows, value *T) error { return rows.Scan(value) })
}

// Insert writes the rows as one block and returns once they can be read. The parameter into names the table and its
// columns, such as "edges_raw (id, version)". Inserts that wait for one another become one block, so writing the rows
// twice must not change anything.
func Insert(ctx context.Context, conn Conn, into string, rows [][]any) error {
	if g, is := ctx.Value(gatheredKey{}).(*Gathered); is {
		g.add(conn, into, rows) // Also without rows, for the order of the tables.
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	return grouped(ctx, conn, into, rows)
}

// insert inserts the rows. A panic of the client is an error: the goroutine may belong to no caller, and others wait for
// it.
func insert(ctx context.Context, conn Conn, into string, rows [][]any) (err error) {
	name, _, _ := strings.Cut(into, " ")
	defer func() {
		if r := recover(); r != nil {
			slog.ErrorContext(ctx, "insert panicked", "table", name, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("insert into %s: panic: %v", name, r)
		}
	}()
	err = InsertBlock(SyncInsert(ctx), conn, "INSERT INTO "+into, len(rows), func(b driver.Batch, i int) error { return b.Append(rows[i]...) })
	if err != nil {
		return fmt.Errorf("insert into %s: %w", name, err)
	}
	return nil
}

// Set returns the values in the form that the right side of IN takes.
func Set[T any](values []T) clickhouse.GroupSet {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return clickhouse.GroupSet{Value: out}
}
