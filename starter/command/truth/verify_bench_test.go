package truth_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/entry"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// BenchmarkVerify checks 10,000 entries of sessions of several shapes, or the number in
// AXIOMMIND_BENCH_ENTRIES:
//
//	go test ./starter/command/truth -run XXX -bench BenchmarkVerify -benchtime 1x
func BenchmarkVerify(b *testing.B) {
	entries, err := strconv.Atoi(cmp.Or(os.Getenv("AXIOMMIND_BENCH_ENTRIES"), "10000"))
	require.NoError(b, err)
	for _, perSession := range []int{10, 1000, entries} {
		b.Run(fmt.Sprintf("of=%d", perSession), func(b *testing.B) {
			dsn := stacktest.MigratedDatabase(b)
			conn, log := emptyLog(b, dsn)
			var writers errgroup.Group
			writers.SetLimit(8)
			for i := range entries / perSession {
				writers.Go(func() error {
					bulk(b, conn, log, fmt.Sprintf("session-%05d", i), perSession)
					return nil
				})
			}
			require.NoError(b, writers.Wait())
			_, err := log.ProjectAll(b.Context(), entry.NewProjector(conn))
			require.NoError(b, err)
			c := &commandtest.CLI{Servers: []string{"--clickhouse-dsn", dsn}}
			most := heapMax(b)
			for b.Loop() {
				o := c.Run("verify")
				require.Zero(b, o.Code, o)
				require.Contains(b, o.Out, fmt.Sprintf("%s, %d entries, %d spans: %[3]d exact",
					command.Plural(entries/perSession, "session", "sessions"), entries, entries))
			}
			b.ReportMetric(float64(b.N*entries)/b.Elapsed().Seconds(), "entries/s")
			b.ReportMetric(float64(most())/(1<<20), "MB-heap")
		})
	}
}

// heapMax samples the heap until the returned function is called, which returns the maximum.
func heapMax(b *testing.B) func() uint64 {
	var most atomic.Uint64
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			}
		}
	}()
	return func() uint64 { stop(); <-done; return most.Load() }
}

// bulk logs a session of messages of 1 KB, and one entry for each two messages, as a build does.
func bulk(t testing.TB, conn driver.Conn, log *projection.Store, id string, entries int) {
	t.Helper()
	day := time.UnixMicro(1).UTC()
	session := schema.SessionKey{Scope: schema.Scope{Project: "bench", User: "u"}, SessionID: id}
	ingested := schema.SessionIngestedPayload{SessionKey: session, Date: day}
	extracted := schema.MemoryExtractedPayload{SessionID: id}
	talk := strings.Repeat("Nothing else came up that anybody wanted to write down, so the rest of it is talk. ", 10)
	for i := range 2 * entries {
		quote := fmt.Sprintf("We decided that run %d keeps the first copy of %s and counts the rest.", i, id)
		ingested.Messages = append(ingested.Messages, schema.Message{
			Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: talk + quote + " Then we went on to the next one.",
		})
		if i%2 == 0 {
			extracted.Entries = append(extracted.Entries, schema.ExtractedEntry{
				Type: schema.EntryDecision, Title: quote, Evidence: []schema.Quote{{MessageIndex: i, Quote: quote}},
			})
		}
	}
	event := func(eventType string, payload any) schema.Event {
		text, err := json.Marshal(payload)
		require.NoError(t, err)
		return schema.Event{
			Type: eventType, TS: day, Actor: "bench", SessionID: id, Project: "bench", DedupeKey: id + "/" + eventType, Payload: text,
		}
	}
	in, ex := event(schema.SessionIngested, ingested), event(schema.MemoryExtracted, extracted)
	_, err := log.AppendAll(t.Context(), session.Stream(), []schema.Event{in, ex})
	require.NoError(t, err)
	alignAndMaterialize(t, conn, log, session)
}
