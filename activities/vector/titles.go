package vector

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/spans"
	"axiommind/activities/task"
	"axiommind/schema"
)

// titleEvents are the types of the events that give a task a title. An item is one title of a task. A renamed task
// keeps the vector of its old title, which still finds it.
//
// This differs from seed 004 §7.4 and §8.1. There the outbox identifies a title by the task alone, and titles have a
// collection of their own. With one item per task, a rename would remove the old title, which here remains an alias.
// {task_id}/{seq} keeps the outbox's key unique and an item immutable. Titles are in the class of the embedding
// version, where searches filter by kind. So a project has one tenant, and an embedding version has one writer.
var titleEvents = []string{schema.TaskCreated, schema.TaskTitleChanged}

// titleItems returns titleItem as a list.
func titleItems(event schema.Event) ([]Item, error) {
	item, err := titleItem(event)
	return []Item{item}, err
}

// titleItem returns the item for an event in a project's stream that gives a task a title. Its id names both the task
// and the event.
func titleItem(event schema.Event) (Item, error) {
	payload, err := schema.DecodePayload(event)
	if err != nil {
		return Item{}, err
	}
	item := Item{Kind: schema.ItemTaskTitle, Project: event.Project}
	switch p := payload.(type) {
	case schema.TaskCreatedPayload:
		item.ID, item.Title = p.TaskID, p.Title
	case schema.TaskTitleChangedPayload:
		item.ID, item.Title = p.TaskID, p.To
	default:
		return Item{}, fmt.Errorf("read event %q: a %s event gives no title", event.ID, event.Type)
	}
	item.ID += "/" + strconv.FormatUint(event.Seq, 10)
	return item, nil
}

// TitleSource provides the items of task titles. It reads them from the event log.
type TitleSource struct{ conn driver.Conn }

// NewTitleSource returns the source of task titles.
func NewTitleSource(conn driver.Conn) *TitleSource { return &TitleSource{conn: conn} }

// Kind returns the kind of task titles.
func (*TitleSource) Kind() string { return schema.ItemTaskTitle }

// Load returns the project's titles that exist, by id.
func (s *TitleSource) Load(ctx context.Context, project string, ids []string) (map[string]Item, error) {
	seqs := make([]uint64, 0, len(ids))
	for _, id := range ids {
		_, seq, _ := strings.Cut(id, "/")
		n, err := strconv.ParseUint(seq, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read task title %q: %w", id, err)
		}
		seqs = append(seqs, n)
	}
	out := make(map[string]Item, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	items, err := s.query(ctx, `stream = ? AND seq IN ? AND event_type IN ?`, schema.ProjectStream(project), seqs, titleEvents)
	for _, i := range items {
		out[i.ID] = i
	}
	return out, err
}

// After returns up to limit titles in the order of project and id, after the given pair.
func (s *TitleSource) After(ctx context.Context, project, id string, limit int) ([]Item, error) {
	const itemID = `concat(JSONExtractString(payload_json, 'task_id'), '/', toString(seq))`
	return s.query(ctx, `startsWith(stream, ?) AND event_type IN ? AND (project, `+itemID+`) > (?, ?)
		ORDER BY project, `+itemID+` LIMIT ?`, schema.ProjectPrefix, titleEvents, project, id, limit)
}

func (s *TitleSource) query(ctx context.Context, where string, args ...any) ([]Item, error) {
	var out []Item
	err := clickhouse.Query(ctx, s.conn, clickhouse.Rows(&out, func(rows driver.Rows, item *Item) error {
		var event schema.Event
		err := rows.Scan(&event.ID, &event.Type, &event.Project, &event.Seq, &event.Payload)
		if err == nil {
			*item, err = titleItem(event)
		}
		return err
	}), `SELECT event_id, event_type, project, seq, payload_json FROM events_raw FINAL WHERE `+eventlog.Shown+` AND `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read task titles: %w", err)
	}
	return out, nil
}

// Titles finds tasks by the meaning of their titles.
type Titles struct {
	client    *Client
	embedders InUse
}

// NewTitles returns a searcher over the collection of the embedder in use.
func NewTitles(client *Client, embedders InUse) *Titles {
	return &Titles{client: client, embedders: embedders}
}

// SimilarTitles returns up to limit tasks, the most similar first. Recently written titles may be missing.
func (t *Titles) SimilarTitles(ctx context.Context, project, title string, limit int) ([]task.TitleHit, error) {
	embedder, err := t.embedders.InUse(ctx)
	if err != nil {
		return nil, err
	}
	if _, words := embedder.(WordsOnly); words {
		return nil, nil // The words of titles are compared without an index.
	}
	calling, s := spans.Embedding(ctx, embedder.Version())
	vector, err := embedder.EmbedQuery(calling, title)
	spans.End(s, err)
	if err != nil {
		return nil, fmt.Errorf("embed title: %w", err)
	}
	found, err := t.client.Hybrid(ctx, HybridQuery{
		Collection: schema.VectorCollection(embedder.Version()), Project: project, Filter: Filter{Kinds: []string{schema.ItemTaskTitle}},
		Text: title, Vector: vector, Alpha: 1, Limit: 2 * limit,
	})
	if err != nil {
		return nil, err
	}
	hits := make([]task.TitleHit, 0, limit)
	seen := map[string]bool{}
	for _, c := range found {
		id, _, _ := strings.Cut(c.ItemID, "/")
		if seen[id] || len(hits) == limit {
			continue
		}
		seen[id] = true
		hits = append(hits, task.TitleHit{TaskID: id, Similarity: llm.Similarity(embedder, c.Similarity)})
	}
	return hits, nil
}
