package vector

import (
	"context"

	"axiommind/activities/entry"
	"axiommind/activities/table"
	"axiommind/schema"
)

// Source provides the items of one kind.
type Source interface {
	Kind() string
	// Load returns the project's items that exist, by id.
	Load(ctx context.Context, project string, ids []string) (map[string]Item, error)
	// After returns up to limit items of all projects in the order of project and id, after the given pair.
	After(ctx context.Context, project, id string, limit int) ([]Item, error)
}

// EntrySource provides the items of entries.
type EntrySource struct{ entries *entry.Reader }

// NewEntrySource returns the source over a migrated database.
func NewEntrySource(conn table.Conn) *EntrySource { return &EntrySource{entry.NewReader(conn)} }

// Kind implements [Source].
func (*EntrySource) Kind() string { return schema.ItemEntry }

// Load implements [Source].
func (s *EntrySource) Load(ctx context.Context, project string, ids []string) (map[string]Item, error) {
	items, err := s.read(ctx, entry.InProject(project).IDs(ids))
	out := make(map[string]Item, len(items))
	for _, i := range items {
		out[i.ID] = i
	}
	return out, err
}

// After implements [Source].
func (s *EntrySource) After(ctx context.Context, project, id string, limit int) ([]Item, error) {
	return s.read(ctx, entry.InAllProjects().After(project, id).Limit(limit))
}

func (s *EntrySource) read(ctx context.Context, selection entry.Selection) ([]Item, error) {
	rows, err := s.entries.Read(ctx, selection, entry.Statement)
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(rows))
	for i := range rows {
		items[i] = EntryItem(rows[i].Entry)
	}
	return items, nil
}
