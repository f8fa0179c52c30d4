package stacktest_test

import (
	"testing"

	"axiommind/deploy/local/stacktest"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func TestDatabase(t *testing.T) {
	t.Parallel()
	opts, err := clickhouse.ParseDSN(stacktest.Database(t))
	require.NoError(t, err)
	conn, err := clickhouse.Open(opts)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	var name string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT currentDatabase()").Scan(&name))
	require.Equal(t, opts.Auth.Database, name)
}

// A migrated database serves one test after another, and each finds it empty and whole.
func TestMigratedDatabase(t *testing.T) {
	t.Parallel()
	for _, use := range []struct {
		sql string
		// kept is true if the tables serve the next test too.
		kept bool
	}{
		{"INSERT INTO usage_raw SELECT * FROM generateRandom() LIMIT 3", true},
		{"SELECT 1", true},
		{"DROP VIEW facts", false},
		{"CREATE TABLE mine (n UInt8) ENGINE = MergeTree ORDER BY n", false},
	} {
		var dsn string
		t.Run(use.sql, func(t *testing.T) {
			dsn = stacktest.MigratedDatabase(t)
			conn := stacktest.Connect(t, dsn)
			rows, err := conn.Query(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND total_rows > 0")
			require.NoError(t, err)
			var filled []string
			for rows.Next() {
				var name string
				require.NoError(t, rows.Scan(&name))
				filled = append(filled, name)
			}
			require.NoError(t, rows.Close())
			require.Equal(t, []string{"schema_migrations"}, filled)
			require.NoError(t, conn.Exec(t.Context(), "SELECT count() FROM facts"), "a view that a test has dropped is there for the next")
			require.NoError(t, conn.Exec(t.Context(), use.sql))
		})
	}
}
