package eventlog

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// DefaultUsageDays is how many days the table of usage keeps a row. It is that of the migrations.
const DefaultUsageDays = 730

// UsageDays returns how many days the table of usage keeps a row, by the options of the connection.
func UsageDays(conn any) int {
	switch c := conn.(type) {
	case interface{ usageDays() int }:
		return c.usageDays()
	case *bulkConn:
		return UsageDays(c.Conn)
	}
	return DefaultUsageDays
}

func (c *describedConn) usageDays() int {
	if c.opts.UsageDays == 0 {
		return DefaultUsageDays
	}
	return c.opts.UsageDays
}

// KeepUsage has the table of usage keep its rows as long as the options of the connection say.
func KeepUsage(ctx context.Context, conn driver.Conn) error {
	var as string
	err := conn.QueryRow(ctx, "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = ?", clusterOf(conn).Local("usage_raw")).Scan(&as)
	ttl := fmt.Sprintf("TTL toDateTime(ts) + toIntervalDay(%d)", UsageDays(conn))
	if err != nil || strings.Contains(as, ttl) {
		return err
	}
	if err := conn.Exec(ctx, "ALTER TABLE usage_raw MODIFY "+ttl); err != nil {
		return fmt.Errorf("keep the rows of usage for %d days: %w%s", UsageDays(conn), err, migrateHint(err))
	}
	return nil
}
