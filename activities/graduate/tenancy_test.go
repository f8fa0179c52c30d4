package graduate

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// No ledger returns a row of another project, or of another user if one is named, although all of them state,
// contradict, decide and propose the same.
func TestI10NoLedgerCrossesOwners(t *testing.T) {
	t.Parallel()
	noLedgerCrosses(t, 4)
}

// noLedgerCrosses reads the ledgers of projects and users with n names that are easily confused with the first one.
func noLedgerCrosses(t *testing.T, n int) {
	t.Helper()
	b := newPassBench(t)
	names, random := stacktest.Names(t)
	names = stacktest.Some(names, random, n)
	of := map[string]schema.Scope{}
	users, raised := map[string]int{}, []string{}
	for n, o := range stacktest.Owners(names) {
		// The queries here name no agent. Each project costs a round over the tables, so a part of them must suffice.
		if o.Agent != "" || o.Project != names[0] && n%4 > 0 {
			continue
		}
		said := b.say(inSession(o.Project, o.User, "one"), 0, spoken{text: "The default timeout is 30 seconds."},
			spoken{text: "The vendor raised the price of hosting."},
			spoken{text: "We leave the vendor because of the hosting price.", entryType: schema.EntryDecision})
		for _, id := range append(said, b.say(inSession(o.Project, o.User, "two"), 1, spoken{text: "The default timeout is 60 seconds."})...) {
			of[id] = inSession(o.Project, o.User, "").Scope
		}
		users[o.Project]++
		raised = append(raised, said[1])
	}
	for project, n := range users {
		require.Equal(t, n, b.pass(project).Conflicts)
	}
	for _, id := range raised {
		c := b.proposing(of[id].User, id, schema.ChangeRetire, "")
		c.Project = of[id].Project
		b.do(c)
	}

	ids := slices.Sorted(maps.Keys(of))
	asked := map[schema.Scope]bool{}
	for _, id := range ids {
		o := of[id]
		if asked[o] {
			continue
		}
		asked[o] = true
		user, rows := &o.User, 1 // Each user has one of each kind.
		if random.IntN(4) == 0 {
			user, rows = nil, users[o.Project]
		}
		mine := func(scope schema.Scope, entries ...string) {
			require.Equal(t, o.Project, scope.Project)
			require.True(t, user == nil || scope.User == o.User, "%q", scope.User)
			for _, id := range entries {
				require.Equal(t, scope, of[id])
			}
		}
		conflicts, err := b.ledgers.Conflicts(t.Context(), ConflictQuery{Project: o.Project, User: user, Resolved: true})
		require.NoError(t, err)
		require.Len(t, conflicts, rows)
		for _, c := range conflicts {
			mine(c.Scope, c.Older.EntryID, c.Newer.EntryID)
		}
		decisions, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: o.Project, User: user, Folded: random.IntN(2) == 0})
		require.NoError(t, err)
		require.Len(t, decisions, rows)
		for _, d := range decisions {
			require.NotEmpty(t, d.Evidence)
			for _, g := range d.Evidence {
				mine(d.Scope, g.EntryID)
			}
		}
		proposals, err := b.ledgers.Proposals(t.Context(), b.log.Store, ProposalQuery{Project: o.Project, User: user, Decided: true})
		require.NoError(t, err)
		require.Len(t, proposals, rows)
		for _, p := range proposals {
			mine(p.Scope, p.Entry.EntryID)
		}
		other := of[ids[random.IntN(len(ids))]].Project
		_, err = b.ledgers.Conflict(t.Context(), other, conflicts[0].ID)
		require.Equal(t, other == o.Project, err == nil, "%v", err)
		_, err = b.ledgers.Decision(t.Context(), other, decisions[0].ID)
		require.Equal(t, other == o.Project, err == nil, "%v", err)
		_, err = b.ledgers.Proposal(t.Context(), b.log.Store, other, proposals[0].ID)
		require.Equal(t, other == o.Project, err == nil, "%v", err)
		promotions, err := b.ledgers.Promotions(t.Context(), other, conflicts[0].Older.EntryID)
		require.NoError(t, err)
		require.Equal(t, other == o.Project, len(promotions) > 0)
		health, err := ReadHealth(t.Context(), b.conn, HealthQuery{Project: o.Project, ByOwner: true})
		require.NoError(t, err)
		require.Len(t, health, users[o.Project])
		for _, h := range health {
			require.Equal(t, []any{o.Project, 4, 2}, []any{h.Project, h.Entries, h.Contested})
		}
		listed, err := ListMeasured(t.Context(), b.conn, "entries", HealthQuery{Project: o.Project}, 1000, 0)
		require.NoError(t, err)
		require.Len(t, listed, 4*users[o.Project])
		for _, e := range listed {
			require.Equal(t, of[e.EntryID], e.Scope)
			require.Equal(t, o.Project, e.Project)
		}
	}
}

// A read of a ledger without a project is refused.
func TestI10EmptyProjectIsRefused(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	b.say(inSession("p", "u", "one"), 0, spoken{text: storesEvents})
	ctx, l, id := t.Context(), b.ledgers, "0123456789"
	for name, read := range map[string]func() error{
		"conflicts":  func() error { _, err := l.Conflicts(ctx, ConflictQuery{}); return err },
		"conflict":   func() error { _, err := l.Conflict(ctx, "", id); return err },
		"decisions":  func() error { _, err := l.Decisions(ctx, DecisionQuery{}); return err },
		"decision":   func() error { _, err := l.Decision(ctx, "", id); return err },
		"proposals":  func() error { _, err := l.Proposals(ctx, b.log.Store, ProposalQuery{}); return err },
		"proposal":   func() error { _, err := l.Proposal(ctx, b.log.Store, "", id); return err },
		"promotions": func() error { _, err := l.Promotions(ctx, "", id); return err },
		"waiting":    func() error { _, err := l.Waiting(ctx, ""); return err },
		"life":       func() error { _, err := l.Life(ctx, b.log.Store, entry.Row{}); return err },
		"health":     func() error { _, err := ReadHealth(ctx, b.conn, HealthQuery{ByOwner: true}); return err },
		"measured":   func() error { _, err := ListMeasured(ctx, b.conn, "entries", HealthQuery{}, 9, 0); return err },
	} {
		require.ErrorIs(t, read(), clickhouse.ErrNoScope, name)
	}
	all, err := ReadHealth(ctx, b.conn, HealthQuery{AllProjects: true})
	require.NoError(t, err)
	require.Len(t, all, 1)
}
