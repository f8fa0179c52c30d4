package clickhouse

import (
	"context"
	"maps"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Settings are the server's settings for one request.
type Settings = clickhouse.Settings

// With returns a context whose requests have the settings.
func With(ctx context.Context, settings Settings) context.Context {
	// Clone the map, because the client adds the deadline to it.
	return clickhouse.Context(ctx, clickhouse.WithSettings(maps.Clone(settings)))
}

// SyncInsert makes an insert return once its rows can be read.
func SyncInsert(ctx context.Context) context.Context { return With(ctx, Settings{"async_insert": 0}) }

// querier is the part of a connection that selects need.
type querier interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
}

// preparer is the part of a connection that inserts need.
type preparer interface {
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// Select runs a select and calls scan once per row.
func Select(ctx context.Context, conn querier, scan func(driver.Rows) error, sql string, args ...any) error {
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

// Rows returns a scan for [Select] that appends one value per row. The function fill reads it from the row.
func Rows[T any](into *[]T, fill func(rows driver.Rows, value *T) error) func(driver.Rows) error {
	return func(rows driver.Rows) error {
		*into = append(*into, *new(T))
		return fill(rows, &(*into)[len(*into)-1])
	}
}

// Map is [Rows] for a map with one key per row.
func Map[K comparable, V any](into map[K]V, fill func(rows driver.Rows, key *K, value *V) error) func(driver.Rows) error {
	return func(rows driver.Rows) error {
		var key K
		var value V
		err := fill(rows, &key, &value)
		into[key] = value
		return err
	}
}

// InsertBlock sends one block, to which add adds its n rows or columns. On a cluster it may wait for its turn.
func InsertBlock(ctx context.Context, conn preparer, sql string, n int, add func(b driver.Batch, i int) error) error {
	return taking(ctx, func() error { return insertBlock(ctx, conn, sql, n, add) })
}

func insertBlock(ctx context.Context, conn preparer, sql string, n int, add func(b driver.Batch, i int) error) error {
	batch, err := conn.PrepareBatch(ctx, sql)
	if err != nil {
		return err
	}
	defer func() { _ = batch.Close() }()
	for i := range n {
		if err := add(batch, i); err != nil {
			return err
		}
	}
	return batch.Send()
}
