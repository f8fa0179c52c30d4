package graduate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/task"
	"axiommind/schema"
)

// Decision is a row of the ledger of decisions, with the entries that it rests on.
type Decision struct {
	ID string `json:"decision_id"`
	schema.Scope
	At time.Time `json:"at"`
	// Action is the decision in words, and By names who made it.
	Action     string   `json:"action"`
	By         string   `json:"by"`
	Confidence *float64 `json:"confidence,omitempty"`
	// Evidence begins with the entry that states the decision, if one does.
	Evidence []DecisionGround `json:"evidence"`
	// Flagged lists the grounds that no longer hold, with the reason. It is empty if all of them hold.
	Flagged []string `json:"flagged,omitempty"`
	// SaidAlso has the ids of the duplicate decisions: their statements have the same original.
	SaidAlso []string `json:"said_also,omitempty"`
}

// DecisionGround is an entry or a task that a decision rests on, as it is now. Recorded is its stage when the decision was
// recorded.
type DecisionGround struct {
	// Kind is one of the Ground constants of package schema. For a task, EntryID is the id of the task.
	Kind string `json:"kind"`
	Side
	Role     string       `json:"role"`
	Recorded schema.Stage `json:"recorded"`
}

// flag returns why the ground no longer holds, or "".
func (g DecisionGround) flag() string {
	name := "entry"
	if g.Kind == schema.GroundEntity {
		name = "task"
	}
	switch {
	case g.Status == "":
		return fmt.Sprintf("%s %q is not there", name, g.EntryID)
	case g.Status != schema.StatusActive:
		return fmt.Sprintf("%s %q is %s", name, g.EntryID, g.Status)
	case !reaches(g.Stage, schema.StageVerified):
		return fmt.Sprintf("%s %q is %s now and was %s", name, g.EntryID, g.Stage, g.Recorded)
	}
	return ""
}

// DecisionQuery selects decisions of a project.
type DecisionQuery struct {
	Project string
	// User and Agent are nil for all users and agents. Empty ones select the decisions without a user or agent.
	User, Agent *string
	// Folded keeps one of several duplicate decisions: that of the original statement, or else the oldest.
	Folded bool
	// Limit is the maximum number of decisions; 0 means [DefaultLimit].
	Limit int
}

// Decisions returns the selected decisions, the latest first.
func (l *Ledgers) Decisions(ctx context.Context, q DecisionQuery) ([]Decision, error) {
	limit := min(q.Limit, math.MaxInt32)
	if limit <= 0 {
		limit = DefaultLimit
	}
	return l.decisions(ctx, whereOf(q.Project, q.User, q.Agent), limit, q.Folded)
}

// Decision returns the decision of the project with the id, or [ErrNoDecision]. An id may be given by its first characters.
func (l *Ledgers) Decision(ctx context.Context, project, id string) (Decision, error) {
	named := clickhouse.Prefix{What: "decision", Where: fmt.Sprintf("project %q", project), Given: id, NotFound: ErrNoDecision}
	if !named.Long() {
		return Decision{}, named.Missing("as decisions prints it")
	}
	w := whereOf(project, nil, nil)
	w.and("startsWith(decision_id, ?)", named.Text())
	found, err := l.decisions(ctx, w, clickhouse.MostPrefixed, false)
	if err != nil {
		return Decision{}, err
	}
	return clickhouse.Choose(named, found, func(d Decision) string { return d.ID })
}

// RestingOn returns the decisions of the project that rest on the entry, the latest first, without their duplicates.
func (l *Ledgers) RestingOn(ctx context.Context, project, entryID string) ([]Decision, error) {
	w := whereOf(project, nil, nil)
	w.and("decision_id IN (SELECT decision_id FROM decision_evidence_raw WHERE project = ? AND evidence_id = ?)", project, entryID)
	found, err := l.recorded(ctx, w, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	out := decisionsOf(found)
	if err := l.ground(ctx, project, out); err != nil {
		return nil, err
	}
	// An entry that was never verified is no ground.
	return slices.DeleteFunc(out, func(d Decision) bool {
		return !slices.ContainsFunc(d.Evidence, func(g DecisionGround) bool { return g.EntryID == entryID })
	}), nil
}

// pageFactor is how many decisions are read at first for each folded one that is asked for.
const pageFactor = 2

// decisions returns the first decisions that the condition selects, each with the ids of its duplicates. Folded ones
// are found among the latest decisions: more are read until there are enough.
func (l *Ledgers) decisions(ctx context.Context, w *where, limit int, folded bool) ([]Decision, error) {
	n := limit
	if folded {
		n *= pageFactor
	}
	for ; ; n *= pageFactor {
		n = min(n, math.MaxInt32)
		found, err := l.recorded(ctx, w, n)
		if err != nil {
			return nil, err
		}
		all, err := l.withDuplicates(ctx, w.project, found)
		if err != nil {
			return nil, err
		}
		representatives := foldDecisions(all)
		shown := all[:len(found)]
		if folded {
			shown = slices.DeleteFunc(slices.Clone(shown), func(d recordedDecision) bool { return !representatives[d.ID] })
		}
		if len(shown) >= limit || len(found) < n {
			out := decisionsOf(shown[:min(len(shown), limit)])
			return out, l.ground(ctx, w.project, out)
		}
	}
}

// recordedDecision is a row of the ledger.
type recordedDecision struct {
	Decision
	// statement is the id of the entry that states the decision, or empty. The root is the original of the statement. Without
	// a statement that was ever verified, it is the decision's own id.
	statement, root string
	// same has the ids of the decision and its duplicates.
	same []string
}

func decisionsOf(found []recordedDecision) []Decision {
	out := make([]Decision, len(found))
	for i, d := range found {
		out[i] = d.Decision
		out[i].SaidAlso = slices.DeleteFunc(slices.Clone(d.same), func(id string) bool { return id == d.ID })
	}
	return out
}

// recorded returns the first n decisions that the condition selects, the latest first.
func (l *Ledgers) recorded(ctx context.Context, w *where, n int) (out []recordedDecision, err error) {
	err = query(ctx, l.conn, w.project, clickhouse.Rows(&out, func(rows driver.Rows, d *recordedDecision) error {
		err := rows.Scan(&d.ID, &d.Project, &d.User, &d.Agent, &d.At, &d.Action, &d.By, &d.Confidence, &d.statement)
		d.root = d.ID
		return err
	}), `SELECT decision_id, project, user, agent, ts, action, actor, confidence, statement_id FROM decisions_raw FINAL`+w.sql()+
		fmt.Sprintf(" ORDER BY ts DESC, decision_id LIMIT %d", n), w.args...)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	return out, nil
}

// withDuplicates returns the decisions, then those of the project that repeat one of them, all with their roots. Each entry
// has one original, which may have another: such a chain is not followed.
func (l *Ledgers) withDuplicates(ctx context.Context, project string, found []recordedDecision) ([]recordedDecision, error) {
	known, statements := map[string]bool{}, []string{}
	for _, d := range found {
		known[d.ID] = true
		if d.statement != "" {
			statements = append(statements, d.statement)
		}
	}
	if len(statements) == 0 {
		return found, nil
	}
	originals := map[string]string{}
	// The entries are found first, and then their latest rows: FINAL takes four times as long.
	link := func(entries string, args ...any) error {
		return query(ctx, l.conn, project, clickhouse.Map(originals, func(rows driver.Rows, id, original *string) error { return rows.Scan(id, original) }),
			`SELECT entry_id, other_id FROM (SELECT entry_id, other_id FROM entry_changes_raw WHERE project = ? AND kind = 'link' AND entry_id IN `+
				entries+` ORDER BY version DESC LIMIT 1 BY entry_id, ref, extracted_index) WHERE other_id != ''`, append([]any{project}, args...)...)
	}
	if err := link("?", clickhouse.Set(statements)); err != nil {
		return nil, fmt.Errorf("read the originals of decisions: %w", err)
	}
	roots := make([]string, len(statements))
	for i, id := range statements {
		roots[i] = cmp.Or(originals[id], id)
	}
	// A root may have an original of its own: then only the entries linked to it have it as their root.
	err := link("(SELECT entry_id FROM entry_changes_raw WHERE project = ? AND kind = 'link' AND other_id IN ? UNION ALL SELECT arrayJoin(?))",
		project, clickhouse.Set(roots), roots)
	if err != nil {
		return nil, fmt.Errorf("read the repeats of decisions: %w", err)
	}
	w := whereOf(project, nil, nil)
	w.and("statement_id IN ?", clickhouse.Set(slices.Concat(roots, slices.Collect(maps.Keys(originals)))))
	repeats, err := l.recorded(ctx, w, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(found), slices.DeleteFunc(repeats, func(d recordedDecision) bool { return known[d.ID] })...)
	stated := make([]DecisionGround, len(all))
	for i, d := range all {
		stated[i] = DecisionGround{Kind: schema.GroundEntry, Side: Side{EntryID: d.statement}}
	}
	verified, err := l.everVerified(ctx, project, stated)
	if err != nil {
		return nil, fmt.Errorf("read which statements of decisions were verified: %w", err)
	}
	for i, d := range all {
		if verified[stated[i].key()] {
			all[i].root = cmp.Or(originals[d.statement], d.statement)
		}
	}
	return all, nil
}

// foldDecisions groups the decisions with their duplicates, and returns the ids of the representatives. Of duplicates, that is
// the decision of the original statement, or else the oldest.
func foldDecisions(all []recordedDecision) map[string]bool {
	type group struct {
		schema.Scope
		root string
	}
	groups := map[group][]int{}
	for i, d := range all {
		g := group{d.Scope, d.root}
		groups[g] = append(groups[g], i)
	}
	representatives := map[string]bool{}
	for _, places := range groups {
		first := slices.MinFunc(places, func(i, j int) int {
			a, b := all[i], all[j]
			if original := a.root == a.statement; original != (b.root == b.statement) {
				return map[bool]int{true: -1, false: 1}[original]
			}
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
		})
		representatives[all[first].ID] = true
		var same []string
		for _, i := range places {
			same = append(same, all[i].ID)
		}
		slices.Sort(same)
		for _, i := range places {
			all[i].same = same
		}
	}
	return representatives
}

// describeTasks fills the sides, which have only the ids of tasks, with the current state of the tasks.
func (l *Ledgers) describeTasks(ctx context.Context, project string, sides []*Side) error {
	if len(sides) == 0 {
		return nil
	}
	ids := make([]string, len(sides))
	for i, s := range sides {
		ids[i] = s.EntryID
	}
	// The tables have the current state of tasks. The log is needed only for earlier times.
	found, err := task.NewQueries(nil, l.conn).Tasks(ctx, task.Selection{Project: project}, ids)
	for _, s := range sides {
		if t, ok := found[s.EntryID]; ok {
			*s = Side{EntryID: t.ID, Title: t.Title, Stage: t.Stage, Status: t.Status, OccurredAt: t.CreatedAt.UTC()}
		}
	}
	return err
}

// ground adds their grounds to the decisions, and leaves out those that were never verified.
func (l *Ledgers) ground(ctx context.Context, project string, decisions []Decision) error {
	ids := make([]string, len(decisions))
	for i, d := range decisions {
		ids[i] = d.ID
	}
	if len(ids) == 0 {
		return nil
	}
	grounds := map[string][]DecisionGround{}
	err := query(ctx, l.conn, project, func(rows driver.Rows) error {
		var id string
		var g DecisionGround
		err := rows.Scan(&id, &g.Kind, &g.EntryID, (*string)(&g.Recorded), &g.Role)
		grounds[id] = append(grounds[id], g)
		return err
	}, `SELECT decision_id, evidence_kind, evidence_id, evidence_stage, role FROM decision_evidence_raw FINAL
		WHERE project = ? AND decision_id IN ? ORDER BY decision_id, role = ? DESC, evidence_id`,
		project, clickhouse.Set(ids), schema.RoleStatement)
	if err != nil {
		return fmt.Errorf("read evidence of decisions: %w", err)
	}
	verified, err := l.everVerified(ctx, project, slices.Concat(slices.Collect(maps.Values(grounds))...))
	if err != nil {
		return fmt.Errorf("read which evidence of decisions was verified: %w", err)
	}
	for i := range decisions {
		decisions[i].Evidence = slices.DeleteFunc(grounds[ids[i]], func(g DecisionGround) bool { return !verified[g.key()] })
	}
	var sides, tasks []*Side
	for i := range decisions {
		for k := range decisions[i].Evidence {
			if g := &decisions[i].Evidence[k]; g.Kind == schema.GroundEntity {
				tasks = append(tasks, &g.Side)
			} else {
				sides = append(sides, &g.Side)
			}
		}
	}
	if err := l.describe(ctx, project, sides); err != nil {
		return err
	}
	if err := l.describeTasks(ctx, project, tasks); err != nil {
		return err
	}
	for i := range decisions {
		if len(decisions[i].Evidence) == 0 {
			decisions[i].Flagged = append(decisions[i].Flagged, "nothing that it rests on was ever verified")
		}
		for _, g := range decisions[i].Evidence {
			if why := g.flag(); why != "" {
				decisions[i].Flagged = append(decisions[i].Flagged, why)
			}
		}
	}
	return nil
}

// groundKey identifies a ground by its kind and id.
type groundKey struct{ kind, id string }

func (g DecisionGround) key() groundKey { return groundKey{g.Kind, g.EntryID} }

// everVerified returns the grounds that the ledger of promotions has as verified. For a task, that is an entry which states it.
func (l *Ledgers) everVerified(ctx context.Context, project string, grounds []DecisionGround) (map[groundKey]bool, error) {
	ids := map[string][]string{}
	for _, g := range grounds {
		ids[g.Kind] = append(ids[g.Kind], g.EntryID)
	}
	out := map[groundKey]bool{}
	stages := []string{string(schema.StageVerified), string(schema.StageCertified)}
	read := func(kind, sql string, args ...any) error {
		if len(ids[kind]) == 0 {
			return nil
		}
		return query(ctx, l.conn, project, func(rows driver.Rows) error {
			var id string
			err := rows.Scan(&id)
			out[groundKey{kind, id}] = true
			return err
		}, sql, args...)
	}
	err := read(schema.GroundEntry, "SELECT DISTINCT entry_id FROM promotions_raw WHERE project = ? AND entry_id IN ? AND to_stage IN ?",
		project, clickhouse.Set(ids[schema.GroundEntry]), stages)
	if err != nil {
		return nil, err
	}
	tasks := clickhouse.Set(ids[schema.GroundEntity])
	const states = "FROM edges_raw WHERE project = ? AND rel_type = 'evidence_of' AND dst_id IN ?"
	return out, read(schema.GroundEntity, `SELECT DISTINCT dst_id `+states+` AND src_id IN (SELECT entry_id FROM promotions_raw
		WHERE project = ? AND entry_id IN (SELECT src_id `+states+`) AND to_stage IN ?)`, project, tasks, project, project, tasks, stages)
}
