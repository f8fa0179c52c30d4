// Package ledgertest is the conformance suite of the rooms that change streams through a ledger.
package ledgertest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// Do carries out requests of a room in one process.
type Do[Req, Result any] func(context.Context, boundary.Batch[Req]) (boundary.Outcomes[Result], error)

// Room is a room with requests for one stream.
type Room[Req boundary.Request, Result any] struct {
	// Open starts a process over the connection, which remembers nothing of earlier ones.
	Open func(t testing.TB, conn driver.Conn) Do[Req, Result]
	// Projectors write the tables of the room.
	Projectors func(conn driver.Conn) []projection.Projector
	// Requests stores in a new database what the requests refer to, and returns them: those that change the stream, each
	// in the same way whatever comes before it, and those that are refused for good and leave no trace.
	Requests func(t testing.TB, conn driver.Conn) (good, refused []Req)
}

// Commands carries out one command after the other, as the updates of a workflow do.
func Commands[Req boundary.Request, Result any](do func(context.Context, Req) (Result, error)) Do[Req, Result] {
	return func(ctx context.Context, in boundary.Batch[Req]) (boundary.Outcomes[Result], error) {
		out := boundary.Outcomes[Result]{Items: make([]boundary.Outcome[Result], len(in.Items))}
		for i, req := range in.Items {
			result, err := do(ctx, req)
			if out.Items[i], err = boundary.Of(ctx, result, err); err != nil {
				return out, err
			}
		}
		return out, nil
	}
}

// Run checks what every room owes to the workflow that writes its stream.
func Run[Req boundary.Request, Result any](t *testing.T, r Room[Req, Result]) {
	s := &suite[Req, Result]{Room: r}
	undisturbed := s.begin(t)
	before := undisturbed.state(t)
	recorded := &recorder{Conn: undisturbed.conn, inserted: map[string]bool{}}
	do := r.Open(t, recorded)
	for _, req := range undisturbed.good {
		undisturbed.succeeds(t, do, schema.StreamHead{}, req)
	}
	want := undisturbed.state(t)
	require.Greater(t, len(want.keys), len(before.keys), "the requests change the stream")

	// The names of the subtests are those of the promises.
	t.Run("a crash at any insert, a batch with refusals, and requests that are sent again", func(t *testing.T) {
		t.Parallel()
		db := s.begin(t)
		batch := slices.Concat(db.good[:1], db.refused, db.good[1:])
		for _, table := range recorded.tables() {
			dying := r.Open(t, &broken{Conn: db.conn, table: table})
			_, err := dying(t.Context(), boundary.Batch[Req]{Items: batch})
			require.ErrorIs(t, err, errBroken, table)
			if table == "events_raw" {
				require.Equal(t, before.keys, db.state(t).keys)
			}
		}
		db.succeeds(t, r.Open(t, db.conn), schema.StreamHead{}, batch...)
		require.Equal(t, want, db.state(t))

		process := r.Open(t, db.conn)
		head := db.succeeds(t, process, schema.StreamHead{}, batch...).Head
		db.succeeds(t, process, head, batch...)
		slices.Reverse(batch)
		db.succeeds(t, process, head, batch...)
		require.Equal(t, want, db.state(t), "a request that is sent again changes nothing")
	})
	t.Run("a concurrent writer", func(t *testing.T) {
		t.Parallel()
		db := s.begin(t)
		first, last := db.good[0], db.good[len(db.good)-1]
		other := r.Open(t, db.conn)
		overtaken := r.Open(t, &hooked{Conn: db.conn, before: func() { db.succeeds(t, other, schema.StreamHead{}, last) }})
		_, err := overtaken(t.Context(), boundary.Batch[Req]{Items: []Req{first}})
		if len(db.good) > 1 {
			require.ErrorIs(t, err, eventlog.ErrConcurrentWriter)
		} else { // The other has stored the same.
			require.NoError(t, err)
		}
		db.succeeds(t, overtaken, schema.StreamHead{}, db.good...)
		got := db.state(t)
		slices.Sort(got.keys)
		wanted := slices.Sorted(slices.Values(want.keys))
		require.Equal(t, wanted, got.keys, "each request is carried out once")
		for _, p := range db.projectors {
			_, err := stacktest.Rebuild(t.Context(), db.conn, p)
			require.NoError(t, err)
		}
		require.Equal(t, got.tables, db.state(t).tables, "I3")
	})
}

type suite[Req boundary.Request, Result any] struct{ Room[Req, Result] }

// database is a database of its own, with the requests.
type database[Req boundary.Request, Result any] struct {
	conn          driver.Conn
	good, refused []Req
	projectors    []projection.Projector
}

func (s *suite[Req, Result]) begin(t *testing.T) *database[Req, Result] {
	db := &database[Req, Result]{conn: stacktest.Migrated(t)}
	db.good, db.refused = s.Requests(t, db.conn)
	db.projectors = s.Projectors(db.conn)
	return db
}

// succeeds carries out the requests, of which only the refused ones fail.
func (d *database[Req, Result]) succeeds(t *testing.T, do Do[Req, Result], head schema.StreamHead, reqs ...Req) boundary.Outcomes[Result] {
	t.Helper()
	out, err := do(t.Context(), boundary.Batch[Req]{Head: head, Items: reqs})
	require.NoError(t, err)
	for i, req := range reqs {
		refused := slices.ContainsFunc(d.refused, func(r Req) bool { return reflect.DeepEqual(r, req) })
		require.Equal(t, refused, out.Items[i].Failed != nil, "request %d: %v", i, out.Items[i].Failed)
	}
	return out
}

// state is all that the requests have changed.
type state struct {
	// keys are those of the events, in the order of the stream.
	keys   []string
	tables map[string]projection.Digest
}

func (d *database[Req, Result]) state(t *testing.T) state {
	t.Helper()
	log := projection.New(d.conn, eventlog.Options{})
	out := state{tables: map[string]projection.Digest{}}
	for e, err := range log.Stream(t.Context(), d.good[0].Writer().Stream(), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		out.keys = append(out.keys, e.DedupeKey)
	}
	for _, p := range d.projectors {
		for _, table := range p.Tables() {
			digest, err := log.Digest(t.Context(), table)
			require.NoError(t, err)
			out.tables[table.Name] = digest
		}
	}
	return out
}

// recorder records the tables of inserts, from the first into the log on.
type recorder struct {
	driver.Conn
	mu       sync.Mutex
	inserted map[string]bool
}

func (r *recorder) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	r.mu.Lock()
	if table := tableOf(query); table == "events_raw" || r.inserted["events_raw"] {
		r.inserted[table] = true
	}
	r.mu.Unlock()
	return r.Conn.PrepareBatch(ctx, query, opts...)
}

// tables returns the tables, the one of events first. Tables that only record how far a projection has come may be
// written later.
func (r *recorder) tables() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []string{"events_raw"}
	for table := range r.inserted {
		if table != "events_raw" && !strings.HasPrefix(table, "projection_") {
			out = append(out, table)
		}
	}
	slices.Sort(out[1:])
	return out
}

// tableOf returns the name of the table that the statement inserts into.
func tableOf(insert string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(insert, "INSERT INTO "), " ")
	return name
}

var errBroken = errors.New("disk full")

// broken is a connection whose inserts into a table fail.
type broken struct {
	driver.Conn
	table string
}

func (b *broken) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if tableOf(query) == b.table {
		return nil, errBroken
	}
	return b.Conn.PrepareBatch(ctx, query, opts...)
}

// hooked is a connection that calls before ahead of its first insert into the log.
type hooked struct {
	driver.Conn
	once   sync.Once
	before func()
}

func (h *hooked) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if tableOf(query) == "events_raw" {
		h.once.Do(h.before)
	}
	return h.Conn.PrepareBatch(ctx, query, opts...)
}
