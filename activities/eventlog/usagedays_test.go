package eventlog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
)

// Rows of usage are forgotten after the time in the settings, also in the tables of a rebuild. No other table forgets: each is the
// log, or answers from all of it.
func TestUsageDays(t *testing.T) {
	t.Parallel()
	forgetting := func(dsn string, days int) string {
		conn, err := eventlog.Connect(t.Context(), dsn, eventlog.ConnectOptions{UsageDays: days})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = eventlog.Migrate(t.Context(), conn)
		require.NoError(t, err)
		require.NoError(t, eventlog.KeepUsage(t.Context(), conn))
		require.Equal(t, days, eventlog.UsageDays(conn))
		var tables []string
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT groupArray(name || ' ' || extract(create_table_query, 'toIntervalDay\\((\\d+)\\)')) FROM system.tables
			WHERE database = currentDatabase() AND create_table_query LIKE '% TTL %' AND engine LIKE '%MergeTree'`).Scan(&tables))
		return strings.Join(tables, ", ")
	}
	dsn := stacktest.Database(t)
	require.Equal(t, "usage_raw 30", forgetting(dsn, 30), "a new database")
	require.Equal(t, "usage_raw 90", forgetting(dsn, 90), "a change")
	conn := connect(t, dsn)
	for id, age := range map[string]time.Duration{"old": 91 * 24 * time.Hour, "new": 89 * 24 * time.Hour} {
		require.NoError(t, conn.Exec(t.Context(), "INSERT INTO usage_raw (project, entry_id, ts) SELECT 'p', ?, ?", id, time.Now().Add(-age)))
	}
	require.NoError(t, conn.Exec(t.Context(), "OPTIMIZE TABLE usage_raw FINAL"))
	var left string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT arrayStringConcat(groupArray(entry_id)) FROM usage_raw").Scan(&left))
	require.Equal(t, "new", left)
	require.Equal(t, eventlog.DefaultUsageDays, eventlog.UsageDays(conn))
}
