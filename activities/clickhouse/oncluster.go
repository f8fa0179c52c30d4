package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse/cluster"
)

// clusterName matches the names of clusters, which go into statements, and "" for none.
var clusterName = regexp.MustCompile(`^(?:[\w.-]+|\{\w+\})?$`)

// clusterSettings give the log its guarantees on a cluster:
//
//   - An insert returns once most replicas of the shard have the rows (insert_quorum), and not before the shard has them
//     (distributed_foreground_insert). Inserts into a table of a shard take turns (insert_quorum_parallel), because only then
//     can a replica know that it has all of them.
//   - A read is answered by a replica that has all acknowledged inserts, or fails (select_sequential_consistency). So a writer
//     reads its own rows and those of others, and two writers never see different ends of a stream.
//   - Subqueries and joins read the tables of all shards, not only the rows of the shard (distributed_product_mode). Rows that
//     are copied between tables are sharded again (parallel_distributed_insert_select).
//   - A query for one stream asks one shard (optimize_skip_unused_shards).
//   - The mutations of an erasure read which rows to delete (allow_nondeterministic_mutations). Other
//     changes of tables wait for all replicas (alter_sync), as all statements ON CLUSTER do.
var clusterSettings = clickhouse.Settings{
	"insert_quorum": "auto", "insert_quorum_parallel": 0, "select_sequential_consistency": 1,
	"distributed_foreground_insert": 1, "distributed_product_mode": "global", "parallel_distributed_insert_select": 0, "optimize_skip_unused_shards": 1,
	"allow_nondeterministic_mutations": 1, "alter_sync": 2, "distributed_ddl_output_mode": "throw",
}

// clusterRouting sends requests to the first replica of a shard that is there, which took most inserts itself. No guarantee
// rests on it, so the address of the server may set something else.
var clusterRouting = clickhouse.Settings{"load_balancing": "in_order", "prefer_localhost_replica": 0}

// clusterConn is a connection to a database on a cluster.
type clusterConn struct {
	*describedConn
	on cluster.Target
}

// Target returns the cluster, for [ClusterOf].
func (c *clusterConn) Target() cluster.Target { return c.on }

// Verbatim runs a statement on the server of the connection, as it stands.
func (c *clusterConn) Verbatim(ctx context.Context, sql string, args ...any) error {
	return c.describedConn.Exec(ctx, sql, args...)
}

// Exec implements [driver.Conn]. A statement that changes tables, databases or roles becomes those that do so on the
// cluster.
func (c *clusterConn) Exec(ctx context.Context, sql string, args ...any) error {
	statements, err := c.on.Rewrite(sql)
	if err != nil {
		return err
	}
	if len(statements) > 1 && len(args) > 0 {
		return fmt.Errorf("%w: several statements can't share arguments", cluster.ErrNoRule)
	}
	for _, statement := range statements {
		if err := taking(ctx, func() error { return c.Verbatim(ctx, statement, args...) }); err != nil {
			return err
		}
	}
	return nil
}

// sameCluster returns an error if the tables are on a cluster and the connection is not, or the other way: inserts would have no
// quorum, and a rebuild would put a table of one server in the place of a Distributed one.
func sameCluster(ctx context.Context, conn driver.Conn) error {
	var engines []string
	err := conn.QueryRow(ctx, `SELECT groupArray(engine) FROM system.tables WHERE database = currentDatabase() AND name = 'events_raw'`).Scan(&engines)
	on := ClusterOf(conn).Name
	switch {
	case err != nil:
		return fmt.Errorf("look at the engine of events_raw: %w", err)
	case len(engines) == 0 || (engines[0] == "Distributed") == (on != ""):
		return nil
	case on == "":
		return fmt.Errorf("the tables of this database are on a cluster: give its name by --cluster, as to all other programs: %w", ErrSchema)
	}
	return fmt.Errorf("--cluster %s: the tables of this database are on one server: leave the setting out, or name an empty database: %w", on, ErrSchema)
}

// ClusterOf returns the cluster of a connection. Without one, its methods return the names of a single server.
func ClusterOf(conn any) cluster.Target {
	if c, ok := conn.(interface{ Target() cluster.Target }); ok {
		return c.Target()
	}
	return cluster.Target{}
}

const (
	// codeQuorumBusy is the code of an insert that came while another one into the same table of the shard waited for its
	// replicas. That shard stores nothing of it, others may.
	codeQuorumBusy = 286
	// turnTries and turnPause bound how often and how long such an insert waits for its turn.
	turnTries = 40
	turnPause = 50 * time.Millisecond
)

// taking repeats an insert until it is its turn.
func taking(ctx context.Context, insert func() error) error {
	var err error
	for range turnTries {
		if err = insert(); !HasCode(err, codeQuorumBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(rand.N(2 * turnPause)): //nolint:gosec // inserts that collide must not stay in step
		}
	}
	return err
}

// TableName is the expression for the name of a table, as programs know it, in a query of system.tables: a local table has
// that of the Distributed one. No other table has the suffix.
const TableName = "if(endsWith(name, '" + cluster.LocalSuffix + "'), left(name, length(name) - length('" + cluster.LocalSuffix + "')), name)"

// SortingKey returns the sorting key of a table in the connection's database.
func SortingKey(ctx context.Context, conn driver.Conn, table string) (key string, err error) {
	err = conn.QueryRow(ctx, "SELECT sorting_key FROM system.tables WHERE database = currentDatabase() AND name = ?", ClusterOf(conn).Local(table)).Scan(&key)
	return key, err
}
