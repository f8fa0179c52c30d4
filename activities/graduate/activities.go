// Package graduate lifts entries from stage to stage as they are proven, corroborated and confirmed, and keeps the ledgers
// of promotions, decisions and conflicts. What rests on a session alone is in the session's stream; what crosses sessions
// is in the stream graduate/{project}, whose only writer is the workflow graduation.
package graduate

import (
	"cmp"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/client"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
)

// Activities checks and promotes entries, and runs what people ask of graduation.
type Activities struct {
	log      *eventlog.Store
	conn     driver.Conn
	entries  *entry.Reader
	model    llm.Model
	temporal client.Client
	compiler Compiler
	options  Options
	// crowd replaces maxCrowd, if it is set.
	crowd int
}

func (a *Activities) loader() loader {
	return loader{a.log, a.conn, a.entries, cmp.Or(a.crowd, maxCrowd)}
}

// Options are a worker's settings of graduation.
type Options struct {
	// Idris is the path of the compiler, or empty for idris2 on the PATH.
	Idris string
	// IdrisOnly makes the Go verifier not enough for a promotion to verified.
	IdrisOnly bool
}

// NewActivities returns the activities of this package. The connection is the log's. The model is asked only where a
// person wants that.
func NewActivities(log *eventlog.Store, conn driver.Conn, model llm.Model, temporal client.Client, options Options) (*Activities, error) {
	if log == nil || conn == nil || model == nil || temporal == nil {
		return nil, errors.New("graduate activities: an event log, a connection, a model and a Temporal client are needed")
	}
	return &Activities{
		log: log, conn: conn, entries: entry.NewReader(conn), model: model, temporal: temporal, compiler: newCompiler(options.Idris), options: options,
	}, nil
}
