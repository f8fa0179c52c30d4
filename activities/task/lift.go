package task

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"axiommind/schema"
)

// settles returns the entity that others may wait for no more because of the event: an artifact or
// task that is closed, a condition or a merged task that turned out to be another.
func settles(payload any) (string, bool) {
	switch p := payload.(type) {
	case schema.ArtifactClosedPayload:
		return p.ArtifactID, true
	case schema.TaskStatusChangedPayload:
		return p.TaskID, Closed(p.To)
	case schema.ConditionResolvedToPayload:
		return p.ConditionID, true
	case schema.TaskMergedPayload:
		return p.TaskID, true
	}
	return "", false
}

// lift takes what the act has settled off the tasks that wait for it. What a blocker comes to in the
// end decides: an artifact that is closed, a task that is done or cancelled. A blocked task that
// waits for nothing more has again the status it had before it was blocked. Whoever names a closed
// blocker says that it is not done with: it stands until it is closed again, or another is lifted.
// Reopening a task blocks nobody anew.
func (p *planner) lift(ctx context.Context) error {
	settled := p.settled
	p.settled = nil
	if len(settled) == 0 {
		return nil
	}
	waiting, err := p.overlay.waitingFor(ctx, settled)
	if err != nil {
		return err
	}
	var blockers []string
	for _, id := range waiting {
		for _, b := range p.task(id).Blockers {
			blockers = append(blockers, b.ID)
		}
	}
	ends, err := p.overlay.endsOf(ctx, blockers)
	if err != nil {
		return err
	}
	for _, id := range waiting { // What is lifted opens tasks and closes none: the ends stay.
		if err := p.liftOff(id, ends); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) liftOff(id string, ends map[string]Entity) error {
	task := p.task(id)
	left, lifted := []schema.Blocker{}, []schema.Blocker(nil)
	for _, b := range task.Blockers {
		if end := ends[b.ID]; end.Exists() && !end.Open() {
			lifted = append(lifted, b)
		} else {
			left = append(left, b)
		}
	}
	switch {
	case len(lifted) == 0:
		return nil
	case len(left) == 0 && task.TaskStatus == schema.TaskBlocked:
		return p.unblock(task, lifted)
	}
	return p.emit(p.changeKey("lifted", id), schema.TaskBlockersSetPayload{
		Act: p.act, TaskID: id, Mode: schema.BlockersReplace, Blockers: left, Lifted: lifted,
	})
}

// unblock gives a task whose last blockers are lifted the status it had before.
func (p *planner) unblock(task Entity, lifted []schema.Blocker) error {
	return p.emit(p.changeKey("lifted", task.ID), schema.TaskStatusChangedPayload{
		Act: p.act, TaskID: task.ID, From: task.TaskStatus, To: cmp.Or(task.BlockedFrom, schema.TaskInProgress), Lifted: lifted,
	})
}

// endsOf returns what each of the entities comes to through resolutions. It asks the index once for
// every step, however many they are.
func (v *overlay) endsOf(ctx context.Context, ids []string) (map[string]Entity, error) {
	seen := map[string]bool{}
	for level := ids; len(level) > 0; {
		found, err := v.load(ctx, level)
		if err != nil {
			return nil, err
		}
		var next []string
		for _, id := range level {
			if to := found[id].ResolvesTo; to != nil && !seen[to.ID] {
				seen[to.ID] = true
				next = append(next, to.ID)
			}
		}
		level = next
	}
	ends := make(map[string]Entity, len(ids))
	for _, id := range ids {
		ends[id] = v.endOf(id)
	}
	return ends, nil
}

// endOf follows resolutions through what is loaded.
func (v *overlay) endOf(id string) Entity {
	for seen := map[string]bool{}; ; {
		seen[id] = true
		e := v.entities[id]
		if e.ResolvesTo == nil || seen[e.ResolvesTo.ID] {
			return e
		}
		id = e.ResolvesTo.ID
	}
}

// waitingFor returns the ids of the tasks that wait for one of the entities, also through what
// resolves to it.
func (v *overlay) waitingFor(ctx context.Context, ids []string) ([]string, error) {
	tasks, seen := map[string]bool{}, map[string]bool{}
	for level := ids; len(level) > 0; {
		sources, err := v.sources(ctx, level)
		if err != nil {
			return nil, err
		}
		var next []string
		for _, target := range level {
			for _, e := range sources[target] {
				for _, edge := range e.Edges() {
					switch {
					case edge.Dst.ID != target:
					case edge.Rel == schema.RelBlockedBy:
						tasks[e.ID] = true
					case edge.Rel == schema.RelResolvesTo && !seen[e.ID]:
						seen[e.ID] = true
						next = append(next, e.ID)
					}
				}
			}
		}
		level = next
	}
	return slices.Sorted(maps.Keys(tasks)), nil
}

// sources returns by entity those that may lead to it by an edge: whoever asks looks at their edges.
func (v *overlay) sources(ctx context.Context, ids []string) (map[string][]Entity, error) {
	if err := v.prefetchSources(ctx, ids); err != nil {
		return nil, err
	}
	var all []string
	for _, id := range ids {
		all = append(all, v.pointing[id]...)
	}
	found, err := v.load(ctx, all)
	if err != nil {
		return nil, err
	}
	out := map[string][]Entity{}
	for _, id := range ids {
		for _, source := range slices.Compact(slices.Sorted(slices.Values(v.pointing[id]))) {
			if e, ok := found[source]; ok {
				out[id] = append(out[id], e)
			}
		}
	}
	return out, nil
}

// prefetchSources asks the index for what points at the entities, each once.
func (v *overlay) prefetchSources(ctx context.Context, ids []string) error {
	var missing []string
	for _, id := range ids {
		if !v.pointed[id] {
			missing = append(missing, id)
			v.pointed[id] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	found, err := v.index.Pointing(ctx, v.project, missing)
	if err != nil {
		return fmt.Errorf("find what waits for %d entities: %w", len(missing), err)
	}
	for id, sources := range found {
		v.pointing[id] = append(v.pointing[id], sources...)
	}
	return nil
}

// mentioning returns the conditions whose texts name the artifact.
func (v *overlay) mentioning(ctx context.Context, artifactID string) ([]Entity, error) {
	sources, err := v.sources(ctx, []string{artifactID})
	return slices.DeleteFunc(sources[artifactID], func(e Entity) bool { return !slices.Contains(e.Mentions, artifactID) }), err
}
