package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Errors of every lookup of an entity by name.
var (
	ErrNotFound = boundary.Invalid(schema.ErrorTaskNotFound, errors.New("not found"))
	// ErrAmbiguous is wrapped if several entities have ids with the given prefix.
	ErrAmbiguous = boundary.Invalid(schema.ErrorInvalidInput, errors.New("ambiguous"))
)

var everyType = []schema.EntityType{schema.EntityTask, schema.EntityCondition, schema.EntityArtifact}

// finder looks up entities: in the tables, in a fold, or in a project while events are planned.
type finder interface {
	// keyed returns the id of the entity with the key, or "" if there is none.
	keyed(ctx context.Context, key Key) (string, error)
	prefixed(ctx context.Context, types []schema.EntityType, prefix string, limit int) ([]string, error)
}

// find returns the id of the entity that the text names, which has one of the types. The text is an id, a canonical
// key, a title, a URL or a prefix of an id. A whole id is returned unchecked: the caller checks that it exists.
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

// findPrefix returns the id of the only entity whose id begins with the text, or empty if there is none.
func findPrefix(ctx context.Context, f finder, project, text string, types ...schema.EntityType) (string, error) {
	named := naming(project, text, types)
	if !named.Long() || strings.Trim(named.Text(), "0123456789abcdef-") != "" {
		return "", nil
	}
	ids, err := f.prefixed(ctx, types, named.Text(), clickhouse.MostPrefixed)
	switch {
	case err != nil:
		return "", fmt.Errorf("find ids that begin with %q: %w", named.Text(), err)
	case len(ids) == 0:
		return "", nil
	}
	return named.Pick(ids)
}

func naming(project, text string, types []schema.EntityType) clickhouse.Prefix {
	return clickhouse.Prefix{
		What: anyOf(types), Where: fmt.Sprintf("project %q", project), Given: clip(text), NotFound: ErrNotFound, Ambiguous: ErrAmbiguous,
	}
}

func notFound(project, text string, types []schema.EntityType) error {
	return naming(project, text, types).Missing("a title or a key")
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

// entityOf returns the entity that the text names, or the task that it was merged into.
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

func (l *tableSource) keyed(ctx context.Context, key Key) (string, error) {
	found, err := l.tables.Read(ctx, l.project, Wants{Keys: []string{key.String()}})
	return found.Keys[key.String()], err
}

func (l *tableSource) prefixed(ctx context.Context, types []schema.EntityType, prefix string, limit int) ([]string, error) {
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
