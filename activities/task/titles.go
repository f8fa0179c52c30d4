package task

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/schema"
)

// Title is a task's title as the vector index holds it.
type Title struct {
	TaskID, Project, Title string
	CreatedAt              time.Time
}

// TitleSubject returns the task whose title the event sets, and false for every other event.
func TitleSubject(event schema.Event) (taskID string, ok bool, err error) {
	if event.Type != schema.TaskCreated && event.Type != schema.TaskTitleChanged {
		return "", false, nil
	}
	f, err := readFact(event)
	if err != nil {
		return "", false, err
	}
	return f.subjects()[0], true, nil
}

// Titles returns the titles of those of the tasks that exist and were not merged, in no order.
func (t *Tables) Titles(ctx context.Context, project string, ids []string) ([]Title, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return t.titles(ctx, "project = ? AND entity_id IN ?", project, set(ids))
}

// TitlesAfter returns up to limit titles of all projects, in the order of project and id, after
// the given ones.
func (t *Tables) TitlesAfter(ctx context.Context, project, id string, limit int) ([]Title, error) {
	return t.titles(ctx, "(project, entity_id) > (?, ?) ORDER BY project, entity_id LIMIT ?", project, id, limit)
}

func (t *Tables) titles(ctx context.Context, where string, args ...any) ([]Title, error) {
	var out []Title
	err := query(ctx, t.conn, func(rows driver.Rows) error {
		var title Title
		err := rows.Scan(&title.TaskID, &title.Project, &title.Title, &title.CreatedAt)
		out = append(out, title)
		return err
	}, `SELECT entity_id, project, title, created_at FROM entities
		WHERE entity_type = 'task' AND status != 'superseded' AND `+where, args...)
	return out, err
}
