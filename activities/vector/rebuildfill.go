package vector

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// fetchPage is the number of objects to read at once with their vectors.
const fetchPage = 100

// fill puts the items of the log into the new class, kind by kind.
func (r *rebuild) fill(ctx context.Context) error {
	for _, kind := range slices.Sorted(maps.Keys(r.sources)) {
		if kind < r.Kind {
			continue
		}
		if kind != r.Kind {
			r.Kind, r.Project, r.ID = kind, "", ""
		}
		for {
			items, err := r.sources[kind].After(ctx, r.Project, r.ID, r.opts.BatchSize)
			if err != nil {
				return err
			}
			if len(items) == 0 {
				break
			}
			if err := r.place(ctx, kind, items); err != nil {
				return err
			}
			last := items[len(items)-1]
			r.Project, r.ID = last.Project, last.ID
			r.Seen += len(items)
			if r.late() {
				return nil
			}
		}
	}
	r.Step, r.Kind, r.Project, r.ID = stepCompare, "", "", ""
	return nil
}

// place puts items of one kind into the new class.
func (r *rebuild) place(ctx context.Context, kind string, items []Item) error {
	for len(items) > 0 {
		n := slices.IndexFunc(items, func(i Item) bool { return i.Project != items[0].Project })
		if n < 0 {
			n = len(items)
		}
		if err := r.placeIn(ctx, kind, items[0].Project, items[:n]); err != nil {
			return fmt.Errorf("rebuild project %q: %w", items[0].Project, err)
		}
		items = items[n:]
	}
	return nil
}

// placed is an item on its way into the new class.
type placed struct {
	*work
	// current is true if the outbox row of the item is done with its current content.
	current bool
	// copied is true if the vector is from the old class, and same if the object there equals the item.
	copied, same bool
}

func (r *rebuild) placeIn(ctx context.Context, kind, project string, items []Item) error {
	if err := r.tenant(ctx, project); err != nil {
		return err
	}
	ids, objects := make([]string, len(items)), make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
		objects[i] = r.object(kind, item.ID)
	}
	rows, err := r.outbox.Of(ctx, kind, ids)
	if err != nil {
		return err
	}
	there, err := r.client.Lookup(ctx, r.New, project, objects)
	if err != nil {
		return err
	}
	wanted := objects
	if !r.Verify {
		wanted = slices.DeleteFunc(slices.Clone(objects), func(id string) bool { _, ok := there[id]; return ok })
	}
	old, err := r.fetchOld(ctx, project, wanted)
	if err != nil {
		return err
	}
	var todo []placed
	for i, item := range items {
		row, known := rows[item.ID]
		if !known {
			row = r.newRow(item)
		}
		waits := known && row.Status != schema.OutboxDone
		hash := item.ContentHash()
		was, exists := old[objects[i]]
		p := placed{work: &work{row: row, item: item}, current: row.Status == schema.OutboxDone && row.ContentHash == hash}
		// The vector depends only on the text.
		p.copied = exists && was.item(project).Text() == item.Text() && len(was.Additional.Vector) == r.embedder.Dimensions()
		p.same = p.copied && was.hash(project) == hash
		if p.copied {
			p.vector = was.Additional.Vector
		}
		if waits && !p.copied {
			r.left(row)
			continue
		}
		if r.Verify && !waits {
			r.judge(item, exists, p.same)
		}
		if p.current && there[objects[i]].ContentHash == hash {
			r.Result.Kept++
			continue
		}
		todo = append(todo, p)
	}
	return r.put(ctx, todo)
}

// left counts an item that the outbox has not written.
func (r *rebuild) left(row Row) {
	if !row.Permanent {
		r.Result.Pending++
		return
	}
	r.Result.Failed++
	r.Result.example("failed: %s %q of project %q: %s", row.Kind, row.ID, row.Project, row.Error)
}

// judge records a difference of the old collection from the log.
func (r *rebuild) judge(item Item, exists, same bool) {
	switch {
	case !exists:
		r.Result.Missing++
		r.Result.example("missing: %s %q of project %q", item.Kind, item.ID, item.Project)
	case !same:
		r.Result.Changed++
		r.Result.example("other content: %s %q of project %q", item.Kind, item.ID, item.Project)
	}
}

// put writes the items to the new class and records those that are not current in the outbox. Items that are missing
// from the old class, or differ in it, are written to both classes: then they are done, and embedded only once.
func (r *rebuild) put(ctx context.Context, todo []placed) error {
	var newOnly, both []*work
	for _, p := range todo {
		if p.current || p.same || r.DryRun || r.Unfit {
			newOnly = append(newOnly, p.work)
		} else {
			both = append(both, p.work)
		}
	}
	if err := r.write(ctx, newOnly, r.New); err != nil {
		return err
	}
	if err := allRefused(todo); err != nil {
		return err
	}
	if err := r.ensureTenants(ctx, both, r.Old); err != nil {
		return err
	}
	if err := r.write(ctx, both, r.Old, r.New); err != nil {
		return err
	}
	var outcomes []*work
	for _, p := range todo {
		switch {
		case p.fault != nil:
			r.failed(p.work)
		case p.copied:
			r.Result.Copied++
		default:
			r.Result.Embedded++
		}
		if !r.DryRun && (p.fault != nil || !p.current) {
			outcomes = append(outcomes, p.work)
		}
	}
	return r.recordAll(ctx, outcomes)
}

// allRefused returns an error if the store refuses all of several copied objects, which it had accepted before. Then
// the store is at fault and not the objects, whose rows stay unchanged.
func allRefused(todo []placed) error {
	copied, refused := 0, 0
	var fault error
	for _, p := range todo {
		if p.copied {
			copied++
		}
		if p.copied && p.fault != nil {
			refused, fault = refused+1, p.fault
		}
	}
	if copied > 1 && refused == copied {
		return fmt.Errorf("copy %d objects: %w", copied, fault)
	}
	return nil
}

func (r *rebuild) failed(t *work) {
	r.Result.Failed++
	r.Result.example("failed: %s %q of project %q: %v", t.row.Kind, t.row.ID, t.row.Project, t.fault)
}

func (r *rebuild) recordAll(ctx context.Context, outcomes []*work) error {
	for batch := range slices.Chunk(outcomes, r.opts.BatchSize) {
		if _, err := r.record(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// follow copies the objects that were written to the old class since the last turn.
func (r *rebuild) follow(ctx context.Context) error {
	options := eventlog.StreamOptions{After: r.Seq, Types: []string{schema.VectorIndexed}}
	for event, err := range r.log.Stream(ctx, r.stream(), options) {
		if err != nil {
			return fmt.Errorf("read the objects written meanwhile: %w", err)
		}
		p, err := schema.Decode[schema.VectorIndexedPayload](event)
		if err != nil {
			return err
		}
		ids := map[string][]string{}
		for _, item := range p.Items {
			if item.EmbeddingVersion == r.version {
				ids[item.Project] = append(ids[item.Project], item.ObjectID())
			}
		}
		for _, project := range slices.Sorted(maps.Keys(ids)) {
			if err := r.followIn(ctx, project, ids[project]); err != nil {
				return fmt.Errorf("rebuild project %q: %w", project, err)
			}
		}
		r.Seq = event.Seq
	}
	return nil
}

func (r *rebuild) followIn(ctx context.Context, project string, ids []string) error {
	if err := r.tenant(ctx, project); err != nil {
		return err
	}
	there, err := r.client.Lookup(ctx, r.New, project, ids)
	if err != nil {
		return err
	}
	old, err := r.fetchOld(ctx, project, ids)
	if err != nil {
		return err
	}
	var todo []placed
	for _, id := range ids {
		was, ok := old[id]
		if hash := was.hash(project); !ok || hash == "" || hash == there[id].ContentHash {
			continue
		}
		item := was.item(project)
		rows, err := r.outbox.Of(ctx, item.Kind, []string{item.ID})
		if err != nil {
			return err
		}
		row, known := rows[item.ID]
		if !known {
			continue
		}
		todo = append(todo, placed{
			work: &work{row: row, item: item, vector: was.Additional.Vector}, copied: true, same: true,
			current: row.Status == schema.OutboxDone && row.ContentHash == item.ContentHash(),
		})
	}
	// Objects that are not current in the outbox are left to the outbox.
	return r.put(ctx, slices.DeleteFunc(todo, func(p placed) bool { return !p.current }))
}

// tenant creates the project's tenant in the new class.
func (r *rebuild) tenant(ctx context.Context, project string) error {
	if r.tenants[project] {
		return nil
	}
	r.tenants[project] = true
	return r.client.EnsureTenant(ctx, r.New, project)
}

func (r *rebuild) object(kind, id string) string {
	return schema.VectorItem{Kind: kind, ID: id, EmbeddingVersion: r.version}.ObjectID()
}

// fetchOld returns the objects of the old class that exist. An unfit class can't be queried.
func (r *rebuild) fetchOld(ctx context.Context, project string, ids []string) (map[string]storedItem, error) {
	out := make(map[string]storedItem, len(ids))
	if r.Unfit {
		return out, nil
	}
	for page := range slices.Chunk(ids, fetchPage) {
		found, err := r.client.fetch(ctx, r.Old, project, page)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, found)
	}
	return out, nil
}
