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
	// Requests returns requests that change the stream, each in the same way whatever comes before it, and requests that
	// are refused for good. It stores in a new database the sessions and entries to which they refer.
	Requests func(t testing.TB, conn driver.Conn) ([]Req, []Refused[Req])
	// Varying, if set, clears the fields of a result that differ from one call to the next, such as times.
	Varying func(*Result)
}

// Refused is a request that is refused for good and leaves no trace.
type Refused[Req any] struct {
	Request Req
	// As is the type of the failure: one of the schema.Error constants.
	As string
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

// Run checks the promises of a room to the workflow that writes its stream.
func Run[Req boundary.Request, Result any](t *testing.T, r Room[Req, Result]) {
	s := &suite[Req, Result]{Room: r}
	undisturbed := s.begin(t)
	before := undisturbed.state(t)
	recorded := &recorder{Conn: undisturbed.conn, inserted: map[string]bool{}}
	do := r.Open(t, recorded)
	var head schema.StreamHead
	var results []Result
	for _, req := range undisturbed.good { // Each from the head that the one before has left.
		out := undisturbed.succeeds(t, do, head, req)
		head, results = out.Head, append(results, s.results(out)...)
	}
	want := undisturbed.state(t)
	require.Greater(t, len(want.keys), len(before.keys), "the requests change the stream")

	t.Run("a batch with refusals, and requests that are sent again", func(t *testing.T) {
		t.Parallel()
		db := s.begin(t)
		do, batch := r.Open(t, db.conn), db.mixed()
		out := db.succeeds(t, do, schema.StreamHead{}, batch...)
		require.Equal(t, results, s.results(out), "the results are those of one after the other")
		require.Equal(t, want, db.state(t))
		for _, head := range []schema.StreamHead{{}, {Known: true}, out.Head} { // Unknown, too low, and exact.
			db.succeeds(t, do, head, batch...)
			db.succeeds(t, r.Open(t, db.conn), head, batch...)
			slices.Reverse(batch)
		}
		require.Equal(t, want, db.state(t), "a request that is sent again changes nothing")
	})
	t.Run("a crash at any insert", func(t *testing.T) {
		t.Parallel()
		db := s.begin(t)
		batch := db.mixed()
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
	conn       driver.Conn
	good       []Req
	refused    []Refused[Req]
	projectors []projection.Projector
}

func (s *suite[Req, Result]) begin(t *testing.T) *database[Req, Result] {
	db := &database[Req, Result]{conn: stacktest.Migrated(t)}
	db.good, db.refused = s.Requests(t, db.conn)
	db.projectors = s.Projectors(db.conn)
	return db
}

// mixed are all requests, with the refused ones behind the first.
func (d *database[Req, Result]) mixed() []Req {
	var refused []Req
	for _, r := range d.refused {
		refused = append(refused, r.Request)
	}
	return slices.Concat(d.good[:1], refused, d.good[1:])
}

// succeeds carries out the requests, of which only the refused ones fail.
func (d *database[Req, Result]) succeeds(t *testing.T, do Do[Req, Result], head schema.StreamHead, reqs ...Req) boundary.Outcomes[Result] {
	t.Helper()
	out, err := do(t.Context(), boundary.Batch[Req]{Head: head, Items: reqs})
	require.NoError(t, err)
	for i, req := range reqs {
		at := slices.IndexFunc(d.refused, func(r Refused[Req]) bool { return reflect.DeepEqual(r.Request, req) })
		switch failed := out.Items[i].Failed; {
		case at < 0:
			require.Nil(t, failed, "request %d", i)
		default:
			require.NotNil(t, failed, "request %d", i)
			require.Equal(t, d.refused[at].As, failed.Type, failed.Message)
		}
	}
	return out
}

// results are those of the requests that were not refused.
func (s *suite[Req, Result]) results(out boundary.Outcomes[Result]) []Result {
	var results []Result
	for _, o := range out.Items {
		if o.Failed != nil {
			continue
		}
		if s.Varying != nil {
			s.Varying(&o.Result)
		}
		results = append(results, o.Result)
	}
	return results
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
