package task

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// snapshot is a project as of a time: the fold of its events up to then, in memory.
type snapshot struct {
	project  string
	entities map[string]Entity
	keys     map[string]string
}

func newSnapshot(project string) *snapshot {
	return &snapshot{project: project, entities: map[string]Entity{}, keys: map[string]string{}}
}

func (q *Queries) snapshot(ctx context.Context, project string, asOf time.Time) (*snapshot, error) {
	s := newSnapshot(project)
	stream := schema.ProjectStream(project)
	for event, err := range q.log.Stream(ctx, stream, eventlog.StreamOptions{Types: EventTypes()}) {
		if err != nil {
			return nil, fmt.Errorf("read project %q as of %s: %w", project, asOf.Format(time.RFC3339), err)
		}
		if event.TS.After(asOf) {
			continue
		}
		if err := s.apply(event); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *snapshot) apply(event schema.Event) error {
	o, err := readEvent(event)
	if err != nil {
		return err
	}
	o.project = s.project
	for _, id := range o.ids() {
		e := s.entities[id].after(id, o)
		s.entities[id] = e
		if !e.Exists() {
			continue
		}
		for _, k := range e.Keys() {
			s.keys[k.CanonicalKey] = id
		}
	}
	return nil
}

func (s *snapshot) tasks(_ context.Context, w wants, p part) ([]Entity, error) {
	resolved := func(id string) bool { return s.entities[id].ResolvesTo != nil }
	holds := func(e Entity) bool { return w.holds(e, resolved) }
	return s.some(p, holds, func(e Entity) time.Time { return e.UpdatedAt }), nil
}

func (s *snapshot) resolvedConditions(_ context.Context, p part) ([]Entity, error) {
	resolved := func(e Entity) bool { return e.Type == schema.EntityCondition && e.ResolvesTo != nil }
	return s.some(p, resolved, func(e Entity) time.Time { return e.ResolvedAt }), nil
}

func (s *snapshot) some(p part, holds func(Entity) bool, when func(Entity) time.Time) []Entity {
	var out []Entity
	for _, e := range s.entities {
		if e.Exists() && holds(e) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b Entity) int {
		return cmp.Or(when(b).Compare(when(a)), cmp.Compare(a.ID, b.ID))
	})
	out = out[min(len(out), p.offset):]
	return out[:min(len(out), p.limit)]
}

func (s *snapshot) load(_ context.Context, ids []string) (map[string]Entity, error) {
	out := make(map[string]Entity, len(ids))
	for _, id := range ids {
		if e, ok := s.entities[id]; ok && e.Exists() {
			out[id] = e
		}
	}
	return out, nil
}
