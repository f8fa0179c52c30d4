package task

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	language "axiommind/activities/text"
	"axiommind/schema"
)

// Projector writes the tables of entities, aliases, edges and histories. Every row depends only on the fold of one
// entity's events, so the rows do not depend on how the events are split into pages.
type Projector struct {
	conn   clickhouse.Conn
	tables *Tables
	// planned has entities that need not be loaded. It may be empty.
	planned projectState
}

// projectState is the state of entities of a project after the event at a position of its stream. An entity that does not
// exist means that no entity has the id.
type projectState struct {
	project  string
	seq      uint64
	entities map[string]Entity
}

// after returns a projector that can apply the event after the standing without loading its entities.
func (p *Projector) after(s projectState) *Projector { return &Projector{p.conn, p.tables, s} }

// NewProjector returns the projector over the tables of a migrated database.
func NewProjector(conn clickhouse.Conn) *Projector {
	return &Projector{conn: conn, tables: NewTables(conn)}
}

// Name implements projection.Projector.
func (p *Projector) Name() string { return "tasks" }

// Types implements projection.Projector.
func (p *Projector) Types() []string { return EventTypes() }

// StreamPrefix implements projection.Projector.
func (p *Projector) StreamPrefix() string { return schema.ProjectPrefix }

// Version implements projection.Projector.
func (p *Projector) Version() uint32 { return 1 }

// Tables implements projection.Projector. The version of an alias or an edge is that of its entity at the end of the page
// that wrote it. An edge of evidence has the position of its event. Only the order of these versions matters.
func (p *Projector) Tables() []projection.Table {
	return []projection.Table{
		{Name: "entities_raw"},
		{Name: "entity_aliases_raw", Varying: []string{"version"}},
		{Name: "edges_raw", Hidden: "removed", Varying: []string{"version"}},
		{Name: "entity_events_raw"},
	}
}

// Apply implements projection.Projector. It loads the entities that the events change, except those that the writer read
// for planning. Then it folds the events and writes the changes, in a fixed number of statements. Entities are written
// last: until then the page does not count as applied, and applying it again writes the same rows.
func (p *Projector) Apply(ctx context.Context, events []schema.Event) error {
	if len(events) == 0 {
		return nil
	}
	project, err := schema.ParseProjectStream(events[0].Stream)
	if err != nil {
		return err
	}
	page, err := foldPage(project, events, func(ids []string) (map[string]Entity, error) {
		return p.load(ctx, project, events[0].Seq, ids)
	})
	if err != nil {
		return fmt.Errorf("fold %d events of project %q: %w", len(events), project, err)
	}
	others, entities, err := page.rows()
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, other := range others {
		group.Go(func() error { return clickhouse.Insert(groupCtx, p.conn, other.into, other.rows) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return clickhouse.Insert(ctx, p.conn, entities.into, entities.rows)
}

// load returns the entities before the event at the position, or later. It loads a planned entity again if another
// process had already applied later events to it: that version may be from a generation that a rebuild has replaced
// since.
func (p *Projector) load(ctx context.Context, project string, seq uint64, ids []string) (map[string]Entity, error) {
	out := map[string]Entity{}
	if known := p.planned; known.project == project && known.seq+1 == seq {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			e, ok := known.entities[id]
			if ok = ok && e.Version <= known.seq; ok && e.Exists() {
				out[id] = e
			}
			return ok
		})
	}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := p.tables.Read(ctx, project, Wants{IDs: ids})
	maps.Copy(out, found.Entities)
	return out, err
}

// page has the changes that a list of events makes.
type page struct {
	project string
	// before and after have the changed entities. Entities that did not exist are missing from before.
	before, after map[string]Entity
	// edges are the edges that any of the events changed, by entity, in their last version.
	edges    map[string]map[edgeKey]Edge
	evidence []evidenceEdge
	history  []historyRow
}

type evidenceEdge struct {
	edge Edge
	seq  uint64
}

type historyRow struct {
	entity string
	event  schema.Event
}

func foldPage(project string, events []schema.Event, load func(ids []string) (map[string]Entity, error)) (page, error) {
	g := page{project: project, after: map[string]Entity{}, edges: map[string]map[edgeKey]Edge{}}
	occurrences := make([]occurrence, len(events))
	touched := map[string]bool{}
	for i, e := range events {
		o, err := readEvent(e)
		if err != nil {
			return g, err
		}
		o.project = project
		occurrences[i] = o
		for _, id := range o.ids() {
			touched[id] = true
		}
	}
	before, err := load(slices.Sorted(maps.Keys(touched)))
	if err != nil {
		return g, fmt.Errorf("load %d entities: %w", len(touched), err)
	}
	g.before = before
	maps.Copy(g.after, before)
	for i, o := range occurrences {
		for _, id := range o.ids() {
			entity := g.after[id]
			g.after[id] = entity.after(id, o)
			g.noteEdges(entity, g.after[id])
			g.history = append(g.history, historyRow{id, events[i]})
		}
		if p, ok := o.payload.(schema.TaskObservedPayload); ok && p.EntryID != "" {
			g.evidence = append(g.evidence, evidenceEdge{Edge{
				Src: EdgeEnd{endEntry, p.EntryID}, Rel: schema.RelEvidenceOf, Dst: EdgeEnd{endEntity, p.TaskID},
				Meta:  evidenceMeta{p.Method, p.Score, p.EvidenceAligned, p.Title},
				Since: o.ts,
			}, o.seq})
		}
	}
	return g, nil
}

// evidenceMeta is the Meta of an evidence_of edge.
type evidenceMeta struct {
	Method          string  `json:"method"`
	Score           float64 `json:"score"`
	EvidenceAligned bool    `json:"evidence_aligned"`
	Title           string  `json:"title"`
}

// tableRows are rows for one table.
type tableRows struct {
	into string
	rows [][]any
}

// rows returns the rows to write. Entities must be written after the others.
func (g page) rows() (others []tableRows, entities tableRows, err error) {
	history := tableRows{into: "entity_events_raw (project, entity_id, seq, event_id, event_type, ts)"}
	for _, h := range g.history {
		e := h.event
		history.rows = append(history.rows, []any{g.project, h.entity, e.Seq, e.ID, e.Type, e.TS})
	}
	edges := tableRows{into: "edges_raw (edge_id, project, src_type, src_id, rel_type, dst_type, dst_id, meta_json, created_at, removed, version)"}
	aliases := tableRows{into: "entity_aliases_raw (project, entity_type, canonical_key, entity_id, is_primary, created_at, version)"}
	entities = tableRows{into: `entities_raw (entity_id, entity_type, project, canonical_key, title, stage, status,
		task_status, reported_done, priority, auto_placeholder, current_json, title_norm, search_text, created_at, updated_at, version)`}
	for _, ev := range g.evidence {
		row, err := g.edgeRow(ev.edge, false, ev.seq)
		if err != nil {
			return nil, entities, err
		}
		edges.rows = append(edges.rows, row)
	}
	for _, id := range slices.Sorted(maps.Keys(g.after)) {
		before, after := g.before[id], g.after[id]
		if after.Version == before.Version || !after.Exists() {
			continue
		}
		changed, err := g.edgeChanges(after)
		if err != nil {
			return nil, entities, err
		}
		edges.rows = append(edges.rows, changed...)
		aliases.rows = append(aliases.rows, g.aliasChanges(before, after)...)
		row, err := g.entityRow(after)
		if err != nil {
			return nil, entities, err
		}
		entities.rows = append(entities.rows, row)
	}
	return []tableRows{history, edges, aliases}, entities, nil
}

func (g page) entityRow(e Entity) ([]any, error) {
	current, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode entity %q: %w", e.ID, err)
	}
	return []any{
		e.ID, string(e.Type), g.project, e.CanonicalKey, e.Title, string(e.Stage), string(e.Status),
		string(e.TaskStatus), e.DoneReport != nil, string(e.Priority), e.AutoPlaceholder, string(current),
		language.Title(e.Title), searchText(e.Title), e.CreatedAt, e.UpdatedAt, e.Version,
	}, nil
}

func (g page) aliasChanges(before, after Entity) [][]any {
	had := map[Alias]bool{}
	for _, k := range before.Keys() {
		had[k] = before.Exists()
	}
	var out [][]any
	for i, k := range after.Keys() {
		if !had[k] {
			out = append(out, []any{g.project, string(after.Type), k.CanonicalKey, after.ID, i == 0, k.Since, after.Version})
		}
	}
	return out
}

// noteEdges records the edges that an event changed.
func (g page) noteEdges(before, after Entity) {
	had := map[edgeKey]Edge{}
	for _, e := range before.Edges() {
		had[e.key()] = e
	}
	note := func(e Edge) {
		if g.edges[after.ID] == nil {
			g.edges[after.ID] = map[edgeKey]Edge{}
		}
		g.edges[after.ID][e.key()] = e
	}
	for _, e := range after.Edges() {
		old, existed := had[e.key()]
		delete(had, e.key())
		if !existed || !old.Since.Equal(e.Since) || !sameMeta(old.Meta, e.Meta) {
			note(e)
		}
	}
	for _, gone := range had {
		note(gone)
	}
}

// edgeChanges returns the rows of the changed edges. An edge that was added and removed again has a row too: a crashed
// attempt or another process may have written a page that ends between the two events.
func (g page) edgeChanges(entity Entity) ([][]any, error) {
	changed := maps.Clone(g.edges[entity.ID])
	var out [][]any
	add := func(e Edge, removed bool) error {
		row, err := g.edgeRow(e, removed, entity.Version)
		out = append(out, row)
		return err
	}
	for _, e := range entity.Edges() {
		if _, ok := changed[e.key()]; !ok {
			continue
		}
		delete(changed, e.key())
		if err := add(e, false); err != nil {
			return nil, err
		}
	}
	for _, gone := range changed {
		if err := add(gone, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sameMeta compares the stored forms, in which equal instants are equal.
func sameMeta(a, b any) bool {
	if a == b {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (g page) edgeRow(e Edge, removed bool, version uint64) ([]any, error) {
	meta := []byte("{}")
	if e.Meta != nil {
		var err error
		if meta, err = json.Marshal(e.Meta); err != nil {
			return nil, fmt.Errorf("encode edge of %q: %w", e.Src.ID, err)
		}
	}
	id := schema.EdgeID(g.project, e.Src.Type, e.Src.ID, e.Rel, e.Dst.Type, e.Dst.ID)
	return []any{
		id, g.project, e.Src.Type, e.Src.ID, string(e.Rel), e.Dst.Type, e.Dst.ID, string(meta), e.Since, removed, version,
	}, nil
}
