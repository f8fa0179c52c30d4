package main_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

func (b *bench) projections() []eventlog.Projector {
	return build.Projections(b.ClickHouse, b.Embedder.Version())
}

// rebuild makes all projections anew while nobody projects.
func (b *bench) rebuild(t testing.TB) {
	t.Helper()
	for _, p := range b.projections() {
		_, err := b.Log.Rebuild(t.Context(), p)
		require.NoError(t, err)
	}
}

// digests returns by projection and table what stands for its rows.
func (b *bench) digests(t testing.TB) map[string]eventlog.Digest {
	t.Helper()
	out := map[string]eventlog.Digest{}
	for _, p := range b.projections() {
		for _, table := range p.Tables() {
			d, err := b.Log.Digest(t.Context(), table)
			require.NoError(t, err)
			out[p.Name()+" "+table.Name] = d
		}
	}
	return out
}

// eventful is a session of which every projection makes rows.
func eventful(t testing.TB, n int) string {
	return write(t, filepath.Join(t.TempDir(), "s.jsonl"),
		said(1, "user", fmt.Sprintf("We decided to use ClickHouse for event log %d.", n)),
		said(2, "user", fmt.Sprintf("I prefer tabs over spaces in project %d.", n)),
		said(3, "user", fmt.Sprintf("TODO: write the report of quarter %d.", n%3)),
		said(4, "user", fmt.Sprintf("The release %d is blocked by access to the payment provider's export.", n%2)),
		// A fact that is there already is skipped.
		said(5, "user", "I prefer short functions."),
	)
}

// I3, I4: whatever an operator does to the tables, a rebuild of the list gives the rows that the sessions left.
func TestI3EveryProjection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	for n := range 3 {
		b.process(t, b.input(fmt.Sprint("s", n), eventful(t, n)))
	}
	b.night(t, schema.DreamNightInput{})
	b.awaitIndexed(t)
	want := b.digests(t)
	for name, d := range want {
		// The rules quote whole sentences, which no later session proves better; activities/entry rebuilds these rows.
		if name == "entries entry_evidence_raw" {
			continue
		}
		require.NotZero(t, d.Rows, "%s: have eventful tell of what makes its rows, so that they can be compared", name)
	}
	b.rebuild(t)
	require.Equal(t, want, b.digests(t), "incremental equals rebuilt")
	for _, statement := range []string{"TRUNCATE TABLE %s", "DROP TABLE %s SYNC"} {
		for _, p := range b.projections() {
			for _, table := range p.Tables() {
				require.NoError(t, b.ClickHouse.Exec(t.Context(), fmt.Sprintf(statement, table.Name)))
			}
		}
		_, err := eventlog.RestoreTables(t.Context(), b.ClickHouse)
		require.NoError(t, err)
		require.NotEqual(t, want, b.digests(t))
		b.rebuild(t)
		require.Equal(t, want, b.digests(t), statement)
	}
}

// I4: sessions that are processed during a rebuild of everything come to their end, and leave the rows and the
// events of a rebuild that is alone.
func TestI4RebuildDuringSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	for n := range 4 {
		b.process(t, b.input(fmt.Sprint("before", n), eventful(t, n)))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wait sync.WaitGroup
	for w := range 3 {
		wait.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				result, err := b.try(t.Context(), b.input(fmt.Sprintf("during-%d-%d", w, n), eventful(t, n)))
				if err != nil || result.Status != schema.BuildSuccess {
					t.Errorf("session %d of %d ended %q: %v", n, w, result.Status, err)
					return
				}
			}
		})
	}
	require.NoError(t, b.Log.Renew(t.Context(), b.projections()...))
	for _, p := range b.projections() {
		_, err := b.Log.ProjectAll(t.Context(), p)
		require.NoError(t, err)
	}
	stop()
	wait.Wait()
	b.awaitIndexed(t)
	beside := b.digests(t)
	b.rebuild(t)
	require.Equal(t, beside, b.digests(t))
	// What was planned during the rebuild knew all tasks: each is created once.
	require.Empty(t, column(t, b.ClickHouse, `SELECT JSONExtractString(payload_json, 'canonical_key') AS key FROM events
		WHERE event_type = ? GROUP BY key HAVING count() > 1`, schema.TaskCreated))
}
