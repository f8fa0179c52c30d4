package vector

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/mocks"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// The writer is woken for facts that a person entered, and not for those that a session states: they add no rows.
func TestEnqueueWakesForRows(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	log, temporal, woken := projection.New(conn, eventlog.Options{}), &mocks.Client{}, 0
	temporal.On("SignalWithStartWorkflow", mock.Anything, mock.Anything, schema.SignalWake, mock.Anything, mock.Anything, mock.Anything, mock.Anything).
		Run(func(mock.Arguments) { woken++ }).Return(nil, nil)
	enqueuer := NewEnqueuer(log, NewOutboxProjector(conn, version(t)), temporal)
	stream := schema.MemoryStream("ann", "")
	for i, act := range []schema.Act{{EntryID: "entry"}, {RequestID: "1"}} {
		event, err := schema.NewEvent(schema.FactCreatedPayload{Act: act, FactID: fmt.Sprint("fact_", i), Content: "I like tea.", Category: "preference"},
			schema.Event{TS: start, Actor: "test", DedupeKey: fmt.Sprint("fact ", i)})
		require.NoError(t, err)
		_, err = log.Append(t.Context(), stream, []schema.Event{event})
		require.NoError(t, err)
		require.NoError(t, enqueuer.Enqueue(t.Context(), stream))
		require.Equal(t, i, woken)
	}
}

// Facts that a person entered or reworded are indexed under no project. Facts that a session states are not indexed
// again. Reconcile and rebuild cover facts, too.
func TestFactsAreIndexed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	source := NewFactSource(b.conn, b.log)
	writer, err := NewWriter(b.conn, b.log, b.projector, b.client, b.embedder, []Source{NewEntrySource(b.conn, b.log), source}, Options{BatchSize: 2})
	require.NoError(t, err)
	b.writer = writer
	stream := schema.MemoryStream("안/'나'", "")
	words := "I live in Porto, by the sea."
	var events []schema.Event
	for i, payload := range []any{
		schema.FactCreatedPayload{Act: schema.Act{RequestID: "1"}, FactID: "fact_1", Content: "I live in Lisbon.", Category: "context"},
		schema.FactCreatedPayload{Act: schema.Act{EntryID: "entry"}, FactID: "fact_2", Content: "I like tea.", Category: "preference"},
		schema.FactUpdatedPayload{Act: schema.Act{RequestID: "2"}, FactID: "fact_1", Content: &words},
		schema.FactUpdatedPayload{Act: schema.Act{RequestID: "3"}, FactID: "fact_1"},
	} {
		event, err := schema.NewEvent(payload, schema.Event{TS: b.now, Actor: "test", DedupeKey: schema.FactOfCommandKey("안/'나'", "", string(rune('a'+i)))})
		require.NoError(t, err)
		events = append(events, event)
	}
	_, err = b.log.AppendAll(t.Context(), stream, events)
	require.NoError(t, err)
	b.add(t, "red", "an entry")
	_, err = b.log.Project(t.Context(), b.projector, stream)
	require.NoError(t, err)
	require.Equal(t, 3, b.index(t, 100).Indexed)
	require.Equal(t, 2, b.count(t, FactsProject))

	found, err := b.client.Hybrid(t.Context(), HybridQuery{
		Collection: b.writer.Collection(), Project: FactsProject, Text: "Porto", Vector: make([]float32, 64), Limit: 10,
		Filter: Filter{Kinds: []string{schema.ItemFact}, User: "안/'나'"},
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	got, err := b.log.GetMany(t.Context(), []string{found[0].ItemID})
	require.NoError(t, err)
	user, agent, id, content, err := FactWording(got[found[0].ItemID])
	require.NoError(t, err)
	require.Equal(t, []string{"안/'나'", "", "fact_1", words}, []string{user, agent, id, content})

	all, err := source.After(t.Context(), "", "", 1)
	require.NoError(t, err)
	require.Len(t, all, 1)
	rest, err := source.After(t.Context(), "", all[0].ID, 10)
	require.NoError(t, err)
	require.Len(t, rest, 1)
	none, err := source.After(t.Context(), "a", "", 10)
	require.NoError(t, err)
	require.Empty(t, none)

	require.Zero(t, b.reconcile(t).Repaired())
	require.NoError(t, b.client.DeleteCollection(t.Context(), b.writer.Collection()))
	require.Equal(t, 3, b.reconcile(t).Missing)
	b.index(t, 100)
	b.requireWhole(t)
	for _, p := range []projection.Projector{b.projector} {
		standing, err := b.log.ProjectionStatuses(t.Context(), p)
		require.NoError(t, err)
		require.Zero(t, standing[0].Behind)
	}
}
