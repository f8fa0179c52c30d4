package build

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Scopes returns up to limit of the projects, users and agents with processed sessions, in their order.
func Scopes(ctx context.Context, conn driver.Conn, limit int) ([]schema.Scope, error) {
	var out []schema.Scope
	err := clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, s *schema.Scope) error {
		return rows.Scan(&s.Project, &s.User, &s.Agent)
	}), `SELECT DISTINCT project, user, agent FROM build_runs_raw ORDER BY project, user, agent LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("list projects and users: %w", err)
	}
	return out, nil
}
