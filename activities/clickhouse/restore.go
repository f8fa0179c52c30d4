package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/schema"
)

// RestoreTables creates the missing tables and views of the program's migrations, empty, and returns their names. It
// is meant for dropped projections: a dropped event log comes back empty too.
func RestoreTables(ctx context.Context, conn driver.Conn) ([]string, error) {
	if _, err := Migrate(ctx, conn); err != nil {
		return nil, err
	}
	missing, err := MissingTables(ctx, conn)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	program, err := schema.Migrations()
	if err != nil {
		return nil, err
	}
	// Run all migrations, because a later one may have changed a table of an earlier one.
	for _, m := range program {
		for n, statement := range m.Statements {
			if err := execute(ctx, conn, statement); err != nil {
				return nil, fmt.Errorf("apply migration %d %q again: statement %d: %w", m.Version, m.Name, n+1, err)
			}
		}
	}
	if slices.Contains(missing, "usage_raw") {
		if err := beginUsage(ctx, conn); err != nil {
			return nil, err
		}
	}
	left, err := MissingTables(ctx, conn)
	return slices.DeleteFunc(missing, func(name string) bool { return slices.Contains(left, name) }), err
}

// MissingTables returns the names of the tables and views of the program's migrations that are not there.
func MissingTables(ctx context.Context, conn driver.Conn) ([]string, error) {
	program, err := schema.Migrations()
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	err = Select(ctx, conn, Map(there, func(rows driver.Rows, name *string, is *bool) error { return rows.Scan(name, is) }),
		`SELECT name, true FROM system.tables WHERE database = currentDatabase()`)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	var missing []string
	for _, m := range program {
		for _, name := range m.Creates() {
			if !there[name] || slices.Contains(m.Tables(), name) && !there[ClusterOf(conn).Local(name)] {
				missing = append(missing, name)
			}
		}
	}
	return missing, nil
}
