package stacktest

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
)

// Migrated makes the tables of the event log and its projections in a database, see [Database], and returns a
// connection to it, which is closed at the test's end.
func Migrated(t testing.TB, dsn string) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
	if err != nil {
		t.Fatalf("connect to the test's database: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := clickhouse.Migrate(t.Context(), conn); err != nil {
		t.Fatalf("migrate the test's database: %v", err)
	}
	return conn
}
