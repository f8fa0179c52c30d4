package build

import (
	"context"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/vector"
)

// Projections returns all projectors of the program, with a vector outbox for each embedding version. A projector
// that is missing here does not run, and is neither rebuilt nor checked.
func Projections(conn driver.Conn, embeddingVersions ...string) []eventlog.Projector {
	out := []eventlog.Projector{
		entry.NewProjector(conn),
		NewProjector(conn),
		task.NewProjector(conn),
		fact.NewProjector(conn),
		tier.NewProjector(conn),
	}
	for _, version := range embeddingVersions {
		out = append(out, vector.NewOutboxProjector(conn, version))
	}
	return out
}

// StoredProjections returns [Projections] with the outbox of the embedding version and of every version that the
// database was indexed with before.
func StoredProjections(ctx context.Context, conn driver.Conn, log *eventlog.Store, embeddingVersion string) ([]eventlog.Projector, error) {
	names, err := log.ProjectorNames(ctx)
	if err != nil {
		return nil, err
	}
	versions := []string{embeddingVersion}
	for _, name := range names {
		version, ok := strings.CutPrefix(name, vector.OutboxPrefix)
		if ok && !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	return Projections(conn, versions...), nil
}
