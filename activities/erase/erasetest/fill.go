// Package erasetest fills logs to erase from.
package erasetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Fill stores sessions of the user "u" in the project "p", session-0 and so on, with their tasks, facts, records,
// promotions and enqueued contexts. It returns the number of events: 244 for each session.
func Fill(t testing.TB, log *eventlog.Store, sessions int) (total int) {
	t.Helper()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	streams := map[string][]schema.Event{}
	var order []string
	add := func(stream string, payload any, e schema.Event) string {
		e.TS, e.Actor = at, "bench"
		event, err := schema.NewEvent(payload, e)
		require.NoError(t, err)
		if streams[stream] == nil {
			order = append(order, stream)
		}
		streams[stream] = append(streams[stream], event)
		total++
		return schema.EventID(e.DedupeKey)
	}
	for n := range sessions {
		key := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: fmt.Sprintf("session-%d", n)}
		act := func(kind string, i int) schema.Event {
			return schema.Event{Project: "p", SessionID: key.SessionID, DedupeKey: fmt.Sprintf("%s/%d/%d", kind, n, i)}
		}
		ingested := schema.SessionIngestedPayload{SessionKey: key}
		for i := range 100 {
			ingested.Messages = append(ingested.Messages, schema.Message{
				Index: i, Role: schema.RoleUser, Kind: schema.KindText, Key: fmt.Sprintf("%032x-0", n*100+i),
				Text: fmt.Sprintf("Message %d about topic %d of the plan: %s", i, n, strings.Repeat("some more words of it ", 8)),
			})
		}
		source := add(key.Stream(), ingested, act("session_ingested", 0))
		add(schema.QueueStream("u", ""), schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{
			ID: fmt.Sprint(n), Scope: key.Scope, Thread: key.SessionID, At: at, URI: "file:///transcripts/" + key.SessionID,
		}}, act("context_enqueued", 0))
		for i := range 80 {
			id := schema.DerivedID("entry", key.SessionID, fmt.Sprint(i))
			title := fmt.Sprintf("Entry %d about topic %d of the plan", i, n)
			p := schema.EntryMaterializedPayload{Index: i}
			p.ID, p.SessionID, p.Scope, p.Title, p.Type = id, key.SessionID, key.Scope, title, schema.EntryDecision
			p.Evidence = []schema.Evidence{{EventID: source, MessageIndex: i, Quote: title}}
			add(key.Stream(), p, act("entry_materialized", i))
			cause := schema.Act{EntryID: id}
			if i%2 == 0 {
				task := schema.DerivedID("task", id)
				add(schema.ProjectStream("p"), schema.TaskCreatedPayload{Act: cause, TaskID: task, Title: title}, act("task_created", i))
				add(schema.ProjectStream("p"), schema.TaskObservedPayload{Act: cause, TaskID: task, Title: title}, act("task_observed", i))
				add(schema.GraduateStream("p"), schema.EntryGraduatedPayload{Scope: key.Scope, EntryID: id, Reasons: []string{"corroborated"}}, act("entry_graduated", i))
			} else {
				add(schema.MemoryStream("u", ""), schema.FactCreatedPayload{Act: cause, FactID: "fact_" + id[:8], Content: title}, act("fact_created", i))
			}
		}
		add(schema.MemoryStream("u", ""), schema.ContextFlushedPayload{SessionKey: key, Date: "2026-03-01", Clock: "09:00", Last: 99, Text: ingested.Messages[0].Text}, act("context_flushed", 0))
		add(schema.GraduateStream("p"), schema.SessionGraduatedPayload{SessionKey: key}, act("session_graduated", 0))
	}
	for _, stream := range order {
		_, err := log.AppendAll(t.Context(), stream, streams[stream])
		require.NoError(t, err)
	}
	return total
}
