package vector

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// sessions indexes the sessions as one batch.
func (b *bench) sessions(t testing.TB, w *Writer, sessions ...string) []boundary.Outcome[SessionResult] {
	t.Helper()
	out, err := b.trySessions(t, w, sessions...)
	require.NoError(t, err)
	return out.Items
}

func (b *bench) trySessions(t testing.TB, w *Writer, sessions ...string) (boundary.Outcomes[SessionResult], error) {
	t.Helper()
	in := boundary.Batch[IndexRequest]{Head: b.log.Head(w.stream())}
	for _, s := range sessions {
		in.Items = append(in.Items, b.input(s))
	}
	return b.activities(t, w).indexSessions(t.Context(), in)
}

// activities returns the activities of the writer, without a Temporal client.
func (b *bench) activities(t testing.TB, w *Writer) *Activities {
	t.Helper()
	version, _ := schema.SplitIndex(w.version)
	x := NewIndexes(b.conn, b.log, b.client, struct{ client.Client }{}, b.embedder, nil, Options{})
	x.writers[w.version] = w
	x.keep(Choice{Used: version, Chosen: version})
	x.read = time.Now().Add(time.Hour)
	a, err := NewActivities(x)
	require.NoError(t, err)
	return a
}

func indexed(n int) boundary.Outcome[SessionResult] {
	return boundary.Outcome[SessionResult]{Result: SessionResult{Indexed: n}}
}

// about returns the statements that contain the table's name.
func about(statements []string, table string) (out []string) {
	for _, s := range statements {
		if strings.Contains(s, table) {
			out = append(out, s)
		}
	}
	return out
}

// Indexing a session appends an event and writes the outbox, and reads no table.
func TestSessionRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "warm", "up")
	b.sessions(t, b.writer, "s-warm")
	titles := make([]string, 4)
	for i := range titles {
		titles[i] = fmt.Sprint("title ", i)
	}
	b.add(t, "red", titles...)

	b.conn.take()
	require.Equal(t, []boundary.Outcome[SessionResult]{indexed(4)}, b.sessions(t, b.writer, "s-red"))
	all := b.conn.take()
	t.Logf("%d requests:\n%s", len(all), strings.Join(all, "\n"))
	require.Len(t, all, 3, "the append is two")
	require.Empty(t, about(all, "entries_raw"), "the log says what to index")
	require.Len(t, about(all, "INSERT INTO events_raw"), 1)
	require.Len(t, about(all, "vector_outbox_raw"), 1)
	require.Contains(t, about(all, "vector_outbox_raw")[0], "INSERT")

	calls := b.embedder.calls
	require.Equal(t, []boundary.Outcome[SessionResult]{indexed(4)}, b.sessions(t, b.writer, "s-red"))
	again := b.conn.take()
	require.Empty(t, about(again, "vector_outbox"), "it remembers")
	require.Empty(t, about(again, "INSERT"))

	require.Equal(t, []boundary.Outcome[SessionResult]{indexed(4), indexed(1)}, b.sessions(t, b.newWriter(t, b.log), "s-red", "s-warm"))
	anew := b.conn.take()
	require.Len(t, about(anew, "vector_outbox"), 1, "another process asks once")
	require.Empty(t, about(anew, "INSERT"))
	require.Equal(t, calls, b.embedder.calls, "nothing is embedded twice")
}

// Sessions in one batch need one call of the embedder, one of Weaviate, one append and one write of the outbox.
func TestManySessionsAreOneBatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target, err := url.Parse("http://" + stacktest.Weaviate(t))
	require.NoError(t, err)
	var puts atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/batch/objects") {
			puts.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	b.client, err = NewClient(ClientConfig{URL: server.URL, APIKey: stacktest.WeaviateKey(t), Writer: weaviate.Open})
	require.NoError(t, err)
	writer, err := NewWriter(b.conn, b.log, b.projector, b.client, b.embedder, nil, Options{Now: func() time.Time { return b.now }})
	require.NoError(t, err)

	const n, each = 20, 5
	var names []string
	for i := range n {
		var entries []schema.Entry
		for j := range each {
			entries = append(entries, b.entry("red", fmt.Sprint("세션/", i, " \"entry\"\n ", j)))
		}
		names = append(names, fmt.Sprint("세션/", i, "\""))
		b.materialize(t, names[i], entries)
	}
	b.conn.take()
	for i, outcome := range b.sessions(t, writer, names...) {
		require.Equal(t, indexed(each), outcome, "session %d", i)
	}
	all := b.conn.take()
	require.Equal(t, 1, b.embedder.calls)
	require.EqualValues(t, 1, puts.Load())
	require.Len(t, about(all, "INSERT INTO events_raw"), 1)
	require.Len(t, about(all, "INSERT INTO vector_outbox_raw"), 1)
	require.LessOrEqual(t, len(about(all, "vector_outbox_raw")), 2)
	require.Equal(t, n*each, b.count(t, "red"))
	for id, status := range b.statuses(t) {
		require.Equal(t, schema.OutboxDone, status, id)
	}
	require.Zero(t, b.reconcile(t).Repaired(), "the log and the table give the same content")
}

// The result of a session has its failures and the time of the next retry. Other sessions of the batch are not delayed.
func TestSessionFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.embedder.refuse = "poison"
	b.add(t, "red", "a", "poison b", "c")
	b.add(t, "blue", "d")
	a := b.activities(t, b.writer)
	other := b.input("s-green") // A writer has one collection, and its workflow refuses sessions of others.
	other.EmbeddingVersion = "another"
	_, err := a.indexSessions(t.Context(), boundary.Batch[IndexRequest]{Items: []IndexRequest{other}})
	require.ErrorIs(t, err, ErrOtherEmbedder)
	out, err := a.indexSessions(t.Context(), boundary.Batch[IndexRequest]{Items: []IndexRequest{b.input("s-red"), b.input("s-blue"), b.input("s-none")}})
	require.NoError(t, err)
	require.Equal(t, SessionResult{Indexed: 2, Failed: 1}, out.Items[0].Result)
	require.Equal(t, indexed(1), out.Items[1])
	require.Equal(t, indexed(0), out.Items[2])

	b.embedder.dims = 32 // The tenant's index has 64.
	b.add(t, "blue", "e")
	retry := b.now.Add(DefaultRetryBase)
	want := SessionResult{Indexed: 1, Failed: 1, NextRetry: retry}
	require.Equal(t, want, b.sessions(t, b.writer, "s-blue")[0].Result)
	calls := b.embedder.calls
	require.Equal(t, want, b.sessions(t, b.newWriter(t, b.log), "s-blue")[0].Result, "it is not due yet")
	require.Equal(t, calls, b.embedder.calls)
	require.Equal(t, Result{NextRetry: retry}, b.index(t, 10))
	b.embedder.dims, b.now = 64, retry
	require.Equal(t, indexed(2), b.sessions(t, b.writer, "s-blue")[0])
}

// With Again set, a session retries its failed items now: those that await a retry, those that failed permanently, and
// those that reached the maximum of attempts. Each failure is a new event. Items that are done are not repeated.
func TestSessionTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.embedder.refuse = "poison"
	b.add(t, "red", "a", "poison \"b\" 독", "c")
	again := func(w *Writer) SessionResult {
		in := b.input("s-red")
		in.Again = true
		out, err := b.activities(t, w).indexSessions(t.Context(), boundary.Batch[IndexRequest]{Items: []IndexRequest{in}, Head: b.log.Head(w.stream())})
		require.NoError(t, err)
		return out.Items[0].Result
	}
	failures := func() (n int) {
		for _, err := range b.log.Stream(t.Context(), b.writer.stream(), eventlog.StreamOptions{Types: []string{schema.VectorFailed}}) {
			require.NoError(t, err)
			n++
		}
		return n
	}
	require.Equal(t, SessionResult{Indexed: 2, Failed: 1}, b.sessions(t, b.writer, "s-red")[0].Result)
	calls := b.embedder.calls
	require.Equal(t, SessionResult{Indexed: 2, Failed: 1}, b.sessions(t, b.writer, "s-red")[0].Result)
	require.Equal(t, calls, b.embedder.calls, "it failed for good")
	for n := 1; n <= DefaultMaxAttempts+1; n++ {
		require.Equal(t, n, failures())
		require.Equal(t, SessionResult{Indexed: 2, Failed: 1}, again(b.writer))
	}
	b.embedder.refuse = ""
	texts := b.embedder.texts
	require.Equal(t, SessionResult{Indexed: 3}, again(b.newWriter(t, b.log)), "by another process, too")
	require.Equal(t, texts+1, b.embedder.texts)
	require.Equal(t, SessionResult{Indexed: 3}, again(b.writer))
	require.Equal(t, texts+1, b.embedder.texts)

	b.embedder.dims = 32 // The tenant's index has 64.
	b.add(t, "red", "e")
	waiting := b.sessions(t, b.writer, "s-red")[0].Result
	require.NotZero(t, waiting.NextRetry)
	b.embedder.dims = 64
	require.Equal(t, waiting, b.sessions(t, b.writer, "s-red")[0].Result, "it is not due yet")
	require.Equal(t, SessionResult{Indexed: 4}, again(b.writer))
}

// An outage fails the batch. Its items have the reason until the outage is over.
func TestSessionsInAnOutage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a", "b")
	b.embedder.fail = context.DeadlineExceeded
	_, err := b.trySessions(t, b.writer, "s-red")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	for id, status := range b.statuses(t) {
		require.Equal(t, schema.OutboxFailed, status, id)
	}
	b.embedder.fail = nil
	b.now = b.now.Add(-time.Hour) // The clock of the requester is ahead.
	require.Equal(t, indexed(2), b.sessions(t, b.writer, "s-red")[0])
}

// Only a changed entry is written again.
func TestSessionWithChangedEntry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "a", "b", "c")
	b.sessions(t, b.writer, "s-red")
	entries[1].Title = "another b"
	b.materializeAs(t, "s-red", entries[1], "entry/again")
	texts := b.embedder.texts
	require.Equal(t, indexed(3), b.sessions(t, b.newWriter(t, b.log), "s-red")[0])
	require.Equal(t, texts+1, b.embedder.texts)
	require.Zero(t, b.reconcile(t).Repaired())
}

// An item that is requested twice in a batch is written once.
func TestSessionTwiceInABatch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a", "b")
	require.Equal(t, []boundary.Outcome[SessionResult]{indexed(2), indexed(2)}, b.sessions(t, b.writer, "s-red", "s-red"))
	require.Equal(t, 2, b.embedder.texts)
}

// An item from the log and the same item from the table have the same hash, for any time.
func TestTimesOfLogAndTable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var entries []schema.Entry
	for i, at := range []time.Time{
		{}, time.Unix(0, 0), time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(1950, 1, 2, 3, 4, 5, 1, time.UTC),
		time.Date(2026, 3, 1, 9, 0, 0, 123_456_789, time.FixedZone("", 5*3600+1800)), time.Date(2200, 1, 1, 0, 0, 0, 999, time.UTC),
	} {
		e := b.entry("red", fmt.Sprint("time ", i))
		e.OccurredAt = at
		entries = append(entries, e)
	}
	b.materialize(t, "s-red", entries)
	require.Equal(t, indexed(len(entries)), b.sessions(t, b.writer, "s-red")[0])
	require.Zero(t, b.reconcile(t).Repaired())
}

// After the outbox was emptied, the result of a session still counts all of its vectors, and none is embedded again.
func TestSessionAfterOutboxIsEmptied(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "p", "one", "two", "three")
	r := b.index(t, 2)
	require.Equal(t, Result{Indexed: 2, More: true}, r)
	require.NoError(t, stacktest.Empty(t.Context(), b.conn, b.projector))
	require.NoError(t, stacktest.Empty(t.Context(), b.conn, b.entries))
	log := projection.New(b.conn, eventlog.Options{})
	require.Equal(t, indexed(3), b.sessions(t, b.newWriter(t, log), "s-p")[0])
	require.Equal(t, 3, b.embedder.texts)
	require.Len(t, b.rows(t), 3)
}

// Each write is killed either before or after it is done. The campaign does both.
func TestSessionsKilledAnywhere(t *testing.T) {
	t.Parallel()
	sessionsKilled(t, alternately(t))
}

// I1, I2: a batch that is killed before or after any write and run again ends in the same log and rows. after returns
// whether to kill after or before a write, or both in turn.
func sessionsKilled(t *testing.T, after func(at int) []bool) {
	t.Helper()
	b := newBench(t)
	reached := 0
	for at := 1; reached == 0; at++ {
		for _, after := range after(at) {
			project := fmt.Sprintf("p%d%v", at, after)
			b.add(t, project, "a", "b", "c", "d", "e", "f")
			b.add(t, project+"-2", "a")
			names := []string{"s-" + project, "s-" + project + "-2"}
			k := &killer{Log: b.log, at: at, after: after}
			if _, err := b.trySessions(t, b.newWriter(t, k), names...); k.calls < at {
				require.NoError(t, err)
				reached = at
			} else {
				require.ErrorIs(t, err, errKilled)
			}
			require.Equal(t, []boundary.Outcome[SessionResult]{indexed(6), indexed(1)}, b.sessions(t, b.newWriter(t, b.log), names...))
			require.Equal(t, 6, b.count(t, project))
		}
	}
	require.Greater(t, reached, 4, "there was something to kill")
	for id, status := range b.statuses(t) {
		require.Equal(t, schema.OutboxDone, status, id)
	}
	requireRecordedOnce(t, b)
}

// requireRecordedOnce checks that the log records each item as written once.
func requireRecordedOnce(t *testing.T, b *bench) {
	t.Helper()
	times := map[string]int{}
	for event, err := range b.log.Stream(t.Context(), b.writer.stream(), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		rows, err := outcomeRows(event)
		require.NoError(t, err)
		for _, r := range rows {
			times[r.ID]++
		}
	}
	require.Len(t, times, len(b.rows(t)))
	for id, n := range times {
		require.Equal(t, 1, n, "item %q", id)
	}
}
