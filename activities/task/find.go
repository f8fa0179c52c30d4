package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// Errors of whatever names an entity.
var (
	ErrNotFound = boundary.Invalid(schema.ErrorTaskNotFound, errors.New("not found"))
	// ErrAmbiguous is wrapped when the beginning of an id is of several entities.
	ErrAmbiguous = boundary.Invalid(schema.ErrorInvalidInput, errors.New("ambiguous"))
)

// minPrefix is how much of an id must be given. Lists print eight characters.
const minPrefix = 4

var everyType = []schema.EntityType{schema.EntityTask, schema.EntityCondition, schema.EntityArtifact}

// finder is where entities are looked up: the tables, a fold, or a project while events are planned.
type finder interface {
	// keyed returns the id of the entity that the key leads to; empty for none.
	keyed(ctx context.Context, key Key) (string, error)
	prefixed(ctx context.Context, types []schema.EntityType, prefix string, limit int) ([]string, error)
}

// find returns the id of the entity of one of the types that the text names: an id, a canonical key,
// a title, an address, or the beginning of an id. Whoever calls sees whether a whole id exists.
func find(ctx context.Context, f finder, project, text string, types ...schema.EntityType) (string, error) {
	text = strings.TrimSpace(text)
	if isID(text) {
		return strings.ToLower(text), nil
	}
	for _, entityType := range types {
		for _, key := range keysNaming(project, entityType, text) {
			if id, err := f.keyed(ctx, key); err != nil || id != "" {
				return id, err
			}
		}
	}
	id, err := findPrefix(ctx, f, project, text, types...)
	if err == nil && id == "" {
		err = notFound(project, text, types)
	}
	return id, err
}

// findPrefix returns the id of the one entity whose id begins with the text; empty for none.
func findPrefix(ctx context.Context, f finder, project, text string, types ...schema.EntityType) (string, error) {
	prefix := strings.ToLower(strings.TrimSpace(text))
	if len(prefix) < minPrefix || strings.Trim(prefix, "0123456789abcdef-") != "" {
		return "", nil
	}
	const shown = 3
	ids, err := f.prefixed(ctx, types, prefix, shown)
	switch {
	case err != nil:
		return "", fmt.Errorf("find ids that begin with %q: %w", prefix, err)
	case len(ids) > 1:
		more := ""
		if len(ids) == shown {
			more = " and perhaps more"
		}
		return "", fmt.Errorf("%s %q in project %q: %w: %s%s begin with it: give more of the id",
			anyOf(types), prefix, project, ErrAmbiguous, strings.Join(ids, ", "), more)
	case len(ids) == 0:
		return "", nil
	}
	return ids[0], nil
}

func notFound(project, text string, types []schema.EntityType) error {
	return fmt.Errorf("%s %q in project %q: %w: give an id, the first %d or more characters of one, a title or a key",
		anyOf(types), clip(text), project, ErrNotFound, minPrefix)
}

func anyOf(types []schema.EntityType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, " or ")
}

func keysNaming(project string, entityType schema.EntityType, text string) []Key {
	if key, err := ParseKey(text); err == nil && key.Type == entityType && (key.Project == project || key.Project == "") {
		return []Key{key}
	}
	if entityType == schema.EntityArtifact {
		if keys, ok := StrongArtifact(text); ok {
			return keys
		}
		key, err := KeyOfArtifact(text)
		if err != nil {
			return nil
		}
		return []Key{key}
	}
	key, err := titleKey(entityType, project, text)
	if err != nil {
		return nil
	}
	return []Key{key}
}

// entityOf returns the entity that the text names, or what it was merged into.
func (p *planner) entityOf(ctx context.Context, text string, types ...schema.EntityType) (Entity, error) {
	id, err := find(ctx, p.overlay, p.overlay.project, text, types...)
	if err != nil {
		return Entity{}, err
	}
	e, ok, err := p.overlay.byID(ctx, id)
	if err == nil && (!ok || !slices.Contains(types, e.Type)) {
		err = notFound(p.overlay.project, text, types)
	}
	return e, err
}

func (v *overlay) keyed(ctx context.Context, key Key) (string, error) {
	e, _, err := v.byKey(ctx, key)
	return e.ID, err
}

func (v *overlay) prefixed(ctx context.Context, types []schema.EntityType, prefix string, limit int) ([]string, error) {
	return v.index.Prefixed(ctx, v.project, types, prefix, limit)
}

func (l *live) keyed(ctx context.Context, key Key) (string, error) {
	found, err := l.tables.Resolve(ctx, l.project, []string{key.String()})
	return found[key.String()], err
}

func (l *live) prefixed(ctx context.Context, types []schema.EntityType, prefix string, limit int) ([]string, error) {
	return l.tables.Prefixed(ctx, l.project, types, prefix, limit)
}

func (s *snapshot) keyed(_ context.Context, key Key) (string, error) {
	return s.keys[key.String()], nil
}

func (s *snapshot) prefixed(_ context.Context, types []schema.EntityType, prefix string, limit int) ([]string, error) {
	var ids []string
	for id, e := range s.entities {
		if slices.Contains(types, e.Type) && strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), limit)], nil
}
