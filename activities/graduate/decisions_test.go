package graduate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// Rows that somebody writes past the program are no ground, whatever they say of themselves.
func TestForgedGroundsAreNone(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	ids := b.say(inSession("p", "u", "one"), 0,
		spoken{text: "The vendor raised the price of hosting."},
		spoken{text: "We leave the vendor because of the hosting price.", entryType: schema.EntryDecision},
		spoken{text: "The hosting vendor answers slowly.", refused: true},
	)
	require.Equal(t, 1, b.pass("p").Decisions)
	d := schema.DecisionID(ids[1])
	for _, x := range [][2]string{{d, ids[2]}, {"forged", ids[2]}} {
		require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO decision_evidence_raw (project, id, decision_id, evidence_id, evidence_stage, role, version)
			VALUES ('p', 'x', ?, ?, 'verified', 'ground', 1)`, x[0], x[1]))
	}
	require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO decisions_raw (project, user, agent, decision_id, version) VALUES ('p', 'u', 'a', 'forged', 1)`))
	count := func(sql string) (n uint64) {
		require.NoError(t, b.conn.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	require.EqualValues(t, 2, count("SELECT count() FROM decision_evidence"))
	require.EqualValues(t, 1, count("SELECT count() FROM decisions"))
	found, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p"})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Len(t, found[0].Evidence, 2)
	require.Empty(t, found[0].Flagged)
	require.Empty(t, found[1].Evidence)
	require.Len(t, found[1].Flagged, 1)
}

// What several sessions decide in the same words is one decision of the list, the original's, in whichever order they
// were processed.
func TestDecisionsAreFolded(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]int{"forth": {0, 1, 2}, "back": {2, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPassBench(t)
			ids := make([]string, 3)
			for _, i := range order {
				ids[i] = b.say(inSession("p", "u", []string{"one", "two", "three"}[i]), 10*i,
					spoken{text: "The vendor raised the price of hosting."},
					spoken{text: "We leave the vendor because of the hosting price.", entryType: schema.EntryDecision},
				)[1]
				b.pass("p")
			}
			all, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p"})
			require.NoError(t, err)
			require.Len(t, all, 3)
			folded, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p", Folded: true})
			require.NoError(t, err)
			require.Len(t, folded, 1)
			require.Equal(t, schema.DecisionID(ids[0]), folded[0].ID)
			require.ElementsMatch(t, []string{schema.DecisionID(ids[1]), schema.DecisionID(ids[2])}, folded[0].SaidAlso)
		})
	}
}
