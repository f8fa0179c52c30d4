package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// BenchmarkLoad loads queues in which everything is pending, page by page. The time of each context should not grow
// with the queue.
func BenchmarkLoad(b *testing.B) {
	for _, contexts := range []int{3000, 12000, 48000} {
		conn := stacktest.Migrated(b)
		log := projection.New(conn, eventlog.Options{})
		a, err := NewActivities(log.Store, conn)
		require.NoError(b, err)
		var events []schema.Event
		for i := range contexts {
			c := schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{
				ID: fmt.Sprint(i), Scope: schema.Scope{Project: "p", User: "u"}, Thread: fmt.Sprint("thread-", i/50), At: time.Unix(int64(i), 0).UTC(), URI: "file:///t",
			}}
			e, err := schema.NewEvent(c, schema.Event{TS: c.At, Actor: "queue", SessionID: c.Thread, Project: c.Project, DedupeKey: schema.ContextEnqueuedKey("u", "", c.ID)})
			require.NoError(b, err)
			events = append(events, e)
			if i%50 == 49 && i > 100 { // The first thread waits, and others end: nothing is known to be behind it.
				p := schema.ContextProcessedPayload{QueueResult: schema.QueueResult{Project: "p", Thread: c.Thread}, To: uint64(len(events)) - 10}
				e, err := schema.NewEvent(p, schema.Event{TS: c.At, Actor: "queue", SessionID: c.Thread, Project: c.Project, DedupeKey: schema.ContextProcessedKey("u", "", p.To)})
				require.NoError(b, err)
				events = append(events, e)
			}
		}
		_, err = log.AppendAll(b.Context(), schema.QueueStream("u", ""), events)
		require.NoError(b, err)
		b.Run(fmt.Sprintf("contexts=%d", contexts), func(b *testing.B) {
			pages := 0
			for b.Loop() {
				in := LoadInput{User: "u"}
				for pages = 1; ; pages++ {
					page, err := a.load(b.Context(), in)
					require.NoError(b, err)
					if !page.More {
						break
					}
					in.Since, in.After = page.Since, page.After
				}
			}
			b.ReportMetric(float64(pages), "pages")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*contexts), "µs/context")
		})
	}
}
