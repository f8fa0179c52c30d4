// Package graduate promotes entries from stage to stage as they are proven, corroborated and confirmed, and keeps the
// ledgers of promotions, decisions and conflicts. Acts that depend on one session are in that session's stream. Acts
// across sessions are in the stream graduate/{project}, whose only writer is the workflow graduation.
package graduate

import (
	"cmp"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/client"

	"axiommind/activities/entry"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
)

// Activities checks and promotes entries, and runs people's commands to graduation.
type Activities struct {
	log      *projection.Store
	conn     driver.Conn
	entries  *entry.Reader
	model    llm.Model
	temporal client.Client
	compiler Compiler
	options  Options
	// nearestLimit replaces maxNearest if it is set.
	nearestLimit int
}

func (a *Activities) loader() loader {
	return loader{a.log.Store, a.conn, a.entries, cmp.Or(a.nearestLimit, maxNearest)}
}

// Options are a worker's settings of graduation.
type Options struct {
	// Idris is the path of the compiler, or empty for idris2 on the PATH.
	Idris string
	// IdrisOnly requires the compiler's answer for a promotion to verified. The Go verifier alone is not enough.
	IdrisOnly bool
}

// NewActivities returns the activities of this package. The connection is the log's. The model is asked only on a
// person's request.
func NewActivities(log *projection.Store, conn driver.Conn, model llm.Model, temporal client.Client, options Options) (*Activities, error) {
	if log == nil || conn == nil || model == nil || temporal == nil {
		return nil, errors.New("graduate activities: an event log, a connection, a model and a Temporal client are needed")
	}
	return &Activities{
		log: log, conn: conn, entries: entry.NewReader(conn), model: model, temporal: temporal, compiler: newCompiler(options.Idris), options: options,
	}, nil
}
