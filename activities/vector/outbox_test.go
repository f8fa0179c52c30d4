package vector

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// I3: a rebuilt outbox has identical rows.
func TestRebuildGivesTheSameRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.embedder.refuse = "poison"
	b.add(t, "red", "a", "b", "poison", "c")
	b.add(t, "blue", "d")
	b.index(t, 100)
	require.NoError(t, b.client.DeleteCollection(t.Context(), b.writer.Collection()))
	b.reconcile(t)
	b.index(t, 100)
	b.add(t, "red", "e", "f")
	b.index(t, 1)
	before := b.rows(t)
	statuses := map[schema.OutboxStatus]bool{}
	for _, r := range before {
		statuses[r.Status] = true
	}
	require.Len(t, statuses, 3, "every status occurs")

	_, err := stacktest.Rebuild(t.Context(), b.conn, b.projector)
	require.NoError(t, err)
	require.Equal(t, before, b.rows(t))
}

// A new embedding version enqueues all items, and does not change the rows of the old one.
func TestNewVersionEnqueuesEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a", "b")
	b.index(t, 10)
	old := b.rows(t)

	next := NewOutboxProjector(b.conn, "next")
	_, err := b.log.ProjectAll(t.Context(), next)
	require.NoError(t, err)
	counts, err := NewOutbox(b.conn, "next").Counts(t.Context(), b.now, Backoff{Base: 1, Max: 1})
	require.NoError(t, err)
	require.Equal(t, OutboxCounts{Pending: 2, Due: 2}, counts)
	_, err = stacktest.Rebuild(t.Context(), b.conn, next)
	require.NoError(t, err)
	require.Equal(t, old, b.rows(t))
}

// I4: in whichever order and however often the streams are read, the row with the highest rank of each item is the
// same.
func TestRowsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	p := NewOutboxProjector(nil, "v")
	item := func(n int) schema.VectorItem {
		return schema.VectorItem{Kind: schema.ItemEntry, ID: fmt.Sprint(n), EmbeddingVersion: "v"}
	}
	rapid.Check(t, func(t *rapid.T) {
		var streams [2][]schema.Event
		add := func(stream int, eventType string, payload any) {
			data, err := json.Marshal(payload)
			if err != nil {
				t.Fatal(err)
			}
			streams[stream] = append(streams[stream], schema.Event{
				ID: fmt.Sprint(stream, len(streams[stream])), Type: eventType, Payload: data,
				Seq: uint64(len(streams[stream]) + 1), TS: start.Add(time.Duration(len(streams[stream])) * time.Second),
			})
		}
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			i := item(rapid.IntRange(0, 2).Draw(t, "item"))
			switch rapid.IntRange(0, 3).Draw(t, "type") {
			case 0:
				add(0, schema.EntryMaterialized, schema.EntryMaterializedPayload{Entry: schema.Entry{ID: i.ID}})
			case 1:
				add(1, schema.VectorIndexed, schema.VectorIndexedPayload{Items: []schema.IndexedVector{{VectorItem: i, ContentHash: "h"}}})
			case 2:
				add(1, schema.VectorFailed, schema.VectorFailedPayload{Items: []schema.FailedVector{{VectorItem: i, Attempt: 1, Error: "e"}}})
			case 3:
				add(1, schema.VectorDrifted, schema.VectorDriftedPayload{Items: []schema.DriftedVector{{VectorItem: i, Reason: "r"}}})
			}
		}
		events := slices.Concat(streams[0], streams[1])
		want := fold(t, p, events)
		again := rapid.Permutation(slices.Concat(events, events)).Draw(t, "order")
		require.Equal(t, want, fold(t, p, again))
		if len(streams[1]) > 0 {
			last := fold(t, p, streams[1])
			for id, row := range last {
				require.Equal(t, row, want[id], "what the writer did stands above any request")
			}
		}
	})
}

// fold keeps the row of the highest rank, like ReplacingMergeTree.
func fold(t *rapid.T, p *OutboxProjector, events []schema.Event) map[string]Row {
	out := map[string]Row{}
	for _, event := range events {
		rows, err := p.rows(event)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if old, ok := out[r.ID]; !ok || r.Rank >= old.Rank {
				out[r.ID] = r
			}
		}
	}
	return out
}

func TestRowsRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	p := NewOutboxProjector(nil, "v")
	for name, event := range map[string]schema.Event{
		"payload":  {ID: "e", Type: schema.VectorFailed, Payload: json.RawMessage(`{"items":1}`)},
		"request":  {ID: "e", Type: schema.EntryMaterialized, Payload: json.RawMessage(`[]`)},
		"type":     {ID: "e", Type: schema.BuildStarted, Payload: json.RawMessage(`{}`)},
		"position": {ID: "e", Type: schema.EntryMaterialized, Seq: writerRank, Payload: json.RawMessage(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := p.rows(event)
			require.ErrorContains(t, err, `event "e"`)
		})
	}
}

// Task titles are requested as well as entries, each by its own event.
func TestTitlesAreEnqueued(t *testing.T) {
	t.Parallel()
	p := NewOutboxProjector(nil, "v")
	require.Equal(t, []string{
		schema.VectorIndexed, schema.VectorFailed, schema.VectorDrifted,
		schema.EntryMaterialized, schema.FactCreated, schema.FactUpdated, schema.TaskCreated, schema.TaskTitleChanged,
	}, p.Types())
	for seq, payload := range []any{
		schema.TaskCreatedPayload{TaskID: "t1", Title: "Port it"}, schema.TaskTitleChangedPayload{TaskID: "t1", To: "Port it all"},
	} {
		event, err := schema.NewEvent(payload, schema.Event{ID: "e", Project: "red", Seq: uint64(seq), TS: start})
		require.NoError(t, err)
		rows, err := p.rows(event)
		require.NoError(t, err)
		require.Equal(t, []Row{{
			VectorItem: schema.VectorItem{Kind: schema.ItemTaskTitle, ID: fmt.Sprint("t1/", seq), EmbeddingVersion: "v"},
			Project:    "red", Status: schema.OutboxPending, CreatedAt: start, UpdatedAt: start, Rank: uint64(seq),
		}}, rows)
	}
}
