package task

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/schema"
)

// raise gives each task the stage of the best believed entry that observed it. An entry may be promoted or demoted long
// after the events of its tasks. So its stage is read, and the fold has only raw and working. With a time in the
// selection, the entries are those that had observed the task by then, with their present stages.
func (q *Queries) raise(ctx context.Context, s Selection, tasks []Entity) error {
	if len(tasks) == 0 {
		return nil
	}
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	observers, err := q.tables.observers(ctx, s, ids)
	if err != nil {
		return fmt.Errorf("read the entries that observed tasks of project %q: %w", s.Project, err)
	}
	var entryIDs []string
	for _, of := range observers {
		entryIDs = append(entryIDs, of...)
	}
	stages, err := entry.NewReader(q.tables.conn).Stages(ctx, entry.InProject(s.Project).IDs(entryIDs))
	if err != nil {
		return fmt.Errorf("read the stages of entries that observed tasks: %w", err)
	}
	for i, t := range tasks {
		for _, id := range observers[t.ID] {
			if stage := stages[id]; stage.Rank() > tasks[i].Stage.Rank() {
				tasks[i].Stage = stage
			}
		}
	}
	return nil
}

// Observers returns, by the ids of tasks, the entries that observed them by the time of the selection.
func (q *Queries) Observers(ctx context.Context, s Selection, taskIDs []string) (map[string][]string, error) {
	return q.tables.observers(ctx, s, taskIDs)
}

// Tasks returns the tasks with the ids, each with the stage of the best entry that states it.
func (q *Queries) Tasks(ctx context.Context, s Selection, ids []string) (map[string]Entity, error) {
	found, err := q.Entities(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(found, func(_ string, e Entity) bool { return e.Type != schema.EntityTask })
	tasks := slices.Collect(maps.Values(found))
	if err := q.raise(ctx, s, tasks); err != nil {
		return nil, err
	}
	for _, t := range tasks {
		found[t.ID] = t
	}
	return found, nil
}

// Entities returns the entities with the ids, as they were at the time of the selection. Entities that did not exist
// are missing.
func (q *Queries) Entities(ctx context.Context, s Selection, ids []string) (map[string]Entity, error) {
	src, err := q.source(ctx, s)
	if err != nil {
		return nil, err
	}
	return src.load(ctx, ids)
}

// observers returns, by the ids of tasks, the entries that observed them.
func (t *Tables) observers(ctx context.Context, s Selection, ids []string) (map[string][]string, error) {
	sql := `SELECT DISTINCT dst_id, src_id FROM edges_raw WHERE project = ? AND dst_id IN ? AND rel_type = ?`
	args := []any{clickhouse.Set(ids), string(schema.RelEvidenceOf)}
	if !s.AsOf.IsZero() {
		sql += ` AND created_at <= ` + microseconds
		args = append(args, asMicroseconds(s.AsOf))
	}
	out := map[string][]string{}
	err := t.query(ctx, s.Project, func(rows driver.Rows) error {
		var id, observer string
		err := rows.Scan(&id, &observer)
		out[id] = append(out[id], observer)
		return err
	}, sql, args...)
	return out, err
}
