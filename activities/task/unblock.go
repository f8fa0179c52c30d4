package task

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"axiommind/schema"
)

// endedBy returns the id of the entity that the event closes or resolves, so that tasks may no longer wait for it: a
// closed artifact or task, a resolved condition or a merged task.
func endedBy(payload any) (string, bool) {
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

// unblockWaiting removes blockers that the act has closed or resolved from the tasks that wait for them. A blocker is
// removed if the entity that it finally resolves to is closed: a closed artifact, or a task that is done or cancelled.
// A blocked task without remaining blockers returns to the status it had before it was blocked. If a session names a
// blocker that is already closed, this implies that the blocker is not done. It then stays until it is closed again, or
// another blocker of the task is removed. Reopening a task blocks no other task again.
func (p *planner) unblockWaiting(ctx context.Context) error {
	ended := p.ended
	p.ended = nil
	if len(ended) == 0 {
		return nil
	}
	waiting, err := p.overlay.waitingFor(ctx, ended)
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
	for _, id := range waiting { // Removing blockers closes no task, so ends stays valid.
		if err := p.removeClosedBlockers(id, ends); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) removeClosedBlockers(id string, ends map[string]Entity) error {
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

// unblock restores the earlier status of a task that lost its last blockers.
func (p *planner) unblock(task Entity, lifted []schema.Blocker) error {
	return p.emit(p.changeKey("lifted", task.ID), schema.TaskStatusChangedPayload{
		Act: p.act, TaskID: task.ID, From: task.TaskStatus, To: cmp.Or(task.BlockedFrom, schema.TaskInProgress), Lifted: lifted,
	})
}

// endsOf returns, for each of the entities, the entity that it finally resolves to. It asks the index once per step
// for all of them.
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

// endOf follows resolutions through the loaded entities.
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

// waitingFor returns the ids of the tasks that wait for one of the entities, directly or through an entity that
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

// sources returns, by entity, the entities that may have an edge to it. The caller checks their edges.
func (v *overlay) sources(ctx context.Context, ids []string) (map[string][]Entity, error) {
	if err := v.ask(ctx, Wants{Targets: ids}); err != nil {
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

// mentioning returns the conditions whose texts name the artifact.
func (v *overlay) mentioning(ctx context.Context, artifactID string) ([]Entity, error) {
	sources, err := v.sources(ctx, []string{artifactID})
	return slices.DeleteFunc(sources[artifactID], func(e Entity) bool { return !slices.Contains(e.Mentions, artifactID) }), err
}
