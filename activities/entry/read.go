package entry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// ErrNotFound is returned when no entry has the id.
var ErrNotFound = errors.New("no such entry")

// Row is an entry as projected, with the event and the build it came from.
type Row struct {
	schema.Entry
	SupersededBy string `json:"superseded_by,omitempty"`
	BuildID      string `json:"build_id"`
	EventID      string `json:"event_id"`
	// EvidenceSessionID is the session whose messages Evidence is of, and EvidenceEventID the event that tells
	// of it. An entry that was stated again in another session may have gained the evidence there.
	EvidenceSessionID string `json:"evidence_session_id"`
	EvidenceEventID   string `json:"evidence_event_id"`
}

// EvidenceSession identifies the session whose messages the entry's evidence is of.
func (r Row) EvidenceSession() schema.SessionKey {
	return schema.SessionKey{Scope: r.Scope, SessionID: r.EvidenceSessionID}
}

// minPrefix is how much of an id must be given. Lists print eight characters.
const minPrefix = 4

// Get returns the entry of the project with the id, or ErrNotFound. An id may be given by its first
// characters, as long as one entry alone begins with them.
func Get(ctx context.Context, conn driver.Conn, project, id string) (Row, error) {
	const shown = 3
	id = strings.ToLower(strings.TrimSpace(id))
	if len(id) < minPrefix {
		return Row{}, fmt.Errorf("%w: %q in project %q: give %d or more characters of its id", ErrNotFound, id, project, minPrefix)
	}
	rows, err := query(ctx, conn, "project = ? AND startsWith(entry_id, ?) ORDER BY entry_id LIMIT ?", project, id, shown)
	switch {
	case err != nil:
		return Row{}, err
	case len(rows) == 0:
		return Row{}, fmt.Errorf("%w: %q in project %q: search and facts print the ids of entries", ErrNotFound, id, project)
	case len(rows) > 1 && rows[0].ID != id:
		ids := make([]string, len(rows))
		for i, r := range rows {
			ids[i] = r.ID
		}
		return Row{}, fmt.Errorf("%w: several begin with %q in project %q, such as %s: give more of the id",
			ErrNotFound, id, project, strings.Join(ids, ", "))
	}
	return rows[0], nil
}

// OfSession returns the entries of the session in the order they were made.
func OfSession(ctx context.Context, conn driver.Conn, session schema.SessionKey) ([]Row, error) {
	return query(ctx, conn, "project = ? AND entry_id IN (SELECT entry_id FROM entries_raw WHERE project = ? AND stream = ?) ORDER BY created_ts, entry_id",
		session.Project, session.Project, session.Stream())
}

// WithTitlesOf returns the user's entries with the ids, and all others of the project that have one of the
// titles in the form of [Normalize], the newest first. Ids are what both sides of the view are pruned by.
func WithTitlesOf(ctx context.Context, conn driver.Conn, project, user string, ids, titles []string) ([]Row, error) {
	keys := make([]string, len(titles))
	for i, title := range titles {
		keys[i] = titleKey(title)
	}
	return query(ctx, conn, `project = ? AND user = ? AND entry_id IN (SELECT entry_id FROM entries_raw
		WHERE project = ? AND user = ? AND (entry_id IN ? OR `+titleKeyColumn+` IN ?)) ORDER BY created_ts DESC, entry_id`,
		project, user, project, user, ids, keys)
}

func query(ctx context.Context, conn driver.Conn, where string, args ...any) ([]Row, error) {
	var out []Row
	err := table.Query(ctx, conn, func(rows driver.Rows) error {
		var r Row
		var entryType, stage, status, contentJSON, evidenceJSON string
		var rule uint32
		if err := rows.Scan(&r.ID, &r.OccurredAt, &entryType, &r.Title, &contentJSON, &stage, &status,
			&r.SupersededBy, &r.BuildID, &evidenceJSON, &r.EvidenceAligned, &r.EvidenceProven, &rule,
			&r.EvidenceSessionID, &r.EvidenceEventID, &r.CanonicalKey, &r.Project, &r.User, &r.Agent, &r.SessionID,
			&r.EventID); err != nil {
			return err
		}
		r.EvidenceRule = int(rule)
		r.Type, r.Stage, r.Status = schema.EntryType(entryType), schema.Stage(stage), schema.Status(status)
		var c content
		if err := errors.Join(json.Unmarshal([]byte(contentJSON), &c), json.Unmarshal([]byte(evidenceJSON), &r.Evidence)); err != nil {
			return fmt.Errorf("decode entry %q: %w", r.ID, err)
		}
		r.Content, r.Category, r.Confidence, r.Task = c.Content, c.Category, c.Confidence, c.Task
		out = append(out, r)
		return nil
	}, `SELECT entry_id, created_ts, entry_type, title, content_json, stage, status,
		superseded_by, build_id, evidence_json, evidence_aligned, evidence_proven, evidence_rule,
		evidence_session_id, evidence_event_id, canonical_key, project, user, agent, session_id, event_id FROM entries WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	return out, nil
}
