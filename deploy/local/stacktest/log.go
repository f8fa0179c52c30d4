package stacktest

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
)

// Migrated returns a connection to a [MigratedDatabase].
func Migrated(t testing.TB) driver.Conn {
	t.Helper()
	return Connect(t, MigratedDatabase(t))
}

// Connect returns a connection to a database, which is closed at the test's end.
func Connect(t testing.TB, dsn string) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{MaxOpenConns: 16})
	if err != nil {
		t.Fatalf("connect to the test's database: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
