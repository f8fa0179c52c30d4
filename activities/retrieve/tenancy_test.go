package retrieve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/fact"
	"axiommind/activities/task"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// owner is a user of a project. The mark is in everything that is the owner's, and in nothing else; the user's is in the facts of
// the user, which are known in all projects.
type owner struct{ project, user, mark, userMark string }

// strangers are owners whose names are easily confused: by case, by spaces, by characters that separate and quote
// names. Half of them are random. There are the first project and user, and n others of each.
func strangers(t *testing.T, n int) []owner {
	t.Helper()
	projects := []string{"red", "Red", "red ", `red" , user: "ann/한`, strings.Repeat("red", 30), strings.Repeat("red", 30) + "x"}
	users := []string{"", "ann", "Ann", "ann ", `ann" OR "1"="1/한`, "ann*"}
	random := stacktest.Random(t)
	for range 6 {
		projects, users = append(projects, stacktest.Alike(random, projects)), append(users, stacktest.Alike(random, users))
	}
	projects, users = stacktest.Some(projects, random, n), stacktest.Some(users, random, n)
	var out []owner
	for i, p := range projects {
		for j := range 2 { // Each user is in several projects.
			user := (i + j) % len(users)
			out = append(out, owner{p, users[user], fmt.Sprintf("mark%dx%dend", i, j), fmt.Sprintf("user%dend", user)})
		}
	}
	return out
}

// settle has each owner say, state, contradict and plan the same as all others.
func settle(t *testing.T, b *bench, owners []owner) {
	t.Helper()
	var entries []schema.Entry
	var said []schema.SessionIngestedPayload
	for _, o := range owners {
		scope := schema.Scope{Project: o.project, User: o.user, Agent: "agent"}
		for n, stage := range []schema.Stage{schema.StageRaw, schema.StageCandidate} {
			entries = append(entries, complete(schema.Entry{
				Scope: scope, SessionID: "s", Stage: stage, Title: fmt.Sprintf("The invoices are kept in Postgres %d, says %s", n, o.mark),
			}))
		}
		note := complete(schema.Entry{Scope: scope, SessionID: "s", Type: schema.EntryTaskNote, Title: "TODO: move the invoices, says " + o.mark})
		entries = append(entries, note)
		p := schema.SessionIngestedPayload{SessionKey: schema.SessionKey{Scope: scope, SessionID: "s"}, Date: start}
		for i, text := range []string{"Where are the invoices?", "In Postgres."} {
			p.Messages = append(p.Messages, schema.Message{Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: text + " " + o.mark})
		}
		said = append(said, p)
		b.plan(t, note)
	}
	b.project(t, task.NewProjector(b.conn))
	b.add(t, entries...)
	b.ingest(t, said...)
	b.enter(t, owners)
	for _, o := range owners { // The memories of one project contradict each other, whoever's they are.
		var ids []string
		for _, e := range entries {
			if e.Project == o.project && e.Type == schema.EntryFact {
				ids = append(ids, e.ID)
			}
		}
		if o.mark[len(o.mark)-4] != '0' {
			continue
		}
		b.graduate(t, start, o.project, schema.ConflictDetectedPayload{
			Scope: schema.Scope{Project: o.project, User: o.user}, ConflictID: schema.DerivedID("conflict", o.project), OlderID: ids[0], NewerID: ids[2],
		})
	}
}

// enter has each user enter a fact.
func (b *bench) enter(t *testing.T, owners []owner) {
	t.Helper()
	entered := map[string]bool{}
	for _, o := range owners {
		if entered[o.user] || o.user == "" {
			continue
		}
		entered[o.user] = true
		event, err := schema.NewEvent(schema.FactCreatedPayload{
			Act: schema.Act{RequestID: o.userMark}, FactID: "fact_" + o.userMark, Category: "context", Confidence: 1,
			Content: "Keeps the invoices in Postgres, says " + o.userMark,
		}, schema.Event{TS: start, Actor: "test", DedupeKey: schema.FactOfCommandKey(o.user, "agent", o.userMark)})
		require.NoError(t, err)
		stream := schema.MemoryStream(o.user, "agent")
		_, err = b.log.AppendAll(t.Context(), stream, []schema.Event{event})
		require.NoError(t, err)
	}
	b.project(t, fact.NewProjector(b.conn), b.outbox)
	for more := true; more; {
		result, err := b.writer.IndexPending(t.Context(), 1000)
		require.NoError(t, err)
		require.Zero(t, result.Failed)
		more = result.More
	}
}

// plan logs a task made of the note.
func (b *bench) plan(t *testing.T, note schema.Entry) {
	t.Helper()
	stream := schema.ProjectStream(note.Project)
	id := schema.DerivedID("task", note.Project, note.ID)
	var events []schema.Event
	for i, p := range []any{
		schema.TaskCreatedPayload{Act: schema.Act{EntryID: note.ID}, TaskID: id, Title: note.Title, CanonicalKey: note.Title},
		schema.TaskObservedPayload{Act: schema.Act{EntryID: note.ID}, TaskID: id},
	} {
		event, err := schema.NewEvent(p, schema.Event{
			TS: start, Actor: "test", Project: note.Project, DedupeKey: schema.TaskOfCommandKey(note.Project, note.ID, i),
		})
		require.NoError(t, err)
		events = append(events, event)
	}
	_, err := b.log.AppendAll(t.Context(), stream, events)
	require.NoError(t, err)
}

// No hit ever crosses a project or user, in any of its fields, whatever their names and the filters. Each owner finds
// all of their own hits.
func TestTenancyProperty(t *testing.T) {
	t.Parallel()
	tenancy(t, 4, 8)
}

// tenancy searches as the owners with n other names each, in random ways and then for all of their own hits.
func tenancy(t *testing.T, n, most int) {
	t.Helper()
	b := newWholeBench(t)
	owners := strangers(t, n)
	settle(t, b, owners)
	some := func(t *rapid.T, name string) bool { return rapid.Bool().Draw(t, name) }
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; checks > most {
			return
		}
		o := rapid.SampledFrom(owners).Draw(rt, "owner")
		q := Query{
			Project: o.project, User: o.user, Limit: rapid.SampledFrom([]int{1, 5, 200}).Draw(rt, "limit"),
			Text:       rapid.SampledFrom([]string{"invoices in Postgres", "Where are the invoices?", "move the invoices", o.mark, rapid.SampledFrom(owners).Draw(rt, "other").mark}).Draw(rt, "text"),
			Superseded: some(rt, "superseded"), Expand: rapid.IntRange(0, 2).Draw(rt, "expand"),
		}
		if some(rt, "kind") {
			q.Kinds = []Kind{rapid.SampledFrom(Kinds()).Draw(rt, "which")}
		}
		if some(rt, "stage") {
			q.Stages = []schema.Stage{schema.StageCandidate}
		}
		if some(rt, "agent") {
			q.Agent = "agent"
		}
		if some(rt, "session") {
			q.SessionID = "s"
		}
		if some(rt, "as of") {
			q.AsOf = start.AddDate(0, 0, 1)
		}
		if some(rt, "status") {
			q.Statuses = []schema.Status{rapid.SampledFrom(schema.Statuses()).Draw(rt, "one")}
		}
		if some(rt, "from") {
			q.From = start.AddDate(0, 0, -1)
		}
		if some(rt, "to") {
			q.To = start.AddDate(0, 0, 1)
		}
		if some(rt, "alpha") {
			q.Alpha = new(rapid.Float64Range(0, 1).Draw(rt, "weight"))
		}
		for range 4 { // pages
			r, err := b.searcher.Search(t.Context(), q)
			require.NoError(rt, err)
			for _, h := range r.Hits {
				o.requireOwn(rt, h, owners)
			}
			if q.Cursor = r.Next; q.Cursor == "" {
				break
			}
		}
	})
	for _, o := range owners {
		found := map[Kind]int{}
		for _, h := range b.search(t, Query{Project: o.project, User: o.user, Text: "invoices Postgres " + o.mark, Limit: 50}).Hits {
			found[h.Kind]++
			if h.Tracked != nil && h.Kind == KindEntry {
				found[KindTask]++
			}
		}
		want := map[Kind]int{KindEntry: 3, KindMessage: 2, KindTask: 1}
		if o.user != "" {
			want[KindFact] = 1
		}
		require.Equal(t, want, found, "of user %q of project %q", o.user, o.project)
	}
	require.Empty(t, b.search(t, Query{Project: "red", User: "nobody", Text: "invoices"}).Hits)
}

// requireOwn fails if the hit, or anything that it carries, is another owner's.
func (o owner) requireOwn(t require.TestingT, h Hit, owners []owner) {
	carried, err := json.Marshal(h)
	require.NoError(t, err)
	require.Equal(t, o.user, h.User)
	if h.Kind == KindFact {
		require.Empty(t, h.Project)
		require.Contains(t, string(carried), o.userMark)
	} else {
		require.Equal(t, o.project, h.Project)
		require.Contains(t, string(carried), o.mark)
	}
	for _, other := range owners {
		if other != o {
			require.NotContains(t, string(carried), other.mark, "it is of user %q of project %q", other.user, other.project)
		}
		if other.user != o.user {
			require.NotContains(t, string(carried), other.userMark, "it is of user %q", other.user)
		}
	}
}
