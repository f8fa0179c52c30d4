package eventlog

import (
	"cmp"
	"container/list"
	"context"
	"sync"
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
	// waits a little longer than that. All programs that use one database must have the same Lease, or rows are lost.
	// Default [schema.Timing.Lease].
	Lease time.Duration
	// Offsets is how long an offset waits for others to be saved with it, because a small insert costs as much as a
	// large one. An offset that is lost in a crash does no harm: its events are applied again. Default
	// [schema.Timing.Offsets].
	Offsets time.Duration
	// Now returns the time for RecordedAt. Default time.Now.
	Now func() time.Time
	// Appended is told of events that the log has newly stored, to count them. It must return at once. Default: no one.
	Appended func([]schema.Event)
}

// Store is the event log. It is safe for concurrent use.
type Store struct {
	conn driver.Conn
	opts Options
	// offsetsTable is the table of the projectors' generations and offsets: that of the database in use, or of a
	// [Shadow].
	offsetsTable string

	locks   keyedMutex
	tails   tails
	offsets offsets
	leases  leases
	erased  erased
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
	return &Store{
		conn: conn, opts: opts, offsetsTable: currentOffsets, locks: keyedMutex{held: map[string]chan struct{}{}}, tails: tails{of: map[string]*list.Element{}},
		offsets: offsets{known: map[offsetKey]Offset{}, pending: map[offsetKey]offsetRow{}},
		leases:  leases{of: map[string]generation{}},
	}
}

// currentOffsets is the table of the offsets of the tables in use.
const currentOffsets = "projection_offsets_raw"

// querySettings allow queries that contain the ids or positions of a whole page. Reads by key use one thread: to
// hand a few rows from thread to thread costs more than to read them.
var querySettings = clickhouse.Settings{"max_query_size": 16 << 20, "max_threads": 1}

// scanSettings are for queries of all streams, or all of a kind.
var scanSettings = clickhouse.Settings{"max_query_size": 16 << 20}

func (s *Store) request(ctx context.Context, settings clickhouse.Settings) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	// Clone the map, because the client adds the deadline to it.
	return clickhouse.With(ctx, settings), cancel
}

// query runs a select by key, and calls scan once per row.
func (s *Store) query(ctx context.Context, scan func(driver.Rows) error, sql string, args ...any) error {
	return s.queryWith(ctx, querySettings, scan, sql, args...)
}

// queryAll is query for a select of all streams, or all of a kind.
func (s *Store) queryAll(ctx context.Context, scan func(driver.Rows) error, sql string, args ...any) error {
	return s.queryWith(ctx, scanSettings, scan, sql, args...)
}

func (s *Store) queryWith(ctx context.Context, settings clickhouse.Settings, scan func(driver.Rows) error, sql string, args ...any) error {
	ctx, cancel := s.request(ctx, settings)
	defer cancel()
	return clickhouse.Select(ctx, s.conn, scan, sql, args...)
}

// keyedMutex is a mutex per key. Waiting for it ends with the context.
type keyedMutex struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

func (m *keyedMutex) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		m.mu.Lock()
		released, busy := m.held[key]
		if !busy {
			released = make(chan struct{})
			m.held[key] = released
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				delete(m.held, key)
				m.mu.Unlock()
				close(released)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
