package entry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// ErrNotFound is returned when no entry has the id.
var ErrNotFound = errors.New("no such entry")

// Row is an entry as projected, with the event and the build it came from.
type Row struct {
	schema.Entry
	SupersededBy string `json:"superseded_by,omitempty"`
	// EndedAt is when the entry ceased to be believed, zero while it is. EndedBecause and EndedBy are the reason and the
	// actor, if graduation ended it.
	EndedAt      time.Time `json:"ended_at,omitzero"`
	EndedBecause string    `json:"ended_because,omitempty"`
	EndedBy      string    `json:"ended_by,omitempty"`
	// OriginalID is the oldest entry that says the same, empty if this one is.
	OriginalID string `json:"original_id,omitempty"`
	// Conflicts counts the open conflicts that the entry is a side of.
	Conflicts int `json:"conflicts,omitempty"`
	// ContestedBy are the other sides of these conflicts, in the order of their ids. Only the selections of a few entries by
	// their ids, their session or their statement read them.
	ContestedBy []string `json:"-"`
	BuildID     string   `json:"build_id"`
	EventID     string   `json:"event_id"`
	// EvidenceSessionID is the session that the evidence quotes; EvidenceEventID is the event that recorded it. An entry
	// that was stated again in another session may have gained the evidence there.
	EvidenceSessionID string `json:"evidence_session_id"`
	EvidenceEventID   string `json:"evidence_event_id"`
}

// EvidenceSession identifies the session whose messages the entry's evidence is of.
func (r Row) EvidenceSession() schema.SessionKey {
	return schema.SessionKey{Scope: r.Scope, SessionID: r.EvidenceSessionID}
}

// Detail is how much of each entry to read. Each one includes those before it; omitted fields are zero.
type Detail int

// Details, from the cheapest on.
const (
	// Statement is the text of an entry, and the time and session of it. It never changes.
	Statement Detail = iota
	// Lifecycle adds the stage, whether the evidence is aligned and proven, the status and its details: the end of belief,
	// successors, and entries that state the same.
	Lifecycle
	// Whole adds all other fields, such as the evidence, which is most of the stored size of an entry.
	Whole
)

// Reader reads entries. It alone knows the columns of their projection.
type Reader struct{ conn clickhouse.Conn }

// NewReader returns a reader over a migrated database.
func NewReader(conn clickhouse.Conn) *Reader { return &Reader{conn} }

// Read returns the selected entries in the selection's order.
func (r *Reader) Read(ctx context.Context, s Selection, detail Detail) ([]Row, error) {
	if s.few && detail > Statement {
		return r.folded(ctx, s, detail)
	}
	var out []Row
	err := r.query(ctx, s, detail.columns(), detail > Statement, func(rows driver.Rows) error {
		row, err := scan(rows, detail)
		out = append(out, row)
		return err
	})
	return out, err
}

// ByID returns the selected entries by their ids.
func (r *Reader) ByID(ctx context.Context, s Selection, detail Detail) (map[string]Row, error) {
	rows, err := r.Read(ctx, s, detail)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Row, len(rows))
	for _, row := range rows {
		out[row.ID] = row
	}
	return out, nil
}

// Any reports whether the project has entries.
func (r *Reader) Any(ctx context.Context, project string) (bool, error) {
	var found []string
	// The first row that the engine meets will do: no version of it is folded.
	err := clickhouse.Query(ctx, r.conn, clickhouse.Column(&found), "SELECT entry_id FROM entries_raw WHERE project = ? LIMIT 1", project)
	return len(found) > 0, err
}

// IDs returns the ids of the selected entries in the selection's order.
func (r *Reader) IDs(ctx context.Context, s Selection) ([]string, error) {
	var out []string
	err := r.query(ctx, s, "entry_id", false, clickhouse.Column(&out))
	return out, err
}

// Stated is when an entry was stated, and how long its title is in bytes.
type Stated struct {
	ID    string
	At    time.Time
	Bytes int
}

// Stated returns the times of the selected entries in the selection's order.
func (r *Reader) Stated(ctx context.Context, s Selection) ([]Stated, error) {
	var out []Stated
	err := r.query(ctx, s, "entry_id, created_ts, length(title)", false, clickhouse.Rows(&out, func(rows driver.Rows, e *Stated) error {
		var bytes uint64
		err := rows.Scan(&e.ID, &e.At, &bytes)
		e.At, e.Bytes = e.At.UTC(), int(bytes)
		return err
	}))
	return out, err
}

// Stages returns the stages of the selected entries that are believed, by their ids.
func (r *Reader) Stages(ctx context.Context, s Selection) (map[string]schema.Stage, error) {
	rows, err := r.Read(ctx, s.Believed(), Lifecycle)
	out := make(map[string]schema.Stage, len(rows))
	for _, row := range rows {
		out[row.ID] = row.Stage
	}
	return out, err
}

// Get returns the entry of the project with the id, or [ErrNotFound]. An id may be given by its first characters. If
// several ids begin with them, the error is [clickhouse.ErrAmbiguous].
func (r *Reader) Get(ctx context.Context, project, id string) (Row, error) {
	named := clickhouse.Prefix{What: "entry", Where: fmt.Sprintf("project %q", project), Given: id, NotFound: ErrNotFound}
	if !named.Long() {
		return Row{}, named.Missing(whereIDs)
	}
	rows, err := r.Read(ctx, InProject(project).Prefix(named.Text()).Limit(clickhouse.MostPrefixed), Whole)
	if err != nil {
		return Row{}, err
	}
	if len(rows) == 0 {
		return Row{}, named.Missing(whereIDs)
	}
	return clickhouse.Choose(named, rows, func(row Row) string { return row.ID })
}

// ProjectsWith is [clickhouse.ProjectsWith] for entries.
func (r *Reader) ProjectsWith(ctx context.Context, prefix string) ([]string, error) {
	return clickhouse.ProjectsWith(ctx, r.conn, "entries_raw", "entry_id", prefix)
}

const whereIDs = "as search and facts print it"

func (r *Reader) query(ctx context.Context, s Selection, columns string, fromView bool, scan func(driver.Rows) error) error {
	sql, args, err := s.sql(columns, fromView)
	if err != nil || s.none {
		return err
	}
	if err := clickhouse.Query(ctx, r.conn, scan, sql, args...); err != nil {
		return fmt.Errorf("read entries: %w", err)
	}
	return nil
}

func (d Detail) columns() string {
	columns := "entry_id, created_ts, entry_type, title, content_json, project, user, agent, session_id"
	if d >= Lifecycle {
		columns += `, stage, status, superseded_by, ended_at, ended_because, ended_by, original_id, conflicts,
			evidence_aligned, evidence_proven`
	}
	if d >= Whole {
		columns += `, build_id, event_id, canonical_key, evidence_rule, evidence_session_id, evidence_event_id, evidence_json`
	}
	return columns
}

// scan reads a row of the detail's columns.
func scan(rows driver.Rows, detail Detail) (Row, error) {
	var r Row
	var entryType, contentJSON, stage, status, evidenceJSON string
	var rule uint32
	var conflicts uint64
	into := []any{&r.ID, &r.OccurredAt, &entryType, &r.Title, &contentJSON, &r.Project, &r.User, &r.Agent, &r.SessionID}
	if detail >= Lifecycle {
		into = append(into, &stage, &status, &r.SupersededBy, &r.EndedAt, &r.EndedBecause, &r.EndedBy, &r.OriginalID, &conflicts,
			&r.EvidenceAligned, &r.EvidenceProven)
	}
	if detail >= Whole {
		into = append(into, &r.BuildID, &r.EventID, &r.CanonicalKey, &rule, &r.EvidenceSessionID, &r.EvidenceEventID, &evidenceJSON)
	}
	if err := rows.Scan(into...); err != nil {
		return r, err
	}
	r.Type, r.Stage, r.Status = schema.EntryType(entryType), schema.Stage(stage), schema.Status(status)
	r.EvidenceRule, r.Conflicts = int(rule), int(conflicts)
	if r.EndedAt.Unix() == 0 {
		r.EndedAt = time.Time{}
	}
	return r, r.decode(contentJSON, evidenceJSON)
}
