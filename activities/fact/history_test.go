package fact_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// A history lists the latest change first, of one fact or build if asked, page by page, with each fact's earlier state.
func TestHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	var events []schema.Event
	add := func(build string, payload any) {
		at := noon.Add(time.Duration(len(events)) * time.Second)
		e, err := schema.NewEvent(payload, schema.Event{TS: at, Actor: "a", BuildID: build, DedupeKey: fmt.Sprint(len(events))})
		require.NoError(t, err)
		events = append(events, e)
	}
	half := 0.5
	add("b1", schema.FactCreatedPayload{FactID: "x", Content: "one", Confidence: 1})
	add("b1", schema.FactCreatedPayload{FactID: "y", Content: "two", Confidence: 1})
	add("", schema.FactUpdatedPayload{FactID: "x", Confidence: &half})
	add("b2", schema.FactSkippedPayload{Skipped: schema.SkippedDuplicate, DuplicateOf: "x"})
	add("b2", schema.FactEvictedPayload{FactID: "x", For: "z"})
	add("b2", schema.FactCreatedPayload{FactID: "z", Content: "three", Confidence: 1})
	add("", schema.ProfileUpdatedPayload{Section: schema.SectionWork, Summary: "s"})
	add("", schema.FactDeletedPayload{FactID: "y"})
	add("", schema.FactsClearedPayload{Facts: 1})
	for _, user := range []string{"ann", "бен"} {
		_, err := b.log.AppendAll(t.Context(), schema.MemoryStream(user, ""), events)
		require.NoError(t, err)
		for i := range events {
			events[i].DedupeKey += user
		}
	}
	seqs := func(q fact.HistoryQuery) (out []uint64) {
		q.User = "ann"
		changes, err := b.tables.History(t.Context(), q)
		require.NoError(t, err)
		for _, c := range changes {
			out = append(out, c.Seq)
		}
		return out
	}
	require.Equal(t, []uint64{9, 8, 7, 6, 5, 4, 3, 2, 1}, seqs(fact.HistoryQuery{}))
	require.Equal(t, []uint64{5, 4, 3, 1}, seqs(fact.HistoryQuery{FactID: "x"}))
	require.Equal(t, []uint64{6, 5}, seqs(fact.HistoryQuery{FactID: "z"}))
	for limit := 1; limit < 11; limit++ {
		var all []uint64
		for offset := 0; offset < len(events); offset += limit {
			all = append(all, seqs(fact.HistoryQuery{Limit: limit, Offset: offset})...)
		}
		require.Equal(t, seqs(fact.HistoryQuery{}), all, limit)
	}
	require.Empty(t, seqs(fact.HistoryQuery{Limit: 2, Offset: 9}))
	changes, err := b.tables.History(t.Context(), fact.HistoryQuery{User: "ann", FactID: "x"})
	require.NoError(t, err)
	require.Equal(t, "one", changes[0].Before.Content)
	require.Equal(t, []float64{0.5, 1}, []float64{changes[0].Before.Confidence, changes[2].Before.Confidence})
	require.Nil(t, changes[1].Before)
	require.Nil(t, changes[3].Before)
	for second, want := range map[int][]float64{0: {1}, 1: {1, 1}, 2: {0.5, 1}, 4: {0.5, 1}, 5: {0.5, 1, 1}, 7: {0.5, 1, 1}} { // Also deleted facts.
		var got []float64
		then, err := b.tables.AsOf(t.Context(), "ann", "", []string{"x", "y", "z", "Ω'"}, noon.Add(time.Duration(second)*time.Second))
		require.NoError(t, err)
		for _, f := range then {
			got = append(got, f.Confidence)
		}
		require.Equal(t, want, got, second)
	}
	sum, err := fact.Sum(changes)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 1, 1}, []int{sum.Created, sum.Updated, sum.Evicted, sum.Skipped[schema.SkippedDuplicate]})
}

// BenchmarkHistory reads the latest page of memories with many changes.
func BenchmarkHistory(b *testing.B) {
	for _, facts := range []int{500, 20_000} {
		conn := stacktest.Migrated(b)
		var events []schema.Event
		add := func(payload any) {
			e, err := schema.NewEvent(payload, schema.Event{TS: noon, Actor: "a", DedupeKey: fmt.Sprint(len(events))})
			require.NoError(b, err)
			events = append(events, e)
		}
		half := 0.5
		for i := range facts {
			id := fmt.Sprintf("fact_%08x", i)
			add(schema.FactCreatedPayload{FactID: id, Content: fmt.Sprintf("The user keeps bees of the kind %d in the garden.", i), Confidence: 1})
			add(schema.FactUpdatedPayload{FactID: id, Confidence: &half})
		}
		_, err := projection.New(conn, eventlog.Options{}).AppendAll(b.Context(), schema.MemoryStream("ann", ""), events)
		require.NoError(b, err)
		b.Run(fmt.Sprint("events=", len(events)), func(b *testing.B) {
			for b.Loop() {
				changes, err := fact.NewTables(conn).History(b.Context(), fact.HistoryQuery{User: "ann", Limit: 50})
				require.NoError(b, err)
				require.NotNil(b, changes[0].Before)
			}
		})
	}
}
