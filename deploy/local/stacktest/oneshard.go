package stacktest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/clickhouse/cluster"
)

// OneShardDatabases returns a function that makes a migrated database on a cluster of one shard, whose tables are Distributed
// over local ones.
func OneShardDatabases(t testing.TB) func(testing.TB) driver.Conn {
	t.Helper()
	address, err := url.Parse(OneShard(t, "solo"))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := clickhouse.Connect(t.Context(), address.String(), clickhouse.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	var made atomic.Int64
	return func(t testing.TB) driver.Conn {
		t.Helper()
		name := fmt.Sprintf("log_%d", made.Add(1))
		of := *address
		of.Path, of.RawQuery = "/"+name, "prefer_localhost_replica=1" // No port is open.
		conn, err := oneShardDatabase(t.Context(), admin, name, of.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

func oneShardDatabase(ctx context.Context, admin driver.Conn, name, dsn string) (driver.Conn, error) {
	if err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	conn, err := clickhouse.Connect(ctx, dsn, clickhouse.ConnectOptions{MaxOpenConns: 16, Cluster: "solo"})
	if err != nil {
		return nil, err
	}
	conn = soloConn{conn, conn.(verbatim)}
	if _, err = clickhouse.Migrate(ctx, conn); err != nil {
		return nil, err
	}
	// A program that is not told of the cluster would insert without a quorum.
	alone, err := clickhouse.Connect(ctx, dsn, clickhouse.ConnectOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = alone.Close() }()
	_, err = clickhouse.MigrationStatus(ctx, alone)
	if !errors.Is(err, clickhouse.ErrSchema) || !strings.Contains(err.Error(), "give its name by --cluster") {
		return nil, fmt.Errorf("a connection without the cluster is not refused: %w", err)
	}
	return conn, nil
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
