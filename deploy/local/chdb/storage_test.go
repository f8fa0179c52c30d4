package chdb_test

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
)

func execAll(t *testing.T, conn driver.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		require.NoError(t, conn.Exec(t.Context(), sql), sql)
	}
}

func count(t *testing.T, conn driver.Conn, sql string, args ...any) (n uint64) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), sql, args...).Scan(&n), sql)
	return n
}

func TestInsertDeduplicationToken(t *testing.T) {
	t.Parallel()
	conn := open(t)
	execAll(t, conn, `CREATE TABLE log (id UInt64) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 1000`)
	send := func(token string, id uint64) {
		ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
			"insert_deduplication_token": token, "async_insert": 0, "insert_deduplicate": 1}))
		batch, err := conn.PrepareBatch(ctx, "INSERT INTO log")
		require.NoError(t, err)
		defer func() { _ = batch.Close() }()
		require.NoError(t, batch.Append(id))
		require.NoError(t, batch.Send())
	}
	send("a", 1)
	send("a", 1)
	require.EqualValues(t, 1, count(t, conn, "SELECT count() FROM log"))
	send("b", 1)
	require.EqualValues(t, 2, count(t, conn, "SELECT count() FROM log"))
}

func TestReplacingMergeTreeFinal(t *testing.T) {
	t.Parallel()
	conn := open(t)
	execAll(t, conn,
		"CREATE TABLE r (id UInt64, v UInt64) ENGINE = ReplacingMergeTree(v) ORDER BY id",
		"SYSTEM STOP MERGES r",
		"INSERT INTO r VALUES (1, 1), (2, 1)",
		"INSERT INTO r VALUES (1, 2)",
		"CREATE VIEW current AS SELECT * FROM r FINAL",
	)
	require.EqualValues(t, 3, count(t, conn, "SELECT count() FROM r"))
	require.EqualValues(t, 2, count(t, conn, "SELECT count() FROM r FINAL"))
	require.EqualValues(t, 2, count(t, conn, "SELECT v FROM current WHERE id = 1"))
}

func TestMaterializedViewAndColumn(t *testing.T) {
	t.Parallel()
	conn := open(t)
	execAll(t, conn,
		"CREATE TABLE source (day Date, n UInt64, twice UInt64 MATERIALIZED n * 2) ENGINE = MergeTree ORDER BY day",
		"CREATE TABLE total (day Date, n UInt64) ENGINE = SummingMergeTree ORDER BY day",
		"CREATE MATERIALIZED VIEW feed TO total AS SELECT day, sum(n) AS n FROM source GROUP BY day",
		"INSERT INTO source (day, n) VALUES ('2026-01-01', 1), ('2026-01-01', 2), ('2026-01-02', 5)",
	)
	require.EqualValues(t, 3, count(t, conn, "SELECT sum(n) FROM total WHERE day = '2026-01-01'"))
	require.EqualValues(t, 10, count(t, conn, "SELECT twice FROM source WHERE n = 5"))
}

func TestTextIndex(t *testing.T) {
	t.Parallel()
	conn := open(t)
	execAll(t, conn,
		`CREATE TABLE notes (id UInt64, body String,
			INDEX words body TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(body))) ENGINE = MergeTree ORDER BY id`,
		"INSERT INTO notes SELECT number, if(number = 7, 'A Durable memory', 'nothing here') FROM numbers(10000)",
	)
	require.EqualValues(t, 7, count(t, conn, "SELECT id FROM notes WHERE hasAllTokens(body, 'durable memory')"))
}

func TestAlterDeleteAndExchange(t *testing.T) {
	t.Parallel()
	conn := open(t)
	execAll(t, conn,
		"CREATE TABLE a (n UInt64) ENGINE = MergeTree ORDER BY n",
		"CREATE TABLE b AS a",
		"INSERT INTO a SELECT number FROM numbers(10)",
		"ALTER TABLE a ADD COLUMN s String DEFAULT 'd'",
		"ALTER TABLE a UPDATE s = 'u' WHERE n = 3 SETTINGS mutations_sync = 2",
		"DELETE FROM a WHERE n > 5",
		"EXCHANGE TABLES a AND b",
	)
	require.EqualValues(t, 0, count(t, conn, "SELECT count() FROM a"))
	require.EqualValues(t, 6, count(t, conn, "SELECT count() FROM b"))
	require.EqualValues(t, 3, count(t, conn, "SELECT n FROM b WHERE s = 'u'"))
}
