package task

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Titled is an entity's id and title.
type Titled struct{ ID, Title string }

// Titled returns the entities of the types whose ids begin with the prefix, the last changed first.
func (t *Tables) Titled(ctx context.Context, project string, types []schema.EntityType, prefix string, limit int) ([]Titled, error) {
	var out []Titled
	err := t.query(ctx, project, clickhouse.Rows(&out, func(rows driver.Rows, e *Titled) error { return rows.Scan(&e.ID, &e.Title) }),
		`SELECT entity_id, title FROM entities WHERE project = ? AND entity_type IN ? AND startsWith(entity_id, ?)
		ORDER BY updated_at DESC, entity_id LIMIT ?`, clickhouse.Set(types), prefix, limit)
	if err != nil {
		return nil, fmt.Errorf("read titles of entities: %w", err)
	}
	return out, nil
}
