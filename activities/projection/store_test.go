package projection_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

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
