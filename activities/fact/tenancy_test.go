package fact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/fact"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// holder is whose memory it is. The mark is in all that is the holder's, and in nothing else.
type holder struct {
	user, agent, mark string
	// projects are those in which the holder has said something.
	projects []string
	ids      []string
}

func (h *holder) build(project int) string { return "b-" + h.mark + fmt.Sprint(project) }

// holders have names that are easily taken for each other. Each has said something in two projects.
func holders(names []string) []*holder {
	var out []*holder
	for i, o := range stacktest.Owners(names) {
		if o.Project == names[0] {
			out = append(out, &holder{
				user: o.User, agent: o.Agent, mark: fmt.Sprintf("mark%dend", i), projects: []string{names[0], names[i%(len(names)-1)+1]},
			})
		}
	}
	return out
}

// remember has each holder say the same in two projects, of themselves and of their work, and say it once again.
func (b *bench) remember(t *testing.T, all []*holder) {
	for _, h := range all {
		for n, project := range h.projects {
			batch := batchOf(h.user, h.agent, "s"+fmt.Sprint(n), "Likes Go, says "+h.mark, fmt.Sprint("Number ", n, ", says ", h.mark), "Builds, says "+h.mark)
			batch.Project, batch.BuildID = project, h.build(n)
			for i := range batch.Entries {
				batch.Entries[i].Project = project
			}
			batch.Entries[2].Section = schema.SectionWork
			b.materialize(t, batch)
			_, err := b.writer.ApplyOne(t.Context(), batch)
			require.NoError(t, err)
		}
		facts, err := b.tables.List(t.Context(), h.user, h.agent)
		require.NoError(t, err)
		require.Len(t, facts, 3)
		for _, f := range facts {
			h.ids = append(h.ids, f.ID)
		}
	}
}

// requireOwn fails if one of the facts is another's.
func (h *holder) requireOwn(t *testing.T, facts []fact.Fact) {
	for _, f := range facts {
		require.True(t, strings.HasSuffix(f.Content, h.mark), "%q in the memory of user %q, agent %q", f.Content, h.user, h.agent)
	}
}

// No fact and no section of another's memory is ever read.
func TestI10NoReadCrossesMemories(t *testing.T) {
	t.Parallel()
	noReadCrosses(t, 4)
}

// noReadCrosses reads the memories of users and agents with n of the names that are easily taken for the first one.
func noReadCrosses(t *testing.T, n int) {
	t.Helper()
	b := newBench(t, fact.Options{})
	names, random := stacktest.Names(t)
	names = stacktest.Some(names, random, n)
	all := holders(names)
	b.remember(t, all)
	var ids, contents []string
	for _, h := range all {
		ids, contents = append(ids, h.ids...), append(contents, "Likes Go, says "+h.mark)
	}
	for _, h := range all {
		other := []*holder{h, all[random.IntN(len(all))]}[random.IntN(2)]
		project := random.IntN(2)
		facts := func(found []fact.Fact, err error) []fact.Fact {
			require.NoError(t, err)
			h.requireOwn(t, found)
			return found
		}
		found := facts(b.tables.List(t.Context(), h.user, h.agent))
		require.Len(t, found, 3)
		require.NoError(t, b.tables.Judge(t.Context(), h.user, h.agent, found))
		require.NotNil(t, found[0].Entry)
		require.Len(t, facts(b.tables.Find(t.Context(), h.user, h.agent, ids)), 3)
		require.Len(t, facts(b.tables.Named(t.Context(), h.user, h.agent, "fact_", 1000)), 3)
		require.Len(t, facts(b.tables.Select(t.Context(), fact.Selection{User: h.user, Agent: h.agent, AllProjects: true, Gone: true, Limit: 1000})), 3)
		in := facts(b.tables.Select(t.Context(), fact.Selection{User: h.user, Agent: h.agent, Project: h.projects[project], Limit: 1000}))
		require.Len(t, in, 2, "the second one states a fact of the first again")
		require.Equal(t, in, facts(b.tables.ListIn(t.Context(), h.user, h.agent, h.projects[project])))
		require.NoError(t, b.tables.JudgeIn(t.Context(), h.user, h.agent, h.projects[project], in))
		h.requireOwn(t, in)
		require.Len(t, facts(b.tables.AsOf(t.Context(), h.user, h.agent, ids, noon.AddDate(1, 0, 0))), 3)
		m, err := b.tables.Load(t.Context(), fact.Needs{
			User: h.user, Agent: h.agent, IDs: ids, Contents: contents, Evictions: 10, All: random.IntN(2) == 0, Profile: true, Version: true,
			Uses: noon,
		})
		require.NoError(t, err)
		require.Len(t, facts(m.Facts, nil), 3)
		require.Equal(t, 3, m.Active)
		require.Contains(t, m.Sections[schema.SectionWork].Summary, h.mark)
		require.Len(t, m.Uses, 1, "what was said again")

		resolved, err := b.tables.Resolve(t.Context(), h.user, h.agent, other.ids[0])
		if h == other {
			require.NoError(t, err)
			h.requireOwn(t, []fact.Fact{resolved})
		} else {
			require.ErrorIs(t, err, fact.ErrFactNotFound)
		}
		_, err = b.tables.ResolveOfUser(t.Context(), h.user, other.ids[0])
		require.Equal(t, h.user == other.user, err == nil, "%v", err)

		sections, err := b.tables.Profile(t.Context(), h.user, h.agent)
		require.NoError(t, err)
		of, err := b.tables.ProfileIn(t.Context(), h.user, h.agent, h.projects[project])
		require.NoError(t, err)
		require.Equal(t, h.projects[project], of[0].Project)
		for _, s := range append(sections, of...) {
			require.Contains(t, s.Summary, h.mark)
			require.NotNil(t, s.Entry)
		}
		changes, err := b.tables.BuildChanges(t.Context(), h.user, h.agent, other.build(project))
		require.NoError(t, err)
		require.Len(t, changes, map[bool]int{true: 3}[h == other])
		history, err := b.tables.History(t.Context(), fact.HistoryQuery{User: h.user, Agent: h.agent})
		require.NoError(t, err)
		require.Len(t, history, 6)
	}
}

// A read of a memory that does not say whose is refused, and so is one of a project that has no name.
func TestI10EmptyMemoryIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	_, err := b.writer.ApplyOne(t.Context(), batchOf("ann", "", "s", "Likes Go"))
	require.NoError(t, err)
	ctx, tables := t.Context(), b.tables
	for name, read := range map[string]func() error{
		"list":           func() error { _, err := tables.List(ctx, "", ""); return err },
		"get":            func() error { _, err := tables.Get(ctx, "", "", "fact_1"); return err },
		"find":           func() error { _, err := tables.Find(ctx, "", "", nil); return err },
		"load":           func() error { _, err := tables.Load(ctx, fact.Needs{All: true}); return err },
		"select":         func() error { _, err := tables.Select(ctx, fact.Selection{AllProjects: true, Limit: 1}); return err },
		"select project": func() error { _, err := tables.Select(ctx, fact.Selection{User: "ann", Limit: 1}); return err },
		"named":          func() error { _, err := tables.Named(ctx, "", "", "fact_", 1); return err },
		"resolve":        func() error { _, err := tables.Resolve(ctx, "", "", "fact_1234"); return err },
		"resolve agents": func() error { _, err := tables.ResolveOfUser(ctx, "", "fact_1234"); return err },
		"version":        func() error { _, err := tables.Version(ctx, "", ""); return err },
		"profile":        func() error { _, err := tables.Profile(ctx, "", ""); return err },
		"profile in":     func() error { _, err := tables.ProfileIn(ctx, "", "", "red"); return err },
		"profile in no":  func() error { _, err := tables.ProfileIn(ctx, "ann", "", ""); return err },
		"judge":          func() error { return tables.Judge(ctx, "", "", nil) },
		"judge in":       func() error { return tables.JudgeIn(ctx, "", "", "red", nil) },
		"judge in no":    func() error { return tables.JudgeIn(ctx, "ann", "", "", nil) },
		"changes":        func() error { _, err := tables.BuildChanges(ctx, "", "", "b-s"); return err },
		"history":        func() error { _, err := b.tables.History(ctx, fact.HistoryQuery{Agent: "a"}); return err },
		"as of":          func() error { _, err := b.tables.AsOf(ctx, "", "", nil, time.Now()); return err },
	} {
		require.ErrorIs(t, read(), clickhouse.ErrNoScope, name)
	}
	content := "Likes C"
	_, err = b.writer.Do(ctx, fact.Command{RequestID: "r", Actor: "ann", At: noon, Op: fact.OpCreate, Content: &content})
	require.ErrorContains(t, err, "invalid user: is missing")
}
