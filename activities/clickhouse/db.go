package clickhouse

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// DB is a connection whose requests end after a time.
type DB struct {
	Conn    driver.Conn
	Timeout time.Duration
}

// byKey are for queries that contain the ids or positions of a whole page. Reads by key use one thread: to hand a few rows
// from thread to thread costs more than to read them.
var byKey = Settings{"max_query_size": 16 << 20, "max_threads": 1}

// ofAll are for queries of all streams, or all of a kind.
var ofAll = Settings{"max_query_size": 16 << 20}

// Request returns the context of a request with the settings.
func (d DB) Request(ctx context.Context, settings Settings) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	return With(ctx, settings), cancel
}

// Query runs a select by key, and calls scan once per row.
func (d DB) Query(ctx context.Context, scan func(driver.Rows) error, sql string, args ...any) error {
	return d.query(ctx, byKey, scan, sql, args...)
}

// QueryAll is Query for a select of all streams, or all of a kind.
func (d DB) QueryAll(ctx context.Context, scan func(driver.Rows) error, sql string, args ...any) error {
	return d.query(ctx, ofAll, scan, sql, args...)
}

func (d DB) query(ctx context.Context, settings Settings, scan func(driver.Rows) error, sql string, args ...any) error {
	ctx, cancel := d.Request(ctx, settings)
	defer cancel()
	return Select(ctx, d.Conn, scan, sql, args...)
}
