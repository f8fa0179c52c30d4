package projection

import (
	"cmp"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Store is the event log with the projections of it. It is safe for concurrent use.
type Store struct {
	*eventlog.Store
	db   clickhouse.DB
	opts eventlog.Options
	// offsetsTable is the table of the projectors' generations and offsets: that of the database in use, or of a
	// [Shadow].
	offsetsTable string

	locks   eventlog.KeyedMutex
	offsets offsets
	leases  leases
}

// New returns the event log of a migrated database, and its projections. The caller closes conn after the last call.
func New(conn driver.Conn, opts eventlog.Options) *Store {
	opts.Timeout = cmp.Or(opts.Timeout, eventlog.DefaultTimeout)
	timing := schema.Timing{Lease: opts.Lease, Offsets: opts.Offsets}.WithDefaults()
	opts.Lease, opts.Offsets = timing.Lease, timing.Offsets
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := newStore(nil, clickhouse.DB{Conn: conn, Timeout: opts.Timeout}, opts)
	opts.AskForErasures = s.askForErasures
	s.Store = eventlog.New(conn, opts)
	return s
}

func newStore(log *eventlog.Store, db clickhouse.DB, opts eventlog.Options) *Store {
	return &Store{
		Store: log, db: db, opts: opts, offsetsTable: currentOffsets,
		offsets: offsets{known: map[offsetKey]Offset{}, pending: map[offsetKey]offsetRow{}},
		leases:  leases{of: map[string]generation{}},
	}
}

// currentOffsets is the table of the offsets of the tables in use.
const currentOffsets = "projection_offsets_raw"
