package fact_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/schema"
)

// materialize stores the entries of the batch as their session does.
func (b *bench) materialize(t *testing.T, batch fact.Batch) {
	t.Helper()
	var events []schema.Event
	session := schema.SessionKey{Scope: schema.Scope{Project: batch.Project, User: batch.User, Agent: batch.Agent}, SessionID: batch.SessionID}
	for _, e := range batch.Entries {
		e.Stage, e.Status, e.CanonicalKey = schema.StageWorking, schema.StatusActive, "fact:"+e.Title
		event, err := schema.NewEvent(schema.EntryMaterializedPayload{Entry: e}, schema.Event{
			TS: noon, Actor: "test", Project: batch.Project, SessionID: batch.SessionID, DedupeKey: schema.EntryMaterializedKey(e.ID),
		})
		require.NoError(t, err)
		events = append(events, event)
	}
	b.project(t, session.Stream(), events)
}

func (b *bench) project(t *testing.T, stream string, events []schema.Event) {
	t.Helper()
	_, err := b.log.AppendAll(t.Context(), stream, events)
	require.NoError(t, err)
	_, err = b.log.Project(t.Context(), entry.NewProjector(b.conn), stream)
	require.NoError(t, err)
}

// graduate stores the payloads of graduation about entries.
func (b *bench) graduate(t *testing.T, at time.Time, payloads ...any) {
	t.Helper()
	var events []schema.Event
	for _, p := range payloads {
		data, err := json.Marshal(p)
		require.NoError(t, err)
		event, err := schema.NewEvent(p, schema.Event{TS: at, Actor: "test", Project: "red", DedupeKey: schema.GraduateOfCommandKey("red", schema.HashText(string(data)), 0)})
		require.NoError(t, err)
		events = append(events, event)
	}
	b.project(t, schema.GraduateStream("red"), events)
}

// A fact whose entry is retired or superseded by graduation is not shown to an agent. A contested one comes last, marked
// as contested. A fact is believed as long as one entry that states it is.
func TestFactsStandAsTheirEntries(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	first := batchOf("ann", "coder", "s1", "Likes Go", "Owns a cat", "Lives in Bonn", "Works at night", "Drinks tea", "Owns a \"boat\" / ボート")
	again := batchOf("ann", "coder", "s2", "likes GO", "owns a cat", "lives in bonn")
	for _, batch := range []fact.Batch{first, again} {
		b.materialize(t, batch)
		_, err := b.writer.ApplyOne(t.Context(), batch)
		require.NoError(t, err)
	}
	manual := fact.Command{User: "ann", Agent: "coder", RequestID: "r1", Actor: "ann", At: noon, Op: fact.OpCreate, Content: p("Speaks French"), Confidence: p(0.1)}
	_, err := b.writer.Do(t.Context(), manual)
	require.NoError(t, err)

	id, scope := func(batch fact.Batch, n int) string { return batch.Entries[n].ID }, first.Entries[0].Scope
	retire := func(entryID string, status schema.Status, by string) schema.EntryRetiredPayload {
		return schema.EntryRetiredPayload{Scope: scope, EntryID: entryID, Status: status, SupersededBy: by, Because: "so", By: "ann"}
	}
	contest := func(a, b string) schema.ConflictDetectedPayload {
		return schema.ConflictDetectedPayload{Scope: scope, ConflictID: schema.ConflictID("red", a, b), OlderID: a, NewerID: b}
	}
	b.graduate(t, noon.Add(time.Hour),
		retire(id(first, 0), schema.StatusDeprecated, ""), retire(id(again, 0), schema.StatusDeprecated, ""), // Go: both are gone
		retire(id(first, 1), schema.StatusDeprecated, ""),              // the cat: said again
		retire(id(first, 2), schema.StatusSuperseded, id(first, 5)),    // Bonn: said again, but contested
		contest(id(again, 2), id(first, 3)),                            // and the night with it
		retire(id(first, 5), schema.StatusSuperseded, "another entry"), // the boat
	)
	// A statement that a newer extractor lacks is no reason to forget.
	session := schema.SessionKey{Scope: scope, SessionID: "s1"}
	event, err := schema.NewEvent(schema.EntryStatusSetPayload{EntryID: id(first, 4), Number: 1, Status: schema.StatusSuperseded},
		schema.Event{TS: noon, Actor: "test", Project: "red", SessionID: "s1", DedupeKey: schema.EntryStatusSetKey(id(first, 4), 1)})
	require.NoError(t, err)
	b.project(t, session.Stream(), []schema.Event{event})

	facts, err := b.tables.List(t.Context(), "ann", "coder")
	require.NoError(t, err)
	require.NoError(t, b.tables.Judge(t.Context(), "ann", "coder", facts))
	var got []string
	for _, f := range facts {
		standing := "by a person"
		if f.Entry != nil {
			standing = fmt.Sprint(f.Entry.Status, " ", f.Entry.Ended(), " ", f.Entry.Contested())
		}
		got = append(got, f.Content+": "+standing)
	}
	require.Equal(t, []string{
		"Likes Go: deprecated true false", "Owns a cat: active false false", "Lives in Bonn: contested false true",
		"Works at night: contested false true", "Drinks tea: superseded false false",
		"Owns a \"boat\" / ボート: superseded true false", "Speaks French: by a person",
	}, got)
	require.Equal(t, fact.EntryStatus{
		Stage: schema.StageWorking, Status: schema.StatusDeprecated, EndedAt: noon.Add(time.Hour), EndedBecause: "so", EndedBy: "ann",
	}, *facts[0].Entry)
	require.Equal(t, "another entry", facts[5].Entry.SupersededBy)
	require.Equal(t, `Facts:
- [goal | 0.70] Owns a cat
- [goal | 0.60] Drinks tea
- [context | 0.10] Speaks French
- [goal | 0.90] Works at night (contested)
- [goal | 0.80] Lives in Bonn (contested)`, fact.FormatContext(fact.Context{Facts: fact.Statements(facts)}, 1000, fact.CJK2))
	require.NoError(t, b.tables.Judge(t.Context(), "ann", "coder", nil))
}

// A fact that a project has retired is not believed there, even if another project states it, too.
func TestRetiredInOneProject(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	red, blue := batchOf("ann", "coder", "s1", "Likes Go"), batchOf("ann", "coder", "s2", "Likes Go")
	blue.Project, blue.Entries[0].Project = "b'lue", "b'lue"
	for _, batch := range []fact.Batch{red, blue} {
		b.materialize(t, batch)
		_, err := b.writer.ApplyOne(t.Context(), batch)
		require.NoError(t, err)
	}
	b.graduate(t, noon, schema.EntryRetiredPayload{
		Scope: red.Entries[0].Scope, EntryID: red.Entries[0].ID, Status: schema.StatusDeprecated, Because: "so", By: "ann",
	})
	for project, ended := range map[string]bool{"red": true, "b'lue": false} {
		facts, err := b.tables.ListIn(t.Context(), "ann", "coder", project)
		require.NoError(t, err)
		require.Len(t, facts, 1)
		require.NoError(t, b.tables.JudgeIn(t.Context(), "ann", "coder", project, facts))
		require.Equal(t, ended, facts[0].Entry.Ended(), project)
	}
	facts, err := b.tables.List(t.Context(), "ann", "coder")
	require.NoError(t, err)
	require.NoError(t, b.tables.Judge(t.Context(), "ann", "coder", facts))
	require.False(t, facts[0].Entry.Ended())
}
