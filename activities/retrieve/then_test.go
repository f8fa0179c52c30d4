package retrieve

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/schema"
)

// happen appends the payloads to the stream, the n-th at the n-th day, and indexes the results.
func (b *bench) happen(t *testing.T, stream, project string, payloads ...any) {
	t.Helper()
	var events []schema.Event
	for i, p := range payloads {
		event, err := schema.NewEvent(p, schema.Event{
			TS: start.AddDate(0, 0, i), Actor: "test", Project: project, DedupeKey: fmt.Sprintf("%s/then/%d", stream, i),
		})
		require.NoError(t, err)
		events = append(events, event)
	}
	_, err := b.log.AppendAll(t.Context(), stream, events)
	require.NoError(t, err)
	for _, p := range []projection.Projector{task.NewProjector(b.conn), fact.NewProjector(b.conn), b.outbox} {
		_, err = b.log.Project(t.Context(), p, stream)
		require.NoError(t, err)
	}
	result, err := b.writer.IndexPending(t.Context(), 1000)
	require.NoError(t, err)
	require.Zero(t, result.Failed)
}

// Tasks and facts are shown as they were, and a task has the agents, sessions and times of its entries.
func TestTasksAndFactsAsOf(t *testing.T) {
	t.Parallel()
	b := newWholeBench(t)
	scope := schema.Scope{Project: "red", User: "안/'나'", Agent: "a"}
	note := b.add(t, schema.Entry{Scope: scope, SessionID: "s", Type: schema.EntryTaskNote, Title: "TODO: move the invoices", OccurredAt: start})[0]
	id := schema.DerivedID("task", "red", "invoices")
	b.happen(t, schema.ProjectStream("red"), "red",
		schema.TaskCreatedPayload{Act: schema.Act{EntryID: note.ID}, TaskID: id, Title: "Move the invoices", CanonicalKey: "move the invoices"},
		schema.TaskObservedPayload{Act: schema.Act{EntryID: note.ID}, TaskID: id},
		schema.TaskStatusChangedPayload{Act: schema.Act{RequestID: "r"}, TaskID: id, From: schema.TaskPending, To: schema.TaskCancelled})
	tea := "Drinks tea in Porto"
	b.happen(t, schema.MemoryStream(scope.User, "a"), "",
		schema.FactCreatedPayload{Act: schema.Act{RequestID: "1"}, FactID: "fact_1", Content: "Drinks coffee in Porto", Category: "preference", Confidence: 1},
		schema.FactUpdatedPayload{Act: schema.Act{RequestID: "2"}, FactID: "fact_1", Content: &tea},
		schema.FactDeletedPayload{Act: schema.Act{RequestID: "3"}, FactID: "fact_1"})

	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	tasks := func(q Query) []schema.TaskStatus {
		q.Text, q.User, q.Kinds = "move the invoices", scope.User, []Kind{KindTask}
		var out []schema.TaskStatus
		for _, h := range b.search(t, q).Hits {
			out = append(out, h.Tracked.Status)
		}
		return out
	}
	facts := func(q Query) []string {
		q.Text, q.User, q.Kinds = "what is drunk in Porto", scope.User, []Kind{KindFact}
		return titles(b.search(t, q).Hits)
	}
	require.Empty(t, tasks(Query{AsOf: day(0)}), "nobody had spoken of it to this user")
	require.Equal(t, []schema.TaskStatus{schema.TaskPending}, tasks(Query{AsOf: day(1)}))
	require.Equal(t, []schema.TaskStatus{schema.TaskCancelled}, tasks(Query{AsOf: day(2)}))
	require.Equal(t, []schema.TaskStatus{schema.TaskCancelled}, tasks(Query{Agent: "a", SessionID: "s", From: day(-1), To: day(1)}))
	for name, q := range map[string]Query{"agent": {Agent: "b"}, "session": {SessionID: "s2"}, "from": {From: day(1)}, "to": {To: day(-1)}} {
		require.Empty(t, tasks(q), name)
	}
	require.Empty(t, facts(Query{AsOf: day(-1)}))
	require.Equal(t, []string{"Drinks coffee in Porto"}, facts(Query{AsOf: day(0)}))
	require.Equal(t, []string{tea}, facts(Query{AsOf: day(1)}))
	require.Empty(t, facts(Query{AsOf: day(2)}), "it was deleted")
	require.Empty(t, facts(Query{}))
}
