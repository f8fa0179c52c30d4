package vector

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// For any events of workers, in any order: the version in use was chosen before, no needed version is old or dropped,
// and every version that may have vectors is known.
func TestChoiceProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var now Choice
		chosen := map[string]bool{}
		for i := range rapid.IntRange(0, 30).Draw(t, "events") {
			version := rapid.SampledFrom([]string{"a", "b", "c", "한국어/%"}).Draw(t, "version")
			payload := rapid.SampledFrom([]any{
				schema.EmbedderChosenPayload{Version: version}, schema.EmbedderUsedPayload{Version: version}, schema.EmbedderDroppedPayload{Version: version},
			}).Draw(t, "event")
			if _, ok := payload.(schema.EmbedderChosenPayload); ok {
				chosen[version] = true
			}
			event, err := schema.NewEvent(payload, schema.Event{Seq: uint64(i + 1), TS: start, DedupeKey: "k"})
			require.NoError(t, err)
			before := now
			now, err = now.apply(event)
			require.NoError(t, err)
			if before.Used != "" {
				require.NotEmpty(t, now.Used, "what is in use is replaced, never taken away")
			}
			if now.Used != before.Used {
				require.Equal(t, now.Chosen, now.Used, "only the one chosen last comes into use")
			}
			for _, needed := range now.Versions() {
				require.NotContains(t, now.Old, needed)
				require.NotContains(t, now.Dropped, needed)
			}
			known := slices.Concat(now.Versions(), now.Old, now.Dropped)
			for version := range chosen {
				require.Contains(t, known, version)
			}
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(now.Old))), len(now.Old))
		}
	})
}

// Workers that start concurrently with different embedders agree: the first is in use, one is chosen, and a retry
// changes nothing.
func TestChoicesConcurrently(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			c := newChoices(projection.New(conn, eventlog.Options{}), time.Minute)
			_, err := c.Choose(t.Context(), fmt.Sprint("v", i%3))
			require.NoError(t, err)
		})
	}
	wait.Wait()
	c := newChoices(projection.New(conn, eventlog.Options{}), time.Minute)
	now, err := c.Now(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, now.Used)
	again, err := c.Choose(t.Context(), now.Chosen)
	require.NoError(t, err)
	require.Equal(t, now, again)
	used, err := c.use(t.Context(), "never chosen")
	require.NoError(t, err)
	require.Equal(t, now, used)
	used, err = c.use(t.Context(), now.Chosen)
	require.NoError(t, err)
	require.Equal(t, []string{now.Chosen}, used.Versions())
	recent, err := c.Recent(t.Context())
	require.NoError(t, err)
	require.Equal(t, used, recent)
	for _, old := range used.Old {
		after, err := c.drop(t.Context(), old)
		require.NoError(t, err)
		require.NotContains(t, after.Old, old)
		require.Contains(t, after.Dropped, old)
	}
	kept, err := c.drop(t.Context(), used.Used)
	require.NoError(t, err)
	require.Equal(t, used.Used, kept.Used)
}
