package entry

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Contesting returns, by the ids of the project's entries, the other sides of their open conflicts in the order of their
// ids. Entries without one are missing.
func (r *Reader) Contesting(ctx context.Context, project string, ids []string) (map[string][]string, error) {
	out := map[string][]string{}
	s := InProject(project).IDs(ids)
	if err := s.check(); err != nil || s.none {
		return out, err
	}
	where := s.where(key)
	where.add("kind = ? AND status = ?", []any{kindConflict, string(schema.StatusContested)})
	err := clickhouse.Query(ctx, r.conn, func(rows driver.Rows) error {
		var id, other string
		err := rows.Scan(&id, &other)
		out[id] = append(out[id], other)
		return err
	}, "SELECT entry_id, other_id FROM entry_changes_raw FINAL"+where.sql()+" ORDER BY entry_id, other_id", where.args...)
	if err != nil {
		return nil, fmt.Errorf("read the entries that contest others: %w", err)
	}
	return out, nil
}
