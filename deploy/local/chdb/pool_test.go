package chdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"axiommind/deploy/local/stacktest"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// state is the part of its session that a request can see. Only a plain statement gets a reused session, and it
// does not say "settings": so a view says it.
const (
	stateView = `CREATE VIEW state AS SELECT arraySort(groupArray((name, value))) AS set FROM system.settings
		WHERE changed AND name != 'log_comment'`
	state = "SELECT currentDatabase(), set FROM state"
)

// intruders try to change their session. Those that fail may have changed something before.
var intruders = []struct{ query, sql string }{
	{"&max_block_size=7", "SELECT 1"}, {"&max_threads=1&max_query_size=1000", "SELECT 1"}, {"&max_execution_time=5", "SELECT 1"},
	{"&async_insert=0&insert_deduplicate=1&insert_deduplication_token=it's", "INSERT INTO t VALUES (1)"},
	{"&max_query_size=20", "SELECT 1"}, {"&max_query_size=20", "SELECT 'longer than that, so that it is refused'"},
	{"&max_execution_time=0.001", "SELECT 1"}, {"&readonly=1", "SELECT 1"}, {"&readonly=2", "SELECT 1"}, {"&compatibility=22.3", "SELECT 1"},
	{"&profile=default", "SELECT 1"}, {"&absent=1", "SELECT 1"}, {"&max_threads=x", "SELECT 1"}, {"&log_comment=mine", "SELECT 1"},
	{"&database=default", "SELECT 1"}, {"&database=absent", "SELECT 1"}, {"&param_x=1&param_secret=2", "SELECT {x:String}"},
	{"", "SELECT 1 SETTINGS max_block_size = 9"}, {"", "INSERT INTO t SETTINGS max_insert_threads = 3 VALUES (2)"},
	{"&insert_deduplication_token=b", "INSERT INTO t SETTINGS max_insert_threads = 3 VALUES (2)"},
	{"&insert_deduplication_token=c", "INSERT INTO t -- settings"}, {"&insert_deduplication_token=d", "INSERT INTO t -- why\nFORMAT TSV 1"},
	{"", "SELECT 1 FORMAT JSON"}, {"&default_format=Native", "SELECT 1"}, {"", "INSERT INTO t FORMAT JSONEachRow {\"n\":3}"},
	{"", "INSERT INTO t FORMAT TSV\nbroken"}, {"", "SELECT throwIf(number = 3) FROM numbers(9) SETTINGS max_block_size = 1"},
	{"", "SET max_block_size = 8"}, {"", "/* SELECT */ SET max_block_size = 8"}, {"", "set\tmax_threads = 2"}, {"", "SET send_logs_level = 'trace'"},
	{"", "USE system"}, {"", "CREATE TEMPORARY TABLE leak (x Int8)"}, {"", "CREATE TEMPORARY TABLE t AS SELECT 'leak' AS n"},
	{"", "SELECT 1; SET max_threads = 3"}, {"", "SELECT 1;\nUSE system"}, {"", "SET param_x = 'leak'"}, {"", "BEGIN TRANSACTION"}, {"", "SET ROLE NONE"},
	{"", "EXPLAIN SELECT 1"}, {"", "DESCRIBE TABLE t"}, {"", "SHOW TABLES"}, {"", "EXISTS TABLE t"}, {"", "EXPLAIN SYNTAX SET max_threads = 1"},
	{"", "WITH 1 AS x SELECT x"}, {"", "(SELECT 1)"}, {"", "FROM t SELECT 1"}, {"", "TRUNCATE TABLE t"}, {"", "PARALLEL WITH SELECT 1"},
	{"", "SELECT 1 INTO OUTFILE 'x'"}, {"", "SELECT 1 FORMAT Null"}, {"", "SELECT 1 LIMIT 0"}, {"", "SELECT * FROM t WHERE 0"},
}

// After any requests, in any order and at once, a request finds its session like a new one.
func TestNothingIsLeftInASession(t *testing.T) {
	t.Parallel()
	at := base(t)
	require.Equal(t, 200, send(t, "POST", at, "", "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n").status)
	require.Equal(t, 200, send(t, "POST", at, "", stateView).status)
	look := func(t *testing.T, after string) string {
		got := send(t, "POST", at, "", state)
		require.Equal(t, 200, got.status, "%s: %s", after, got.body)
		for _, sql := range []string{"SELECT * FROM leak", "SELECT {x:String}", "SELECT {secret:String}"} {
			require.NotEqual(t, 200, send(t, "POST", at, "", sql).status, "%s after %s", sql, after)
		}
		require.Equal(t, "UInt64\n", send(t, "POST", at, "", "SELECT any(toTypeName(n)) FROM (SELECT n FROM t UNION ALL SELECT 1)").body, after)
		return got.body
	}
	// A text that is not plain gets a session of its own.
	fresh := send(t, "POST", at, "", "/* new */ "+state).body
	require.Contains(t, fresh, "implicit_select")
	for _, tt := range intruders {
		send(t, "POST", at, tt.query, tt.sql)
		require.Equal(t, fresh, look(t, tt.query+" "+tt.sql), "%s %s", tt.query, tt.sql)
	}
	var group errgroup.Group
	for worker := range 8 {
		group.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 40 {
				tt := intruders[random.IntN(len(intruders))]
				send(t, "POST", at, tt.query, tt.sql)
				if got := send(t, "POST", at, "", state).body; got != fresh {
					return fmt.Errorf("after %s %s:\n%s\nwant:\n%s", tt.query, tt.sql, got, fresh)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

// The settings and database of a request apply to it, whichever sessions are idle.
func TestARequestHasItsSettings(t *testing.T) {
	t.Parallel()
	databases := []string{base(t), base(t), base(t)}
	var group errgroup.Group
	for worker := range 6 {
		group.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(worker), 2))
			for range 60 {
				at := databases[random.IntN(len(databases))]
				block, seconds := 1+random.IntN(1000), 10+random.IntN(50)
				got := send(t, "POST", at, fmt.Sprintf("&max_block_size=%d&max_execution_time=%d", block, seconds),
					"SELECT currentDatabase(), getSetting('max_block_size'), toUInt32(getSetting('max_execution_time'))")
				name := at[strings.Index(at, "database=")+len("database="):]
				if want := fmt.Sprintf("%s\t%d\t%d\n", name, block, seconds); got.body != want {
					return fmt.Errorf("got %q, want %q", got.body, want)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

func TestADroppedDatabaseIsGoneForAllSessions(t *testing.T) {
	t.Parallel()
	at := base(t)
	for i := range 5 {
		other := fmt.Sprintf("%s_%d", at, i)
		name := other[strings.Index(other, "database=")+len("database="):]
		for range 2 {
			require.Equal(t, 200, send(t, "POST", at, "", "CREATE DATABASE "+name).status)
			require.Equal(t, 200, send(t, "POST", other, "", "CREATE TABLE t (n Int8) ENGINE = Memory").status)
			require.Equal(t, name+"\n", send(t, "POST", other, "", "SELECT currentDatabase()").body)
			require.Equal(t, 200, send(t, "POST", at, "", "DROP DATABASE "+name+" SYNC").status)
			got := send(t, "POST", other, "", "SELECT currentDatabase()")
			require.Equal(t, 404, got.status, got.body)
			require.Contains(t, got.body, "UNKNOWN_DATABASE")
		}
	}
}

// A statement that is ended for a client that has gone takes no other with it.
func TestAbandonedQueriesEndAlone(t *testing.T) {
	t.Parallel()
	conn := open(t)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			for i := range 15 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%7)*5*time.Millisecond)
				rows, err := conn.Query(ctx, "SELECT count() FROM numbers(100000000000)")
				if err == nil {
					rows.Next()
					_ = rows.Close()
				}
				cancel()
			}
			return nil
		})
		group.Go(func() error {
			for range 60 {
				var n uint64
				if err := conn.QueryRow(t.Context(), "SELECT sum(number) FROM numbers(100000)").Scan(&n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.Eventually(t, func() bool { return running(t, conn, "numbers(100000000000)") == 0 }, 20*time.Second, 20*time.Millisecond)
}

// A token in the text of an INSERT has the effect of the setting.
func TestTokensOfManySessions(t *testing.T) {
	t.Parallel()
	opts, err := clickhouse.ParseDSN(stacktest.Database(t))
	require.NoError(t, err)
	conn, err := clickhouse.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	execAll(t, conn, `CREATE TABLE log (id UInt64) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 1000`)
	tokens := []string{"a", "A", "it's", `back\slash`, "한국어", "-- x", "/* x", "tab\tnew\nline", "'); SELECT 1", "SETTINGS"}
	var group errgroup.Group
	for range 3 {
		group.Go(func() error {
			for i, token := range tokens {
				ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
					"insert_deduplication_token": token, "async_insert": 0, "insert_deduplicate": 1}))
				batch, err := conn.PrepareBatch(ctx, "INSERT INTO log")
				if err != nil {
					return err
				}
				if err := batch.Append(uint64(i)); err != nil {
					return err
				}
				if err := batch.Send(); err != nil {
					return fmt.Errorf("%q: %w", token, err)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, len(tokens), count(t, conn, "SELECT count() FROM log"))
	require.EqualValues(t, len(tokens), count(t, conn, "SELECT uniqExact(id) FROM log"))
}
