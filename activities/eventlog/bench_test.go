package eventlog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
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

// BenchmarkAppend appends batches of 1,000 events of 350 bytes to one stream.
func BenchmarkAppend(b *testing.B) {
	s := eventlog.New(database(b), eventlog.Options{})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		batch := bulk("k", n, 1000)
		n += len(batch)
		_, err := s.Append(b.Context(), "s", batch)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendOne appends one event to streams of different lengths: the cost must not grow.
func BenchmarkAppendOne(b *testing.B) {
	for _, held := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("held=%d", held), func(b *testing.B) {
			conn := database(b)
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
	// Merges of what was just loaded would be measured too.
	require.NoError(t, conn.Exec(t.Context(), `OPTIMIZE TABLE events_raw FINAL`))
}

// BenchmarkReplay reads 100,000 events of 350 bytes in 100 streams.
func BenchmarkReplay(b *testing.B) {
	conn := database(b)
	s := eventlog.New(conn, eventlog.Options{})
	const streams, size = 100, 1000
	for i := range streams {
		stream := fmt.Sprintf("session/%03d", i)
		_, err := s.Append(b.Context(), stream, bulk(stream, 0, size))
		require.NoError(b, err)
	}
	b.Run("100000", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			for _, err := range s.Replay(b.Context(), eventlog.ReplayOptions{}) {
				require.NoError(b, err)
				n++
			}
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
	})
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			require.EqualValues(b, size, count(b, conn, `SELECT count() FROM events WHERE stream = 'session/050'`))
		}
	})
}
