package eventlog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	driverpkg "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func bulk(prefix string, from, n int) []schema.Event {
	out := make([]schema.Event, n)
	text := strings.Repeat("some words of a message ", 12)
	for i := range out {
		key := fmt.Sprintf("%s-%d", prefix, from+i)
		out[i] = event(key, map[string]any{"key": key, "text": text})
	}
	return out
}

// BenchmarkAppend appends batches of events of 350 bytes to one stream, as the only writer of a new stream for each
// batch. The bare client inserts the same columns: one request, column by column, with nothing checked, looked up or
// read back.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("batch=%d/log", size), func(b *testing.B) {
			s := eventlog.New(stacktest.Migrated(b), eventlog.Options{})
			perSecond(b, size, func(n int) {
				_, err := s.Append(b.Context(), "s", bulk("k", n, size))
				require.NoError(b, err)
			})
		})
		b.Run(fmt.Sprintf("batch=%d/writer", size), func(b *testing.B) {
			s := eventlog.New(stacktest.Migrated(b), eventlog.Options{})
			perSecond(b, size, func(n int) {
				stream := fmt.Sprint("s", n)
				_, err := s.Append(eventlog.WithHead(b.Context(), stream, schema.StreamHead{Known: true}), stream, bulk("k", n, size))
				require.NoError(b, err)
			})
		})
		b.Run(fmt.Sprintf("batch=%d/bare", size), func(b *testing.B) {
			conn := stacktest.Migrated(b)
			perSecond(b, size, func(n int) { insertBare(b, conn, bulk("k", n, size), n) })
		})
	}
}

// perSecond reports the events a second that do handles, size at each call, and the CPU time of the test and the server
// for one event. do gets the number of events before.
func perSecond(b *testing.B, size int, do func(n int)) {
	b.Helper()
	n, before := 0, stacktest.CPU(b)
	b.ReportAllocs()
	for b.Loop() {
		do(n)
		n += size
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
	for name, used := range stacktest.CPU(b) {
		if used -= before[name]; used > 0 {
			b.ReportMetric(float64(used.Microseconds())/float64(n), name+"-µs/event")
		}
	}
}

// bareColumns are the columns that the log writes, with the values that the bare client sends.
var bareColumns = []struct {
	name, kind string
	values     func(events []schema.Event, from int) any
}{
	{"event_id", "String", texts(func(e schema.Event) string { return schema.EventID(e.DedupeKey) })},
	{"stream", "String", texts(func(schema.Event) string { return "s" })},
	{"seq", "UInt64", func(events []schema.Event, from int) any {
		return each(events, func(i int, _ schema.Event) uint64 { return uint64(from + i + 1) })
	}},
	{"event_type", "LowCardinality(String)", texts(func(e schema.Event) string { return e.Type })},
	{"ts", "DateTime64(6, 'UTC')", times},
	{"actor", "LowCardinality(String)", texts(func(e schema.Event) string { return e.Actor })},
	{"session_id", "String", texts(func(e schema.Event) string { return e.SessionID })},
	{"project", "LowCardinality(String)", texts(func(e schema.Event) string { return e.Project })},
	{"build_id", "String", texts(func(e schema.Event) string { return e.BuildID })},
	{"dedupe_key", "String", texts(func(e schema.Event) string { return e.DedupeKey })},
	{"payload_json", "String", texts(func(e schema.Event) string { return string(e.Payload) })},
	{"payload_bytes", "UInt32", func(events []schema.Event, _ int) any {
		return each(events, func(_ int, e schema.Event) uint32 { return uint32(len(e.Payload)) })
	}},
	{"payload_redacted", "String", texts(func(schema.Event) string { return "" })},
	{"sensitivity", "LowCardinality(String)", texts(func(schema.Event) string { return schema.SensitivityNormal })},
	{"checksum", "String", texts(func(e schema.Event) string { return schema.HashText(string(e.Payload)) })},
	{"recorded_at", "DateTime64(6, 'UTC')", times},
	{"precedence", "UInt64", func(events []schema.Event, _ int) any {
		return each(events, func(int, schema.Event) uint64 { return 5 })
	}},
}

func each[T any](events []schema.Event, value func(i int, e schema.Event) T) []T {
	out := make([]T, len(events))
	for i, e := range events {
		out[i] = value(i, e)
	}
	return out
}

func texts(value func(schema.Event) string) func([]schema.Event, int) any {
	return func(events []schema.Event, _ int) any {
		return each(events, func(_ int, e schema.Event) string { return value(e) })
	}
}

func times(events []schema.Event, _ int) any {
	return each(events, func(_ int, e schema.Event) time.Time { return e.TS })
}

func insertBare(b *testing.B, conn driver.Conn, events []schema.Event, from int) {
	b.Helper()
	var names []string
	var known []driverpkg.ColumnNameAndType
	for _, c := range bareColumns {
		names = append(names, c.name)
		known = append(known, driverpkg.ColumnNameAndType{Name: c.name, Type: c.kind})
	}
	ctx := driverpkg.Context(b.Context(), driverpkg.WithColumnNamesAndTypes(known),
		driverpkg.WithSettings(clickhouse.Settings{"async_insert": 0}))
	rows, err := conn.PrepareBatch(ctx, "INSERT INTO events_raw ("+strings.Join(names, ", ")+")")
	require.NoError(b, err)
	for i, c := range bareColumns {
		require.NoError(b, rows.Column(i).Append(c.values(events, from)))
	}
	require.NoError(b, rows.Send())
}

// BenchmarkAppendOne appends one event to streams of different lengths: the cost must not grow.
func BenchmarkAppendOne(b *testing.B) {
	for _, held := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("held=%d", held), func(b *testing.B) {
			conn := stacktest.Migrated(b)
			s := eventlog.New(conn, eventlog.Options{})
			fill(b, conn, held)
			for _, size := range []int{1, 1000} {
				b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
					n := 0
					for b.Loop() {
						got, err := s.Append(b.Context(), "s", bulk(fmt.Sprintf("b%d", size), n, size))
						require.NoError(b, err)
						require.Equal(b, size, got.New)
						n += size
					}
				})
			}
		})
	}
}

// fill makes the server write n events of the stream "s".
func fill(t testing.TB, conn driver.Conn, n int) {
	t.Helper()
	size := min(n, 100_000)
	for from := 0; from < n; from += size {
		require.NoError(t, conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO events_raw
			SELECT toString(generateUUIDv4()), 's', number + 1, 'test', now64(6), 'a', '', '', '', toString(number),
				'{"a":1}', 7, '', 'normal', lower(hex(SHA256('{"a":1}'))), now64(6), 5
			FROM numbers(%d, %d) SETTINGS insert_deduplicate = 0`, from, size)))
	}
	// Merges of the loaded rows would be measured too.
	require.NoError(t, conn.Exec(t.Context(), `OPTIMIZE TABLE events_raw FINAL`))
}

// BenchmarkReplay reads 100,000 events of 350 bytes in 100 streams, and the same rows by the bare client: one query,
// with nothing compared or ordered.
func BenchmarkReplay(b *testing.B) {
	conn := stacktest.Migrated(b)
	s := eventlog.New(conn, eventlog.Options{})
	const streams, size = 100, 1000
	for i := range streams {
		stream := fmt.Sprintf("session/%03d", i)
		_, err := s.Append(b.Context(), stream, bulk(stream, 0, size))
		require.NoError(b, err)
	}
	// Merges of the appended rows would be measured too.
	require.NoError(b, conn.Exec(b.Context(), `OPTIMIZE TABLE events_raw FINAL`))
	b.Run("100000/log", func(b *testing.B) {
		perSecond(b, streams*size, func(int) {
			n := 0
			for _, err := range s.Replay(b.Context(), eventlog.ReplayOptions{}) {
				require.NoError(b, err)
				n++
			}
			require.Equal(b, streams*size, n)
		})
	})
	b.Run("100000/bare", func(b *testing.B) {
		perSecond(b, streams*size, func(int) { require.Equal(b, streams*size, selectBare(b, conn)) })
	})
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			require.EqualValues(b, size, count(b, conn, `SELECT count() FROM events WHERE stream = 'session/050'`))
		}
	})
}

// selectBare reads all events and returns how many there are.
func selectBare(b *testing.B, conn driver.Conn) (n int) {
	b.Helper()
	rows, err := conn.Query(b.Context(), `SELECT event_id, stream, seq, event_type, ts, actor, session_id, project, build_id,
		dedupe_key, payload_json, payload_redacted, sensitivity, checksum, recorded_at FROM events_raw`)
	require.NoError(b, err)
	defer func() { _ = rows.Close() }()
	for ; rows.Next(); n++ {
		var e schema.Event
		var payload, redacted []byte
		require.NoError(b, rows.Scan(&e.ID, &e.Stream, &e.Seq, &e.Type, &e.TS, &e.Actor, &e.SessionID, &e.Project, &e.BuildID,
			&e.DedupeKey, &payload, &redacted, &e.Sensitivity, &e.Checksum, &e.RecordedAt))
	}
	require.NoError(b, rows.Err())
	return n
}
