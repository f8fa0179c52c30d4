package graduate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/task"
	"axiommind/schema"
)

// Rows that were forged in the table are no grounds, whatever stage they claim.
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
		require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO decision_evidence_raw (project, id, decision_id, evidence_kind, evidence_id, evidence_stage, role, version)
			VALUES ('p', 'x', ?, 'entry', ?, 'verified', 'ground', 1), ('p', 'y', ?, 'entity', ?, 'verified', 'ground', 1)`, x[0], x[1], x[0], x[1]))
	}
	require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO decisions_raw (project, user, agent, decision_id, ts, version) VALUES ('p', 'u', 'a', 'forged', '2000-01-01', 1)`))
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
	on, err := b.ledgers.RestingOn(t.Context(), "p", ids[2])
	require.NoError(t, err)
	require.Empty(t, on)

	// Nor does it stand for a decision of which it claims to be the original.
	require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO decisions_raw (project, user, agent, decision_id, ts, statement_id, version) VALUES ('p', 'u', 'a', 'forged', '2000-01-01', ?, 2)`, ids[2]))
	require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO entry_changes_raw (project, user, agent, entry_id, kind, other_id, version) VALUES ('p', 'u', 'a', ?, 'link', ?, 9)`, ids[1], ids[2]))
	folded, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p", Folded: true})
	require.NoError(t, err)
	require.Len(t, folded, 2)
	require.Empty(t, folded[0].SaidAlso)
	require.Empty(t, folded[1].SaidAlso)
}

// A statement has the original that it is linked to, also if that one has another: the page of a list does not matter.
func TestDecisionsOfChains(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	texts := []string{"We leave the vendor because of the price.", "We paint the office green.", "We close the canteen in May."}
	ids, decisions := make([]string, len(texts)), make([]string, len(texts))
	for i, text := range texts {
		ids[i] = b.say(inSession("p", "u", fmt.Sprint(i)), 10*i, spoken{text: text, entryType: schema.EntryDecision})[0]
		decisions[i] = schema.DecisionID(ids[i])
		b.pass("p")
	}
	// The third repeats the second, and the second the first.
	for i := range ids[1:] {
		require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO entry_changes_raw (project, user, agent, entry_id, kind, other_id, version) VALUES ('p', 'u', 'a', ?, 'link', ?, 9)`, ids[i+1], ids[i]))
	}
	for _, limit := range []int{1, 2, 10} {
		folded, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p", Folded: true, Limit: limit})
		require.NoError(t, err)
		got := map[string][]string{}
		for _, d := range folded {
			got[d.ID] = d.SaidAlso
		}
		want := map[string][]string{decisions[2]: nil, decisions[0]: {decisions[1]}}
		if limit == 1 {
			delete(want, decisions[0])
		}
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), limit)
	}
}

// The same decision in several sessions is listed once, as that of the original statement, in any order of processing,
// also where the latest decisions are all repeats.
func TestDecisionsAreFolded(t *testing.T) {
	t.Parallel()
	sessions := []string{"one", "two", "three", "four", "five", "six"}
	for name, order := range map[string][]int{"forth": {0, 1, 2, 3, 4, 5}, "back": {5, 4, 3, 2, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPassBench(t)
			ids, decisions := make([]string, len(order)), make([]string, len(order))
			for _, i := range order {
				ids[i] = b.say(inSession("p", "u", sessions[i]), 10*i,
					spoken{text: "The vendor raised the price of hosting."},
					spoken{text: "We leave the vendor because of the hosting price.", entryType: schema.EntryDecision},
				)[1]
				decisions[i] = schema.DecisionID(ids[i])
				b.pass("p")
			}
			all, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p"})
			require.NoError(t, err)
			require.Len(t, all, len(order))
			for _, limit := range []int{0, 1, 3} {
				folded, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p", Folded: true, Limit: limit})
				require.NoError(t, err)
				require.Len(t, folded, 1)
				require.Equal(t, decisions[0], folded[0].ID)
				require.ElementsMatch(t, decisions[1:], folded[0].SaidAlso)
			}
			last, err := b.ledgers.Decision(t.Context(), "p", decisions[5])
			require.NoError(t, err)
			require.ElementsMatch(t, decisions[:5], last.SaidAlso)
		})
	}
}

// outcomeRow has the columns of the view of decisions that are not from the event.
type outcomeRow struct{ build, outcome string }

func (b *passBench) outcome(id string) (r outcomeRow) {
	b.t.Helper()
	require.NoError(b.t, b.conn.QueryRow(b.t.Context(), "SELECT build_id, outcome_json FROM decisions WHERE decision_id = ?", id).Scan(&r.build, &r.outcome))
	return r
}

// A decision names the build whose check verified its statement. Its outcome lists the changes of its grounds.
func TestDecisionsHaveOutcomes(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	ids := b.say(inSession("p", "u", "one"), 0,
		spoken{text: "The vendor raised the price of hosting."},
		spoken{text: "We leave the vendor because of the hosting price.", entryType: schema.EntryDecision},
	)
	b.pass("p")
	id := schema.DecisionID(ids[1])
	require.Equal(t, outcomeRow{buildOf("one"), `{"state":"stands","changes":[]}`}, b.outcome(id))

	b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{ids[0]}, Because: "it was a 'rumour'"}))
	require.JSONEq(t, `{"state":"in question","changes":[{"role":"ground","kind":"entry","id":"`+ids[0]+`","status":"deprecated",
		"stage":"verified","superseded_by":"","because":"it was a 'rumour'","by":"ann"}]}`, b.outcome(id).outcome)

	by := b.say(inSession("p", "u", "two"), 1, spoken{text: "We keep the vendor after all.", entryType: schema.EntryDecision, corrects: ids[1]})
	b.pass("p")
	require.Contains(t, b.outcome(id).outcome, `"status":"superseded","stage":"verified","superseded_by":"`+by[0]+`"`)
	require.Equal(t, outcomeRow{buildOf("two"), `{"state":"stands","changes":[]}`}, b.outcome(schema.DecisionID(by[0])))
}

// A person's decision may rest only on tasks that a verified memory states.
func TestDecisionsRestOnTasks(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	ids := b.say(inSession("p", "u", "one"), 0,
		spoken{text: "The vendor raised the price of hosting."},
		spoken{text: "Compare the vendors of hosting.", entryType: schema.EntryTaskNote},
		spoken{text: "Ask the vendor about discounts.", entryType: schema.EntryTaskNote, refused: true},
	)
	tasks := make([]string, 2)
	var events []schema.Event
	for i := range tasks {
		title := "task " + ids[i+1]
		tasks[i] = schema.DerivedID("entity", "p", title)
		for n, payload := range []any{
			schema.TaskCreatedPayload{Act: schema.Act{EntryID: ids[i+1]}, TaskID: tasks[i], Title: title, CanonicalKey: title},
			schema.TaskObservedPayload{Act: schema.Act{EntryID: ids[i+1]}, TaskID: tasks[i]},
		} {
			key := schema.TaskOfCommandKey("p", ids[i+1], n)
			event, err := schema.NewEvent(payload, schema.Event{TS: spring, Actor: "test", Project: "p", DedupeKey: key})
			require.NoError(t, err)
			events = append(events, event)
		}
	}
	_, err := b.log.Append(t.Context(), schema.ProjectStream("p"), events)
	require.NoError(t, err)
	_, err = b.log.Project(t.Context(), task.NewProjector(b.conn), schema.ProjectStream("p"))
	require.NoError(t, err)

	c := Command{Project: "p", Op: OpDecide, User: "u", Agent: "a", Action: "Leave the vendor", EntryIDs: ids[:1], TaskIDs: tasks[:1]}
	for says, wrong := range map[string]func(*Command){
		"a verified memory states": func(c *Command) { c.TaskIDs = tasks },
		"has no task":              func(c *Command) { c.TaskIDs = []string{ids[1]} },
	} {
		refused := b.command(c)
		wrong(&refused)
		b.refuse(refused, says)
	}
	b.do(b.command(c))
	found, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Empty(t, found[0].Flagged)
	kinds := map[string]string{}
	for _, g := range found[0].Evidence {
		kinds[g.EntryID] = g.Kind
	}
	require.Equal(t, map[string]string{ids[0]: schema.GroundEntry, tasks[0]: schema.GroundEntity}, kinds)
	require.Equal(t, `{"state":"stands","changes":[]}`, b.outcome(found[0].ID).outcome)

	b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: ids[1:2], Because: "no longer planned"}))
	d, err := b.ledgers.Decision(t.Context(), "p", found[0].ID)
	require.NoError(t, err)
	require.Len(t, d.Flagged, 1)
	require.Contains(t, d.Flagged[0], "task")
}
