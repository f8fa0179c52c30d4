package vector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestIndexPending(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "one", "two", "three", "four", "five")
	b.add(t, "blue", "one", "six")

	first := b.index(t, 5)
	require.Equal(t, 5, first.Indexed)
	require.True(t, first.More)
	require.Equal(t, Result{Indexed: 2}, b.index(t, 2))
	require.Equal(t, Result{}, b.index(t, 5))
	require.Equal(t, 5, b.count(t, "red"))
	require.Equal(t, 2, b.count(t, "blue"))

	calls := b.embedder.calls
	report, err := b.writer.Reconcile(t.Context())
	require.NoError(t, err)
	require.Equal(t, Report{Checked: 7, Outbox: OutboxCounts{Done: 7}}, report)
	require.Equal(t, calls, b.embedder.calls, "reconcile embeds nothing")
}

// I8: an item that cannot be embedded is recorded with its reason, without affecting the other items.
func TestRefusedTextFailsAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.embedder.refuse = "poison"
	bad := b.add(t, "red", "a", "b", "poison c", "d", "e", "f poison", "g")

	require.Equal(t, Result{Indexed: 5, Failed: 2}, b.index(t, 100))
	for _, r := range b.rows(t) {
		if r.ID == bad[2].ID || r.ID == bad[5].ID {
			require.Equal(t, schema.OutboxFailed, r.Status)
			require.True(t, r.Permanent)
			require.Equal(t, "a text of the batch is not allowed", r.Error)
			continue
		}
		require.Equal(t, schema.OutboxDone, r.Status)
	}
	require.Equal(t, 5, b.count(t, "red"))
}

// moody is an embedder that does not accept its key in the request of a number.
type moody struct {
	*words
	asked, refused int
}

func (m *moody) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.asked++; m.asked == m.refused {
		return nil, refused{errors.New("unknown key")}
	}
	return m.words.Embed(ctx, texts)
}

// No text is blamed for a key that was refused, although the next request was accepted: only for itself.
func TestMendedEmbedderBlamesNoText(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "b", "poison", "d", "e"}
	all := &moody{words: &words{dims: 8, refuse: "poison"}}
	_, _, err := embedAll(t.Context(), all, texts)
	require.NoError(t, err)
	for n := range all.asked {
		vectors, faults, err := embedAll(t.Context(), &moody{words: &words{dims: 8, refuse: "poison"}, refused: n}, texts)
		if err != nil { // A probe was refused.
			require.ErrorContains(t, err, "not allowed", "request %d", n)
			continue
		}
		for i, text := range texts {
			require.Equal(t, text == "poison", faults[i] != nil, "request %d: %v", n, faults[i])
			require.Equal(t, text != "poison", vectors[i] != nil, "request %d", n)
		}
	}
	for _, texts := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}} {
		vectors, faults, err := embedAll(t.Context(), &moody{words: &words{dims: 8}, refused: 1}, texts)
		require.NoError(t, err)
		require.NotContains(t, vectors, []float32(nil))
		require.Equal(t, make([]error, len(texts)), faults)
	}
}

// TestSeed12_4OutboxReconcile: pending and failed items are retried and end done, or with their failure recorded. An
// outage is recorded once, does not count as an attempt, and is over as soon as the item is written.
func TestSeed12_4OutboxReconcile(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]error{
		"unavailable":  errors.New("connection refused"),
		"key refused":  refused{errors.New("unknown key")},
		"cancellation": context.Canceled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.add(t, "red", "a", "b")
			b.embedder.fail = fault
			var head schema.StreamHead
			for n := range 4 { // More often than an item may fail.
				_, err := b.writer.IndexPending(t.Context(), 10)
				require.ErrorIs(t, err, fault)
				if n == 0 {
					head = b.log.Head(b.writer.stream())
				}
			}
			require.Equal(t, head, b.log.Head(b.writer.stream()), "an outage is recorded once")
			for _, r := range b.rows(t) {
				if errors.Is(fault, context.Canceled) {
					require.Equal(t, schema.OutboxPending, r.Status)
					continue
				}
				require.Equal(t, schema.OutboxFailed, r.Status)
				require.ErrorContains(t, errors.New(r.Error), fault.Error())
				require.False(t, r.Permanent)
				require.Zero(t, r.Attempts)
			}
			waiting, err := Waiting(t.Context(), b.conn, b.embedder.version, "", "red")
			require.NoError(t, err)
			require.Equal(t, 2, waiting, "a search says that they are not indexed")
			due, err := NewOutbox(b.conn, b.embedder.version).pending(t.Context())
			require.NoError(t, err)
			require.True(t, due, "a worker that starts wakes the writer for them")
			b.embedder.fail = nil
			if reconciled := b.reconcile(t); !errors.Is(fault, context.Canceled) {
				require.Equal(t, 2, reconciled.Failed)
			}
			b.now = b.now.Add(-time.Hour) // The clock of the requester is ahead.
			counts, err := NewOutbox(b.conn, b.embedder.version).Counts(t.Context(), b.now, Backoff{Base: time.Second, Max: time.Minute})
			require.NoError(t, err)
			require.Equal(t, 2, counts.Due)
			require.Equal(t, Result{Indexed: 2}, b.index(t, 10))
			for _, r := range b.rows(t) {
				require.Equal(t, schema.OutboxDone, r.Status)
				require.Empty(t, r.Error)
			}
		})
	}
}

// Weaviate answers 200 to a batch with failed objects: the result of each object is checked.
func TestRejectedObjectIsRetriedThenPermanent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "good")
	require.Equal(t, Result{Indexed: 1}, b.index(t, 10))
	// The tenant's index has 64 dimensions from now on.
	b.embedder.dims = 32
	bad := b.add(t, "red", "bad")[0]

	waits := []time.Duration{30 * time.Second, time.Minute}
	for attempt, wait := range waits {
		r := b.index(t, 10)
		require.Equal(t, Result{Failed: 1, NextRetry: b.now.Add(wait)}, r, "attempt %d", attempt+1)
		b.now = b.now.Add(wait - time.Microsecond)
		require.Zero(t, b.index(t, 10).Failed, "not due yet")
		b.now = b.now.Add(time.Microsecond)
	}
	require.Equal(t, Result{Failed: 1}, b.index(t, 10))
	row := rowOf(t, b, bad.ID)
	require.True(t, row.Permanent)
	require.Equal(t, 3, row.Attempts)
	require.Contains(t, row.Error, "wrong size")

	// It is not retried until a person requests it.
	b.now = b.now.Add(24 * time.Hour)
	require.Zero(t, b.index(t, 10))
	b.embedder.dims = 64
	report := b.reconcile(t)
	require.Equal(t, 1, report.Failed)
	require.Equal(t, 1, report.Repaired())
	require.Equal(t, Result{Indexed: 1}, b.index(t, 10))
	require.Zero(t, b.reconcile(t).Repaired())
}

func rowOf(t *testing.T, b *bench, id string) Row {
	t.Helper()
	for _, r := range b.rows(t) {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no row of %q", id)
	return Row{}
}

// The outbox may be ahead of the table of entries. An item whose entry is not projected yet is read from the log.
func TestItemBeforeItsEntry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "late")
	require.NoError(t, b.conn.Exec(t.Context(), "TRUNCATE TABLE entries_raw"))
	require.Equal(t, Result{Indexed: 1}, b.index(t, 10))
	early := b.rows(t)

	_, err := stacktest.Rebuild(t.Context(), b.conn, b.entries)
	require.NoError(t, err)
	require.Zero(t, b.reconcile(t).Repaired(), "what was indexed is what the entry says")
	require.Equal(t, early, b.rows(t))
}

// An item that does not exist fails visibly, and so does an item of another project.
func TestItemWithoutEntry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "late")
	source := NewEntrySource(b.conn, b.log)
	for _, truncated := range []bool{false, true} {
		if truncated {
			require.NoError(t, b.conn.Exec(t.Context(), "TRUNCATE TABLE entries_raw"))
		}
		found, err := source.Load(t.Context(), "red", []string{"none", entries[0].ID})
		require.NoError(t, err)
		require.Len(t, found, 1)
		found, err = source.Load(t.Context(), "blue", []string{entries[0].ID})
		require.NoError(t, err)
		require.Empty(t, found)
	}
	work, err := b.writer.load(t.Context(), []Row{{VectorItem: schema.VectorItem{Kind: schema.ItemEntry, ID: "none"}, Project: "red"}})
	require.NoError(t, err)
	require.ErrorIs(t, work[0].fault, errNoItem)
}

// killer is a log that simulates the death of its process at a given call.
type killer struct {
	Log
	calls, at int
	after     bool
}

var errKilled = errors.New("killed")

func (k *killer) die(run func() error) error {
	k.calls++
	if k.calls == k.at && !k.after {
		return errKilled
	}
	err := run()
	if k.calls == k.at {
		return errKilled
	}
	return err
}

func (k *killer) Append(ctx context.Context, stream string, events []schema.Event) (out eventlog.Appended, err error) {
	err = k.die(func() (err error) { out, err = k.Log.Append(ctx, stream, events); return err })
	return out, err
}

func (k *killer) Steady(ctx context.Context, p projection.Projector, stream string, plan func() error) error {
	return k.die(func() error { return k.Log.Steady(ctx, p, stream, plan) })
}

func (k *killer) Project(ctx context.Context, p projection.Projector, stream string) (out projection.Progress, err error) {
	err = k.die(func() (err error) { out, err = k.Log.Project(ctx, p, stream); return err })
	return out, err
}

// Each write is killed either before or after it is done. The campaign does both.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	writerKilled(t, alternately(t))
}

// alternately kills before and after writes in turn, and begins with either.
func alternately(t *testing.T) func(at int) []bool {
	odd := stacktest.Random(t).IntN(2)
	t.Logf("killed after the writes of number 2n+%d, and before the others", odd)
	return func(at int) []bool { return []bool{at%2 == odd} }
}

// I1, I2: a writer that is killed before or after any write and run again ends in the same log and rows. after returns
// whether to kill after or before a write, or both in turn.
func writerKilled(t *testing.T, after func(at int) []bool) {
	t.Helper()
	b := newBench(t)
	times := 0
	for at := 1; at <= 5; at++ {
		for _, after := range after(at) {
			times++
			project := fmt.Sprintf("p%d%v", at, after)
			b.add(t, project, "a", "b", "c", "d", "e", "f")
			killed := b.newWriter(t, &killer{Log: b.log, at: at, after: after})
			_, err := killed.IndexPending(t.Context(), 100)
			require.ErrorIs(t, err, errKilled)
			require.False(t, b.index(t, 100).More)
			require.Equal(t, 6, b.count(t, project))
		}
	}
	require.Len(t, b.rows(t), 6*times)
	requireRecordedOnce(t, b)
}

// The items of one batch are recorded in an event for each build that requested some of them.
func TestVectorEventsNameTheirBuilds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.embedder.refuse = "poison"
	var events []schema.Event
	for build, title := range []string{"a", "b", "poison"} {
		e := b.entry("red", title)
		event := b.materialized(t, e, schema.EntryMaterializedKey(e.ID))
		event.BuildID = fmt.Sprint("build ", build%2)
		events = append(events, event)
	}
	b.append(t, "s-red", events)
	b.index(t, 10)
	got := map[string][]string{}
	for event, err := range b.log.Stream(t.Context(), b.writer.stream(), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		got[event.BuildID] = append(got[event.BuildID], event.Type)
	}
	require.Equal(t, map[string][]string{
		"build 0": {schema.VectorIndexed, schema.VectorFailed}, "build 1": {schema.VectorIndexed},
	}, got)
	builds := map[string]int{}
	for _, r := range b.rows(t) {
		builds[r.BuildID]++
	}
	require.Equal(t, map[string]int{"build 0": 2, "build 1": 1}, builds)
}

// An outage of Weaviate is recorded as the reason of each item that could not be written, and the next attempt writes
// them all.
func TestWeaviateIsAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a")
	b.index(t, 10)
	b.add(t, "red", "b", "c", "d", "e", "f")
	to, err := url.Parse("http://" + stacktest.Weaviate(t))
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	var away atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			http.Error(w, "the vector store is down", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(ClientConfig{URL: server.URL, APIKey: stacktest.WeaviateKey(t), Writer: weaviate.Open})
	require.NoError(t, err)
	b.client = client
	writer := b.newWriter(t, b.log)
	away.Store(true)
	for range 5 {
		_, err = writer.IndexPending(t.Context(), 10)
		require.ErrorContains(t, err, "503")
	}
	failed := 0
	for _, r := range b.rows(t) {
		if r.Status == schema.OutboxFailed {
			failed++
			require.Contains(t, r.Error, "503")
			require.False(t, r.Permanent)
		}
	}
	require.Equal(t, 5, failed)
	away.Store(false)
	result, err := writer.IndexPending(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, Result{Indexed: 5}, result)
	require.Equal(t, 6, b.count(t, "red"))
}
