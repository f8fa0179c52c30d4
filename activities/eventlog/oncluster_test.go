package eventlog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// The tables of one server are not taken for those of a cluster.
func TestClusterOfOneServerIsRefused(t *testing.T) {
	t.Parallel()
	dsn := stacktest.MigratedDatabase(t)
	conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{Cluster: "memory"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = clickhouse.MigrationStatus(t.Context(), conn)
	require.ErrorIs(t, err, clickhouse.ErrSchema)
	require.ErrorContains(t, err, "--cluster memory: the tables of this database are on one server")
	_, err = clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{Cluster: "a' b"})
	require.ErrorContains(t, err, "--cluster")
}

// The log keeps its promises through Distributed tables: events are stored once, one writer wins a position, projections
// are rebuilt and swapped in, and erased rows are gone. Replicas and several shards are not in the test.
func TestOneShard(t *testing.T) {
	t.Parallel()
	database := stacktest.OneShardDatabases(t)
	conformOn(t, database, map[string]conformance{
		"append and read":                 testAppendAndRead,
		"duplicate append":                testDuplicateAppend,
		"same key in another stream":      testOtherStream,
		"concurrent appenders, same keys": concurrentSame(3, 2),
		"concurrent appenders, distinct":  concurrentDistinct(4, 2),
		"attempt that arrives late":       testZombie,
		"token spent by a dying server":   testSpentToken,
		"page boundaries":                 pageBoundaries([]int{pageBoundary + 1}, 1<<20),
		"selections":                      testSelections,
		"hidden place":                    testHiddenPlace,
	})
	t.Run("tables", func(t *testing.T) {
		t.Parallel()
		conn := database(t)
		program, err := schema.Migrations()
		require.NoError(t, err)
		for _, m := range program {
			for _, table := range m.Tables() {
				engine := func(name string) string {
					var engine string
					require.NoError(t, conn.QueryRow(t.Context(), "SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = ?", name).Scan(&engine))
					return engine
				}
				require.Equal(t, "Distributed", engine(table))
				require.True(t, strings.HasSuffix(engine(table+"_local"), "MergeTree"), table)
			}
			for _, view := range m.Creates() { // Joins and subqueries are of Distributed tables.
				require.NoError(t, conn.Exec(t.Context(), "SELECT * FROM "+view+" LIMIT 1"), view)
			}
			for _, statement := range m.Statements {
				require.NoError(t, conn.Exec(t.Context(), statement), "it can be run again")
			}
		}
		missing, err := clickhouse.MissingTables(t.Context(), conn)
		require.NoError(t, err)
		require.Empty(t, missing)
		require.NoError(t, conn.Exec(t.Context(), "DROP TABLE entries_raw SYNC"))
		made, err := clickhouse.RestoreTables(t.Context(), conn)
		require.NoError(t, err)
		require.Equal(t, []string{"entries_raw"}, made)
	})
	t.Run("erasure", func(t *testing.T) {
		t.Parallel()
		eraseAndReduce(t, database(t))
	})
}
