package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/service"
)

// oddDatabase is a name that must be quoted everywhere.
const oddDatabase = "shop-1's_50%"

// roleOf returns the rights of a role in the database, as statements for one user.
func roleOf(t *testing.T, database, name string) (grants []string) {
	t.Helper()
	roles, err := clickhouse.Roles(database)
	require.NoError(t, err)
	for _, role := range roles {
		if role.Name != name {
			continue
		}
		for _, right := range role.Rights {
			grants = append(grants, right.String())
		}
	}
	require.NotEmpty(t, grants)
	return grants
}

// restricted gives the bench a ClickHouse whose user has the rights of a role alone, and a session in its log.
func (b *bench) restricted(t *testing.T, role string) {
	t.Helper()
	b.cfg.ClickHouseDSN = stacktest.Restricted(t, oddDatabase, roleOf(t, oddDatabase, role), func(string) {})
	stores, err := service.Connect(t.Context(), b.cfg, weaviate.Open, quiet)
	require.NoError(t, err)
	t.Cleanup(stores.Close)
	b.ClickHouse, b.Log = stores.ClickHouse, stores.Log
}

// requireDenied requires that the server refuses the statements for want of rights.
func requireDenied(t *testing.T, conn driver.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		require.ErrorContains(t, conn.Exec(t.Context(), s), "Not enough privileges", s)
	}
}

// A user with the rights of the worker's role alone runs sessions, their projections, a rebuild and a replay. It can add
// events to the log, and can't change or remove any.
func TestWorkerRole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.restricted(t, clickhouse.RoleWorker)
	b.start(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	result := b.process(t, b.input("granted", write(t, path, said(1, "user", decision), said(2, "assistant", "TODO: move the logs."))))
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.NotEmpty(t, b.requireProven(t, "granted"))
	b.awaitGraduated(t.Context(), t)

	requireDenied(t, b.ClickHouse,
		"ALTER TABLE events_raw DELETE WHERE 1", "ALTER TABLE events_raw UPDATE actor = 'x' WHERE 1", "DELETE FROM events_raw WHERE 1",
		"TRUNCATE TABLE events_raw", "DROP TABLE events_raw", "ALTER TABLE events_raw DROP PARTITION ID 'all'",
		"RENAME TABLE events_raw TO gone", "EXCHANGE TABLES events_raw AND entries_raw", "CREATE OR REPLACE VIEW events AS SELECT 1",
		"ALTER TABLE projection_offsets_raw DELETE WHERE 1", "DROP DATABASE "+clickhouse.Identifier(oddDatabase),
		"CREATE DATABASE elsewhere", "INSERT INTO schema_migrations VALUES (99, 'x', 'x', now64(6))", "SELECT * FROM erasure_secrets",
	)
	require.NoError(t, b.ClickHouse.Exec(t.Context(), "SELECT count() FROM events"))

	rebuilt := b.rebuildBeside(t, schema.RebuildInput{Verify: true, Projections: b.someProjections(t, 1)})
	require.NotEmpty(t, rebuilt.Projections)
	require.Zero(t, rebuilt.Differing())
	if inCampaign(t) {
		b.replay(t, result.BuildID)
		t.Log("survived: the rights of a worker")
	}
}

// A reader reads every view and writes nothing.
func TestReaderRole(t *testing.T) {
	t.Parallel()
	dsn := stacktest.Restricted(t, oddDatabase, roleOf(t, oddDatabase, clickhouse.RoleReader), func(string) {})
	conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	views := column(t, conn, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View'")
	require.Greater(t, len(views), 20)
	for _, view := range views {
		require.NoError(t, conn.Exec(t.Context(), "SELECT * FROM "+view+" LIMIT 1"), view)
	}
	requireDenied(t, conn, "SELECT * FROM erasure_secrets", "INSERT INTO events_raw SELECT * FROM events_raw", "ALTER TABLE entries_raw DELETE WHERE 1", "TRUNCATE TABLE entries_raw",
		"CREATE TABLE t (x UInt8) ENGINE = Memory", "DROP TABLE entries_raw")
}

// An eraser removes rows of the log and of the projections, and drops nothing of the log.
func TestEraserRole(t *testing.T) {
	t.Parallel()
	dsn := stacktest.Restricted(t, oddDatabase, roleOf(t, oddDatabase, clickhouse.RoleEraser), func(dsn string) {
		conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		for _, id := range []string{"erased", "kept"} {
			require.NoError(t, conn.Exec(t.Context(), "INSERT INTO events_raw (event_id, stream, seq) VALUES (?, 's', 1)", id))
		}
	})
	conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.Exec(t.Context(), "ALTER TABLE events_raw DELETE WHERE event_id = 'erased' SETTINGS mutations_sync = 2"))
	require.Equal(t, []string{"kept"}, column(t, conn, "SELECT event_id FROM events_raw"))
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO events_raw (event_id, stream, seq) VALUES ('tombstone', 's', 2)"))
	x := eventlog.NewEraser(conn, "it's an erasure")
	require.NoError(t, x.WaitForMutations(t.Context()))
	require.NoError(t, x.Delete(t.Context(), []string{"another's \\stream"}))
	require.NoError(t, x.Apply(t.Context()))
	at, err := x.Now(t.Context())
	require.NoError(t, err)
	require.NoError(t, x.PurgeTables(t.Context(), at, "events_raw"))
	require.NoError(t, x.Exec(t.Context(), "ALTER TABLE erasure_secrets DROP PARTITION 'an erasure'"))
	require.NotEmpty(t, column(t, conn, "SELECT event_id FROM events_raw"))
	tables := column(t, conn, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'")
	require.Greater(t, len(tables), 20)
	for _, table := range tables {
		require.NoError(t, conn.Exec(t.Context(), "ALTER TABLE "+table+" DELETE WHERE 0 SETTINGS mutations_sync = 2"), table)
		require.NoError(t, conn.Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL"), table)
	}
	requireDenied(t, conn, "TRUNCATE TABLE events_raw", "DROP TABLE events_raw", "ALTER TABLE events_raw UPDATE actor = 'x' WHERE 1",
		"ALTER TABLE schema_migrations DELETE WHERE 1")
}

// A user without the right to make tables or roles gets the remedy. The local server keeps its users in files: no role
// can be made there.
func TestMigrateSaysWhatItMayNot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var out strings.Builder
	require.ErrorContains(t, (&service.Migration{Grants: true}).Run(t.Context(), b.cfg, quiet, &out), "connect as a user that may make roles")
	require.Equal(t, "the database is up to date\n", out.String())
	require.ErrorContains(t, (&service.Migration{Grants: true, PrintGrants: true}).Run(t.Context(), b.cfg, quiet, &out), "give one of them")

	dsn := stacktest.Restricted(t, oddDatabase, []string{"GRANT SELECT ON *.*"}, func(dsn string) {
		conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{})
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		require.NoError(t, conn.Exec(t.Context(), "DROP TABLE schema_migrations SYNC"))
	})
	cfg := b.cfg
	cfg.ClickHouseDSN = dsn
	require.ErrorContains(t, (&service.Migration{}).Run(t.Context(), cfg, quiet, &out), "run worker migrate as one who may")
}

// The roles' statements are ones that ClickHouse reads, whatever the database is called.
func testRolesAreSQL(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, database := range []string{"default", oddDatabase, "a`b\\c", "데이터", "select", "x*y", "a.b"} {
		roles, err := clickhouse.Roles(database)
		require.NoError(t, err)
		require.Len(t, roles, 3)
		for _, role := range roles {
			for _, statement := range role.Statements() {
				formatted := column(t, b.ClickHouse, "SELECT formatQuerySingleLine("+clickhouse.Literal(statement)+")")
				require.Contains(t, formatted[0], role.Name)
			}
		}
	}
}
