package stacktest

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
)

// Migrated makes the tables of the event log and its projections in a database, see [Database], and returns a
// connection to it, which is closed at the test's end.
func Migrated(t testing.TB, dsn string) driver.Conn {
	t.Helper()
	conn, err := eventlog.Connect(t.Context(), dsn, eventlog.ConnectOptions{})
	if err != nil {
		t.Fatalf("connect to the test's database: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := eventlog.Migrate(t.Context(), conn); err != nil {
		t.Fatalf("migrate the test's database: %v", err)
	}
	return conn
}
