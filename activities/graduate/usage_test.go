package graduate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// used is a row of the view of usage.
type used struct {
	Retrievals  uint64
	First, Last time.Time
}

func usageOf(t testing.TB, conn driver.Conn) map[string]used {
	t.Helper()
	out := map[string]used{}
	require.NoError(t, clickhouse.Query(t.Context(), conn, func(rows driver.Rows) error {
		var project, id string
		var u used
		err := rows.Scan(&project, &id, &u.Retrievals, &u.First, &u.Last)
		u.First, u.Last = u.First.UTC(), u.Last.UTC()
		out[project+" "+id] = u
		return err
	}, "SELECT project, entry_id, retrievals, first_at, last_at FROM usage"))
	return out
}

// I3, I4: for any retrievals, recorded once or twice, the table has their counts and times, and a rebuild gives the
// same rows.
func TestI3Usage(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	log := projection.New(conn, eventlog.Options{})
	requests := rapid.Custom(func(t *rapid.T) Retrieved {
		n := rapid.IntRange(0, 40).Draw(t, "request")
		return Retrieved{
			Scope:     schema.Scope{Project: rapid.SampledFrom([]string{"p", "q/%2F", "한"}).Draw(t, "project"), User: "u"},
			RequestID: fmt.Sprint("r/", n), By: schema.RetrievedBySearch, Actor: "ann", At: noon.Add(time.Duration(n) * time.Hour),
			EntryIDs: rapid.SliceOfN(rapid.SampledFrom([]string{"", "e1", "e2", "e'3\\"}), 0, 5).Draw(t, "entries"),
		}
	})
	want, seen := map[string]used{}, map[string]bool{}
	for _, r := range rapid.SliceOfN(requests, 60, 60).Example(1) {
		require.NoError(t, RecordRetrieved(t.Context(), log, conn, r.RequestID, r))
		entries := slices.Compact(slices.Sorted(slices.Values(r.EntryIDs)))
		entries = slices.DeleteFunc(entries, func(id string) bool { return id == "" })
		request := r.Project + " " + r.RequestID
		if seen[request] || len(entries) == 0 {
			continue
		}
		seen[request] = true
		for _, id := range entries {
			u, there := want[r.Project+" "+id]
			if !there {
				u.First, u.Last = r.At, r.At
			}
			u.Retrievals++
			if r.At.Before(u.First) {
				u.First = r.At
			}
			if r.At.After(u.Last) {
				u.Last = r.At
			}
			want[r.Project+" "+id] = u
		}
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, usageOf(t, conn))

	streams := 0
	for _, err := range log.Streams(t.Context(), schema.UsagePrefix) {
		require.NoError(t, err)
		streams++
	}
	require.LessOrEqual(t, streams, 3*16)
	require.NoError(t, conn.Exec(t.Context(), "TRUNCATE TABLE usage_raw"))
	require.NoError(t, conn.Exec(t.Context(), "TRUNCATE TABLE projection_offsets_raw"))
	_, err := projection.New(conn, eventlog.Options{}).ProjectAll(t.Context(), NewUsageProjector(conn))
	require.NoError(t, err)
	require.Equal(t, want, usageOf(t, conn))
}

// All requests of many concurrent programs are recorded and counted, although they write the same streams.
func TestUsageOfManyAtOnce(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	const programs, each = 12, 5
	var wait sync.WaitGroup
	failed := make(chan error, programs*each)
	for p := range programs {
		wait.Go(func() {
			log := projection.New(conn, eventlog.Options{}) // The programs share no log.
			for n := range each {
				failed <- RecordRetrieved(t.Context(), log, conn, fmt.Sprint("w", p%6), Retrieved{ // Two write each stream.
					Scope: schema.Scope{Project: "p", User: "u"}, RequestID: fmt.Sprint(p, "/", n), By: schema.RetrievedByContext,
					EntryIDs: []string{"e"}, At: noon, Actor: "ann",
				})
			}
		})
	}
	wait.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	require.Equal(t, map[string]used{"p e": {programs * each, noon, noon}}, usageOf(t, conn))
}

func TestRecordRetrievedRefuses(t *testing.T) {
	t.Parallel()
	whole := Retrieved{Scope: schema.Scope{Project: "p"}, RequestID: "r", By: schema.RetrievedBySearch, EntryIDs: []string{"e"}}
	for name, spoil := range map[string]func(*Retrieved){
		"project": func(r *Retrieved) { r.Project = "" },
		"request": func(r *Retrieved) { r.RequestID = "" },
		"by":      func(r *Retrieved) { r.By = "" },
	} {
		r := whole
		spoil(&r)
		require.ErrorContains(t, RecordRetrieved(t.Context(), nil, nil, "w", r), "are needed", name)
	}
	whole.EntryIDs = []string{"", ""}
	require.NoError(t, RecordRetrieved(t.Context(), nil, nil, "w", whole), "nothing was returned: nobody is asked")
}

// An event in a stream of no project's usage stops the projection.
func TestUsageOfAnotherStream(t *testing.T) {
	t.Parallel()
	err := (&UsageProjector{}).Apply(context.Background(), []schema.Event{{ID: "x", Stream: "usage/p", Type: schema.EntriesRetrieved}})
	require.ErrorContains(t, err, `read event "x"`)
}
