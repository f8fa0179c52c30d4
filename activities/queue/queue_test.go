package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newQueue returns a function that makes the activities over one database. Each is like another process: it
// remembers nothing.
func newQueue(t *testing.T) func() *Activities {
	t.Helper()
	conn := stacktest.Migrated(t)
	return func() *Activities {
		a, err := NewActivities(projection.New(conn, eventlog.Options{}).Store, conn)
		require.NoError(t, err)
		return a
	}
}

func contextOf(thread, id string) schema.ContextEnqueuedPayload {
	return schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{
		ID: id, Scope: schema.Scope{Project: "p", User: `앤 "a"/\`, Agent: "x/y"}, Thread: thread, At: noon,
		Messages: []schema.InlineMessage{{Role: "user", Content: id, ID: "m" + id, At: noon}},
	}}
}

func storeOf(at time.Time, contexts ...schema.ContextEnqueuedPayload) StoreInput {
	return StoreInput{User: contexts[0].User, Agent: contexts[0].Agent, At: at, Contexts: contexts}
}

// Stored contexts are pending until they are processed, for all callers.
func TestStoreLoadEnd(t *testing.T) {
	t.Parallel()
	open := newQueue(t)
	first, urgent, refused := contextOf("세션 1", "1"), contextOf("2'", "2"), contextOf("3", "3")
	first.MaxWait, urgent.Now, urgent.Correction = time.Minute, true, true
	urgent.Statement, urgent.Debounce = &schema.Statement{Type: schema.EntryFact, Category: "goal"}, time.Second
	refused.Refused = "10,000 sessions waited"
	stored, err := open().store(t.Context(), storeOf(noon, first, urgent, refused))
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 2, 3}, stored.Positions)
	// A retry, and a late one with others.
	again, err := open().store(t.Context(), storeOf(noon.Add(time.Hour), urgent, contextOf("세션 1", "4"), first))
	require.NoError(t, err)
	require.Equal(t, []uint64{2, 4, 1}, again.Positions)
	require.EqualValues(t, 4, again.Head.Seq)

	load := LoadInput{User: first.User, Agent: first.Agent}
	waiting, err := open().load(t.Context(), load)
	require.NoError(t, err)
	require.Equal(t, LoadResult{
		Threads: []schema.QueuedThread{
			{
				Project: "p", Thread: "세션 1", Positions: []uint64{1, 4}, Contexts: 2, FirstAt: noon, LastAt: noon.Add(time.Hour),
				Due: noon.Add(time.Minute),
			},
			{
				Project: "p", Thread: "2'", Positions: []uint64{2}, Contexts: 1, FirstAt: noon, LastAt: noon, Due: noon.Add(schema.DefaultMaxWait),
				Now: true, Correction: true, Statement: urgent.Statement,
			},
		},
		After: 4, Head: schema.StreamHead{Known: true, Seq: 4},
	}, waiting)

	end := EndInput{User: first.User, Agent: first.Agent, End: schema.ContextProcessedPayload{
		QueueResult: schema.QueueResult{Project: "p", Thread: "세션 1", At: noon, Status: schema.BuildSuccess}, To: 1,
	}}
	for range 2 {
		head, err := open().end(t.Context(), end)
		require.NoError(t, err)
		require.EqualValues(t, 5, head.Seq)
	}
	end.End.Thread, end.End.To, end.End.Since = "2'", 2, 3
	_, err = open().end(t.Context(), end)
	require.NoError(t, err)
	waiting, err = open().load(t.Context(), load)
	require.NoError(t, err)
	require.EqualValues(t, 3, waiting.Since)
	require.Len(t, waiting.Threads, 1)
	require.Equal(t, []uint64{4}, waiting.Threads[0].Positions)

	nothing, err := open().load(t.Context(), LoadInput{User: "nobody"})
	require.NoError(t, err)
	require.Equal(t, LoadResult{Threads: []schema.QueuedThread{}, Head: schema.StreamHead{Known: true}}, nothing)
}

func TestContexts(t *testing.T) {
	t.Parallel()
	a := newQueue(t)()
	one, two, long := contextOf("s", "1"), contextOf("other", "2"), contextOf("s", "3")
	long.Messages, long.Held = nil, "hash"
	_, err := a.store(t.Context(), storeOf(noon, one, two, long))
	require.NoError(t, err)
	_, err = Contexts(t.Context(), a.log, one.Key(), []uint64{1, 3})
	require.ErrorContains(t, err, `the log does not hold the messages with the hash "hash": enqueue them again`)
	held := []schema.InlineMessage{{Role: "user", Content: strings.Repeat("긴 ", 5000)}}
	event, err := schema.NewEvent(schema.ContextHeldPayload{Messages: held}, schema.Event{TS: noon, Actor: "ann", DedupeKey: schema.ContextHeldKey(long.Key(), "hash")})
	require.NoError(t, err)
	_, err = a.log.Append(t.Context(), schema.ContextStream(long.Key(), "hash"), []schema.Event{event})
	require.NoError(t, err)
	got, err := Contexts(t.Context(), a.log, one.Key(), []uint64{1, 3})
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 3}, []uint64{got[0].Position, got[1].Position})
	require.Equal(t, one.QueuedContext, got[0].QueuedContext)
	require.Equal(t, held, got[1].Messages)
	for _, positions := range [][]uint64{{2}, {1, 9}} {
		_, err = Contexts(t.Context(), a.log, one.Key(), positions)
		require.ErrorContains(t, err, "queue/", positions)
	}
}

// The pages together contain all pending contexts, each once, whatever their size.
func TestPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var rows []row
		waits, ends := map[key][]uint64{}, map[key]uint64{}
		threads := rapid.IntRange(1, 3*maxPageThreads).Draw(rt, "threads")
		head := uint64(rapid.IntRange(1, 600).Draw(rt, "rows"))
		for seq := uint64(1); seq <= head; seq++ {
			r := row{seq: seq, project: "p", thread: fmt.Sprint(rapid.IntRange(1, threads).Draw(rt, "thread")), at: noon}
			k := key{r.project, r.thread}
			if len(waits[k]) > 0 && rapid.IntRange(0, 3).Draw(rt, "ended") == 0 {
				n := rapid.IntRange(1, len(waits[k])).Draw(rt, "to")
				ends[k], waits[k] = waits[k][n-1], waits[k][n:]
				continue
			}
			if r.refused = rapid.IntRange(0, 9).Draw(rt, "refused") == 0; !r.refused {
				waits[k] = append(waits[k], r.seq)
			}
			rows = append(rows, r)
		}
		read := func(after uint64, most int) (out []row, err error) {
			for _, r := range rows {
				if r.seq > after && len(out) < most {
					out = append(out, r)
				}
			}
			return out, nil
		}
		most := rapid.IntRange(1, 700).Draw(rt, "at once")
		got, in, first := map[key][]uint64{}, LoadInput{}, uint64(0)
		for more := true; more; {
			page, err := pageOf(in, ends, schema.StreamHead{Known: true, Seq: head}, most, read)
			require.NoError(rt, err)
			require.LessOrEqual(rt, len(page.Threads), maxPageThreads)
			for _, w := range page.Threads {
				k := key{w.Project, w.Thread}
				require.Len(rt, w.Positions, w.Contexts)
				got[k] = append(got[k], w.Positions...)
				if first == 0 || w.Positions[0] < first {
					first = w.Positions[0]
				}
			}
			require.Less(rt, page.Since, max(first, head+1))
			in.After, in.Since, more = page.After, page.Since, page.More
		}
		if first == 0 {
			require.Equal(rt, head, in.Since, "nothing waits")
		}
		for k, positions := range waits {
			require.True(rt, slices.Equal(positions, got[k]), "%v: %v %v", k, positions, got[k])
		}
	})
}
