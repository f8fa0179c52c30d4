package clickhouse

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	// DefaultUsageDays is how many days the table of usage keeps a row.
	DefaultUsageDays = 730
	// UsageForGood is the value of [ConnectOptions.UsageDays] that keeps all rows.
	UsageForGood = -1
)

// ttlDays is the expression for the days that the table of usage keeps a row, in a query of system.tables. It is 0 if the
// table keeps all rows.
const ttlDays = `toInt32OrZero(extract(create_table_query, 'TTL [^\n]*toIntervalDay\\((\\d+)\\)'))`

// HiddenUsage is the SQL condition of rows of usage that the table in use is about to forget: the server removes them at a time of
// its choice. It reads the days from the table, because each program has settings of its own.
const HiddenUsage = `(SELECT max(` + ttlDays + `) FROM system.tables WHERE database = currentDatabase() AND ` + TableName + ` = 'usage_raw') > 0
	AND ts < toStartOfDay(now('UTC')) - toIntervalDay((SELECT max(` + ttlDays + `) - 1 FROM system.tables WHERE database = currentDatabase() AND ` + TableName + ` = 'usage_raw'))`

// UsageDays returns how many days the table of usage keeps a row by the options of the connection, or 0 if it keeps all.
func UsageDays(conn any) int {
	if c, ok := conn.(interface{ UsageDays() int }); ok {
		return c.UsageDays()
	}
	return DefaultUsageDays
}

// UsageDays returns how many days the table of usage keeps a row by the options, for [UsageDays].
func (c *describedConn) UsageDays() int {
	if c.opts.UsageDays == 0 {
		return DefaultUsageDays
	}
	return max(c.opts.UsageDays, 0)
}

// UsageKept is a change of the days that the table of usage keeps a row. 0 stands for all rows, for good.
type UsageKept struct{ Before, Now int }

// KeepUsage has the table of usage keep its rows as long as the options of the connection say. A missing table is no error.
func KeepUsage(ctx context.Context, conn driver.Conn) (UsageKept, error) {
	return keepUsage(ctx, conn, UsageDays(conn))
}

func keepUsage(ctx context.Context, conn driver.Conn, days int) (UsageKept, error) {
	before, there, err := keptDays(ctx, conn)
	if err != nil || !there || before == days {
		return UsageKept{before, before}, err
	}
	change := "REMOVE TTL"
	if days > 0 {
		// A DateTime ends in 2106, and a later sum would wrap into the past.
		change = fmt.Sprintf("MODIFY TTL toDateTime(least(ts + toIntervalDay(%d), toDateTime64('2106-01-01 00:00:00', 6, 'UTC')))", days)
	}
	if err := conn.Exec(ctx, "ALTER TABLE usage_raw "+change); err != nil {
		return UsageKept{before, before}, fmt.Errorf("keep the rows of usage for %d days: %w%s", days, err, migrateHint(err))
	}
	return UsageKept{before, days}, nil
}

// beginUsage has a new table of usage keep its rows as long as the options of the connection say. It changes no table that
// forgets already.
func beginUsage(ctx context.Context, conn driver.Conn) error {
	days, there, err := keptDays(ctx, conn)
	if err != nil || !there || days > 0 {
		return err
	}
	_, err = KeepUsage(ctx, conn)
	return err
}

// keptDays returns the days that the table of usage keeps a row, and whether there is such a table.
func keptDays(ctx context.Context, conn driver.Conn) (int, bool, error) {
	var days int32
	err := conn.QueryRow(ctx, "SELECT "+ttlDays+" FROM system.tables WHERE database = currentDatabase() AND name = ?", ClusterOf(conn).Local("usage_raw")).Scan(&days)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read how long the rows of usage are kept: %w", err)
	}
	return int(days), true, nil
}
