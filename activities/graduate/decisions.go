package graduate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
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
	// EntryID keeps the decisions that rest on the entry.
	EntryID string
	// Folded keeps one of several duplicate decisions: that of the original statement, or else the oldest.
	Folded bool
	// Limit is the maximum number of decisions; 0 means [DefaultLimit].
	Limit int
}

// Decisions returns the selected decisions, the latest first.
func (l *Ledgers) Decisions(ctx context.Context, q DecisionQuery) ([]Decision, error) {
	w := whereOf(q.Project, q.User, q.Agent)
	if q.EntryID != "" {
		w.and("decision_id IN (SELECT decision_id FROM decision_evidence WHERE project = ? AND evidence_id = ?)", q.Project, q.EntryID)
	}
	if q.Folded {
		w.and("place = 1")
	}
	return l.decisions(ctx, w, q.Limit)
}

// Decision returns the decision of the project with the id, or [ErrNoDecision]. An id may be given by its first characters.
func (l *Ledgers) Decision(ctx context.Context, project, id string) (Decision, error) {
	named := table.Prefix{What: "decision", Where: fmt.Sprintf("project %q", project), Given: id, NotFound: ErrNoDecision}
	if !named.Long() {
		return Decision{}, named.Missing("as decisions prints it")
	}
	w := whereOf(project, nil, nil)
	w.and("startsWith(decision_id, ?)", named.Text())
	found, err := l.decisions(ctx, w, table.MostPrefixed)
	if err != nil {
		return Decision{}, err
	}
	return table.Choose(named, found, func(d Decision) string { return d.ID })
}

// sameDecisions selects the decisions of a project, each with the ids of its duplicates and its place among them.
// Decisions are duplicates if their statements have the same original. A decision without a statement has no
// duplicates.
const sameDecisions = `
	SELECT *, arraySort(groupArray(decision_id) OVER said) AS same,
	       row_number() OVER (PARTITION BY project, user, agent, root ORDER BY original DESC, ts, decision_id) AS place
	FROM (
		SELECT d.decision_id AS decision_id, d.project AS project, d.user AS user, d.agent AS agent, d.ts AS ts, d.action AS action,
		       d.actor AS actor, d.confidence AS confidence, if(s.root = '', d.decision_id, s.root) AS root, s.root = s.stated AS original
		FROM decisions_raw AS d FINAL
		LEFT JOIN (
			SELECT e.decision_id AS decision_id, e.evidence_id AS stated, if(l.other_id = '', e.evidence_id, l.other_id) AS root
			FROM (SELECT decision_id, min(evidence_id) AS evidence_id FROM decision_evidence WHERE role = ? AND project = ?
			      GROUP BY decision_id) AS e
			LEFT JOIN (SELECT entry_id, other_id FROM entry_changes_raw FINAL WHERE project = ? AND kind = 'link') AS l
			ON l.entry_id = e.evidence_id
		) AS s ON s.decision_id = d.decision_id
		WHERE d.project = ?
	)
	WINDOW said AS (PARTITION BY project, user, agent, root)`

func (l *Ledgers) decisions(ctx context.Context, w *where, limit int) ([]Decision, error) {
	var out []Decision
	err := query(ctx, l.conn, w.project, table.Rows(&out, func(rows driver.Rows, d *Decision) error {
		var same []string
		err := rows.Scan(&d.ID, &d.Project, &d.User, &d.Agent, &d.At, &d.Action, &d.By, &d.Confidence, &same)
		d.SaidAlso = slices.DeleteFunc(same, func(id string) bool { return id == d.ID })
		return err
	}), `SELECT decision_id, project, user, agent, ts, action, actor, confidence, same FROM (`+sameDecisions+`)`+w.sql()+
		` ORDER BY ts DESC, decision_id`+limited(limit), append([]any{schema.RoleStatement, w.project, w.project, w.project}, w.args...)...)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	return out, l.ground(ctx, w.project, out)
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

// ground adds their grounds to the decisions. The view leaves out grounds that were never verified.
func (l *Ledgers) ground(ctx context.Context, project string, decisions []Decision) error {
	at, ids := map[string]*Decision{}, make([]string, len(decisions))
	for i := range decisions {
		ids[i] = decisions[i].ID
		at[ids[i]] = &decisions[i]
	}
	if len(ids) == 0 {
		return nil
	}
	err := query(ctx, l.conn, project, func(rows driver.Rows) error {
		var id string
		var g DecisionGround
		err := rows.Scan(&id, &g.Kind, &g.EntryID, (*string)(&g.Recorded), &g.Role)
		at[id].Evidence = append(at[id].Evidence, g)
		return err
	}, `SELECT decision_id, evidence_kind, evidence_id, evidence_stage, role FROM decision_evidence
		WHERE project = ? AND decision_id IN ? ORDER BY decision_id, role = ? DESC, evidence_id`,
		project, table.Set(ids), schema.RoleStatement)
	if err != nil {
		return fmt.Errorf("read evidence of decisions: %w", err)
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
