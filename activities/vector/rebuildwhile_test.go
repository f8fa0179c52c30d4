package vector

import (
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestRebuildWhileWriting(t *testing.T) {
	t.Parallel()
	rebuildWhileWriting(t, 2)
}

// A property: all writes between the turns are in the new collection. A draw takes a second.
func rebuildWhileWriting(t *testing.T, draws int) {
	t.Helper()
	b := newBench(t)
	made := 0
	sharedtest.CheckFew(t, draws, func(rt *rapid.T) {
		made++
		add := func(label string) (project string) {
			project = fmt.Sprintf("p%d-%s", made, rapid.SampledFrom([]string{"a", "b", "Z 한"}).Draw(rt, label))
			b.add(t, project, fmt.Sprint("word ", b.made))
			return project
		}
		for range rapid.IntRange(1, 8).Draw(rt, "at first") {
			add("project")
		}
		b.sessionsOrIndex(t)
		b.turns(t, b.writer, RebuildInput{Verify: rapid.Bool().Draw(rt, "verify")}, func(s Rebuilding) {
			for range rapid.IntRange(0, 1).Draw(rt, "between") {
				project := add("new")
				switch rapid.IntRange(0, 2).Draw(rt, "how") {
				case 0:
					b.sessions(t, b.writer, "s-"+project)
				case 1:
					b.sessionsOrIndex(t)
				}
			}
		})
		b.sessionsOrIndex(t)
		b.requireWhole(t)
	})
}

func (b *bench) sessionsOrIndex(t testing.TB) {
	t.Helper()
	for b.index(t, 100).More {
	}
}

func TestSearchDuringRebuild(t *testing.T) {
	t.Parallel()
	searchDuringRebuild(t, 1, 12)
}

// Searches during and after rebuilds of the given number of entries always find all of them.
func searchDuringRebuild(t *testing.T, rebuilds, entries int) {
	t.Helper()
	b := newBench(t)
	titles := make([]string, entries)
	for i := range titles {
		titles[i] = fmt.Sprint("word ", i)
	}
	b.add(t, "red", titles...)
	b.index(t, 100)
	embedded, err := b.embedder.Embed(t.Context(), []string{"word"})
	require.NoError(t, err)
	const searchers = 3
	stop := make(chan struct{})
	searched := make(chan struct{})
	var wg sync.WaitGroup
	for range searchers {
		wg.Go(func() {
			for {
				found, err := b.client.Hybrid(t.Context(), HybridQuery{
					Collection: b.writer.Collection(), Project: "red", Filter: Filter{Kinds: []string{schema.ItemEntry}, User: "ann"},
					Text: "word", Vector: embedded[0], Alpha: 0.5, Limit: 100,
				})
				if err != nil || len(found) != len(titles) {
					t.Errorf("%d of %d: %v", len(found), len(titles), err)
				}
				select {
				case <-stop:
					return
				case searched <- struct{}{}:
				}
			}
		})
	}
	for range rebuilds {
		b.turns(t, b.writer, RebuildInput{}, func(s Rebuilding) {
			ended := 1 // A search for each turn.
			if s.Wait > 0 {
				ended = 2 * searchers // Searches that began before the switch end before the class is gone.
			}
			for range ended {
				<-searched
			}
		})
	}
	close(stop)
	wg.Wait()
}

// rebuildRequests is a lower bound for the number of requests of the rebuild in rebuildKilled.
const rebuildRequests = 60

// The rebuild is killed at two random requests. The campaign kills it at every second one.
func TestRebuildKilledAnywhere(t *testing.T) {
	t.Parallel()
	random := stacktest.Random(t)
	requests := []int64{1 + random.Int64N(rebuildRequests/2), 1 + rebuildRequests/2 + random.Int64N(rebuildRequests/2)}
	t.Logf("killed at the requests %v", requests)
	rebuildKilled(t, slices.Values(requests))
}

// A rebuild whose store dies at any request, before or after executing it, continues from there. rebuildKilled kills it
// at the given requests, until a rebuild has fewer.
func rebuildKilled(t *testing.T, ns iter.Seq[int64]) {
	t.Helper()
	b := newBench(t)
	target, err := url.Parse("http://" + stacktest.Weaviate(t))
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	var requests, at atomic.Int64
	var after atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dies := requests.Add(1) == at.Load()
		if !dies || after.Load() {
			if !dies {
				proxy.ServeHTTP(w, r)
				return
			}
			proxy.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler)
	}))
	server.Config.ErrorLog = nil
	defer server.Close()
	direct := b.client
	mortal, err := NewClient(ClientConfig{URL: server.URL, APIKey: stacktest.WeaviateKey(t), Writer: weaviate.Open})
	require.NoError(t, err)
	b.add(t, "red", "a", "b", "c")
	entries := b.add(t, "blue", "g", "h")
	b.index(t, 100)
	for n := range ns {
		reached := false
		for _, late := range []bool{false, true} {
			// One item must be embedded each time.
			require.NoError(t, direct.remove(t.Context(), b.writer.Collection(), "blue", b.writer.objectOf(entries[0].ID)))
			b.client = mortal
			w := b.newWriter(t, b.log)
			b.client = direct
			w.opts.Turn = time.Nanosecond
			requests.Store(0)
			at.Store(n)
			after.Store(late)
			state := Rebuilding{RebuildInput: RebuildInput{Collection: w.Collection()}}
			died := false
			for !state.Done() {
				next, err := w.Rebuild(t.Context(), state)
				if err == nil {
					state = next
					continue
				}
				require.False(t, died, "once: %v", err)
				died = true
			}
			reached = reached || requests.Load() < n // Retries by the library do not count as deaths.
			require.True(t, state.Result.Switched)
			require.Equal(t, 5, state.Result.Items, "killed at request %d, after it is done %v", n, late)
			require.Zero(t, state.Result.Failed)
			require.Len(t, b.classes(t), 1)
		}
		b.requireWhole(t)
		if reached {
			t.Logf("a rebuild has fewer than %d requests", n)
			return
		}
	}
}
