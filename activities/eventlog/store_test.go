package eventlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func event(key string, payload any) schema.Event {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return schema.Event{Type: "test", TS: day, Actor: "tester", DedupeKey: key, Payload: raw}
}

// events returns n events with the keys prefix0, prefix1, …
func events(prefix string, n int) []schema.Event {
	out := make([]schema.Event, n)
	for i := range out {
		key := fmt.Sprintf("%s%d", prefix, i)
		out[i] = event(key, map[string]any{"key": key})
	}
	return out
}

// said returns n events of three types.
func said(stream string, n int) []schema.Event {
	out := events(stream+"-", n)
	for i := range out {
		out[i].Type = []string{"say", "shout", "other"}[i%3]
	}
	return out
}

func collect[T any](t testing.TB, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

func keys(events []schema.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e.DedupeKey
	}
	return out
}

func count(t testing.TB, conn driver.Conn, sql string, args ...any) uint64 {
	t.Helper()
	var n uint64
	require.NoError(t, conn.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

// requireSound checks the invariants of the log (I7).
func requireSound(t testing.TB, conn driver.Conn) {
	t.Helper()
	require.Zero(t, count(t, conn, `SELECT toUInt64(count() - uniqExact(event_id)) FROM events`), "the view shows an event twice")
	require.Zero(t, count(t, conn, `SELECT toUInt64(count() - uniqExact(stream, seq)) FROM events`), "two events share a position")
	require.Zero(t, count(t, conn, `SELECT countIf(n != last) FROM (SELECT uniqExact(seq) n, max(seq) last FROM events_raw GROUP BY stream)`), "a stream has a gap")
	seen := map[string]bool{}
	last := map[string]uint64{}
	for e, err := range eventlog.New(conn, eventlog.Options{}).Replay(t.Context(), eventlog.ReplayOptions{}) {
		require.NoError(t, err)
		require.False(t, seen[e.ID], "replay shows %q twice", e.ID)
		seen[e.ID] = true
		require.Greater(t, e.Seq, last[e.Stream], "stream %q", e.Stream)
		last[e.Stream] = e.Seq
	}
	require.EqualValues(t, len(seen), count(t, conn, `SELECT count() FROM events`))
}

// flaky is a connection whose inserts lose their answer, or never arrive, as its functions decide.
type flaky struct {
	driver.Conn
	// before and after are called around sending a batch to the event log. The caller sees their errors.
	before, after func() error
}

func (c *flaky) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	b, err := c.Conn.PrepareBatch(ctx, query, opts...)
	return &flakyBatch{b, c}, err
}

type flakyBatch struct {
	driver.Batch
	conn *flaky
}

func (b *flakyBatch) Send() error {
	if b.conn.before != nil {
		if err := b.conn.before(); err != nil {
			return err
		}
	}
	if err := b.Batch.Send(); err != nil {
		return err
	}
	if b.conn.after != nil {
		return b.conn.after()
	}
	return nil
}
