package clickhouse_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func withWords(t *testing.T) driver.Conn {
	t.Helper()
	conn := connect(t, stacktest.Database(t))
	require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE words (n UInt32, word String) ENGINE = MergeTree ORDER BY n"))
	return conn
}

func read(t *testing.T, conn clickhouse.Conn, words ...string) []uint32 {
	t.Helper()
	var out []uint32
	require.NoError(t, clickhouse.Query(t.Context(), conn, clickhouse.Column(&out), "SELECT n FROM words WHERE word IN ? ORDER BY n", clickhouse.Set(words)))
	return out
}

// Inserted rows are read at once, whatever the words contain.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	conn := withWords(t)
	hostile := `it's \ a "word" ?`
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "words (n, word)", nil))
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "words (n, word)", [][]any{
		{uint32(1), "one"}, {uint32(2), hostile}, {uint32(3), "세"},
	}))
	require.Equal(t, []uint32{2, 3}, read(t, conn, "세", hostile, "none"))
	require.Equal(t, []uint32{1}, read(t, conn, "one"))
}

// An error names the table, without its columns, and wraps its cause.
func TestErrors(t *testing.T) {
	t.Parallel()
	conn := withWords(t)
	row := [][]any{{uint32(1), "one"}}
	require.ErrorContains(t, clickhouse.Insert(t.Context(), conn, "absent (n, word)", row), "insert into absent: ")
	require.ErrorContains(t, clickhouse.Insert(t.Context(), conn, "words (n, word)", [][]any{{"no number", "one"}}), "insert into words: ")
	require.Empty(t, read(t, conn, "one"), "a block is written as a whole")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, clickhouse.Insert(ctx, conn, "words (n, word)", row), context.Canceled)

	stop := errors.New("stop")
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "words (n, word)", row))
	err := clickhouse.Query(t.Context(), conn, func(driver.Rows) error { return stop }, "SELECT n FROM words")
	require.ErrorIs(t, err, stop)
}
