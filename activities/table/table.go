// Package table reads and writes the rows of projections.
package table

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// maxQuerySize lets a query carry the ids and contents of a page, in bytes.
const maxQuerySize = 64 << 20

// Conn is what of a ClickHouse connection projections use.
type Conn interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// Query calls scan for each row of a select.
func Query(ctx context.Context, conn Conn, scan func(driver.Rows) error, sql string, args ...any) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"max_query_size": maxQuerySize}))
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Insert writes the rows as one block, and returns when they can be read. The table is given with its
// columns, such as "edges_raw (id, version)".
func Insert(ctx context.Context, conn Conn, into string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	name, _, _ := strings.Cut(into, " ")
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0}))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+into)
	if err != nil {
		return fmt.Errorf("insert into %s: %w", name, err)
	}
	defer func() { _ = batch.Close() }()
	for _, row := range rows {
		if err := batch.Append(row...); err != nil {
			return fmt.Errorf("insert into %s: %w", name, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert into %s: %w", name, err)
	}
	return nil
}

// Set makes the values the right side of IN.
func Set[T any](values []T) clickhouse.GroupSet {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return clickhouse.GroupSet{Value: out}
}
