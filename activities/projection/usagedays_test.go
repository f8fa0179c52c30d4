package projection_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
)

// keeping connects to the database as a program with this setting does.
func keeping(t *testing.T, dsn string, days int) driver.Conn {
	t.Helper()
	conn, err := clickhouse.Connect(t.Context(), dsn, clickhouse.ConnectOptions{UsageDays: days})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = clickhouse.Migrate(t.Context(), conn)
	require.NoError(t, err)
	return conn
}

// forgetting lists the tables that forget, and the days after which they do.
func forgetting(t *testing.T, conn driver.Conn) string {
	t.Helper()
	var tables []string
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT groupArray(name || ' ' || extract(create_table_query, 'toIntervalDay\\((\\d+)\\)')) FROM system.tables
		WHERE database = currentDatabase() AND create_table_query LIKE '% TTL %' AND engine LIKE '%MergeTree'`).Scan(&tables))
	return strings.Join(tables, ", ")
}

// used adds rows of usage of these ages.
func used(t *testing.T, conn driver.Conn, ages ...int) {
	t.Helper()
	for _, age := range ages {
		require.NoError(t, conn.Exec(t.Context(), "INSERT INTO usage_raw (project, entry_id, ts) SELECT 'p', ?, ?", fmt.Sprint(age), time.Now().AddDate(0, 0, -age)))
	}
}

// usedAfter returns the ages of the rows of usage that are left after a merge.
func usedAfter(t *testing.T, conn driver.Conn) string {
	t.Helper()
	require.NoError(t, conn.Exec(t.Context(), "OPTIMIZE TABLE usage_raw FINAL"))
	var left string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT arrayStringConcat(arraySort(groupArray(entry_id)), ' ') FROM usage_raw").Scan(&left))
	return left
}

// Rows of usage are forgotten after the time in the settings of the program that makes the table, and of worker migrate. No other
// table forgets: each is the log, or answers from all of it.
func TestUsageDays(t *testing.T) {
	t.Parallel()
	dsn := stacktest.Database(t)
	conn := keeping(t, dsn, 900)
	require.Equal(t, "usage_raw 900", forgetting(t, conn), "a new database")
	used(t, conn, 1, 89, 91, 800)
	require.Equal(t, "1 800 89 91", usedAfter(t, conn))
	require.Equal(t, "usage_raw 900", forgetting(t, keeping(t, dsn, 0)), "a program with another setting")
	for _, c := range []struct {
		days        int
		kept        clickhouse.UsageKept
		table, rows string
	}{
		{clickhouse.UsageForGood, clickhouse.UsageKept{Before: 900}, "", "1 800 89 91"},
		{1_000_000, clickhouse.UsageKept{Now: 1_000_000}, "usage_raw 1000000", "1 800 89 91"},
		{90, clickhouse.UsageKept{Before: 1_000_000, Now: 90}, "usage_raw 90", "1 89"},
		{90, clickhouse.UsageKept{Before: 90, Now: 90}, "usage_raw 90", "1 89"},
	} {
		conn := keeping(t, dsn, c.days)
		kept, err := clickhouse.KeepUsage(t.Context(), conn)
		require.NoError(t, err)
		require.Equal(t, c.kept, kept)
		require.Equal(t, c.table, forgetting(t, conn))
		require.Equal(t, c.rows, usedAfter(t, conn), c.days)
	}
	require.Equal(t, clickhouse.DefaultUsageDays, clickhouse.UsageDays(stacktest.Connect(t, dsn)))
}

// Restored tables forget as before: a missing one of others changes nothing, and a missing table of usage gets the time in the
// settings.
func TestUsageRestored(t *testing.T) {
	t.Parallel()
	dsn := stacktest.Database(t)
	used(t, keeping(t, dsn, 1000), 1, 800)
	conn := keeping(t, dsn, 500)
	require.NoError(t, conn.Exec(t.Context(), "DROP VIEW facts"))
	_, err := clickhouse.RestoreTables(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, "usage_raw 1000", forgetting(t, conn))
	require.Equal(t, "1 800", usedAfter(t, conn))

	require.NoError(t, conn.Exec(t.Context(), "DROP TABLE usage_raw SYNC"))
	kept, err := clickhouse.KeepUsage(t.Context(), conn)
	require.NoError(t, err, "worker migrate has nothing to do")
	require.Zero(t, kept)
	made, err := clickhouse.RestoreTables(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, []string{"usage_raw"}, made)
	require.Equal(t, "usage_raw 500", forgetting(t, conn))
}

// A rebuild compares and replaces the table in use: its days count, not those in the settings of the worker.
func TestUsageShadow(t *testing.T) {
	t.Parallel()
	dsn := stacktest.Database(t)
	home := keeping(t, dsn, 300)
	used(t, home, 1, 298)
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	require.NoError(t, home.Exec(t.Context(), "INSERT INTO usage_raw (project, entry_id, ts) SELECT 'p', 'going', ?", midnight.AddDate(0, 0, -299).Add(-time.Second)))
	for _, days := range []int{200, clickhouse.UsageForGood} {
		conn := keeping(t, dsn, days)
		key := clickhouse.ScratchKey{Purpose: clickhouse.PurposeRebuild, ID: fmt.Sprint(days + 2)}
		scratch, err := clickhouse.OpenScratch(t.Context(), conn, key)
		require.NoError(t, err)
		require.Equal(t, "usage_raw 300", forgetting(t, scratch.Conn))
		require.NoError(t, scratch.Drop(t.Context()))
		require.EqualValues(t, 2, compared(t, conn))
	}
	conn := keeping(t, dsn, clickhouse.UsageForGood)
	_, err := clickhouse.KeepUsage(t.Context(), conn)
	require.NoError(t, err)
	used(t, conn, 5000)
	require.GreaterOrEqual(t, compared(t, conn), uint64(3), "nothing is about to be forgotten")
}

// compared returns the number of rows of usage that a rebuild compares.
func compared(t *testing.T, conn driver.Conn) uint64 {
	t.Helper()
	d, err := projection.New(conn, eventlog.Options{}).Digest(t.Context(), projection.Table{Name: "usage_raw", Hidden: clickhouse.HiddenUsage})
	require.NoError(t, err)
	return d.Rows
}
