package task

import (
	"context"
	"fmt"
	"slices"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// overlay is the project's state while events are being planned: the index, overlaid with the fold of the events
// planned so far.
type overlay struct {
	project string
	index   Index
	vectors TitleSearcher
	// observed, keys, titles and entities cache the index and include the planned events. An empty id means that no
	// entity has the key. An entity that does not exist means that no entity has the id.
	observed map[string]bool
	keys     map[string]string
	titles   map[string][]string
	entities map[string]Entity
	// before has the entities as the index returned them.
	before map[string]Entity
	// new finds the planned tasks.
	new titleIndex
	// pointing has, by entity, the ids of those that have or had an edge to it. pointed has the entities for which the
	// index was asked.
	pointing map[string][]string
	pointed  map[string]bool
	last     uint64
	planned  []schema.Event
}

func newOverlay(project string, index Index, vectors TitleSearcher) *overlay {
	return &overlay{
		project: project, index: index, vectors: vectors,
		observed: map[string]bool{}, keys: map[string]string{}, titles: map[string][]string{},
		entities: map[string]Entity{}, before: map[string]Entity{}, new: newTitleIndex(),
		pointing: map[string][]string{}, pointed: map[string]bool{},
	}
}

// plan adds the event and folds it. The log assigns the real position. Here any increasing number will do.
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
	v.pointed[after.ID] = true // The index has no edges to a new entity.
	if after.Type == schema.EntityTask {
		v.new.add(after.ID, after.Title)
	}
}

func (v *overlay) byKey(ctx context.Context, key Key) (Entity, bool, error) {
	text := key.String()
	if err := v.ask(ctx, Wants{Keys: []string{text}, IDs: []string{key.ID()}}); err != nil {
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
	if err := v.ask(ctx, Wants{IDs: ids}); err != nil {
		return nil, err
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
	if err := v.ask(ctx, Wants{Titles: []string{title}}); err != nil {
		return nil, err
	}
	return slices.Concat(v.titles[title], v.new.find(searchOf(title), searchLimit)), nil
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
