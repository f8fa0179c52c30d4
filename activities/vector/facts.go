package vector

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Facts that a session states are indexed as its entries. A fact that a person entered or reworded is an item of its
// own. It belongs to a user and not to a project: facts have the tenant of the empty name.
var factEvents = []string{schema.FactCreated, schema.FactUpdated}

// FactsProject is the project name that facts are stored under. No project has this name.
const FactsProject = ""

// factItems returns the item for a fact's wording in an event of a memory's stream, if a person gave it. Its id is that
// of the event, and it is valid while the fact has this wording.
func factItems(event schema.Event) ([]Item, error) {
	user, agent, err := schema.ParseMemoryStream(event.Stream)
	if err != nil {
		return nil, err
	}
	payload, err := schema.DecodePayload(event)
	if err != nil {
		return nil, err
	}
	item := Item{Kind: schema.ItemFact, ID: event.ID, Project: FactsProject, User: user, Agent: agent, OccurredAt: storedTime(event.TS)}
	switch p := payload.(type) {
	case schema.FactCreatedPayload:
		if p.EntryID != "" {
			return nil, nil
		}
		item.Title, item.Type = p.Content, p.Category
	case schema.FactUpdatedPayload:
		if p.Content == nil {
			return nil, nil
		}
		item.Title = *p.Content
	default:
		return nil, fmt.Errorf("read event %q: a %s event gives no fact", event.ID, event.Type)
	}
	return []Item{item}, nil
}

// FactWording returns the fact and its wording in the event of an item.
func FactWording(event schema.Event) (user, agent, factID, content string, err error) {
	items, err := factItems(event)
	if err != nil || len(items) == 0 {
		return "", "", "", "", err
	}
	payload, err := schema.DecodePayload(event)
	switch p := payload.(type) {
	case schema.FactCreatedPayload:
		factID = p.FactID
	case schema.FactUpdatedPayload:
		factID = p.FactID
	}
	return items[0].User, items[0].Agent, factID, items[0].Title, err
}

// FactSource provides the items of facts. It reads them from the event log.
type FactSource struct {
	conn driver.Conn
	log  Events
}

// NewFactSource returns the source of facts.
func NewFactSource(conn driver.Conn, log Events) *FactSource { return &FactSource{conn, log} }

// Kind implements [Source].
func (*FactSource) Kind() string { return schema.ItemFact }

// Load implements [Source].
func (s *FactSource) Load(ctx context.Context, project string, ids []string) (map[string]Item, error) {
	out := make(map[string]Item, len(ids))
	if project != FactsProject {
		return out, nil
	}
	found, err := s.log.GetMany(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	for _, event := range found {
		if !slices.Contains(factEvents, event.Type) {
			continue
		}
		items, err := factItems(event)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			out[item.ID] = item
		}
	}
	return out, nil
}

// After implements [Source].
func (s *FactSource) After(ctx context.Context, project, id string, limit int) ([]Item, error) {
	var out []Item
	for project == FactsProject && len(out) < limit {
		var ids []string
		err := clickhouse.Query(ctx, s.conn, clickhouse.Column(&ids), `SELECT DISTINCT event_id FROM events_raw WHERE event_type IN ? AND startsWith(stream, ?) AND event_id > ?
			ORDER BY event_id LIMIT ?`, factEvents, schema.MemoryPrefix, id, limit)
		if err != nil {
			return nil, fmt.Errorf("list facts: %w", err)
		}
		items, err := s.Load(ctx, project, ids)
		if err != nil {
			return nil, err
		}
		for _, found := range ids {
			if item, ok := items[found]; ok {
				out = append(out, item)
			}
		}
		if len(ids) < limit {
			break
		}
		id = ids[len(ids)-1]
	}
	return out[:min(limit, len(out))], nil
}
