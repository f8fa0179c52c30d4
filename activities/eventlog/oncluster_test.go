package eventlog_test

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/clickhouse/cluster"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// oneShard returns a function that makes a migrated database on a cluster of one shard, whose tables are Distributed over
// local ones.
func oneShard(t *testing.T) func(*testing.T) driver.Conn {
	t.Helper()
	address, err := url.Parse(stacktest.OneShard(t, "solo"))
	require.NoError(t, err)
	admin := connect(t, address.String())
	var made atomic.Int64
	return func(t *testing.T) driver.Conn {
		t.Helper()
		name := "log_" + string(rune('a'+made.Add(1)))
		require.NoError(t, admin.Exec(t.Context(), "CREATE DATABASE "+name))
		of := *address
		of.Path, of.RawQuery = "/"+name, "prefer_localhost_replica=1" // No port is open.
		conn, err := clickhouse.Connect(t.Context(), of.String(), clickhouse.ConnectOptions{MaxOpenConns: 16, Cluster: "solo"})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		conn = soloConn{conn, conn.(verbatim)}
		_, err = clickhouse.Migrate(t.Context(), conn)
		require.NoError(t, err)
		// A program that is not told of the cluster would insert without a quorum.
		alone := connect(t, of.String())
		_, err = clickhouse.MigrationStatus(t.Context(), alone)
		require.ErrorIs(t, err, clickhouse.ErrSchema)
		require.ErrorContains(t, err, "give its name by --cluster")
		return conn
	}
}

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
	database := oneShard(t)
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
	t.Run("rebuild", func(t *testing.T) {
		t.Parallel()
		conn := database(t)
		s := eventlog.New(conn, eventlog.Options{Lease: shortLease, PageRows: 5})
		p := newChain(t, conn)
		for _, stream := range []string{"p/a", "p/b"} {
			_, err := s.Append(t.Context(), stream, said(stream, 7))
			require.NoError(t, err)
		}
		_, err := s.ProjectAll(t.Context(), p)
		require.NoError(t, err)
		before := digests(t, s, p)
		sh, made, inUse := filledShadow(t, s, conn, "r1", p)
		done, err := sh.Switch(t.Context(), eventlog.SwitchOptions{Compare: true}, made, inUse)
		require.NoError(t, err)
		for _, table := range p.Tables() {
			compared, err := sh.Compare(t.Context(), table, done.Generation)
			require.NoError(t, err)
			require.Equal(t, compared.Before, compared.After)
			require.NotZero(t, compared.Rows)
		}
		require.NoError(t, sh.Finish(t.Context(), made))
		require.Equal(t, before, digests(t, s, p))
		_, err = s.Append(t.Context(), "p/a", said("p/a", 9))
		require.NoError(t, err)
		_, err = s.ProjectAll(t.Context(), p)
		require.NoError(t, err)
		require.NotEqual(t, before, digests(t, s, p))
	})
	t.Run("erasure", func(t *testing.T) {
		t.Parallel()
		eraseAndReduce(t, database(t))
	})
}

// verbatim is what a connection to a cluster can do.
type verbatim interface {
	Target() cluster.Target
	Verbatim(ctx context.Context, sql string, args ...any) error
}

// soloConn is a connection to a cluster of one shard whose server runs no statements ON CLUSTER and has no replicas: of
// the statements it leaves that out. All else is as on a cluster.
type soloConn struct {
	driver.Conn
	verbatim
}

var (
	notSolo = regexp.MustCompile(` ON CLUSTER \S+`)
	replica = regexp.MustCompile(`Replicated(\w*MergeTree)\('/clickhouse/tables/\{uuid\}/\{shard\}', '\{replica\}'(?:, )?`)
	window  = regexp.MustCompile(`\breplicated_deduplication_window_seconds = \d+, |\breplicated(_deduplication_window)\b`)
)

func (c soloConn) Exec(ctx context.Context, sql string, args ...any) error {
	statements, err := c.Target().Rewrite(sql)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if strings.HasPrefix(s, "SYSTEM SYNC REPLICA") {
			continue
		}
		s = replica.ReplaceAllString(notSolo.ReplaceAllString(s, ""), "$1(")
		s = window.ReplaceAllStringFunc(s, func(found string) string {
			if strings.HasSuffix(found, ", ") {
				return ""
			}
			return "non_" + found
		})
		if err := c.Verbatim(ctx, s, args...); err != nil {
			return err
		}
	}
	return nil
}

func (c soloConn) Neighbor(ctx context.Context, database string) (driver.Conn, error) {
	conn, err := c.Conn.(clickhouse.Neighbor).Neighbor(ctx, database)
	if err != nil {
		return nil, err
	}
	return soloConn{conn, conn.(verbatim)}, nil
}
