package task

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// tableSource answers from the project's tables, as of now.
type tableSource struct {
	tables  *Tables
	project string
}

func (l *tableSource) load(ctx context.Context, ids []string) (map[string]Entity, error) {
	found, err := l.tables.Read(ctx, l.project, Wants{IDs: ids})
	return found.Entities, err
}

func (l *tableSource) tasks(ctx context.Context, w wants, p part) ([]Entity, error) {
	where, args := `entity_type = 'task' AND status != 'superseded'`, []any{}
	const edges = `(SELECT src_id FROM edges WHERE project = ? AND rel_type = `
	switch {
	case w.kind == onlySuggested:
		where += ` AND entity_id IN ` + edges + `'blocked_by_suggested') AND entity_id NOT IN ` + edges +
			`'blocked_by' AND NOT JSONExtractBool(meta_json, 'auto_placeholder'))`
		args = append(args, l.project, l.project)
	case w.kind == withPlaceholder:
		where += ` AND entity_id IN ` + edges + `'blocked_by' AND JSONExtractBool(meta_json, 'auto_placeholder')
			AND dst_id NOT IN ` + edges + `'resolves_to'))`
		args = append(args, l.project, l.project)
	case w.kind == reportedDone:
		where += ` AND reported_done`
	case w.status != "":
		where += ` AND task_status = ?`
		args = append(args, string(w.status))
	}
	return l.entities(ctx, where+` ORDER BY updated_at DESC, entity_id LIMIT ? OFFSET ?`, append(args, p.limit, p.offset)...)
}

func (l *tableSource) resolvedConditions(ctx context.Context, p part) ([]Entity, error) {
	return l.entities(ctx, `entity_type = 'condition' AND entity_id IN
		(SELECT src_id FROM edges WHERE project = ? AND rel_type = 'resolves_to')
		ORDER BY JSONExtractString(current_json, 'resolved_at') DESC, entity_id LIMIT ? OFFSET ?`, l.project, p.limit, p.offset)
}

func (l *tableSource) entities(ctx context.Context, where string, args ...any) ([]Entity, error) {
	var out []Entity
	err := l.tables.query(ctx, l.project, func(rows driver.Rows) error {
		var current string
		if err := rows.Scan(&current); err != nil {
			return err
		}
		e, err := decodeEntity(current)
		out = append(out, e)
		return err
	}, `SELECT current_json FROM entities WHERE project = ? AND `+where, args...)
	return out, err
}
