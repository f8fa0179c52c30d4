package entry

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// No entry of another owner is ever read, whatever the selection, the narrowing and the detail: each read returns the
// same as a scan of all entries.
func TestI10NoReadCrossesOwners(t *testing.T) {
	t.Parallel()
	noReadCrosses(t, 3)
}

// noReadCrosses reads the entries of projects, users and agents with n of the names that are easily mistaken for the
// first one.
func noReadCrosses(t *testing.T, n int) {
	t.Helper()
	b := newBench(t)
	r := NewReader(b.conn)
	names, random := stacktest.Names(t)
	names = stacktest.Some(names, random, n)
	all := stacktest.Owners(names)
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
	// Every entry contradicts its neighbour: conflicts of an entry are read by project, too.
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

	type asked struct {
		Selection
		mine func(schema.Scope) bool
	}
	for _, o := range all {
		mixed := schema.Scope{Project: o.Project, User: all[random.IntN(len(all))].User, Agent: all[random.IntN(len(all))].Agent}
		for _, s := range []asked{
			{InProject(o.Project), func(e schema.Scope) bool { return e.Project == o.Project }},
			{OfUser(o.Project, o.User), func(e schema.Scope) bool { return e.Project == o.Project && e.User == o.User }},
			{OfAgent(o), func(e schema.Scope) bool { return e == o }},
			{OfAgent(mixed), func(e schema.Scope) bool { return e == mixed }},
			{OfMemory(o.User, o.Agent), func(e schema.Scope) bool { return e.User == o.User && e.Agent == o.Agent }},
			{OfSession(schema.SessionKey{Scope: o, SessionID: "s"}), func(e schema.Scope) bool { return e == o }},
		} {
			narrowed := []Selection{
				s.Selection, s.IDs(ids), s.Titles([]string{"uses postgres"}), s.AnyOf(ids, []string{"Uses Postgres"}, ids), s.Believed().Prefix(""),
			}[random.IntN(5)]
			rows, err := r.Read(t.Context(), narrowed, []Detail{Statement, Lifecycle, Whole}[random.IntN(3)])
			require.NoError(t, err)
			var want, got []string
			for _, row := range rows {
				require.Equal(t, of[row.ID], row.Scope)
				got = append(got, row.ID)
			}
			for _, id := range ids {
				if s.mine(of[id]) {
					want = append(want, id)
				}
			}
			require.ElementsMatch(t, want, got, "%+v", narrowed)
		}
		current, err := r.ByID(t.Context(), InProject(o.Project).IDs(ids), Lifecycle)
		require.NoError(t, err)
		for _, id := range ids {
			require.Equal(t, of[id].Project == o.Project, current[id].ID == id)
		}
		id := ids[random.IntN(len(ids))]
		_, err = r.Get(t.Context(), o.Project, id)
		require.Equal(t, of[id].Project != o.Project, errors.Is(err, ErrNotFound), "%v", err)
		for _, row := range current {
			// An event may name an entry of another project as a side. Only the project of the event sees it.
			require.Len(t, row.ContestedBy, row.Conflicts)
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
		require.ErrorIs(t, err, clickhouse.ErrNoScope, name)
		_, err = r.ByID(t.Context(), s, Statement)
		require.ErrorIs(t, err, clickhouse.ErrNoScope, name)
		_, err = r.IDs(t.Context(), s)
		require.ErrorIs(t, err, clickhouse.ErrNoScope, name)
		_, err = r.Stated(t.Context(), s)
		require.ErrorIs(t, err, clickhouse.ErrNoScope, name)
		_, err = r.Stages(t.Context(), s)
		require.ErrorIs(t, err, clickhouse.ErrNoScope, name)
	}
	_, err := r.Get(t.Context(), "", "0000")
	require.ErrorIs(t, err, ErrNoProject)
	_, err = r.Read(t.Context(), InProject("").IDs([]string{"x"}), Whole)
	require.ErrorIs(t, err, ErrNoProject)
	_, err = r.Read(t.Context(), OfMemory("", "a"), Whole)
	require.ErrorIs(t, err, ErrNoUser)
}
