package task

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Tables is the [Index] over the projection's tables.
type Tables struct{ conn clickhouse.Conn }

// NewTables returns the index over the tables of a migrated database.
func NewTables(conn clickhouse.Conn) *Tables { return &Tables{conn} }

// titlesAtOnce bounds the titles in one query, since each has several searches.
const titlesAtOnce = 16

// Read implements [Index], in one query, unless there are many titles.
func (t *Tables) Read(ctx context.Context, project string, w Wants) (Found, error) {
	found := newFound()
	q := newQuestion(project, &found)
	q.observed(w.Entries)
	q.keys(w.Keys)
	q.entities(w.IDs)
	q.pointing(w.Targets)
	for titles := range slices.Chunk(w.Titles, titlesAtOnce) {
		q.titles(titles)
		if err := q.ask(ctx, t); err != nil {
			return found, err
		}
	}
	return found, q.ask(ctx, t)
}

// Prefixed implements [Index].
func (t *Tables) Prefixed(ctx context.Context, project string, types []schema.EntityType, prefix string, limit int) ([]string, error) {
	return t.ids(ctx, project, `SELECT DISTINCT entity_id FROM entities_raw
		WHERE project = ? AND entity_type IN ? AND startsWith(entity_id, ?) ORDER BY entity_id LIMIT ?`, clickhouse.Set(types), prefix, limit)
}

// ReportedDone implements [Index].
func (t *Tables) ReportedDone(ctx context.Context, project string, limit int) ([]string, error) {
	return t.ids(ctx, project, `SELECT entity_id FROM entities WHERE project = ? AND entity_type = 'task' AND reported_done
		ORDER BY updated_at, entity_id LIMIT ?`, limit)
}

// ProjectsWith is [clickhouse.ProjectsWith] for tasks, conditions and artifacts.
func (t *Tables) ProjectsWith(ctx context.Context, prefix string) ([]string, error) {
	return clickhouse.ProjectsWith(ctx, t.conn, "entities_raw", "entity_id", prefix)
}

// query runs a query whose first argument is the project. All reads of the tables but [Tables.ProjectsWith] use
// it, so that none spans several projects.
func (t *Tables) query(ctx context.Context, project string, scan func(driver.Rows) error, sql string, args ...any) error {
	if err := clickhouse.Required("project", project); err != nil {
		return fmt.Errorf("read tasks: %w", err)
	}
	return clickhouse.Query(ctx, t.conn, scan, sql, append([]any{project}, args...)...)
}

func (t *Tables) ids(ctx context.Context, project, sql string, args ...any) ([]string, error) {
	var out []string
	err := t.query(ctx, project, clickhouse.Column(&out), sql, args...)
	return out, err
}
