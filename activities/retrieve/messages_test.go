package retrieve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// say ingests messages of a session, user and assistant in turn, and indexes them. It returns the id of the event.
func (b *bench) say(t testing.TB, key schema.SessionKey, texts ...string) string {
	t.Helper()
	p := schema.SessionIngestedPayload{SessionKey: key, Date: start}
	for i, text := range texts {
		p.Messages = append(p.Messages, schema.Message{
			Index: i, Role: []schema.Role{schema.RoleUser, schema.RoleAssistant}[i%2], Kind: schema.KindText, Text: text,
		})
	}
	b.ingest(t, p)
	return schema.EventID("ingested/" + key.Stream())
}

func (b *bench) ingest(t testing.TB, payloads ...schema.SessionIngestedPayload) {
	t.Helper()
	index := schema.MessageIndex(b.embedder.Version())
	outbox := vector.NewOutboxProjector(b.conn, index)
	writer, err := vector.NewWriter(b.conn, b.log, outbox, b.client, b.embedder,
		[]vector.Source{vector.NewMessageSource(b.conn, b.log)}, vector.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.client.DeleteCollection(t.Context(), writer.Collection()) })
	for _, p := range payloads {
		event, err := schema.NewEvent(p, schema.Event{
			TS: start, Actor: "test", SessionID: p.SessionID, Project: p.Project, Sensitivity: schema.SensitivityNormal,
			DedupeKey: "ingested/" + p.Stream(),
		})
		require.NoError(t, err)
		_, err = b.log.AppendAll(t.Context(), p.Stream(), []schema.Event{event})
		require.NoError(t, err)
	}
	b.project(t, outbox)
	for {
		result, err := writer.IndexPending(t.Context(), 1000)
		require.NoError(t, err)
		require.Zero(t, result.Failed)
		if !result.More {
			return
		}
	}
}

func sessionOf(project, user, agent, id string) schema.SessionKey {
	return schema.SessionKey{Scope: schema.Scope{Project: project, User: user, Agent: agent}, SessionID: id}
}

// Messages are found even if nothing was extracted from them, together with their neighbours.
func TestMessagesAreFound(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	key := sessionOf("red", "", "a", `s/"1"`)
	event := b.say(t, key, "Good morning.", "Hello.", "The invoices of Lisbon are paid in March.", "Noted: 결제는 삼월.", "Bye.")
	b.say(t, sessionOf("red", "ann", "a", "s2"), "The invoices of Porto are paid in April.")

	r := b.search(t, Query{Text: "when are invoices paid", Expand: 1})
	require.Len(t, r.Hits, 1)
	require.False(t, r.Hits[0].Weak)
	h := r.Hits[0]
	require.Equal(t, KindMessage, h.Kind)
	require.Equal(t, "The invoices of Lisbon are paid in March.", h.Content)
	require.Equal(t, key, h.Session())
	require.Equal(t, &MessageHit{Index: 2, Role: schema.RoleUser, EventID: event}, h.Message)
	require.Len(t, h.Around, 3)
	require.Equal(t, []bool{false, true, false}, []bool{h.Around[0].Hit, h.Around[1].Hit, h.Around[2].Hit})
	require.Equal(t, "Hello.", h.Around[0].Text)
	x := h.Explain
	require.InDelta(t, h.Score, x.Hybrid*x.StageWeight*x.StatusPenalty*x.Recency*x.Corroboration, 1e-12)

	require.Equal(t, "Noted: 결제는 삼월.", b.search(t, Query{Text: "결제"}).Hits[0].Content)
	for name, q := range map[string]Query{
		"kind": {Kinds: []Kind{KindEntry, KindTask}}, "type": {Types: []schema.EntryType{schema.EntryFact}}, "agent": {Agent: "b"},
		"user": {User: "bob"}, "session": {SessionID: "s2"}, "time": {From: start.AddDate(0, 0, 1)}, "as of": {AsOf: start.AddDate(0, 0, -1)},
	} {
		q.Text = "when are invoices of Lisbon paid"
		require.Empty(t, b.search(t, q).Hits, name)
	}

	found, index, err := FindMessage(t.Context(), b.conn, key.Scope, h.Message.Handle())
	require.NoError(t, err)
	require.Equal(t, key, found)
	require.Equal(t, 2, index)
	for _, wrong := range []string{"/2", event[:8] + "/9", event[:8] + "/x", "zzzzzzzz/2", event[:3] + "/2"} {
		_, _, err = FindMessage(t.Context(), b.conn, key.Scope, wrong)
		require.ErrorIs(t, err, ErrNoMessage, wrong)
	}
	_, _, err = FindMessage(t.Context(), b.conn, schema.Scope{Project: "red", User: "ann"}, h.Message.Handle())
	require.ErrorIs(t, err, ErrNoMessage, "it is another user's")
}

// The turns around a hit are found behind any number of tool results, and the age of a hit is that at the time asked
// about.
func TestMessagesAreExpandedBehindTools(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	p := schema.SessionIngestedPayload{SessionKey: sessionOf("red", "", "", "s1"), Date: start}
	say := func(kind schema.Kind, role schema.Role, text string) {
		p.Messages = append(p.Messages, schema.Message{Index: len(p.Messages), Role: role, Kind: kind, Text: text})
	}
	say(schema.KindText, schema.RoleUser, "Where are the invoices?")
	tools := func() {
		for i := range 200 {
			say(schema.KindToolResult, schema.RoleTool, fmt.Sprint("row ", i))
		}
	}
	tools()
	say(schema.KindText, schema.RoleAssistant, "Kept in Postgres.")
	tools()
	say(schema.KindText, schema.RoleUser, "Thanks.")
	b.ingest(t, p)
	hits := b.search(t, Query{Text: "Postgres", Expand: 1, AsOf: start.AddDate(0, 0, 1)}).Hits
	require.Len(t, hits, 1)
	var around []string
	for _, turn := range hits[0].Around {
		around = append(around, turn.Text)
	}
	require.Equal(t, []string{"Where are the invoices?", "Kept in Postgres.", "Thanks."}, around)
	const day = 24 * time.Hour
	require.InDelta(t, DefaultWeights().recency(day), hits[0].Explain.Recency, 1e-3)
	require.InDelta(t, DefaultWeights().recency(2*day), b.search(t, Query{Text: "Postgres", To: start.Add(2 * day)}).Hits[0].Explain.Recency, 1e-3)
}

// A message is not listed next to an entry that quotes most of it, but one that says more is. A repeated message is one
// hit.
func TestMessagesAreFolded(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	const stated = "We keep invoices in Postgres."
	more := stated + " " + strings.Repeat("And much else was said of invoices. ", 3)
	key := sessionOf("red", "", "", "s1")
	event := b.say(t, key, stated, more, "Where are the invoices kept, in Postgres?")
	b.say(t, sessionOf("red", "", "", "s2"), "Where are the invoices kept, in Postgres?")
	entries := b.add(t, schema.Entry{Title: stated}, schema.Entry{Title: stated + " Really."})
	for i, e := range entries {
		// Both quote the first sentence, of the first message and of the long one.
		quoted := e.Evidence[0]
		quoted.EventID, quoted.MessageIndex, quoted.Found = event, i, true
		quoted.Span = schema.Span{ByteEnd: len(stated), RuneEnd: len(stated)}
		b.setEvidence(t, e, quoted)
	}
	r := b.search(t, Query{Text: "invoices in Postgres"})
	var got []string
	for _, h := range r.Hits {
		got = append(got, fmt.Sprint(h.Kind, " ", h.Title, h.Content, " ", h.MoreSessions))
	}
	require.ElementsMatch(t, []string{
		"entry " + stated + " 0", "entry " + stated + " Really. 0", "message " + more + " 0",
		"message Where are the invoices kept, in Postgres? 1",
	}, got)
}

// An entry that quotes more messages than a page has leaves the next page its own.
func TestQuotedMessagesLeavePages(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	e := b.add(t, schema.Entry{Title: "Invoices are kept in Postgres."})[0]
	var said []string
	for i := range 12 {
		said = append(said, fmt.Sprintf("Invoices are kept in Postgres, part %d.", i))
	}
	event := b.say(t, sessionOf("red", "", "", "s1"), append(said, "In Postgres there is another table, of which nobody has asked for years.")...)
	var quoted []schema.Evidence
	for i, text := range said {
		quoted = append(quoted, schema.Evidence{EventID: event, MessageIndex: i, Quote: text, Found: true, Span: schema.Span{ByteEnd: len(text), RuneEnd: len(text)}})
	}
	b.setEvidence(t, e, quoted...)
	q, hits := Query{Text: "invoices kept in Postgres", Limit: 1}, []string(nil)
	for {
		r := b.search(t, q)
		for _, h := range r.Hits {
			hits = append(hits, string(h.Kind))
		}
		if q.Cursor = r.Next; q.Cursor == "" {
			break
		}
	}
	require.Equal(t, []string{"entry", "message"}, hits)
}

// setEvidence gives the entry other pieces of evidence.
func (b *bench) setEvidence(t testing.TB, e schema.Entry, evidence ...schema.Evidence) {
	t.Helper()
	event, err := schema.NewEvent(schema.EntryEvidenceSetPayload{
		EntryID: e.ID, ExtractedEventID: "x", EvidenceAligned: true, EvidenceProven: true, Rule: 1, Evidence: evidence,
	}, schema.Event{TS: start, Actor: "test", SessionID: e.SessionID, Project: e.Project, DedupeKey: "set/" + e.ID})
	require.NoError(t, err)
	b.appendTo(t, e.Session().Stream(), []schema.Event{event})
}

// Fused scores do not depend on the number of candidates, so that pages continue each other.
func TestFuseDoesNotMoveWithTheNumber(t *testing.T) {
	t.Parallel()
	all := []vector.Candidate{{ItemID: "a", Similarity: .9, BM25: 2}, {ItemID: "b", Similarity: .5}, {ItemID: "c", BM25: 4}, {ItemID: "d", Similarity: .1, BM25: 1}}
	few := append([]vector.Candidate{}, all[:3]...)
	r := &search{Searcher: &Searcher{embedder: llm.Hash{}}, expected: .3, mean: .2, deviation: .1, result: Result{Alpha: .5}}
	r.fuse(all[:1], all[1:])
	r.fuse(few)
	require.Equal(t, all[:3], few)
	require.InDelta(t, .5+.25, all[0].Score, 1e-9)
	require.InDelta(t, 6, all[0].Height, 1e-9)
	require.Zero(t, all[3].Height)
	require.InDelta(t, .5*.3/.7, all[1].Score, 1e-9)
	require.InDelta(t, .5, all[2].Score, 1e-9)
	require.InDelta(t, .125, all[3].Score, 1e-9, "below chance only words count")
	none := []vector.Candidate{{ItemID: "x"}}
	r.fuse(none)
	require.Zero(t, none[0].Score)
}

// A handle names a message of the user and project alone, even if it is also the beginning of the ids of others. Those
// are not revealed either.
func TestI10HandlesOfMessages(t *testing.T) {
	t.Parallel()
	handlesOfMessages(t, 6)
}

// handlesOfMessages looks for messages of projects, users and agents with n of the names that are easily taken for the first one.
func handlesOfMessages(t *testing.T, n int) {
	t.Helper()
	b := newHashBench(t)
	names, random := stacktest.Names(t)
	names = stacktest.Some(names, random, n)
	at := map[schema.Scope]string{}
	all := stacktest.Owners(names)
	for _, o := range all {
		p := schema.SessionIngestedPayload{SessionKey: schema.SessionKey{Scope: o, SessionID: "s"}, Date: start}
		p.Messages = []schema.Message{{Role: schema.RoleUser, Kind: schema.KindText, Text: "Where are the invoices?"}}
		event, err := schema.NewEvent(p, schema.Event{TS: start, Actor: "test", Project: o.Project, DedupeKey: "ingested/" + p.Stream()})
		require.NoError(t, err)
		stored, err := b.log.AppendAll(t.Context(), p.Stream(), []schema.Event{event})
		require.NoError(t, err)
		at[o] = stored.Events[0].ID
	}
	first := all[0]
	for _, o := range all {
		key, _, err := FindMessage(t.Context(), b.conn, o, at[o]+"/0")
		require.NoError(t, err)
		require.Equal(t, o, key.Scope)
		_, _, err = FindMessage(t.Context(), b.conn, schema.Scope{User: o.User}, at[o]+"/0")
		require.ErrorIs(t, err, clickhouse.ErrNoScope)
		if o.Project == first.Project && o.User == first.User {
			continue // Without an agent, the first one asks for a message of any agent.
		}
		for _, foreign := range [][2]schema.Scope{{o, first}, {first, o}} {
			_, _, err = FindMessage(t.Context(), b.conn, foreign[0], at[foreign[1]]+"/0")
			require.ErrorIs(t, err, ErrNoMessage, "%q in %q", foreign[1], foreign[0])
		}
	}
}
