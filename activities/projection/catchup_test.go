package projection_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
)

// metered counts the requests to the server over a connection and those that it opens.
type metered struct {
	driver.Conn
	requests *atomic.Int64
}

func (c metered) Exec(ctx context.Context, query string, args ...any) error {
	c.requests.Add(1)
	return c.Conn.Exec(ctx, query, args...)
}

func (c metered) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.requests.Add(1)
	return c.Conn.Query(ctx, query, args...)
}

func (c metered) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	c.requests.Add(1)
	return c.Conn.QueryRow(ctx, query, args...)
}

func (c metered) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.requests.Add(1)
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

func (c metered) Neighbor(ctx context.Context, database string) (driver.Conn, error) {
	other, err := c.Conn.(clickhouse.Neighbor).Neighbor(ctx, database)
	return metered{other, c.requests}, err
}

// sayIn makes the server write events with the seq to streams of names that need quotes.
func sayIn(t testing.TB, conn driver.Conn, streams, from, events int) {
	t.Helper()
	require.NoError(t, conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO events_raw (event_id, stream, seq, event_type, ts, actor,
			dedupe_key, payload_json, payload_bytes, sensitivity, checksum, recorded_at, precedence)
		SELECT concat(stream, '-', toString(seq)) AS event_id, concat('p/it''s \\ 한 ', leftPad(toString(intDiv(number, %[2]d)), 6, '0')) AS stream,
			%[3]d + number %% %[2]d AS seq, 'say', now64(6), 'a', event_id, '{"a":1}', 7, 'normal', lower(hex(SHA256('{"a":1}'))), now64(6), 5
		FROM numbers(%[1]d * %[2]d)`, streams, events, from)))
}

// The number of requests of a round of catching up depends neither on the number of streams nor on the number of
// changed ones. Only the new events are applied.
func TestCatchUpManyStreams(t *testing.T) {
	t.Parallel()
	const streams, changed = 2000, 300
	conn := metered{stacktest.Migrated(t), &atomic.Int64{}}
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: testLease})
	sayIn(t, conn, streams, 1, 3)
	sh, _, _ := filledShadow(t, s, conn, "1", p)
	sayIn(t, conn, changed, 4, 2)
	for _, want := range []int{2 * changed, 0} {
		before, began := conn.requests.Load(), time.Now()
		done, err := sh.CatchUp(t.Context(), p.over(sh.Conn))
		require.NoError(t, err)
		asked := conn.requests.Load() - before
		t.Logf("%d new events: %d requests, %s", want, asked, time.Since(began))
		require.Equal(t, want, done.Events)
		require.LessOrEqual(t, asked, int64(10))
	}
}

func TestCatchUpInPages(t *testing.T) {
	t.Parallel()
	catchUpInPages(t, 5, 1, 1000)
}

// A read of many streams returns the backlog of each, however the pages are cut: of new streams, of old ones, and of
// streams whose new events the projector does not take. A second round finds nothing. The long stream has the given
// number of events.
func catchUpInPages(t *testing.T, long int, sizes ...int) {
	t.Helper()
	conn := stacktest.Migrated(t)
	a, b := newTally(t, conn), newChain(t, conn)
	writer := projection.New(conn, eventlog.Options{})
	had := map[string]int{"p/a'\\": 4, "p/b": 1, "p/c 한": 2, "p/d": long, "p/z": 3}
	for stream, n := range had {
		_, err := writer.Append(t.Context(), stream, said(stream, n))
		require.NoError(t, err)
	}
	for i, pages := range sizes {
		s := projection.New(conn, eventlog.Options{PageRows: pages, Lease: testLease})
		sh, made, _ := filledShadow(t, s, conn, fmt.Sprint(i), a, b)
		had[fmt.Sprintf("p/bb new %d", i)] = 0
		var wanted, all int
		for stream := range had {
			if stream == "p/d" {
				continue // Nothing new.
			}
			more := said(stream, had[stream]+1+len(stream)%5)[had[stream]:]
			for _, e := range more {
				all++
				if e.Type != "other" {
					wanted++
				}
			}
			_, err := writer.Append(t.Context(), stream, more)
			require.NoError(t, err)
			had[stream] += len(more)
		}
		for n, want := range []int{wanted, all} {
			done, err := sh.CatchUp(t.Context(), made[n])
			require.NoError(t, err)
			require.Equal(t, projection.Progress{Streams: len(had) - 1, Events: want}, done, "pages of %d", pages)
			done, err = sh.CatchUp(t.Context(), made[n])
			require.NoError(t, err)
			require.Zero(t, done)
		}
		for n, p := range []projection.Projector{a, b} {
			_, err := writer.ProjectAll(t.Context(), p)
			require.NoError(t, err)
			here, there := projection.New(sh.Conn, eventlog.Options{}), made[n]
			require.Equal(t, digests(t, writer, p), digests(t, here, there), "pages of %d", pages)
		}
		require.NoError(t, sh.Finish(t.Context(), made))
	}
}

// Many streams are applied together at the price of a few, and only those with the prefix. The rows are those of an
// undisturbed run, whatever breaks.
func TestProjectUnder(t *testing.T) {
	t.Parallel()
	const streams, changed = 1200, 300
	conn := metered{stacktest.Migrated(t), &atomic.Int64{}}
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: testLease})
	sayIn(t, conn, streams, 1, 3)
	_, err := s.Append(t.Context(), "p/other", said("p/other", 12))
	require.NoError(t, err)
	const prefix = `p/it's \ 한 `
	for i, step := range []string{"before rows", "after rows"} {
		p.fail = failOnce(step, 1)
		_, err = s.ProjectUnder(t.Context(), p, prefix)
		require.ErrorIs(t, err, errKilled)
		s = projection.New(conn, eventlog.Options{Lease: testLease})
		for _, want := range []int{3*streams*(1-i) + 2*changed*i, 0} {
			before := conn.requests.Load()
			done, err := s.ProjectUnder(t.Context(), p, prefix)
			require.NoError(t, err)
			require.LessOrEqual(t, conn.requests.Load()-before, int64(20))
			require.Equal(t, want, done.Events)
		}
		require.Len(t, p.rows(t), 3*streams+2*changed*i)
		require.NoError(t, s.SaveOffsets(t.Context()))
		sayIn(t, conn, changed*(1-i), 4, 2)
	}
	done, err := s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, projection.Progress{Streams: 1, Events: 8}, done, "the stream of another name")
}
