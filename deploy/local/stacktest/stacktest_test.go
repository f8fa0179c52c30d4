package stacktest_test

import (
	"testing"
	"time"

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

// A migrated database serves one test after another, and each finds it empty.
func TestMigratedDatabase(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	var reused int
	for _, what := range []string{
		"INSERT INTO usage_raw SELECT * FROM generateRandom() LIMIT 3", "SELECT 1", "DROP VIEW facts", "SELECT 1",
		"CREATE TABLE mine (n UInt8) ENGINE = MergeTree ORDER BY n", "SELECT 1",
	} {
		t.Run(what, func(t *testing.T) {
			dsn := stacktest.MigratedDatabase(t)
			if used[dsn] {
				reused++
			}
			used[dsn] = true
			conn := stacktest.Migrated(t, dsn)
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
			require.NoError(t, conn.Exec(t.Context(), "SELECT count() FROM facts"), "what a test has dropped is there for the next")
			require.NoError(t, conn.Exec(t.Context(), what))
		})
		time.Sleep(time.Second)
	}
	require.Equal(t, 3, reused, "after those that had changed the rows alone")
}
