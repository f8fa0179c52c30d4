package entry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// hostile are names that a query must neither mend nor be broken by.
var hostile = []string{"plain", "p' OR '1'='1", `p\`, `p"%_/`, "프로젝트 🚀", "p\x01\n\t\u200b", "?", "{id:String}", "@p1"}

// A selection reads only its own project, whatever the names, the narrowing and the detail.
func TestI10SelectionsStayInTheirProject(t *testing.T) {
	t.Parallel()
	selectionsStay(t, stacktest.Some(hostile, stacktest.Random(t), 3))
}

func selectionsStay(t *testing.T, hostile []string) {
	t.Helper()
	b := newBench(t)
	sessions := map[string]schema.SessionKey{}
	for i, name := range hostile {
		s := sessionKey(name, name, name, name)
		sessions[name] = s
		b.build(s, "build "+name, decided("Use Kafka", []string{"found", "proven"}[i%2]), note("Ship", schema.TaskDone, 3, "aligned"))
		b.build(sessionKey(name, "another", name, name), "b", decided("Use Kafka", "found"))
	}
	r := NewReader(b.conn)
	read := func(s Selection, d Detail) []Row {
		rows, err := r.Read(t.Context(), s, d)
		require.NoError(t, err)
		return rows
	}
	for i, name := range hostile {
		s := sessions[name]
		own := read(OfSession(s), Whole)
		require.Len(t, own, 2, "%q", name)
		all := read(InProject(name), Lifecycle)
		require.Len(t, all, 3, "%q", name)
		for _, row := range all {
			require.Equal(t, name, row.Project)
		}
		require.Equal(t, own, read(OfUser(name, name), Whole))
		require.Equal(t, own, read(OfAgent(s.Scope), Whole))
		require.Equal(t, own, read(OfMemory(name, name), Whole))
		require.Equal(t, own, read(InProject(name).Build("build "+name), Whole))
		require.Len(t, read(InProject(name).Type(schema.EntryTaskNote), Statement), 1)
		require.Len(t, read(InProject(name).Titles([]string{"use KAFKA!"}), Statement), 2)
		require.Len(t, read(OfUser(name, name).NotOfSession(s), Statement), 0)
		require.Equal(t, own[:1], read(InProject(name).Prefix(own[0].ID[:8]), Whole))
		require.Equal(t, own[1:], read(OfSession(s).After(name, own[0].ID), Whole))
		require.Equal(t, own[:1], read(OfSession(s).Limit(1), Whole))
		for order, sorted := range map[string]func(Selection) Selection{"newest": Selection.NewestFirst, "oldest": Selection.OldestFirst} {
			// The view is asked for the agent's entries, which are those of the session.
			require.Equal(t, read(sorted(OfAgent(s.Scope)), Whole), read(sorted(OfSession(s)), Whole), order)
			require.Equal(t, read(sorted(OfAgent(s.Scope)).Limit(1), Whole), read(sorted(OfSession(s)).Limit(1), Whole), order)
			require.Equal(t, read(sorted(OfAgent(s.Scope)), Lifecycle), read(sorted(InProject(name).IDs([]string{own[0].ID, own[1].ID})), Lifecycle), order)
		}
		known, err := r.Any(t.Context(), name)
		require.NoError(t, err)
		require.True(t, known)
		known, err = r.Any(t.Context(), name+" ")
		require.NoError(t, err)
		require.False(t, known)

		other := hostile[(i+1)%len(hostile)]
		ids := []string{own[0].ID, own[1].ID}
		require.Empty(t, read(InProject(other).IDs(ids), Whole), "of %q in %q", name, other)
		require.Empty(t, read(InProject(other).AnyOf(ids, nil, nil), Whole))
		require.Empty(t, read(OfMemory(other, name).IDs(ids), Whole))
		require.Empty(t, read(InProject(other).Prefix(ids[0]), Whole))
		_, err = r.Get(t.Context(), other, ids[0])
		require.ErrorIs(t, err, ErrNotFound)
		got, err := r.Get(t.Context(), name, ids[0][:12])
		require.NoError(t, err)
		require.Equal(t, own[0], got)
	}
	require.Len(t, read(InAllProjects(), Lifecycle), 3*len(hostile))
}

// The detail changes neither the selected entries nor the other fields.
func TestDetailsAgree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := sessionKey("p", "u", "a", "s")
	b.build(s, "b1", decided("Use Kafka", "found"), decided("Keep it small", "aligned"))
	b.build(sessionKey("p", "u", "a", "later"), "b2", decided("use kafka", "proven"))
	r := NewReader(b.conn)
	for name, selection := range map[string]Selection{
		"session": OfSession(s),
		"project": InProject("p"),
		"titles":  OfUser("p", "u").AnyOf(nil, []string{"USE KAFKA."}, nil),
		"newest":  InProject("p").NewestFirst(),
		"oldest":  InProject("p").OldestFirst().Limit(2),
		"all":     InAllProjects().After("p", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := r.Read(t.Context(), selection, Whole)
			require.NoError(t, err)
			require.NotEmpty(t, whole)
			judged, err := r.Read(t.Context(), selection, Lifecycle)
			require.NoError(t, err)
			stated, err := r.Read(t.Context(), selection, Statement)
			require.NoError(t, err)
			ids, err := r.IDs(t.Context(), selection)
			require.NoError(t, err)
			byID, err := r.ByID(t.Context(), selection, Whole)
			require.NoError(t, err)
			require.Len(t, byID, len(whole))
			for i, row := range whole {
				require.Equal(t, row, byID[row.ID])
				require.Equal(t, row.ID, ids[i])
				require.NotEmpty(t, row.Evidence)
				said := Row{Entry: schema.Entry{
					ID: row.ID, Type: row.Type, SessionID: row.SessionID, Scope: row.Scope, Title: row.Title, OccurredAt: row.OccurredAt,
				}}
				require.Equal(t, said, stated[i])
				said.Stage, said.Status, said.EvidenceAligned, said.EvidenceProven = row.Stage, row.Status, row.EvidenceAligned, row.EvidenceProven
				require.Equal(t, said, judged[i])
			}
		})
	}
}

// A selection without a project is an error, and one narrowed to nothing is empty: neither ever selects everything.
func TestEmptySelectionsAreNotAll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.build(sessionKey("p", "", "", "s"), "b", decided("Use Kafka", "proven"))
	r := NewReader(b.conn)
	for name, s := range map[string]Selection{
		"zero": {}, "project": InProject(""), "user": OfUser("", "u"), "agent": OfAgent(schema.Scope{User: "u"}),
		"session": OfSession(schema.SessionKey{SessionID: "s"}), "narrowed": Selection{}.IDs([]string{"x"}), "ids": InProject("").IDs(nil),
	} {
		for _, d := range []Detail{Statement, Lifecycle, Whole} {
			_, err := r.Read(t.Context(), s, d)
			require.ErrorIs(t, err, ErrNoProject, name)
		}
	}
	for name, s := range map[string]Selection{
		"ids": InProject("p").IDs(nil), "titles": InProject("p").Titles([]string{}), "either": InProject("p").AnyOf(nil, nil, nil),
		"all": InAllProjects().IDs(nil), "user": OfUser("p", "u"), "agent": OfAgent(schema.Scope{Project: "p", Agent: "a"}),
		"prefix": InProject("p").Prefix("%"),
	} {
		rows, err := r.Read(t.Context(), s, Whole)
		require.NoError(t, err, name)
		require.Empty(t, rows, name)
	}
	rows, err := r.Read(t.Context(), OfAgent(schema.Scope{Project: "p"}), Lifecycle)
	require.NoError(t, err)
	require.Len(t, rows, 1, "the empty user is one")
}

// Narrowing one selection in two ways leaves each as it is.
func TestSelectionsShareNothing(t *testing.T) {
	t.Parallel()
	base := OfUser("p", "u").Build("b")
	one, two := base.Type(schema.EntryFact), base.Type(schema.EntryDecision)
	sql, args, err := one.sql("entry_id", false)
	require.NoError(t, err)
	require.Equal(t, []any{"p", "u", "b", "fact"}, args)
	require.Equal(t, 3, strings.Count(sql, " AND "))
	_, args, err = two.sql("entry_id", false)
	require.NoError(t, err)
	require.Equal(t, []any{"p", "u", "b", "decision"}, args)
	_, args, err = base.sql("entry_id", true)
	require.NoError(t, err)
	require.Equal(t, []any{"p", "p", "u", "b"}, args, "the ids are found in the table, and the view is pruned by them")
}

// Entries come in the order that is asked for.
func TestSelectionOrders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := sessionKey("p", "u", "a", "s")
	var events []schema.Event
	for i := range 5 {
		made, err := Events([]schema.EntryMaterializedPayload{{Entry: schema.Entry{
			ID: fmt.Sprint("e", (i*3)%5), Type: schema.EntryFact, Title: fmt.Sprint(i), Scope: s.Scope, SessionID: s.SessionID,
			OccurredAt: sessionDate.Add(time.Duration(i) * time.Hour),
		}}}, "b")
		require.NoError(t, err)
		events = append(events, made...)
	}
	_, err := b.log.AppendAll(t.Context(), s.Stream(), events)
	require.NoError(t, err)
	b.project(s)
	for want, selection := range map[string]Selection{
		"e0 e1 e2 e3 e4": InProject("p"), "e0 e3 e1 e4 e2": InProject("p").OldestFirst(), "e2 e4 e1": InProject("p").NewestFirst().Limit(3),
		"e3 e4": InAllProjects().After("p", "e2"),
	} {
		for _, judged := range []bool{false, true} {
			d := Statement
			if judged {
				d = Lifecycle
			}
			rows, err := NewReader(b.conn).Read(t.Context(), selection, d)
			require.NoError(t, err)
			ids := make([]string, len(rows))
			for i, r := range rows {
				ids[i] = r.ID
			}
			require.Equal(t, want, strings.Join(ids, " "), "%v", judged)
		}
	}
}
