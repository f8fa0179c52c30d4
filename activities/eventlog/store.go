package eventlog

import (
	"cmp"
	"container/list"
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Limits of one batch. Use [Store.AppendAll] for more.
const (
	MaxBatchRows  = 100_000
	MaxBatchBytes = 64 << 20
)

// Defaults of [Options].
const (
	DefaultPageRows  = 20_000
	DefaultPageBytes = 8 << 20
	DefaultTimeout   = time.Minute
)

// Options configures a [Store]. The zero value uses the defaults.
type Options struct {
	// PageRows and PageBytes bound the events that a reader holds at once. An event larger than PageBytes is a page
	// of its own. Defaults [DefaultPageRows] and [DefaultPageBytes].
	PageRows  int
	PageBytes int64
	// Timeout bounds each request to the server. Default [DefaultTimeout].
	Timeout time.Duration
	// Lease is how long a projector may write before it checks again whether its tables are being rebuilt. A rebuild
	// waits a little longer than that. After half of it the log asks again for erasures. All programs that use one database must have the same Lease, or rows are lost.
	// Default [schema.Timing.Lease].
	Lease time.Duration
	// Offsets is how long an offset of a projection waits for others to be saved with it, because a small insert costs as much as a
	// large one. An offset that is lost in a crash does no harm: its events are applied again. Default
	// [schema.Timing.Offsets].
	Offsets time.Duration
	// Now returns the time for RecordedAt. Default time.Now.
	Now func() time.Time
	// AskForErasures asks the server for erasures and calls [Store.LearnErasures], for a program that asks more in the same
	// request. Default: it asks for nothing else.
	AskForErasures func(context.Context) error
	// Appended is told of events that the log has newly stored, to count them. It must return at once. Default: no one.
	Appended func([]schema.Event)
}

// Store is the event log. It is safe for concurrent use.
type Store struct {
	db   clickhouse.DB
	opts Options

	locks  KeyedMutex
	tails  tails
	erased erased
}

// New returns the event log in a migrated database. The caller closes conn after the last call.
func New(conn driver.Conn, opts Options) *Store {
	opts.PageRows = cmp.Or(opts.PageRows, DefaultPageRows)
	opts.PageBytes = cmp.Or(opts.PageBytes, DefaultPageBytes)
	opts.Timeout = cmp.Or(opts.Timeout, DefaultTimeout)
	timing := schema.Timing{Lease: opts.Lease, Offsets: opts.Offsets}.WithDefaults()
	opts.Lease, opts.Offsets = timing.Lease, timing.Offsets
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Appended == nil {
		opts.Appended = func([]schema.Event) {}
	}
	s := &Store{db: clickhouse.DB{Conn: conn, Timeout: opts.Timeout}, opts: opts, tails: tails{of: map[string]*list.Element{}}}
	if opts.AskForErasures == nil {
		s.opts.AskForErasures = s.askForErasures
	}
	return s
}
