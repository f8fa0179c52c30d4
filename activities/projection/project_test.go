package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// tally keeps a list per stream of the values in its events of two types, in a table.
type tally struct {
	conn    driver.Conn
	version uint32
	// fail is asked before each step.
	fail func(step string) error
}

func newTally(t testing.TB, conn driver.Conn) *tally {
	t.Helper()
	require.NoError(t, conn.Exec(t.Context(), `CREATE TABLE tally_raw (stream String, seq UInt64, said String)
		ENGINE = ReplacingMergeTree(seq) ORDER BY (stream, seq)`))
	return &tally{conn: conn, version: 1, fail: func(string) error { return nil }}
}

func (p *tally) Name() string         { return "tally" }
func (p *tally) Types() []string      { return []string{"say", "shout"} }
func (p *tally) StreamPrefix() string { return "p/" }

func (p *tally) Apply(ctx context.Context, events []schema.Event) error {
	if err := p.fail("before rows"); err != nil {
		return err
	}
	var rows [][]any
	for i, e := range events {
		last := events[max(i-1, 0)]
		if i > 0 && (e.Stream != last.Stream || e.Seq <= last.Seq) {
			return fmt.Errorf("event %d of %q at %d is out of order", i, e.Stream, e.Seq)
		}
		rows = append(rows, []any{e.Stream, e.Seq, e.Type + " " + string(e.Payload)})
	}
	if err := clickhouse.Insert(ctx, p.conn, "tally_raw (stream, seq, said)", rows); err != nil {
		return err
	}
	return p.fail("after rows")
}

func (p *tally) Version() uint32 { return p.version }

func (p *tally) Tables() []projection.Table { return []projection.Table{{Name: "tally_raw"}} }

func (p *tally) rows(t require.TestingT) []string {
	rows, err := p.conn.Query(context.Background(), `SELECT concat(stream, ' ', toString(seq), ' ', said) FROM tally_raw FINAL ORDER BY stream, seq`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		out = append(out, line)
	}
	require.NoError(t, rows.Err())
	return out
}

var errKilled = errors.New("killed")

// failOnce fails the n-th time the step is reached.
func failOnce(step string, n int) func(string) error {
	return func(at string) error {
		if at == step {
			if n--; n == 0 {
				return errKilled
			}
		}
		return nil
	}
}

func said(stream string, n int) []schema.Event {
	out := events(stream+"-", n)
	for i := range out {
		out[i].Type = []string{"say", "shout", "other"}[i%3]
	}
	return out
}

func TestProject(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := projection.New(conn, eventlog.Options{PageRows: 3})
	p := newTally(t, conn)
	for _, stream := range []string{"p/a", "p/b", "q/c"} {
		_, err := s.Append(t.Context(), stream, said(stream, 12))
		require.NoError(t, err)
	}
	done, err := s.Project(t.Context(), p, "p/a")
	require.NoError(t, err)
	require.Equal(t, projection.Progress{Streams: 1, Events: 8}, done)
	done, err = s.Project(t.Context(), p, "p/a")
	require.NoError(t, err)
	require.Zero(t, done)
	done, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, projection.Progress{Streams: 1, Events: 8}, done)
	require.Len(t, p.rows(t), 16)
	require.EqualValues(t, 2, count(t, conn, `SELECT count() FROM projection_offsets WHERE projector_name = 'tally' AND last_seq = 12`))

	_, err = s.Append(t.Context(), "p/a", said("p/a", 14))
	require.NoError(t, err)
	done, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, projection.Progress{Streams: 1, Events: 2}, done)
	require.Len(t, p.rows(t), 18)
}

// TestProjectKilled is I2 and I3 of projections: killed at any step, run again, the rows are those of
// an undisturbed run.
func TestProjectKilled(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	options := eventlog.Options{PageRows: 2, Lease: testLease}
	s := projection.New(conn, options)
	for _, stream := range []string{"p/a", "p/b", "p/c"} {
		_, err := s.Append(t.Context(), stream, said(stream, 7))
		require.NoError(t, err)
	}
	_, err := s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	want := p.rows(t)
	require.Len(t, want, 15)
	for _, step := range []string{"before rows", "after rows"} {
		for n := 1; n <= 3; n++ {
			p.fail = failOnce(step, n)
			_, err := stacktest.Rebuild(t.Context(), conn, p, options)
			require.ErrorIs(t, err, errKilled)
			// Another program goes on.
			_, err = projection.New(conn, options).ProjectAll(t.Context(), p)
			require.NoError(t, err)
			require.Equal(t, want, p.rows(t), "killed %s, time %d", step, n)
		}
	}
	require.EqualValues(t, 3, count(t, conn, `SELECT count() FROM projection_offsets WHERE projector_name = 'tally'`))
}

func TestModel(t *testing.T) {
	t.Parallel()
	model(t, 4)
}

// model compares the log and a projection of it with a plain list in memory, under random appends, page sizes and
// crashes. The reads equal the list, and the incremental projection equals the rebuilt one (I3, I4).
func model(t *testing.T, draws int) {
	t.Helper()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	sharedtest.CheckFew(t, draws, func(r *rapid.T) {
		ctx := t.Context()
		for _, table := range []string{"events_raw", "projection_offsets_raw", "tally_raw"} {
			require.NoError(r, conn.Exec(ctx, "TRUNCATE TABLE "+table))
		}
		model := map[string][]schema.Event{}
		owner := map[string]string{}
		pages := rapid.IntRange(1, 7)
		for range rapid.IntRange(1, 4).Draw(r, "steps") {
			s := projection.New(conn, eventlog.Options{PageRows: pages.Draw(r, "page"), PageBytes: int64(rapid.IntRange(1, 200).Draw(r, "bytes"))})
			stream := rapid.SampledFrom([]string{"p/a", "p/b", "q"}).Draw(r, "stream")
			batch := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) schema.Event {
				e := event(fmt.Sprint("k", rapid.IntRange(0, 25).Draw(r, "key")), rapid.StringN(0, 4, -1).Draw(r, "payload"))
				e.Type = rapid.SampledFrom([]string{"say", "shout", "other"}).Draw(r, "type")
				return e
			}), 0, 8).Draw(r, "batch")
			got, err := s.Append(ctx, stream, batch)
			require.NoError(r, err)
			fresh := 0
			for i, e := range batch {
				if _, ok := owner[e.DedupeKey]; !ok {
					owner[e.DedupeKey] = stream
					model[stream] = append(model[stream], e)
					fresh++
				}
				require.Equal(r, owner[e.DedupeKey], got.Events[i].Stream)
			}
			require.Equal(r, fresh, got.New)
			p.fail = func(string) error { return nil }
			if rapid.Bool().Draw(r, "killed") {
				p.fail = failOnce(rapid.SampledFrom([]string{"before rows", "after rows"}).Draw(r, "at"), 1)
			}
			if stream != "q" {
				if _, err := s.Project(ctx, p, stream); err != nil {
					require.ErrorIs(r, err, errKilled)
				}
			}
			if rapid.Bool().Draw(r, "saved") {
				require.NoError(r, s.SaveOffsets(ctx))
			} else {
				projection.LoseOffsets(s)
			}
		}
		s := projection.New(conn, eventlog.Options{PageRows: pages.Draw(r, "page")})
		var all []string
		for _, name := range []string{"p/a", "p/b", "q"} {
			all = append(all, keys(model[name])...)
		}
		var replayed []string
		for e, err := range s.Replay(ctx, eventlog.ReplayOptions{}) {
			require.NoError(r, err)
			replayed = append(replayed, e.DedupeKey)
		}
		require.True(r, slices.Equal(all, replayed), "replay gives %v, want %v", replayed, all)
		p.fail = func(string) error { return nil }
		_, err := s.ProjectAll(ctx, p)
		require.NoError(r, err)
		incremental := p.rows(r)
		var want []string
		for _, name := range []string{"p/a", "p/b"} {
			for i, e := range model[name] {
				if e.Type != "other" {
					want = append(want, fmt.Sprintf("%s %d %s %s", name, i+1, e.Type, canonicalJSON(r, e.Payload)))
				}
			}
		}
		require.Equal(r, want, incremental)
		_, err = stacktest.Rebuild(ctx, conn, p)
		require.NoError(r, err)
		require.Equal(r, incremental, p.rows(r))
		require.NoError(r, s.SaveOffsets(ctx))
	})
}

func canonicalJSON(t require.TestingT, raw []byte) []byte {
	out, err := jcs.Transform(raw)
	require.NoError(t, err)
	return out
}

// Tables never hold more than the log: held events are stored before they are projected.
func TestHoldThenProject(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s, p := projection.New(conn, eventlog.Options{}), newTally(t, conn)
	ctx := eventlog.WithHead(t.Context(), "p/h", schema.StreamHead{Known: true})
	holding, held := s.Hold(ctx, "p/h")
	_, err := s.Append(holding, "p/h", said("p/h", 3))
	require.NoError(t, err)
	progress, err := s.Project(holding, p, "p/h")
	require.NoError(t, err)
	require.Equal(t, 2, progress.Events)
	require.Len(t, collect(t, s.Stream(t.Context(), "p/h", eventlog.StreamOptions{})), 3)
	require.NoError(t, held.Store(ctx))
}

// counted counts the requests to the server that a caller waits for.
type counted struct {
	driver.Conn
	n atomic.Int64
}

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.n.Add(1)
	return c.Conn.Query(ctx, query, args...)
}

func (c *counted) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if !strings.Contains(query, "projection_offsets") { // These are saved in the background.
		c.n.Add(1)
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// The only writer of a stream projects what it has appended by one insert of rows. The first time, the same request asks for
// generations and erasures.
func TestHeadSparesRequestsOfProjections(t *testing.T) {
	t.Parallel()
	conn := &counted{Conn: stacktest.Migrated(t)}
	s := projection.New(conn, eventlog.Options{Lease: time.Hour})
	p := newTally(t, conn)
	for n := range 3 {
		ctx := eventlog.WithHead(t.Context(), "p/a", schema.StreamHead{Known: true, Seq: uint64(3 * n)})
		conn.n.Store(0)
		_, err := s.Append(ctx, "p/a", said("p/a", 3*n+3))
		require.NoError(t, err)
		ctx = eventlog.WithHead(t.Context(), "p/a", s.Head("p/a"))
		done, err := s.Project(ctx, p, "p/a")
		require.NoError(t, err)
		require.Equal(t, projection.Progress{Streams: 1, Events: 2}, done)
		if n > 0 {
			require.EqualValues(t, 2+1, conn.n.Load(), "append, and rows")
		}
		conn.n.Store(0)
		_, err = s.Project(ctx, p, "p/a")
		require.NoError(t, err)
		require.Zero(t, conn.n.Load(), "project again")
	}
	require.Len(t, p.rows(t), 6)
}
