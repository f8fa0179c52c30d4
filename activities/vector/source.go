package vector

import (
	"context"
	"fmt"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
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

// Events reads events by their ids. Those that do not exist are missing from the result.
type Events interface {
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
}

// EntrySource provides the items of entries.
type EntrySource struct {
	entries *entry.Reader
	log     Events
}

// NewEntrySource returns the source over a migrated database and its log.
func NewEntrySource(conn clickhouse.Conn, log Events) *EntrySource {
	return &EntrySource{entry.NewReader(conn), log}
}

// Kind implements [Source].
func (*EntrySource) Kind() string { return schema.ItemEntry }

// Load implements [Source]. It reads entries that are not projected yet from the log: the outbox may be ahead of the
// table of entries, for example while a worker processes the backlog of a killed one.
func (s *EntrySource) Load(ctx context.Context, project string, ids []string) (map[string]Item, error) {
	items, err := s.read(ctx, entry.InProject(project).IDs(ids))
	if err != nil {
		return nil, err
	}
	out := make(map[string]Item, len(ids))
	for _, i := range items {
		out[i.ID] = i
	}
	var missing []string
	for _, id := range ids {
		if _, ok := out[id]; !ok {
			missing = append(missing, schema.EventID(schema.EntryMaterializedKey(id)))
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	events, err := s.log.GetMany(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("read entries that are not projected: %w", err)
	}
	for _, event := range events {
		e, err := schema.Decode[schema.EntryMaterializedPayload](event)
		if err != nil {
			return nil, err
		}
		if e.Project == project {
			out[e.ID] = EntryItem(e.Entry)
		}
	}
	return out, nil
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
