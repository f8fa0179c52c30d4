package task

import (
	"context"
	"fmt"
	"slices"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// Index reads the projections of a project, which must be up to date with its stream.
type Index interface {
	// Resolve returns the ids of the entities that the canonical keys lead to.
	Resolve(ctx context.Context, project string, keys []string) (map[string]string, error)
	// Load returns the entities with the ids. Entities that do not exist are missing from the map.
	Load(ctx context.Context, project string, ids []string) (map[string]Entity, error)
	// SearchTitles returns the ids of tasks whose titles share words with the given one, best first.
	SearchTitles(ctx context.Context, project, title string, limit int) ([]string, error)
	// Pointing returns, by entity, the ids of the entities that mention it, wait for it or resolve to it, or once
	// did.
	Pointing(ctx context.Context, project string, ids []string) (map[string][]string, error)
	// Prefixed returns the ids of entities of the types that begin with the prefix, which is lower case.
	Prefixed(ctx context.Context, project string, types []schema.EntityType, prefix string, limit int) ([]string, error)
	// ReportedDone returns the ids of open tasks that are reported done, those known longest first.
	ReportedDone(ctx context.Context, project string, limit int) ([]string, error)
	// Observed returns which of the entries have a task_observed event.
	Observed(ctx context.Context, project string, entryIDs []string) (map[string]bool, error)
}

// overlay is the project's state while events are being planned: the index, overlaid with the fold of the events
// planned so far.
type overlay struct {
	project string
	index   Index
	vectors TitleSearcher
	// keys and entities cache the index and hold what was planned. An empty id means that no entity has the key. An
	// entity that does not exist means that no entity has the id.
	keys     map[string]string
	entities map[string]Entity
	// byText and byWord find tasks planned in this batch, which the index does not hold yet, by all of their words
	// and by each word.
	byText, byWord map[string][]string
	// pointing holds, by entity, those that have or had an edge to it. pointed holds the entities for which the index
	// was asked.
	pointing map[string][]string
	pointed  map[string]bool
	last     uint64
	planned  []schema.Event
}

func newOverlay(project string, index Index, vectors TitleSearcher) *overlay {
	return &overlay{
		project: project, index: index, vectors: vectors,
		keys: map[string]string{}, entities: map[string]Entity{},
		byText: map[string][]string{}, byWord: map[string][]string{},
		pointing: map[string][]string{}, pointed: map[string]bool{},
	}
}

// plan adds the event and folds it. The log assigns the real position; here any increasing number will do.
func (v *overlay) plan(event schema.Event) error {
	o, err := readEvent(event)
	if err != nil {
		return err
	}
	v.planned = append(v.planned, event)
	for _, id := range o.ids() {
		before := v.entities[id]
		v.last = max(v.last, before.Version) + 1
		o.seq = v.last
		after := before.after(id, o)
		v.entities[id] = after
		v.remember(before, after)
	}
	return nil
}

func (v *overlay) remember(before, after Entity) {
	for _, k := range after.Keys() {
		v.keys[k.CanonicalKey] = after.ID
	}
	for _, edge := range after.Edges() {
		if !slices.Contains(v.pointing[edge.Dst.ID], after.ID) {
			v.pointing[edge.Dst.ID] = append(v.pointing[edge.Dst.ID], after.ID)
		}
	}
	if before.Exists() {
		return
	}
	v.pointed[after.ID] = true // The index can't know of what is new.
	if after.Type == schema.EntityTask {
		text := searchText(after.Title)
		v.byText[text] = append(v.byText[text], after.ID)
		for _, word := range language.TitleTerms(after.Title) {
			v.byWord[word] = append(v.byWord[word], after.ID)
		}
	}
}

// prefetch asks the index for all keys at once, and for the entities they lead to.
func (v *overlay) prefetch(ctx context.Context, keys []string) error {
	var missing []string
	for _, k := range keys {
		if _, known := v.keys[k]; !known {
			missing = append(missing, k)
			v.keys[k] = ""
		}
	}
	if len(missing) == 0 {
		return nil
	}
	found, err := v.index.Resolve(ctx, v.project, missing)
	if err != nil {
		return fmt.Errorf("resolve %d keys: %w", len(missing), err)
	}
	ids := make([]string, 0, len(found))
	for key, id := range found {
		v.keys[key] = id
		ids = append(ids, id)
	}
	_, err = v.load(ctx, ids)
	return err
}

func (v *overlay) byKey(ctx context.Context, key Key) (Entity, bool, error) {
	text := key.String()
	if err := v.prefetch(ctx, []string{text}); err != nil {
		return Entity{}, false, err
	}
	id := v.keys[text]
	if id == "" {
		return Entity{}, false, nil
	}
	return v.byID(ctx, id)
}

// conditionOf returns the condition with the text, in any spelling.
func (v *overlay) conditionOf(ctx context.Context, text string) (Entity, bool, error) {
	key, err := KeyOfCondition(v.project, text)
	if err != nil {
		return Entity{}, false, err
	}
	e, ok, err := v.byKey(ctx, key)
	if err != nil || ok {
		return e, ok, err
	}
	spelled, ok := spellingKey(v.project, text)
	if !ok {
		return e, false, nil
	}
	e, ok, err = v.byKey(ctx, spelled)
	return e, ok && language.SameTitle(e.Title, text), err
}

// byID returns the entity, or the task that it was merged into.
func (v *overlay) byID(ctx context.Context, id string) (Entity, bool, error) {
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		found, err := v.load(ctx, []string{id})
		if err != nil {
			return Entity{}, false, err
		}
		e, ok := found[id]
		if !ok || e.Status != schema.StatusSuperseded || e.ResolvesTo == nil {
			return e, ok, nil
		}
		id = e.ResolvesTo.ID
	}
	return Entity{}, false, fmt.Errorf("follow merged task %q: it leads back to itself", id)
}

// load returns the entities that exist, by id.
func (v *overlay) load(ctx context.Context, ids []string) (map[string]Entity, error) {
	var missing []string
	for _, id := range ids {
		if _, known := v.entities[id]; !known {
			v.entities[id] = Entity{}
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		found, err := v.index.Load(ctx, v.project, missing)
		if err != nil {
			return nil, fmt.Errorf("load %d entities: %w", len(missing), err)
		}
		for _, id := range missing {
			v.entities[id] = found[id]
		}
	}
	out := make(map[string]Entity, len(ids))
	for _, id := range ids {
		if e := v.entities[id]; e.Exists() {
			out[id] = e
		}
	}
	return out, nil
}

func (v *overlay) searchTitles(ctx context.Context, title string) ([]string, error) {
	ids, err := v.index.SearchTitles(ctx, v.project, title, searchLimit)
	if err != nil {
		return nil, fmt.Errorf("search titles for %q: %w", clip(title), err)
	}
	ids = append(ids, v.byText[searchText(title)]...)
	for _, word := range rarest(language.TitleTerms(title), 2) {
		planned := v.byWord[word]
		ids = append(ids, planned[:min(len(planned), searchLimit)]...)
	}
	return ids, nil
}

// reaches reports whether the entity waits for the target through blockers and resolutions.
func (v *overlay) reaches(ctx context.Context, from, target string) (bool, error) {
	seen := map[string]bool{from: true}
	for level := []string{from}; len(level) > 0; {
		if slices.Contains(level, target) {
			return true, nil
		}
		entities, err := v.load(ctx, level)
		if err != nil {
			return false, err
		}
		var next []string
		for _, id := range level {
			for _, edge := range entities[id].Edges() {
				leads := edge.Rel == schema.RelBlockedBy || edge.Rel == schema.RelResolvesTo
				if leads && !seen[edge.Dst.ID] {
					seen[edge.Dst.ID] = true
					next = append(next, edge.Dst.ID)
				}
			}
		}
		level = next
	}
	return false, nil
}
