package build

import (
	"context"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/activities/graduate"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// Projections returns all projectors of the program, with the vector outboxes of each embedding version. A projector
// that is missing here does not run, and is neither rebuilt nor checked.
func Projections(conn driver.Conn, embeddingVersions ...string) []projection.Projector {
	out := []projection.Projector{
		entry.NewProjector(conn),
		NewProjector(conn),
		task.NewProjector(conn),
		fact.NewProjector(conn),
		tier.NewProjector(conn),
		graduate.NewProjector(conn),
		graduate.NewUsageProjector(conn),
	}
	for _, version := range embeddingVersions {
		for _, index := range schema.Indexes(version) {
			out = append(out, vector.NewOutboxProjector(conn, index))
		}
	}
	return out
}

// StoredProjections returns [Projections] with the outboxes of the embedding version and of every version that the
// database was indexed with before.
func StoredProjections(ctx context.Context, conn driver.Conn, log *projection.Store, embeddingVersion string) ([]projection.Projector, error) {
	names, err := log.ProjectorNames(ctx)
	if err != nil {
		return nil, err
	}
	versions := []string{embeddingVersion}
	for _, name := range names {
		index, ok := strings.CutPrefix(name, vector.OutboxPrefix)
		version, _ := schema.SplitIndex(index)
		if ok && !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	return Projections(conn, versions...), nil
}

// Named returns the projectors that go by the names, or all where none is given. Of names that no projector has it
// returns the first.
func Named(projectors []projection.Projector, names []string) (chosen []projection.Projector, absent string) {
	if len(names) == 0 {
		return projectors, ""
	}
	for _, name := range names {
		if !slices.ContainsFunc(projectors, func(p projection.Projector) bool { return GoesBy(p, name) }) {
			return nil, name
		}
	}
	for _, p := range projectors {
		if slices.ContainsFunc(names, func(name string) bool { return GoesBy(p, name) }) {
			chosen = append(chosen, p)
		}
	}
	return chosen, ""
}

// GoesBy reports whether the name is the projector's, or the part of it before the slash.
func GoesBy(p projection.Projector, name string) bool {
	family, _, _ := strings.Cut(p.Name(), "/")
	return name == p.Name() || name == family
}

// LeftOut returns a missing table of a projection that is not among those named: it would come back empty.
func LeftOut(projectors []projection.Projector, missing, names []string) (table, projection string) {
	if len(names) == 0 {
		return "", ""
	}
	for _, p := range projectors {
		if slices.ContainsFunc(names, func(name string) bool { return GoesBy(p, name) }) {
			continue
		}
		for _, t := range p.Tables() {
			if slices.Contains(missing, t.Name) {
				return t.Name, p.Name()
			}
		}
	}
	return "", ""
}
