package eventlog

import (
	"context"
	"regexp"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// For the tests against a real server, which are in a package of their own: the server's package
// imports this one.
var (
	Canonical   = canonical
	MigrateTo   = migrateTo
	Token       = token
	MakeScratch = makeScratch
	Taking      = taking
	QuorumBusy  = &clickhouse.Exception{Code: codeQuorumBusy}
)

var RetryableCodes = retryableCodes

// LoseOffsets simulates the end of a program before it has saved its projections' offsets.
func LoseOffsets(s *Store) {
	s.offsets.mu.Lock()
	defer s.offsets.mu.Unlock()
	clear(s.offsets.pending)
}

// NewBulk returns a connection that keeps rows, and a function that inserts those of a projector.
func NewBulk(conn driver.Conn) (driver.Conn, func(context.Context, Projector) error) {
	c := &bulkConn{Conn: conn}
	return c, c.flush
}

// soloConn is a connection to a cluster of one shard whose server runs no statements ON CLUSTER and has no replicas: of
// the statements it leaves that out. All else is as on a cluster.
type soloConn struct{ *clusterConn }

// Solo returns such a connection in the place of one to a cluster.
func Solo(conn driver.Conn) driver.Conn {
	c := conn.(*clusterConn)
	c.options.Settings["prefer_localhost_replica"] = 1 // No port is open.
	return soloConn{c}
}

var (
	notSolo = regexp.MustCompile(` ON CLUSTER \S+`)
	replica = regexp.MustCompile(`Replicated(\w*MergeTree)\('/clickhouse/tables/\{uuid\}/\{shard\}', '\{replica\}'(?:, )?`)
	window  = regexp.MustCompile(`\breplicated_deduplication_window_seconds = \d+, |\breplicated(_deduplication_window)\b`)
)

func (c soloConn) Exec(ctx context.Context, sql string, args ...any) error {
	statements, err := c.on.Rewrite(sql)
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
		if err := c.describedConn.Exec(ctx, s, args...); err != nil {
			return err
		}
	}
	return nil
}

func (c soloConn) Neighbor(ctx context.Context, database string) (driver.Conn, error) {
	conn, err := c.clusterConn.Neighbor(ctx, database)
	if err != nil {
		return nil, err
	}
	return Solo(conn), nil
}
