package entry

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/table"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// owners are scopes with names that are easily taken for each other. Each project has two users, one of whom may be in another
// project too, and some have no agent.
func owners(names []string) []schema.Scope {
	at := func(i int) string { return names[i%len(names)] }
	var out []schema.Scope
	for i := range names {
		agent := ""
		if i%3 > 0 {
			agent = at(i + 1)
		}
		out = append(out, schema.Scope{Project: at(i), User: at(i), Agent: agent}, schema.Scope{Project: at(i), User: at(i + 1), Agent: agent})
	}
	return out
}

// No entry of another owner is ever read, whatever the selection, the narrowing and what is read of it: each read returns what a
// look at all entries says.
func TestI10NoReadCrossesOwners(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := NewReader(b.conn)
	names, random := stacktest.Names(t)
	all := owners(names)
	of := map[string]schema.Scope{}
	var ids []string
	events := map[string][]schema.Event{}
	for _, o := range all {
		s := schema.SessionKey{Scope: o, SessionID: "s"}
		id := schema.DerivedID("entry", s.Stream())
		made, err := Events([]schema.EntryMaterializedPayload{{Entry: schema.Entry{
			ID: id, Type: schema.EntryFact, Title: "Uses Postgres", Scope: o, SessionID: s.SessionID, OccurredAt: sessionDate,
			Stage: schema.StageWorking, Status: schema.StatusActive, CanonicalKey: "fact:uses postgres",
		}}}, "b")
		require.NoError(t, err)
		of[id], ids, events[s.Stream()] = o, append(ids, id), made
	}
	slices.Sort(ids)
	// Everything contradicts its neighbour: what contests an entry is read by project, too.
	for i, id := range ids {
		stream := schema.GraduateStream(of[id].Project)
		event, err := schema.NewEvent(schema.ConflictDetectedPayload{
			Scope: of[id], ConflictID: fmt.Sprint("conflict of ", id), OlderID: id, NewerID: ids[(i+1)%len(ids)],
		}, schema.Event{TS: sessionDate, Actor: "test", Project: of[id].Project, DedupeKey: schema.GraduateOfCommandKey(of[id].Project, id, 0)})
		require.NoError(t, err)
		events[stream] = append(events[stream], event)
	}
	for stream, of := range events {
		_, err := b.log.AppendAll(t.Context(), stream, of)
		require.NoError(t, err)
	}
	_, err := b.log.ProjectAll(t.Context(), NewProjector(b.conn))
	require.NoError(t, err)

	for range 40 {
		o := all[random.IntN(len(all))]
		if random.IntN(2) == 0 { // Names that perhaps no owner has together.
			o.User, o.Agent = all[random.IntN(len(all))].User, []string{o.Agent, "", "ann"}[random.IntN(3)]
		}
		s, mine := InProject(o.Project), func(e schema.Scope) bool { return e.Project == o.Project }
		switch random.IntN(5) {
		case 1:
			s, mine = OfUser(o.Project, o.User), func(e schema.Scope) bool { return e.Project == o.Project && e.User == o.User }
		case 2:
			s, mine = OfAgent(o), func(e schema.Scope) bool { return e == o }
		case 3:
			s, mine = OfMemory(o.User, o.Agent), func(e schema.Scope) bool { return e.User == o.User && e.Agent == o.Agent }
		case 4:
			s, mine = OfSession(schema.SessionKey{Scope: o, SessionID: "s"}), func(e schema.Scope) bool { return e == o }
		}
		var want []string
		for _, id := range ids {
			if mine(of[id]) {
				want = append(want, id)
			}
		}
		switch random.IntN(5) {
		case 1:
			s = s.IDs(ids)
		case 2:
			s = s.Titles([]string{"uses postgres"})
		case 3:
			s = s.Saying(ids, []string{"Uses Postgres"}, ids)
		case 4:
			s = s.Believed().Prefix("")
		}
		rows, err := r.Read(t.Context(), s, []Detail{Statement, Standing, Whole}[random.IntN(3)])
		require.NoError(t, err)
		var read []string
		for _, row := range rows {
			require.Equal(t, of[row.ID], row.Scope)
			read = append(read, row.ID)
		}
		require.ElementsMatch(t, want, read, "%+v", s)
		got, err := r.IDs(t.Context(), s)
		require.NoError(t, err)
		require.ElementsMatch(t, want, got)
		stages, err := r.Stages(t.Context(), s)
		require.NoError(t, err)
		require.Len(t, stages, len(want))
		current, err := r.Current(t.Context(), o.Project, ids, Whole)
		require.NoError(t, err)
		contesting, err := r.Contesting(t.Context(), o.Project, ids)
		require.NoError(t, err)
		for _, id := range ids {
			require.Equal(t, of[id].Project == o.Project, current[id].ID == id)
		}
		id := ids[random.IntN(len(ids))]
		_, err = r.Get(t.Context(), o.Project, id)
		require.Equal(t, of[id].Project != o.Project, errors.Is(err, ErrNotFound), "%v", err)
		for id := range contesting {
			// An entry of another project that an event of this one names is a side of the conflict, and shows nothing of it.
			require.True(t, of[id].Project == o.Project || of[ids[(slices.Index(ids, id)+len(ids)-1)%len(ids)]].Project == o.Project)
		}
	}
}

// A read that does not say whose entries it wants is refused.
func TestI10EmptyScopeIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.build(sessionKey("p", "u", "", "s"), "b", decided("Use Kafka", "proven"))
	r := NewReader(b.conn)
	for name, s := range map[string]Selection{
		"zero": {}, "project": InProject(""), "user": OfUser("", "u"), "agent": OfAgent(schema.Scope{User: "u"}), "memory": OfMemory("", ""),
		"memory of an agent": OfMemory("", "a").Proven(), "session": OfSession(schema.SessionKey{SessionID: "s"}), "ids": OfMemory("", "").IDs(nil),
	} {
		_, err := r.Read(t.Context(), s, Whole)
		require.ErrorIs(t, err, table.ErrNoScope, name)
		_, err = r.ByID(t.Context(), s, Statement)
		require.ErrorIs(t, err, table.ErrNoScope, name)
		_, err = r.IDs(t.Context(), s)
		require.ErrorIs(t, err, table.ErrNoScope, name)
		_, err = r.Stated(t.Context(), s)
		require.ErrorIs(t, err, table.ErrNoScope, name)
		_, err = r.Stages(t.Context(), s)
		require.ErrorIs(t, err, table.ErrNoScope, name)
	}
	_, err := r.Get(t.Context(), "", "0000")
	require.ErrorIs(t, err, ErrNoProject)
	_, err = r.Current(t.Context(), "", nil, Whole)
	require.ErrorIs(t, err, ErrNoProject)
	_, err = r.Contesting(t.Context(), "", nil)
	require.ErrorIs(t, err, ErrNoProject)
	_, err = r.Read(t.Context(), OfMemory("", "a"), Whole)
	require.ErrorIs(t, err, ErrNoUser)
}
