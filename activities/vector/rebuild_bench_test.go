package vector

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// TestMeasureRebuild compares a rebuild, which copies vectors, with a reconcile after the collection was emptied, which
// embeds them. It runs if AXIOMMIND_MEASURE is set to the number of items.
func TestMeasureRebuild(t *testing.T) {
	n := 0
	if _, err := fmt.Sscan(os.Getenv("AXIOMMIND_MEASURE"), &n); err != nil {
		t.Skip("AXIOMMIND_MEASURE is not set")
	}
	b := newBench(t)
	b.embedder.dims = 384
	b.writer.opts.BatchSize = DefaultBatchSize
	for made := 0; made < n; made += 500 {
		var entries []schema.Entry
		for i := range min(500, n-made) {
			entries = append(entries, b.entry("red", fmt.Sprintf("entry %d says that the store keeps %d words of a session", made+i, i)))
		}
		b.materialize(t, "s-red", entries)
	}
	measure := func(name string, work func()) {
		var peak atomic.Uint64
		stop := make(chan struct{})
		go func() {
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapInuse))
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Millisecond):
				}
			}
		}()
		began := time.Now()
		work()
		close(stop)
		t.Logf("%s: %d items in %.1f s, heap at most %d MiB", name, n, time.Since(began).Seconds(), peak.Load()>>20)
	}
	index := func() {
		for b.index(t, 512).More {
		}
	}
	measure("index", index)
	turns := 0
	measure("rebuild", func() {
		state := Rebuilding{RebuildInput: RebuildInput{Collection: b.writer.Collection()}}
		for !state.Done() {
			began := time.Now()
			next, err := b.writer.Rebuild(t.Context(), state)
			require.NoError(t, err)
			t.Logf("turn of %.1f s: %s", time.Since(began).Seconds(), state.Title())
			state = next
			turns++
		}
		require.Equal(t, n, state.Result.Copied)
		require.Equal(t, n, state.Result.Items)
	})
	require.NoError(t, b.client.DeleteCollection(t.Context(), b.writer.Collection()))
	measure("reconcile after emptying", func() {
		require.Equal(t, n, b.reconcile(t).Missing)
		index()
	})
}
