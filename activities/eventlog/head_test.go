package eventlog_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"pgregory.net/rapid"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

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
	c.n.Add(1)
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// The only writer of a stream costs the server two requests for an append, and none for events that it has seen before.
func TestHeadSparesRequests(t *testing.T) {
	t.Parallel()
	conn := &counted{Conn: stacktest.Migrated(t)}
	s := eventlog.New(conn, eventlog.Options{Lease: time.Hour})
	requests := func(want int64, what string) {
		t.Helper()
		require.Equal(t, want, conn.n.Swap(0), what)
	}
	conn.n.Store(0)
	head, err := s.Load(t.Context(), "p/a")
	require.NoError(t, err)
	require.Equal(t, schema.StreamHead{Known: true}, head)
	requests(1, "load")
	var all []schema.Event
	for n := range 3 {
		ctx := eventlog.WithHead(t.Context(), "p/a", head)
		got, err := s.Append(ctx, "p/a", said("p/a", 3*n+3))
		require.NoError(t, err)
		require.Equal(t, 3, got.New)
		all = append(all, got.Events[3*n:]...)
		first := int64(0)
		if n == 0 {
			first = 1 // It asks once for erasures.
		}
		requests(2+first, "append")
		head = s.Head("p/a")
		require.Equal(t, schema.StreamHead{Known: true, Seq: uint64(3*n + 3)}, head)
		ctx = eventlog.WithHead(t.Context(), "p/a", head)
		require.Equal(t, all, collect(t, s.Stream(ctx, "p/a", eventlog.StreamOptions{})))
		require.Equal(t, all[1:], collect(t, s.Stream(ctx, "p/a", eventlog.StreamOptions{After: 1})))
		require.Len(t, collect(t, s.Stream(ctx, "p/a", eventlog.StreamOptions{Types: []string{"say"}, Limit: 2})), min(n+1, 2))
		requests(0, "read")
		again, err := s.Append(ctx, "p/a", said("p/a", 3*n+3))
		require.NoError(t, err)
		require.Zero(t, again.New)
		require.Equal(t, all, again.Events)
		requests(0, "append again")
	}
	// Another program knows the head but not the stream: it reads once.
	other := eventlog.New(conn, eventlog.Options{})
	ctx := eventlog.WithHead(t.Context(), "p/a", head)
	conn.n.Store(0)
	require.Equal(t, all, collect(t, other.Stream(ctx, "p/a", eventlog.StreamOptions{})))
	requests(2, "first read, and what was forgotten")
	_, err = other.Append(ctx, "p/a", said("p/a", 12))
	require.NoError(t, err)
	requests(2, "append of another program")
	// The first one gets the new head, and reads the events that it has missed.
	ctx = eventlog.WithHead(t.Context(), "p/a", other.Head("p/a"))
	require.Len(t, collect(t, s.Stream(ctx, "p/a", eventlog.StreamOptions{})), 12)
	requests(1, "read on")
	// Without a head the server is asked.
	require.Len(t, collect(t, s.Stream(t.Context(), "p/a", eventlog.StreamOptions{})), 12)
	requests(1, "read of who is not the writer")
	_, err = s.Append(t.Context(), "p/a", said("p/a", 15)[12:])
	require.NoError(t, err)
	requests(3, "append of who is not the writer")
}

// A writer that knows an old head, or whose memory is old, changes nothing (I7).
func TestOldHead(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	a, b := eventlog.New(conn, eventlog.Options{}), eventlog.New(conn, eventlog.Options{})
	old, err := a.Load(t.Context(), "p/a")
	require.NoError(t, err)
	ctx := eventlog.WithHead(t.Context(), "p/a", old)
	first, err := b.Append(t.Context(), "p/a", said("p/a", 4))
	require.NoError(t, err)
	// The retry of b's work by a, which began before b's.
	got, err := a.Append(ctx, "p/a", said("p/a", 4))
	require.NoError(t, err)
	require.Zero(t, got.New)
	require.Equal(t, first.Events, got.Events)
	got, err = a.Append(ctx, "p/a", said("p/a", 6))
	require.NoError(t, err)
	require.Equal(t, 2, got.New)
	got, err = b.Append(eventlog.WithHead(t.Context(), "p/a", schema.StreamHead{Known: true, Seq: 4}), "p/a", said("p/a", 7))
	require.NoError(t, err)
	require.Equal(t, 1, got.New)
	require.EqualValues(t, 7, got.Events[6].Seq)
	require.EqualValues(t, 7, count(t, conn, `SELECT count() FROM events_raw`))
	require.Zero(t, count(t, conn, `SELECT count() FROM events_raw WHERE NOT `+eventlog.Shown))

	_, err = a.Append(eventlog.WithHead(t.Context(), "p/a", schema.StreamHead{Known: true, Seq: 99}), "p/a", said("p/a", 8))
	require.ErrorIs(t, err, eventlog.ErrNotFound, "the log has lost events")
	require.ErrorContains(t, err, "it is at 7, and its writer has written 99")
}

// Who has read a stream that has grown since appends nothing made of it, whatever key it has, and begins again (I2).
func TestAppendToGrownStream(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	a, b := eventlog.New(conn, eventlog.Options{}), eventlog.New(conn, eventlog.Options{})
	head, err := a.Load(t.Context(), "p/a")
	require.NoError(t, err)
	ctx := eventlog.WithHead(t.Context(), "p/a", head)
	require.Empty(t, collect(t, a.Stream(ctx, "p/a", eventlog.StreamOptions{})))
	_, err = b.Append(t.Context(), "p/a", events("messages 0 to 9 ", 1))
	require.NoError(t, err)
	for range 2 { // The store knows by then.
		_, err = a.Append(ctx, "p/a", events("messages 0 to 12 ", 1))
		require.ErrorIs(t, err, eventlog.ErrConcurrentWriter)
		require.True(t, clickhouse.Retryable(err))
		require.ErrorContains(t, err, "has grown to 1 since it was read")
	}
	// Events that are stored already do no harm.
	got, err := a.Append(ctx, "p/a", events("messages 0 to 9 ", 1))
	require.NoError(t, err)
	require.Zero(t, got.New)
	// The next attempt reads it all.
	ctx = eventlog.WithHead(t.Context(), "p/a", head)
	require.Len(t, collect(t, a.Stream(ctx, "p/a", eventlog.StreamOptions{})), 1)
	for n := range 2 {
		_, err = a.Append(ctx, "p/a", events(fmt.Sprint("messages from 10 ", n), 1))
		require.NoError(t, err, "its own appends are known to it")
	}
	require.Len(t, collect(t, b.Stream(t.Context(), "p/a", eventlog.StreamOptions{})), 3)

	// An insert whose answer is lost leaves nothing that is trusted.
	c := &flaky{Conn: conn, after: func() error { return io.ErrUnexpectedEOF }}
	s := eventlog.New(c, eventlog.Options{})
	head, err = s.Load(t.Context(), "p/a")
	require.NoError(t, err)
	_, err = s.Append(eventlog.WithHead(t.Context(), "p/a", head), "p/a", events("lost ", 1))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Len(t, collect(t, s.Stream(eventlog.WithHead(t.Context(), "p/a", head), "p/a", eventlog.StreamOptions{})), 4)
}

// A hidden copy stays hidden from the only writer of its stream.
func TestHeadOfStreamWithCopies(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := eventlog.New(conn, eventlog.Options{})
	_, err := s.Append(t.Context(), "p/a", events("k", 1))
	require.NoError(t, err)
	forge(t, conn, "p/b", 1, "k0", `1`, time.Now().UnixMicro())
	forge(t, conn, "p/b", 2, "other", `1`, 5)
	_, err = s.HideCopies(t.Context())
	require.NoError(t, err)
	head, err := s.Load(t.Context(), "p/b")
	require.NoError(t, err)
	got := collect(t, s.Stream(eventlog.WithHead(t.Context(), "p/b", head), "p/b", eventlog.StreamOptions{}))
	require.Equal(t, []string{"other"}, keys(got))
}

// Long streams, and those with large events, are not kept in memory, and read the same.
func TestHeadOfLongStream(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	for name, batch := range map[string][]schema.Event{
		"p/many":  said("p/many", 700),
		"p/large": append(said("p/large", 2), event("large", strings.Repeat("x", 3<<20)), event("after", 1)),
	} {
		want, err := eventlog.New(conn, eventlog.Options{}).Append(t.Context(), name, batch)
		require.NoError(t, err)
		s := eventlog.New(conn, eventlog.Options{})
		head, err := s.Load(t.Context(), name)
		require.NoError(t, err)
		require.EqualValues(t, len(batch), head.Seq)
		ctx := eventlog.WithHead(t.Context(), name, head)
		require.Equal(t, want.Events, collect(t, s.Stream(ctx, name, eventlog.StreamOptions{})))
		got, err := s.Append(ctx, name, append(batch, event(name+"more", 1)))
		require.NoError(t, err)
		require.Equal(t, 1, got.New)
		require.Equal(t, append(want.Events, got.Events[len(batch)]), got.Events)
		head = s.Head(name)
		require.EqualValues(t, len(batch)+1, head.Seq)
		require.Equal(t, got.Events[len(batch):], collect(t, s.Stream(eventlog.WithHead(t.Context(), name, head), name, eventlog.StreamOptions{After: uint64(len(batch))})))
		fresh, err := eventlog.New(conn, eventlog.Options{}).Append(eventlog.WithHead(t.Context(), name, head), name, append(batch, event(name+"more", 1), event(name+"last", 2)))
		require.NoError(t, err)
		require.Equal(t, 1, fresh.New)
	}
}

func TestHeadModel(t *testing.T) {
	t.Parallel()
	headModel(t, 5)
}

// Programs that hand the head of a stream on to each other, retry with old ones, and forget, write the same as one
// program without a memory (I2).
func headModel(t *testing.T, draws int) {
	t.Helper()
	conn := stacktest.Migrated(t)
	run := 0
	sharedtest.CheckFew(t, draws, func(r *rapid.T) {
		run++
		stream := fmt.Sprint("p/", run)
		stores := []*eventlog.Store{eventlog.New(conn, eventlog.Options{}), eventlog.New(conn, eventlog.Options{PageRows: 2})}
		heads := []schema.StreamHead{{}, {Known: true}}
		model := []string{}
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			s := rapid.SampledFrom(stores).Draw(r, "store")
			head := rapid.SampledFrom(heads).Draw(r, "head")
			ctx := eventlog.WithHead(t.Context(), stream, head)
			var batch []schema.Event
			for _, k := range rapid.SliceOfN(rapid.IntRange(0, 12), 0, 5).Draw(r, "keys") {
				key := fmt.Sprint(stream, " ", k)
				batch = append(batch, event(key, k))
				if !contains(model, key) {
					model = append(model, key)
				}
			}
			got, err := s.Append(ctx, stream, batch)
			require.NoError(r, err)
			require.Empty(r, got.Differing)
			if now := s.Head(stream); now.Known {
				heads = append(heads, now)
				require.Equal(r, model, keys(collect(t, s.Stream(eventlog.WithHead(t.Context(), stream, schema.StreamHead{Known: true, Seq: uint64(len(model))}), stream, eventlog.StreamOptions{}))))
			}
		}
		require.Equal(r, model, keys(collect(t, stores[0].Stream(t.Context(), stream, eventlog.StreamOptions{}))))
	})
	require.Zero(t, count(t, conn, `SELECT count() FROM events_raw WHERE NOT `+eventlog.Shown))
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// A stream that is remembered as a whole stays so when a writer that does not know the head appends to it.
func TestWhole(t *testing.T) {
	t.Parallel()
	conn := &counted{Conn: stacktest.Migrated(t)}
	s := eventlog.New(conn, eventlog.Options{Lease: time.Hour})
	for range 2 {
		n := int(s.Head("w/a").Seq)
		_, _, known, err := s.Since(t.Context(), "w/a", 0, nil)
		require.NoError(t, err)
		require.False(t, known, "without the head")
		head, err := s.Load(t.Context(), "w/a")
		require.NoError(t, err)
		ctx := eventlog.WithHead(t.Context(), "w/a", head)
		_, err = s.Append(t.Context(), "w/a", events("k", n+2)) // Some are known.
		require.NoError(t, err)
		conn.n.Store(0)
		holding, _ := s.Hold(ctx, "w/a")
		_, err = s.Append(holding, "w/a", events("held", 1))
		require.NoError(t, err)
		all, _, known, err := s.Since(holding, "w/a", 0, nil)
		require.NoError(t, err)
		require.True(t, known)
		require.Len(t, all, n+3)
		some, _, known, err := s.Since(ctx, "w/a", 0, []string{"none"})
		require.NoError(t, err)
		require.True(t, known)
		require.Empty(t, some)
		require.Zero(t, conn.n.Load())
	}
	_, err := s.Append(t.Context(), "w/a", events("many", 1001))
	require.NoError(t, err)
	_, _, known, err := s.Since(eventlog.WithHead(t.Context(), "w/a", s.Head("w/a")), "w/a", 0, nil)
	require.NoError(t, err)
	require.False(t, known, "a long one")
}

// Resumed work asks the server once for events that another attempt may have appended.
func TestAgain(t *testing.T) {
	t.Parallel()
	conn := &counted{Conn: stacktest.Migrated(t)}
	a, b := eventlog.New(conn, eventlog.Options{}), eventlog.New(conn, eventlog.Options{})
	ctx, err := a.AsWriter(t.Context(), "p/a", schema.StreamHead{})
	require.NoError(t, err)
	require.Empty(t, collect(t, a.Stream(ctx, "p/a", eventlog.StreamOptions{})))
	_, err = b.Append(t.Context(), "p/a", events("k", 2))
	require.NoError(t, err)
	conn.n.Store(0)
	head := schema.StreamHead{Known: true}
	require.Empty(t, collect(t, a.Stream(eventlog.WithHead(t.Context(), "p/a", head), "p/a", eventlog.StreamOptions{})), "the writer says that this is all")
	require.Zero(t, conn.n.Load())
	ctx, err = a.AsWriter(eventlog.WithRetry(t.Context()), "p/a", head)
	require.NoError(t, err)
	for range 2 {
		require.Len(t, collect(t, a.Stream(ctx, "p/a", eventlog.StreamOptions{})), 2)
	}
	require.EqualValues(t, 1, conn.n.Load())
}

// An event that names no build names the run of the workflow whose activity appends it. The caller's events stay as
// they are.
func TestEventsNameTheirRun(t *testing.T) {
	t.Parallel()
	s := eventlog.New(stacktest.Migrated(t), eventlog.Options{})
	given := said("s", 2)
	given[0].BuildID, given[1].BuildID = "build", ""
	var builds []string
	act := func(ctx context.Context, in string) (string, error) {
		return boundary.Run(ctx, in, func(ctx context.Context, in string) (string, error) {
			appended, err := s.Append(ctx, in, given)
			for _, e := range appended.Events {
				builds = append(builds, e.BuildID)
			}
			return activity.GetInfo(ctx).WorkflowExecution.RunID, err
		})
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(act)
	value, err := env.ExecuteActivity(act, "s")
	require.NoError(t, err)
	var run string
	require.NoError(t, value.Get(&run))
	require.NotEmpty(t, run)
	require.Equal(t, []string{"build", run}, builds)
	require.Empty(t, given[1].BuildID)
}
