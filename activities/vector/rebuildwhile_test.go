package vector

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// A property: whatever is written between the turns is in the new collection, and no search ever finds less than before.
func TestRebuildWhileWriting(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := 0
	rapid.Check(t, func(rt *rapid.T) {
		if made >= 6 {
			return // Each takes a second.
		}
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

// Searches that go on during a rebuild find all, at any time, and after it too.
func TestSearchDuringRebuild(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	titles := make([]string, 60)
	for i := range titles {
		titles[i] = fmt.Sprint("word ", i)
	}
	b.add(t, "red", titles...)
	b.index(t, 100)
	embedded, err := b.embedder.Embed(t.Context(), []string{"word"})
	require.NoError(t, err)
	stop := make(chan struct{})
	var searched atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				found, err := b.client.Hybrid(t.Context(), HybridQuery{
					Collection: b.writer.Collection(), Project: "red", Filter: Filter{Kinds: []string{schema.ItemEntry}, User: "ann"},
					Text: "word", Vector: embedded[0], Alpha: 0.5, Limit: 100,
				})
				if err != nil || len(found) != len(titles) {
					t.Errorf("%d of %d: %v", len(found), len(titles), err)
				}
				searched.Add(1)
			}
		})
	}
	for range 3 {
		b.turns(t, b.writer, RebuildInput{}, func(s Rebuilding) {
			for at := searched.Load(); s.Wait > 0 && searched.Load() < at+4; {
				time.Sleep(time.Millisecond) // What began before the switch ends before the class is gone.
			}
		})
	}
	close(stop)
	wg.Wait()
	require.Greater(t, searched.Load(), int64(20))
}

// A rebuild whose store dies at any request, before or after that is done, goes on where it was.
func TestRebuildKilledAnywhere(t *testing.T) {
	t.Parallel()
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
	reached := false
	const apart = 2
	for n := int64(1); !reached; n += apart {
		for _, late := range []bool{false, true} {
			// One has to be embedded each time.
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
			reached = requests.Load() < n // The library sends some requests again of itself: those do not count as deaths.
			require.True(t, state.Result.Switched)
			require.Equal(t, 5, state.Result.Items, "killed at request %d, after it is done %v", n, late)
			require.Zero(t, state.Result.Failed)
			require.Len(t, b.classes(t), 1)
			if n%5 == 0 || reached {
				b.requireWhole(t)
			}
			if reached {
				t.Logf("%d requests", n)
				break
			}
		}
	}
}
