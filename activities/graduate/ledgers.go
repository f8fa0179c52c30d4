package graduate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/schema"
)

// Errors for ids that name nothing.
var (
	ErrNoConflict = errors.New("no such conflict")
	ErrNoDecision = errors.New("no such decision")
	ErrNoProposal = errors.New("no such proposal")
)

// Ledgers reads the ledgers, as of the last projection of the log.
type Ledgers struct {
	conn    clickhouse.Conn
	entries *entry.Reader
}

// NewLedgers returns a reader over a migrated database.
func NewLedgers(conn clickhouse.Conn) *Ledgers { return &Ledgers{conn, entry.NewReader(conn)} }

// query runs a query for rows of the project. All reads of the ledgers use it, so that none spans several projects.
func query(ctx context.Context, conn clickhouse.Conn, project string, scan func(driver.Rows) error, sql string, args ...any) error {
	if err := clickhouse.Required("project", project); err != nil {
		return err
	}
	return clickhouse.Query(ctx, conn, scan, sql, args...)
}

// Side is an entry as a ledger shows it.
type Side struct {
	EntryID    string           `json:"entry_id"`
	Type       schema.EntryType `json:"entry_type,omitempty"`
	Title      string           `json:"title,omitempty"`
	Stage      schema.Stage     `json:"stage,omitempty"`
	Status     schema.Status    `json:"status,omitempty"`
	SessionID  string           `json:"session_id,omitempty"`
	OccurredAt time.Time        `json:"occurred_at,omitzero"`
}

// Conflict is a row of the ledger of conflicts.
type Conflict struct {
	ID string `json:"conflict_id"`
	schema.Scope
	Older Side `json:"older"`
	Newer Side `json:"newer"`
	// Type is the kind of difference, and Reason describes it in a sentence.
	Type   string `json:"conflict_type"`
	Reason string `json:"reason"`
	// Model is the model that found the conflict. It is empty if the rule found it.
	Model      string    `json:"model,omitempty"`
	DetectedAt time.Time `json:"detected_at"`
	// ResolvedAt is zero while the conflict is open.
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
	// Kept is the id of the entry that is right: empty if both are.
	Kept       string `json:"kept,omitempty"`
	Resolution string `json:"resolution,omitempty"`
	ResolvedBy string `json:"resolved_by,omitempty"`
}

// Open reports whether the conflict contests its sides.
func (c Conflict) Open() bool { return c.ResolvedAt.IsZero() }

// ConflictQuery selects conflicts of a project.
type ConflictQuery struct {
	Project string
	// User and Agent are nil for all users and agents. Empty ones select the conflicts without a user or agent.
	User, Agent *string
	// EntryID keeps the conflicts that the entry is a side of.
	EntryID string
	// Resolved adds the resolved conflicts.
	Resolved bool
	// Limit is the maximum number of conflicts; 0 means [DefaultLimit].
	Limit int
}

// DefaultLimit is the maximum number of rows of a ledger that a query without a limit returns.
const DefaultLimit = 1000

// Conflicts returns the selected conflicts, the open ones first, then the latest first.
func (l *Ledgers) Conflicts(ctx context.Context, q ConflictQuery) ([]Conflict, error) {
	w := whereOf(q.Project, q.User, q.Agent)
	if q.EntryID != "" {
		w.and("(older_id = ? OR newer_id = ?)", q.EntryID, q.EntryID)
	}
	if !q.Resolved {
		w.and("resolved_at IS NULL")
	}
	return l.conflicts(ctx, w, q.Limit)
}

// Conflict returns the conflict of the project with the id, or [ErrNoConflict]. An id may be given by its first characters.
func (l *Ledgers) Conflict(ctx context.Context, project, id string) (Conflict, error) {
	named := clickhouse.Prefix{What: "conflict", Where: fmt.Sprintf("project %q", project), Given: id, NotFound: ErrNoConflict}
	if !named.Long() {
		return Conflict{}, named.Missing("as conflicts prints it")
	}
	w := whereOf(project, nil, nil)
	w.and("startsWith(conflict_id, ?)", named.Text())
	found, err := l.conflicts(ctx, w, clickhouse.MostPrefixed)
	if err != nil {
		return Conflict{}, err
	}
	return clickhouse.Choose(named, found, func(c Conflict) string { return c.ID })
}

// ProjectsWith is [clickhouse.ProjectsWith] for conflicts and decisions.
func (l *Ledgers) ProjectsWith(ctx context.Context, prefix string) ([]string, error) {
	return clickhouse.ProjectsWith(ctx, l.conn,
		"(SELECT project, conflict_id AS id FROM conflicts_raw UNION ALL SELECT project, decision_id FROM decisions_raw)", "id", prefix)
}

func (l *Ledgers) conflicts(ctx context.Context, w *where, limit int) ([]Conflict, error) {
	var out []Conflict
	err := query(ctx, l.conn, w.project, clickhouse.Rows(&out, func(rows driver.Rows, c *Conflict) error {
		var resolved *time.Time
		err := rows.Scan(&c.Project, &c.User, &c.Agent, &c.ID, &c.Older.EntryID, &c.Newer.EntryID, &c.Type, &c.Reason,
			&c.DetectedAt, &resolved, &c.Kept, &c.Resolution, &c.ResolvedBy, &c.Model)
		if resolved != nil {
			c.ResolvedAt = *resolved
		}
		return err
	}), `SELECT project, user, agent, conflict_id, older_id, newer_id, conflict_type, reason, detected_at, resolved_at, kept,
		resolution, resolved_by, model FROM conflicts`+w.sql()+` ORDER BY resolved_at IS NOT NULL, detected_at DESC, conflict_id`+
		limited(limit), w.args...)
	if err != nil {
		return nil, fmt.Errorf("read conflicts: %w", err)
	}
	var sides []*Side
	for i := range out {
		sides = append(sides, &out[i].Older, &out[i].Newer)
	}
	return out, l.describe(ctx, w.project, sides)
}

// describe fills the sides, which have only ids, with the current state of their entries.
func (l *Ledgers) describe(ctx context.Context, project string, sides []*Side) error {
	ids := make([]string, len(sides))
	for i, s := range sides {
		ids[i] = s.EntryID
	}
	slices.Sort(ids)
	rows, err := l.entries.ByID(ctx, entry.InProject(project).IDs(slices.Compact(ids)), entry.Lifecycle)
	if err != nil {
		return err
	}
	for _, s := range sides {
		if row, ok := rows[s.EntryID]; ok {
			*s = sideOf(row)
		}
	}
	return nil
}

func sideOf(row entry.Row) Side {
	return Side{
		EntryID: row.ID, Type: row.Type, Title: row.Title, Stage: row.Stage, Status: row.Status, SessionID: row.SessionID,
		OccurredAt: row.OccurredAt.UTC(),
	}
}

// Promotion is a row of the ledger of promotions: a step of an entry from one stage to another.
type Promotion struct {
	EntryID string       `json:"entry_id"`
	At      time.Time    `json:"at"`
	From    schema.Stage `json:"from"`
	To      schema.Stage `json:"to"`
	Demotes bool         `json:"demotes,omitempty"`
	// Policy is the version of the rules. Verifier is set if the step needed a proof, and CheckedEventID if that proof
	// came from a check of the session.
	Policy         int      `json:"policy"`
	Verifier       string   `json:"verifier,omitempty"`
	CheckedEventID string   `json:"checked_event_id,omitempty"`
	Actor          string   `json:"actor"`
	Reasons        []string `json:"reasons"`
	// Sources are the ids of the entries that corroborate it.
	Sources []string `json:"sources,omitempty"`
	EventID string   `json:"event_id"`
	// Stream is the session's, or that of graduation.
	Stream string `json:"stream"`
}

// Promotions returns the steps of the entry, the oldest first.
func (l *Ledgers) Promotions(ctx context.Context, project, entryID string) ([]Promotion, error) {
	var out []Promotion
	err := query(ctx, l.conn, project, clickhouse.Rows(&out, func(rows driver.Rows, p *Promotion) error {
		var policy uint32
		err := rows.Scan(&p.EntryID, &p.At, (*string)(&p.From), (*string)(&p.To), &p.Demotes, &policy, &p.Verifier, &p.CheckedEventID, &p.Actor, &p.Reasons,
			&p.Sources, &p.EventID, &p.Stream)
		p.Policy = int(policy)
		return err
	}), `SELECT entry_id, ts, from_stage, to_stage, demotes, policy, verifier, checked_event_id, actor, reasons, sources,
		event_id, stream FROM promotions_raw FINAL WHERE project = ? AND entry_id = ?
		ORDER BY ts, stream, version, indexOf(['raw', 'working', 'candidate', 'verified', 'certified'], to_stage)`, project, entryID)
	if err != nil {
		return nil, fmt.Errorf("read promotions of entry %q: %w", entryID, err)
	}
	return out, nil
}

// promotionsOf returns the steps of a session's event.
func promotionsOf(event schema.Event, p schema.EntriesPromotedPayload) []Promotion {
	out := make([]Promotion, len(p.Promotions))
	for i, step := range p.Promotions {
		out[i] = Promotion{
			EntryID: step.EntryID, At: event.TS, From: step.From, To: step.To, Policy: p.Policy, Verifier: p.Verifier,
			CheckedEventID: p.CheckedEventID, Actor: event.Actor, Reasons: step.Reasons, EventID: event.ID, Stream: event.Stream,
		}
	}
	return out
}

// where is a conjunction of conditions on a ledger of one project.
type where struct {
	project string
	parts   []string
	args    []any
}

// whereOf selects the project, and the user and the agent if they are given.
func whereOf(project string, user, agent *string) *where {
	w := &where{project: project}
	w.and("project = ?", project)
	if user != nil {
		w.and("user = ?", *user)
	}
	if agent != nil {
		w.and("agent = ?", *agent)
	}
	return w
}

func (w *where) and(sql string, args ...any) {
	w.parts, w.args = append(w.parts, sql), append(w.args, args...)
}

func (w *where) sql() string { return " WHERE " + strings.Join(w.parts, " AND ") }

func limited(limit int) string {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return fmt.Sprintf(" LIMIT %d", limit)
}
