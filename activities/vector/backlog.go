package vector

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
)

// Backlog counts the rows of all embedding versions that are not in the vector store.
type Backlog struct {
	// Pending rows wait for the writer or for another attempt. Permanent ones failed, and are not tried again.
	Pending, Permanent int
	// Oldest is when the oldest pending row was created. It is zero if none is pending.
	Oldest time.Time
}

// ReadBacklog counts the rows, in one query.
func ReadBacklog(ctx context.Context, conn table.Conn) (b Backlog, err error) {
	var pending, permanent uint64
	err = table.Query(ctx, conn, func(rows driver.Rows) error { return rows.Scan(&pending, &permanent, &b.Oldest) },
		`SELECT countIf(NOT permanent), countIf(permanent), minIf(created_at, NOT permanent) FROM vector_outbox WHERE status != 'done'`)
	if err != nil {
		return Backlog{}, fmt.Errorf("count vector outbox: %w", err)
	}
	if b.Pending, b.Permanent = int(pending), int(permanent); pending == 0 {
		b.Oldest = time.Time{}
	}
	return b, nil
}
