package tier

import (
	"errors"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/client"

	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Activities keeps the tiers of memory, or asks their writer to do so.
type Activities struct {
	log       *projection.Store
	conn      driver.Conn
	tables    *Tables
	projector *Projector
	archive   *llm.Archive
	facts     *fact.Activities
	temporal  client.Client
	root      *Root
	opts      Options
	// gatherBytes is how many bytes of text one dream reads.
	gatherBytes int
	// planWindows is the maximum number of windows of a summary's plan.
	planWindows int
	// labels are the words of a dream's prompt.
	labels Labels
}

// Options configures the tiers.
type Options struct {
	// Zone is the time zone of the days. Default: that of the machine.
	Zone *time.Location
	// Params are the settings of the model's answers.
	Params llm.Params
	// WindowBytes is the size of the text that one call of the model summarizes or consolidates. Default
	// [llm.DefaultWindowBytes]. A dream reads as much as fits into a bounded number of windows, and a backlog takes more
	// dreams. A single day, or a memory, that is too much for so many has larger windows: the model must take them.
	WindowBytes int
	// Webhook is called with every summary that a daily record gains.
	Webhook Webhook
	// Timing has how long the files may stay behind the log.
	Timing schema.Timing
}

// NewActivities returns the activities of this package. The root holds the files of all memories.
func NewActivities(
	log *projection.Store, conn driver.Conn, model llm.Model, facts *fact.Activities, temporal client.Client, root *Root, opts Options,
) (*Activities, error) {
	if log == nil || conn == nil || model == nil || facts == nil || temporal == nil || root == nil {
		return nil, errors.New("tier activities: an event log, a database, a model, the activities of facts, a Temporal client and a root are needed")
	}
	if err := opts.Webhook.validate(); err != nil {
		return nil, err
	}
	if opts.Zone == nil {
		opts.Zone = time.Local
	}
	if opts.WindowBytes == 0 {
		opts.WindowBytes = llm.DefaultWindowBytes
	}
	return &Activities{
		log: log, conn: conn, tables: NewTables(conn), projector: NewProjector(conn), archive: llm.NewArchive(log.Store, model),
		facts: facts, temporal: temporal, root: root, opts: opts, gatherBytes: gatheredBytes(opts.WindowBytes), planWindows: maxSummarized, labels: English,
	}, nil
}
