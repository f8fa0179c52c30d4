package fact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
)

// Tables reads the tables of facts. They are as of the last projection of the log.
type Tables struct{ conn table.Conn }

// NewTables returns a reader of the tables in a migrated database.
func NewTables(conn table.Conn) *Tables { return &Tables{conn} }

// List returns the facts of the user and agent in the order of their creation.
func (t *Tables) List(ctx context.Context, user, agent string) ([]Fact, error) {
	return t.query(ctx, "user = ? AND agent = ? AND status = 'active' ORDER BY created_seq", user, agent)
}

// Page returns up to limit facts of the user and agent in the order of their creation, after skipping offset of them.
func (t *Tables) Page(ctx context.Context, user, agent string, limit, offset int) ([]Fact, error) {
	return t.query(ctx, "user = ? AND agent = ? AND status = 'active' ORDER BY created_seq LIMIT ? OFFSET ?", user, agent, limit, offset)
}

// Get returns the fact of the user and agent, even if it is deleted or evicted, or [ErrFactNotFound].
func (t *Tables) Get(ctx context.Context, user, agent, id string) (Fact, error) {
	found, err := t.Find(ctx, user, agent, []string{id})
	if err != nil {
		return Fact{}, err
	}
	if len(found) == 0 {
		return Fact{}, fmt.Errorf("get fact %q of user %q, agent %q: %w", id, user, agent, ErrFactNotFound)
	}
	return found[0], nil
}

// Find returns the facts that exist, deleted and evicted ones included.
func (t *Tables) Find(ctx context.Context, user, agent string, ids []string) ([]Fact, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return t.query(ctx, "user = ? AND agent = ? AND fact_id IN ? ORDER BY created_seq", user, agent, table.Set(ids))
}

// Load returns the facts that a plan needs: the active ones, and those deleted or evicted that have one of the
// contents or ids.
func (t *Tables) Load(ctx context.Context, user, agent string, contents, ids []string) ([]Fact, error) {
	keys := make([]string, len(contents), len(contents)+1)
	for i, content := range contents {
		keys[i] = Key(content)
	}
	if len(keys) == 0 {
		keys = append(keys, "") // The key of no fact.
	}
	return t.query(ctx, "user = ? AND agent = ? AND (status = 'active' OR content_key IN ? OR fact_id IN ?) ORDER BY created_seq",
		user, agent, table.Set(keys), table.Set(ids))
}

func (t *Tables) query(ctx context.Context, where string, args ...any) ([]Fact, error) {
	var out []Fact
	err := table.Query(ctx, t.conn, func(rows driver.Rows) error {
		f, err := scanFact(rows)
		out = append(out, f)
		return err
	}, `SELECT fact_id, content, category, confidence, source_error, status, project, actor,
		session_id, entry_id, created_at, created_seq, updated_at, gone_at, gone_reason, version
		FROM facts_raw FINAL WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return slices.Clip(out), nil
}

func scanFact(rows driver.Rows) (Fact, error) {
	var f Fact
	var status string
	var goneAt *time.Time
	err := rows.Scan(&f.ID, &f.Content, &f.Category, &f.Confidence, &f.SourceError, &status, &f.Project, &f.Actor,
		&f.SessionID, &f.EntryID, &f.CreatedAt, &f.CreatedSeq, &f.UpdatedAt, &goneAt, &f.GoneReason, &f.Version)
	f.Status = Status(status)
	f.CreatedAt, f.UpdatedAt = f.CreatedAt.UTC(), f.UpdatedAt.UTC()
	if goneAt != nil {
		f.GoneAt = goneAt.UTC()
	}
	return f, err
}
