package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Conn is what of a ClickHouse connection this package uses.
type Conn interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	Exec(ctx context.Context, query string, args ...any) error
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// querySettings let a query carry the ids and contents of a chunk.
var querySettings = clickhouse.Settings{"max_query_size": 64 << 20}

func insert(ctx context.Context, conn Conn, into string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0}))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+into)
	if err != nil {
		return fmt.Errorf("insert into %s: %w", into, err)
	}
	defer func() { _ = batch.Close() }()
	for _, row := range rows {
		if err := batch.Append(row...); err != nil {
			return fmt.Errorf("insert into %s: %w", into, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert into %s: %w", into, err)
	}
	return nil
}

// setOf makes the values the right side of IN.
func setOf(values []string) clickhouse.GroupSet {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return clickhouse.GroupSet{Value: out}
}

// Tables reads the projection. It holds what the log held when it was last projected.
type Tables struct{ conn Conn }

// NewTables returns the reader of the tables of a migrated database.
func NewTables(conn Conn) *Tables { return &Tables{conn} }

// List returns the facts of the user and agent in the order they were created.
func (t *Tables) List(ctx context.Context, user, agent string) ([]Fact, error) {
	return t.query(ctx, "user = ? AND agent = ? AND status = 'active'", user, agent)
}

// Get returns the fact of the user and agent, also when it is gone, or [ErrFactNotFound].
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

// Find returns those of the facts that exist, gone ones included.
func (t *Tables) Find(ctx context.Context, user, agent string, ids []string) ([]Fact, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return t.query(ctx, "user = ? AND agent = ? AND fact_id IN ?", user, agent, setOf(ids))
}

// Load returns what a plan must know of the memory: the active facts, and those gone that say one
// of the contents or have one of the ids.
func (t *Tables) Load(ctx context.Context, user, agent string, contents, ids []string) ([]Fact, error) {
	keys := make([]string, len(contents), len(contents)+1)
	for i, content := range contents {
		keys[i] = Key(content)
	}
	if len(keys) == 0 {
		keys = append(keys, "") // The key of no fact.
	}
	return t.query(ctx, "user = ? AND agent = ? AND (status = 'active' OR content_key IN ? OR fact_id IN ?)",
		user, agent, setOf(keys), setOf(ids))
}

func (t *Tables) query(ctx context.Context, where string, args ...any) ([]Fact, error) {
	// The client adds the deadline to the map it is given.
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(maps.Clone(querySettings)))
	rows, err := t.conn.Query(ctx, `SELECT fact_id, content, category, confidence, source_error, status, project, actor,
		session_id, entry_id, created_at, created_seq, updated_at, gone_at, gone_reason, version
		FROM facts_raw FINAL WHERE `+where+` ORDER BY created_seq`, args...)
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Fact
	for rows.Next() {
		f, err := scanFact(rows)
		if err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		out = append(out, f)
	}
	if err := rows.Err(); err != nil {
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
