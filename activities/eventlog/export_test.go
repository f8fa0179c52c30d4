package eventlog

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// For the tests against a real server, which are in a package of their own: the server's package
// imports this one.
var (
	Canonical   = canonical
	MigrateTo   = migrateTo
	Token       = token
	MakeScratch = makeScratch
)

var RetryableCodes = retryableCodes

// LoseOffsets simulates the end of a program before it has saved its projections' offsets.
func LoseOffsets(s *Store) {
	s.offsets.mu.Lock()
	defer s.offsets.mu.Unlock()
	clear(s.offsets.pending)
}

// NewBulk returns a connection that keeps rows, and a function that inserts those of a projector.
func NewBulk(conn driver.Conn) (driver.Conn, func(context.Context, Projector) error) {
	c := &bulkConn{Conn: conn}
	return c, c.flush
}
