package vector

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// Source is where the items of one kind come from.
type Source interface {
	Kind() string
	// Load returns those of the project's items that exist, by id.
	Load(ctx context.Context, project string, ids []string) (map[string]Item, error)
	// After returns up to limit items in the order of project and id, after the given ones.
	After(ctx context.Context, project, id string, limit int) ([]Item, error)
}

// EntrySource reads the entries out of their projection.
type EntrySource struct{ conn driver.Conn }

// NewEntrySource returns the source of entries.
func NewEntrySource(conn driver.Conn) *EntrySource { return &EntrySource{conn: conn} }

// Kind is that of entries.
func (*EntrySource) Kind() string { return schema.ItemEntry }

// Load returns those of the project's entries that exist, by id.
func (s *EntrySource) Load(ctx context.Context, project string, ids []string) (map[string]Item, error) {
	out := make(map[string]Item, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	items, err := s.query(ctx, "project = ? AND entry_id IN ?", project, ids)
	for _, i := range items {
		out[i.ID] = i
	}
	return out, err
}

// After returns up to limit entries in the order of project and id, after the given ones.
func (s *EntrySource) After(ctx context.Context, project, id string, limit int) ([]Item, error) {
	return s.query(ctx, "(project, entry_id) > (?, ?) ORDER BY project, entry_id LIMIT ?", project, id, limit)
}

func (s *EntrySource) query(ctx context.Context, where string, args ...any) ([]Item, error) {
	var out []Item
	err := table.Query(ctx, s.conn, func(rows driver.Rows) error {
		var e schema.Entry
		var entryType, content string
		if err := rows.Scan(&e.ID, &e.Project, &e.Title, &content, &entryType, &e.User, &e.Agent, &e.SessionID,
			&e.OccurredAt); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(content), &e); err != nil {
			return fmt.Errorf("decode entry %q: %w", e.ID, err)
		}
		e.Type = schema.EntryType(entryType)
		out = append(out, EntryItem(e))
		return nil
	}, `SELECT entry_id, project, title, content_json, entry_type, user, agent,
		session_id, created_ts FROM entries WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read entries to index: %w", err)
	}
	return out, nil
}
