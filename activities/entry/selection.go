package entry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Errors of a [Selection] without an owner, which never selects all entries instead. Both wrap [clickhouse.ErrNoScope].
var (
	ErrNoProject = fmt.Errorf("select entries: %w", clickhouse.Required("project", ""))
	// ErrNoUser is of [OfMemory] alone: within a project, the empty user is one, too.
	ErrNoUser = fmt.Errorf("select entries: %w", clickhouse.Required("user", ""))
)

// Selection selects the entries to read. It starts with their owner, by [InProject], [OfUser], [OfAgent], [OfMemory],
// [OfSession] or [InAllProjects]. Each method returns a narrower one. The zero value is refused.
type Selection struct {
	project     string
	allProjects bool
	// noUser is set in a selection over all projects that is of a user, and does not name one.
	noUser bool
	// none is set when nothing can match, such as by an empty list of ids.
	none bool
	// few is set by conditions that leave few entries: [OfSession], [Selection.IDs], [Selection.AnyOf] and [Selection.Prefix]. Finding the ids
	// first spares the engine reading the rows of all other entries.
	few        bool
	conditions []condition
	order      order
	limit      int
}

// order is an order of entries, in SQL and in Go.
type order struct {
	sql     string
	compare func(a, b Row) int
}

// condition is a part of WHERE. Its origin decides where it can be asked.
type condition struct {
	sql    string
	args   []any
	origin origin
	// keep is the condition of judged columns on a row.
	keep func(Row) bool
}

// origin says where the columns of a condition come from.
type origin int

const (
	// key columns are in the entry's row and in those of its judgements: both sides of the view are
	// pruned by them.
	key origin = iota
	// stated columns are in the entry's row alone. They never change, so any version of the row will do.
	stated
	// judged columns are in the view alone.
	judged
)

// InProject selects all entries of a project, of every user.
func InProject(project string) Selection {
	return Selection{project: project}
}

// OfUser selects the entries of one user of a project. The empty user is one, too.
func OfUser(project, user string) Selection {
	return InProject(project).and(key, "user = ?", user)
}

// OfAgent selects the entries of one user and agent of a project. Empty ones are compared, too.
func OfAgent(scope schema.Scope) Selection {
	return OfUser(scope.Project, scope.User).and(key, "agent = ?", scope.Agent)
}

// OfMemory selects the entries of one user and agent in every project: an agent's memory of a user is shared by all
// projects. The agent may be empty, the user not.
func OfMemory(user, agent string) Selection {
	return Selection{allProjects: true, noUser: user == ""}.and(key, "user = ? AND agent = ?", user, agent)
}

// OfSession selects the entries that were made of a session. An entry stays its session's when another one
// gives it better evidence.
func OfSession(session schema.SessionKey) Selection {
	// The stream decides; the session's id has an index.
	s := InProject(session.Project).and(stated, "session_id = ? AND stream = ?", session.SessionID, session.Stream())
	s.few = true
	return s
}

// InAllProjects selects all entries. It is for upkeep, and never for queries of a person or an agent.
func InAllProjects() Selection { return Selection{allProjects: true} }

// IDs keeps the entries with the ids: none where there are no ids.
func (s Selection) IDs(ids []string) Selection {
	s.none, s.few = s.none || len(ids) == 0, true
	return s.and(key, "entry_id IN ?", clickhouse.Set(ids))
}

// Prefix keeps the entries whose ids begin with the text.
func (s Selection) Prefix(id string) Selection {
	s.few = true
	return s.and(key, "startsWith(entry_id, ?)", id)
}

// Titles keeps the entries that have one of the titles in their normal form: none where there are no titles.
// Summaries of the profile are not among them.
func (s Selection) Titles(titles []string) Selection { return s.stating(titleKeys(titles)) }

// stating keeps the entries of the keys, as statedKey makes them: none where there are no keys. The column title_key
// holds them.
func (s Selection) stating(keys []string) Selection {
	s.none = s.none || len(keys) == 0
	return s.and(stated, "title_key IN ?", keys)
}

// AnyOf keeps the entries that [Selection.IDs] or [Selection.Titles] keeps, and those that say the same as one of the
// originals. Each part is found by an index of its own: with OR between their columns, the engine would read all rows.
func (s Selection) AnyOf(ids, titles, originals []string) Selection {
	s.none, s.few = s.none || len(ids)+len(titles)+len(originals) == 0, true
	titled, linked := s.where(key), s.where()
	titled.add("title_key IN ?", []any{titleKeys(titles)})
	linked.add("kind = ? AND other_id IN ?", []any{kindLink, originals})
	return s.and(key, "(entry_id IN ? OR entry_id IN (SELECT entry_id FROM entries_raw"+titled.sql()+
		" UNION ALL SELECT entry_id FROM entry_changes_raw"+linked.sql()+"))", slices.Concat([]any{ids}, titled.args, linked.args)...)
}

// Type keeps the entries of the type.
func (s Selection) Type(t schema.EntryType) Selection {
	return s.and(stated, "entry_type = ?", string(t))
}

// NotType leaves out the entries of the type.
func (s Selection) NotType(t schema.EntryType) Selection {
	return s.and(stated, "entry_type != ?", string(t))
}

// Proven keeps the active entries that are proven.
func (s Selection) Proven() Selection {
	return s.judged(func(r Row) bool { return r.EvidenceProven && r.Status == schema.StatusActive },
		"evidence_proven AND status = ?", string(schema.StatusActive))
}

// Aligned keeps the entries whose quotes were all found word for word.
func (s Selection) Aligned() Selection {
	return s.judged(func(r Row) bool { return r.EvidenceAligned }, "evidence_aligned")
}

// Unproven keeps the entries that are active or contested and not proven.
func (s Selection) Unproven() Selection {
	open := []schema.Status{schema.StatusActive, schema.StatusContested}
	return s.judged(func(r Row) bool { return !r.EvidenceProven && slices.Contains(open, r.Status) },
		"NOT evidence_proven AND status IN ?", clickhouse.Set(open))
}

// Unanswered leaves out the entries of the project for which a person or a model has answered whether they are stated.
func (s Selection) Unanswered() Selection {
	return s.and(key, "entry_id NOT IN (SELECT entry_id FROM entry_changes_raw WHERE project = ? AND kind = ?)", s.project, kindAnswer)
}

// Believed leaves out the entries that are superseded or deprecated.
func (s Selection) Believed() Selection {
	ended := []schema.Status{schema.StatusSuperseded, schema.StatusDeprecated}
	return s.judged(func(r Row) bool { return !slices.Contains(ended, r.Status) }, "status NOT IN ?", clickhouse.Set(ended))
}

// Stages keeps the entries of the stages, and Statuses those with the statuses: all where none is given.
func (s Selection) Stages(stages []schema.Stage) Selection {
	if len(stages) == 0 {
		return s
	}
	return s.judged(func(r Row) bool { return slices.Contains(stages, r.Stage) }, "stage IN ?", clickhouse.Set(stages))
}

// Statuses is as [Selection.Stages].
func (s Selection) Statuses(statuses []schema.Status) Selection {
	if len(statuses) == 0 {
		return s
	}
	return s.judged(func(r Row) bool { return slices.Contains(statuses, r.Status) }, "status IN ?", clickhouse.Set(statuses))
}

// judged keeps the rows for which keep is true, as the condition says in SQL.
func (s Selection) judged(keep func(Row) bool, sql string, args ...any) Selection {
	s = s.and(judged, sql, args...)
	s.conditions[len(s.conditions)-1].keep = keep
	return s
}

// keeps reports whether the row meets the conditions of judged columns.
func (s Selection) keeps(r Row) bool {
	return !slices.ContainsFunc(s.conditions, func(c condition) bool { return c.keep != nil && !c.keep(r) })
}

// Between keeps the entries that occurred at one time or after it, and before another one, to the second. The zero time
// is before all entries.
func (s Selection) Between(from, to time.Time) Selection {
	s = s.and(stated, "created_ts < ?", to.UTC())
	if from.IsZero() {
		return s
	}
	return s.and(stated, "created_ts >= ?", from.UTC())
}

// Build keeps the entries that the build made.
func (s Selection) Build(id string) Selection { return s.and(stated, "build_id = ?", id) }

// NotOfSession leaves out the entries that were made of the session.
func (s Selection) NotOfSession(session schema.SessionKey) Selection {
	return s.and(stated, "stream != ?", session.Stream())
}

// After keeps the entries that follow the given one in the order of project and id, which is the default order of a
// selection.
func (s Selection) After(project, id string) Selection {
	return s.and(key, "(project, entry_id) > (?, ?)", project, id)
}

// OldestFirst orders the entries by when they occurred.
func (s Selection) OldestFirst() Selection {
	s.order = order{"created_ts, entry_id", func(a, b Row) int { return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.ID, b.ID)) }}
	return s
}

// NewestFirst orders the entries by when they occurred, the latest first.
func (s Selection) NewestFirst() Selection {
	s.order = order{"created_ts DESC, entry_id", func(a, b Row) int { return cmp.Or(b.OccurredAt.Compare(a.OccurredAt), cmp.Compare(a.ID, b.ID)) }}
	return s
}

// Limit keeps the first n entries.
func (s Selection) Limit(n int) Selection {
	s.limit = n
	return s
}

func (s Selection) and(from origin, sql string, args ...any) Selection {
	s.conditions = append(slices.Clip(s.conditions), condition{sql: sql, args: args, origin: from})
	return s
}

// sql returns the query for the columns. With fromView they are those of the view, which costs one join more than the
// table of statements.
func (s Selection) sql(columns string, fromView bool) (string, []any, error) {
	if err := s.check(); err != nil {
		return "", nil, err
	}
	from, wanted := "entries_raw FINAL", s.where(key, stated)
	if s.few {
		wanted = s.whereByID()
	}
	if fromView || s.asks(judged) {
		from, wanted = "entries", s.whereByID(judged)
	}
	sql := fmt.Sprintf("SELECT %s FROM %s%s", columns, from, wanted.sql())
	sql += " ORDER BY " + s.ordered().sql
	if s.limit > 0 {
		sql += fmt.Sprintf(" LIMIT %d", s.limit)
	}
	return sql, wanted.args, nil
}

// ordered is the order of the selection, by default that of projects and ids.
func (s Selection) ordered() order {
	if s.order.compare != nil {
		return s.order
	}
	return order{"project, entry_id", func(a, b Row) int { return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.ID, b.ID)) }}
}

// check returns an error unless the selection says whose entries it wants. Every read of it asks.
func (s Selection) check() error {
	switch {
	case s.noUser:
		return ErrNoUser
	case !s.allProjects && s.project == "":
		return ErrNoProject
	}
	return nil
}

// asks reports whether a condition has the origin.
func (s Selection) asks(from origin) bool {
	return slices.ContainsFunc(s.conditions, func(c condition) bool { return c.origin == from })
}

// where asks for the project, and for the conditions of the origins.
func (s Selection) where(origins ...origin) where {
	var w where
	if !s.allProjects {
		w.add("project = ?", []any{s.project})
	}
	for _, c := range s.conditions {
		if slices.Contains(origins, c.origin) {
			w.add(c.sql, c.args)
		}
	}
	return w
}

// whereByID is where for tables without the columns of statements: for their conditions it asks by the ids that the table
// of statements gives.
func (s Selection) whereByID(also ...origin) where {
	if !s.asks(stated) {
		return s.where(append(also, key)...)
	}
	w, ids := s.where(also...), s.where(key, stated)
	w.add("entry_id IN (SELECT entry_id FROM entries_raw"+ids.sql()+")", ids.args)
	return w
}

// where is a conjunction of conditions.
type where struct {
	parts []string
	args  []any
}

func (w *where) add(sql string, args []any) {
	w.parts, w.args = append(w.parts, sql), append(w.args, args...)
}

func (w *where) sql() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

func titleKeys(titles []string) []string {
	keys := make([]string, len(titles))
	for i, title := range titles {
		keys[i] = titleKey(title)
	}
	return keys
}
