package fact

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
)

// Tables reads the tables of facts. They are as of the last projection of the log.
type Tables struct{ conn clickhouse.Conn }

// NewTables returns a reader of the tables in a migrated database.
func NewTables(conn clickhouse.Conn) *Tables { return &Tables{conn} }

// List returns the facts of the user and agent in the order of their creation.
func (t *Tables) List(ctx context.Context, user, agent string) ([]Fact, error) {
	return t.query(ctx, ofMemory(user, agent), "status = 'active' ORDER BY created_seq")
}

// ListIn is [Tables.List] for the facts that were stated in the project, and those of no project. The origin of a fact is its
// statement in the project.
func (t *Tables) ListIn(ctx context.Context, user, agent, project string) ([]Fact, error) {
	where, args := inProject(user, agent, project)
	facts, err := t.query(ctx, ofMemory(user, agent), "status = 'active' AND "+where+" ORDER BY created_seq", args...)
	if err != nil {
		return nil, err
	}
	return facts, t.setOrigin(ctx, user, agent, project, facts)
}

// setOrigin replaces the origin of facts that another project created by their last statement in the project.
func (t *Tables) setOrigin(ctx context.Context, user, agent, project string, facts []Fact) error {
	at := map[string]int{}
	var ids []string
	for i, f := range facts {
		if f.Project != "" && f.Project != project {
			at[f.ID], ids = i, append(ids, f.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	err := t.read(ctx, user, func(rows driver.Rows) error {
		var id, entryID, sessionID string
		err := rows.Scan(&id, &entryID, &sessionID)
		f := &facts[at[id]]
		f.Project, f.EntryID, f.SessionID = project, entryID, sessionID
		return err
	}, `SELECT duplicate_of, entry_id, session_id FROM facts_skipped_raw
		WHERE user = ? AND agent = ? AND project = ? AND duplicate_of IN ? ORDER BY seq DESC LIMIT 1 BY duplicate_of`,
		user, agent, project, clickhouse.Set(ids))
	if err != nil {
		return fmt.Errorf("read the statements of facts in project %q: %w", project, err)
	}
	return nil
}

// inProject selects the facts that were stated in the project, and those of no project. The first statement created the
// fact, and each later one left a row of a duplicate.
func inProject(user, agent, project string) (where string, args []any) {
	return `(project IN ('', ?) OR fact_id IN (SELECT duplicate_of FROM facts_skipped_raw
		WHERE user = ? AND agent = ? AND project = ? AND duplicate_of != ''))`, []any{project, user, agent, project}
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
	if err := requireUser(user); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return t.find(ctx, user, agent, ids)
}

func (t *Tables) find(ctx context.Context, user, agent string, ids []string) ([]Fact, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return t.facts(ctx, ofMemory(user, agent), "fact_id IN ? ORDER BY created_seq", clickhouse.Set(ids))
}

// Needs lists the data of a memory that a plan requires.
type Needs struct {
	User, Agent string
	// Contents and IDs name the facts that have one of them. Entries are the ids of entries that may have been planned
	// before.
	Contents, IDs, Entries []string
	// Evictions is how many facts the plan may evict.
	Evictions int
	// All asks for all facts that are active.
	All bool
	// Profile asks for the sections of the profile, and Version for the version of the memory.
	Profile, Version bool
	// Uses asks for the uses of the facts as of the time. The zero time asks for none.
	Uses time.Time
}

// wholeFacts is the number of rows up to which a memory is read whole.
const wholeFacts = 256

// planFields are the columns of a [Fact] that a plan needs. Each column more costs each plan.
var planFields = []string{
	"fact_id", "content", "category", "confidence", "status", "entry_id", "created_at", "created_seq", "gone_at", "version",
}

// wholeSQL reads all facts of a memory, with those that a newer row of theirs replaces.
var wholeSQL = "SELECT " + strings.Join(planFields, ", ") + `, toUInt64(0)
	FROM facts_raw WHERE user = ? AND agent = ?`

// partSQL reads the facts for [Tables.Load], in one pass over the facts of a memory.
var partSQL = strings.NewReplacer("{columns}", strings.Join(planFields, ", "), "{picked}", picked(),
	"{order}", strings.Join(evictionOrder, ", ")).Replace(`
	SELECT {picked}, active FROM (
		SELECT countIf(status = 'active') AS active,
			groupArrayIf(tuple({columns}), named) AS found,
			groupArraySortedIf(%d)(tuple({order}, tuple({columns})), status = 'active' AND NOT named) AS weakest,
			arrayJoin(arrayConcat(found, arrayMap(w -> w.4, weakest))) AS f
		FROM (SELECT *, content_key IN ? OR fact_id IN ? AS named FROM facts_raw FINAL WHERE user = ? AND agent = ?)
	)`)

// Statuses and SQL of the rows that follow the facts in a query. A rowDone row names an entry that was planned before,
// rowCleared is when all was forgotten, rowSection is a section of the profile, and rowVersion has the memory's version.
const (
	rowDone    = "done"
	rowCleared = "cleared"
	rowSection = "section"
	rowVersion = "version"

	clearedSQL = `
	UNION ALL
	SELECT '', '', '', 0, 'cleared', '', max(ts) AS last, 0, last, max(seq), 0
	FROM memory_cleared_raw WHERE user = ? AND agent = ? HAVING count() > 0`
	doneSQL = `
	UNION ALL
	SELECT '', '', '', 0, 'done', entry_id, ts, 0, NULL, 0, 0
	FROM facts_skipped_raw WHERE user = ? AND agent = ? AND entry_id IN ?`
	sectionsSQL = `
	UNION ALL
	SELECT section, argMax(summary, (ts, seq)), '', argMax(confidence, (ts, seq)), 'section', '', max(ts), 0, NULL, argMax(seq, (ts, seq)), 0
	FROM profile_raw WHERE user = ? AND agent = ? GROUP BY section
	UNION ALL
	SELECT '', '', '', 0, 'done', entry_id, ts, 0, NULL, 0, 0
	FROM profile_raw WHERE user = ? AND agent = ? AND entry_id IN ?`
	versionSQL = `
	UNION ALL
	SELECT '', '', '', 0, 'version', '', now64(6), 0, NULL, max(version), 0 FROM (
		SELECT max(version) AS version FROM facts_raw WHERE user = ? AND agent = ?
		UNION ALL SELECT max(seq) FROM profile_raw WHERE user = ? AND agent = ?)`
)

// Load returns the data of a memory that a plan requires, of each fact only the columns of planFields. It is one query,
// or two if the memory is not small. The result does not grow with the memory unless the needs ask for all.
func (t *Tables) Load(ctx context.Context, n Needs) (Memory, error) {
	m, whole, err := t.loadWhole(ctx, n)
	if err == nil && !whole {
		m, err = t.loadPart(ctx, n)
	}
	if err == nil && !n.Uses.IsZero() {
		m.Now = n.Uses
		m.Uses, err = t.uses(ctx, n, m.Facts)
	}
	if err != nil {
		return Memory{}, fmt.Errorf("read facts: %w", err)
	}
	return m, nil
}

// loadWhole returns all of a memory that is small: its rows are resolved here, which is cheaper than to have the
// server resolve, count and sort them.
func (t *Tables) loadWhole(ctx context.Context, n Needs) (m Memory, whole bool, err error) {
	rows := 0
	last := map[string]Fact{}
	sql := wholeSQL
	if !n.All {
		sql += fmt.Sprintf(" LIMIT %d", wholeFacts+1)
	}
	err = t.load(ctx, n, &m, sql, []any{n.User, n.Agent}, func(f Fact, _ int) {
		rows++
		if f.Version > last[f.ID].Version {
			last[f.ID] = f
		}
	})
	if err != nil || !n.All && rows > wholeFacts {
		return Memory{}, false, err
	}
	for _, id := range slices.Sorted(maps.Keys(last)) {
		m.Facts = append(m.Facts, last[id])
		if last[id].Status == Active {
			m.Active++
		}
	}
	return m, true, nil
}

// loadPart returns the needed part of a memory of any size.
func (t *Tables) loadPart(ctx context.Context, n Needs) (m Memory, err error) {
	keys := make([]string, len(n.Contents))
	for i, content := range n.Contents {
		keys[i] = Key(content)
	}
	err = t.load(ctx, n, &m, fmt.Sprintf(partSQL, max(1, n.Evictions)), []any{in(keys), in(n.IDs), n.User, n.Agent},
		func(f Fact, active int) {
			m.Active = active
			m.Facts = append(m.Facts, f)
		})
	return m, err
}

// load reads facts, each with the number of active ones if the query counts them, and the other needs.
func (t *Tables) load(ctx context.Context, n Needs, m *Memory, sql string, args []any, take func(f Fact, active int)) error {
	given := map[string]bool{}
	for _, id := range n.Entries {
		given[id] = true
	}
	m.Done, m.Sections = map[string]bool{}, map[string]Section{}
	// A query in braces, because a limit would be that of the union.
	sql, args = "("+sql+")"+clearedSQL, append(args, n.User, n.Agent)
	if len(given) > 0 {
		sql, args = sql+doneSQL, append(args, n.User, n.Agent, in(n.Entries))
	}
	if n.Profile {
		sql, args = sql+sectionsSQL, append(args, n.User, n.Agent, n.User, n.Agent, in(n.Entries))
	}
	if n.Version {
		sql, args = sql+versionSQL, append(args, n.User, n.Agent, n.User, n.Agent)
	}
	return t.read(ctx, n.User, func(rows driver.Rows) error {
		var f Fact
		var status string
		var goneAt *time.Time
		var active uint64
		err := rows.Scan(&f.ID, &f.Content, &f.Category, &f.Confidence, &status, &f.EntryID, &f.CreatedAt, &f.CreatedSeq,
			&goneAt, &f.Version, &active)
		f.resolve(status, goneAt)
		if given[f.EntryID] {
			m.Done[f.EntryID] = true
		}
		switch status {
		case rowDone:
		case rowCleared:
			m.Cleared = f.GoneAt
		case rowSection:
			m.Sections[f.ID] = Section{Name: f.ID, Summary: f.Content, Confidence: f.Confidence, UpdatedAt: f.CreatedAt, Version: f.Version}
		case rowVersion:
			m.Version = f.Version
		default:
			take(f, int(active))
		}
		return err
	}, sql, args...)
}

// picked are the fields of the tuple f.
func picked() string {
	fields := make([]string, len(planFields))
	for i := range planFields {
		fields[i] = fmt.Sprint("f.", i+1)
	}
	return strings.Join(fields, ", ")
}

// in returns the values for the right side of IN, which takes no empty set. No row holds the value that is added.
func in(values []string) any {
	return clickhouse.Set(append(slices.Clip(values), "\x00"))
}

// factFields are the columns of a [Fact].
var factFields = []string{
	"fact_id", "content", "category", "confidence", "source_error", "said_by", "status", "project", "actor",
	"session_id", "entry_id", "created_at", "created_seq", "updated_at", "gone_at", "gone_reason", "version",
}

// evictionOrder are the columns that order facts by eviction, as evicter.before does by confidence.
var evictionOrder = []string{"confidence", "created_at", "created_seq"}

// rowFilter are the rows to read: of one memory, or of all memories of one user.
type rowFilter struct {
	user, where string
	args        []any
}

// ofMemory selects the memory of the agent about the user. The agent may be empty, the user not.
func ofMemory(user, agent string) rowFilter {
	return rowFilter{user, "user = ? AND agent = ?", []any{user, agent}}
}

// ofAllAgents selects the memories of all agents about the user.
func ofAllAgents(user string) rowFilter { return rowFilter{user, "user = ?", []any{user}} }

// read runs a query for rows of the user. Every read of the tables uses it or query, so that none mixes users.
func (t *Tables) read(ctx context.Context, user string, scan func(driver.Rows) error, sql string, args ...any) error {
	if err := requireUser(user); err != nil {
		return err
	}
	return clickhouse.Query(ctx, t.conn, scan, sql, args...)
}

func requireUser(user string) error { return clickhouse.Required("user", user) }

func (t *Tables) query(ctx context.Context, of rowFilter, where string, args ...any) ([]Fact, error) {
	if err := requireUser(of.user); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return t.facts(ctx, of, where, args...)
}

// facts is query without its check, which would stop the projector at a log that contains a memory without a user.
func (t *Tables) facts(ctx context.Context, of rowFilter, where string, args ...any) ([]Fact, error) {
	var out []Fact
	err := clickhouse.Query(ctx, t.conn, clickhouse.Rows(&out, func(rows driver.Rows, f *Fact) error {
		var status string
		var goneAt *time.Time
		err := rows.Scan(&f.ID, &f.Content, &f.Category, &f.Confidence, &f.SourceError, (*string)(&f.SaidBy), &status, &f.Project,
			&f.Actor, &f.SessionID, &f.EntryID, &f.CreatedAt, &f.CreatedSeq, &f.UpdatedAt, &goneAt, &f.GoneReason, &f.Version)
		f.resolve(status, goneAt)
		return err
	}), "SELECT "+strings.Join(factFields, ", ")+" FROM facts_raw FINAL WHERE "+of.where+" AND "+where, slices.Concat(of.args, args)...)
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return slices.Clip(out), nil
}

// resolve sets the fields that the tables store in other forms.
func (f *Fact) resolve(status string, goneAt *time.Time) {
	f.Status = Status(status)
	f.CreatedAt, f.UpdatedAt = f.CreatedAt.UTC(), f.UpdatedAt.UTC()
	if goneAt != nil {
		f.GoneAt = goneAt.UTC()
	}
}
