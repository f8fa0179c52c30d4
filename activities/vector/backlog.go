package vector

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Backlog counts the rows of some embedding versions that are not in the vector store.
type Backlog struct {
	// Pending rows wait for the writer or for another attempt. Permanent ones failed, and are not tried again.
	Pending, Permanent int
	// Oldest is when the oldest pending row was created. It is zero if none is pending.
	Oldest time.Time
}

// ReadBacklog counts the rows of the embedding versions, in one query. Give those in use, see [Indexes.Versions]: no writer takes the
// pending rows of a version that was replaced.
func ReadBacklog(ctx context.Context, conn clickhouse.Conn, versions []string) (b Backlog, err error) {
	var indexes []string
	for _, version := range versions {
		indexes = append(indexes, schema.Indexes(version)...)
	}
	var pending, permanent uint64
	err = clickhouse.Query(ctx, conn, func(rows driver.Rows) error { return rows.Scan(&pending, &permanent, &b.Oldest) },
		`SELECT countIf(NOT permanent), countIf(permanent), minIf(created_at, NOT permanent) FROM vector_outbox
		WHERE embedding_version IN ? AND status != 'done'`, clickhouse.Set(indexes))
	if err != nil {
		return Backlog{}, fmt.Errorf("count vector outbox: %w", err)
	}
	if b.Pending, b.Permanent = int(pending), int(permanent); pending == 0 {
		b.Oldest = time.Time{}
	}
	return b, nil
}
