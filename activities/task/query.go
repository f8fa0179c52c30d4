package task

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Reader is the part of the event log that queries use.
type Reader interface {
	Stream(ctx context.Context, stream string, opts eventlog.StreamOptions) iter.Seq2[schema.Event, error]
	GetMany(ctx context.Context, eventIDs []string) (map[string]schema.Event, error)
}

// Queries answers queries about the tasks of one project at a time.
type Queries struct {
	log    Reader
	tables *Tables
}

// NewQueries returns the queries over a migrated database.
func NewQueries(log Reader, conn clickhouse.Conn) *Queries { return &Queries{log, NewTables(conn)} }

// DefaultLimit is the default of [Selection.Limit].
const DefaultLimit = 1000

// Selection selects a project and a time.
type Selection struct {
	Project string
	// AsOf leaves out later events, by their own times: a session imported late counts from the time it took place.
	// Zero means now.
	AsOf time.Time
	// Limit is the maximum number of rows, after skipping Offset rows. Default [DefaultLimit].
	Limit, Offset int
}

// View is a task with its blockers. The task's stage is that of its best entry: see [Queries.raise].
type View struct {
	Task     Entity        `json:"task"`
	Blockers []BlockerView `json:"blockers"`
	// Suggestions are the blockers without aligned evidence.
	Suggestions []BlockerView `json:"suggestions"`
}

// BlockerView is a blocker and the entity that it finally resolves to.
type BlockerView struct {
	schema.Blocker
	Title string `json:"title"`
	// Effective is the blocker itself unless it resolves to another entity, Hops steps away.
	Effective EffectiveBlocker `json:"effective"`
}

// EffectiveBlocker is the entity that a task finally waits for.
type EffectiveBlocker struct {
	schema.EntityRef
	Title string `json:"title"`
	// Open is false if the entity is done, cancelled or closed, so that the task need not wait for it.
	Open bool `json:"open"`
	Hops int  `json:"hops"`
	// DoneReport is set if the entity is a task that is reported done.
	DoneReport *DoneReport `json:"done_report,omitempty"`
}

// ResolvedCondition is a condition and the entity that it resolves to.
type ResolvedCondition struct {
	Condition Entity `json:"condition"`
	Target    Entity `json:"target"`
}

// listKind is the kind of a list.
type listKind int

const (
	byStatus listKind = iota
	onlySuggested
	withPlaceholder
	reportedDone
)

// wants selects the tasks of a list. Merged tasks are in no list.
type wants struct {
	kind   listKind
	status schema.TaskStatus
}

// holds reports whether the list contains the task. The function resolved reports whether a placeholder is resolved.
func (w wants) holds(e Entity, resolved func(id string) bool) bool {
	if e.Type != schema.EntityTask || e.Status == schema.StatusSuperseded {
		return false
	}
	switch w.kind {
	case onlySuggested:
		return len(e.Suggestions) > 0 && (len(e.Blockers) == 0 || e.onlyPlaceholder())
	case withPlaceholder:
		return slices.ContainsFunc(e.Blockers, func(b schema.Blocker) bool { return b.Placeholder && !resolved(b.ID) })
	}
	return w.kind == reportedDone && e.DoneReport != nil ||
		w.kind == byStatus && (w.status == "" || e.TaskStatus == w.status)
}

// source reads entities: from the tables, or from the fold as of a time.
type source interface {
	tasks(ctx context.Context, w wants, p part) ([]Entity, error)
	resolvedConditions(ctx context.Context, p part) ([]Entity, error)
	load(ctx context.Context, ids []string) (map[string]Entity, error)
	finder
}

// part is the part of a list to return.
type part struct{ limit, offset int }

func (s Selection) part() part { return part{cmp.Or(s.Limit, DefaultLimit), s.Offset} }

func (q *Queries) source(ctx context.Context, s Selection) (source, error) {
	if strings.TrimSpace(s.Project) == "" {
		return nil, fmt.Errorf("%w: project is missing", ErrCommand)
	}
	if s.AsOf.IsZero() {
		return &tableSource{tables: q.tables, project: s.Project}, nil
	}
	return q.snapshot(ctx, s.Project, s.AsOf)
}

// ListBlockedTasks returns the blocked tasks, each with the entities that it finally waits for.
func (q *Queries) ListBlockedTasks(ctx context.Context, s Selection) ([]View, error) {
	return q.list(ctx, s, wants{kind: byStatus, status: schema.TaskBlocked})
}

// ListTasks returns the tasks with the status, or all tasks if it is empty, the last changed first.
func (q *Queries) ListTasks(ctx context.Context, s Selection, status schema.TaskStatus) ([]View, error) {
	if status != "" && !knownStatus(status) {
		return nil, fmt.Errorf("%w: status %q is none of pending, in_progress, blocked, done, cancelled", ErrCommand, status)
	}
	return q.list(ctx, s, wants{kind: byStatus, status: status})
}

// ListTasksWithOnlySuggestedBlockers returns the tasks with suggested blockers and none with aligned evidence.
func (q *Queries) ListTasksWithOnlySuggestedBlockers(ctx context.Context, s Selection) ([]View, error) {
	return q.list(ctx, s, wants{kind: onlySuggested})
}

// ListTasksWithUnknownPlaceholderBlocker returns the tasks with an unresolved placeholder as a blocker.
func (q *Queries) ListTasksWithUnknownPlaceholderBlocker(ctx context.Context, s Selection) ([]View, error) {
	return q.list(ctx, s, wants{kind: withPlaceholder})
}

// ListTasksReportedDone returns the open tasks that are reported done.
func (q *Queries) ListTasksReportedDone(ctx context.Context, s Selection) ([]View, error) {
	return q.list(ctx, s, wants{kind: reportedDone})
}

// ListResolvedConditions returns the resolved conditions, the last resolved first.
func (q *Queries) ListResolvedConditions(ctx context.Context, s Selection) ([]ResolvedCondition, error) {
	src, err := q.source(ctx, s)
	if err != nil {
		return nil, err
	}
	conditions, err := src.resolvedConditions(ctx, s.part())
	if err != nil {
		return nil, fmt.Errorf("list resolved conditions: %w", err)
	}
	ids := make([]string, len(conditions))
	for i, c := range conditions {
		ids[i] = c.ResolvesTo.ID
	}
	targets, err := src.load(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("load the targets of resolved conditions: %w", err)
	}
	out := make([]ResolvedCondition, len(conditions))
	for i, c := range conditions {
		out[i] = ResolvedCondition{c, targets[c.ResolvesTo.ID]}
	}
	return out, nil
}

func (q *Queries) list(ctx context.Context, s Selection, w wants) ([]View, error) {
	src, err := q.source(ctx, s)
	if err != nil {
		return nil, err
	}
	tasks, err := src.tasks(ctx, w, s.part())
	if err != nil {
		return nil, fmt.Errorf("list tasks of project %q: %w", s.Project, err)
	}
	if err := q.raise(ctx, s, tasks); err != nil {
		return nil, err
	}
	return views(ctx, src, tasks)
}

func views(ctx context.Context, src source, tasks []Entity) ([]View, error) {
	entities, err := loadBlockers(ctx, src, tasks)
	if err != nil {
		return nil, fmt.Errorf("load blockers: %w", err)
	}
	view := func(b schema.Blocker, end string, hops int) BlockerView {
		v := BlockerView{Blocker: b, Title: titleOr(entities[b.ID], b.Text)}
		v.Effective = EffectiveBlocker{EntityRef: b.EntityRef, Title: v.Title, Open: entities[end].Open(), Hops: hops}
		if e, known := entities[end]; known {
			v.Effective.EntityRef, v.Effective.Title, v.Effective.DoneReport = e.EntityRef, e.Title, e.DoneReport
		}
		return v
	}
	out := make([]View, len(tasks))
	for i, t := range tasks {
		out[i] = View{Task: t, Blockers: []BlockerView{}, Suggestions: []BlockerView{}}
		for _, b := range t.Blockers {
			end, hops := effective(b.ID, entities)
			out[i].Blockers = append(out[i].Blockers, view(b, end, hops))
		}
		for _, b := range t.Suggestions {
			out[i].Suggestions = append(out[i].Suggestions, view(b, b.ID, 0))
		}
	}
	return out, nil
}

// loadBlockers returns the blockers and suggestions of the tasks, and the entities that these resolve to.
func loadBlockers(ctx context.Context, src source, tasks []Entity) (map[string]Entity, error) {
	var next []string
	for _, t := range tasks {
		for _, b := range slices.Concat(t.Blockers, t.Suggestions) {
			next = append(next, b.ID)
		}
	}
	all := map[string]Entity{}
	for range maxHops + 1 {
		if len(next) == 0 {
			break
		}
		found, err := src.load(ctx, next)
		if err != nil {
			return nil, err
		}
		next = nil
		for id, e := range found {
			all[id] = e
			if e.ResolvesTo != nil {
				next = append(next, e.ResolvesTo.ID)
			}
		}
		next = slices.DeleteFunc(next, func(id string) bool { return all[id].Exists() })
	}
	return all, nil
}

// maxHops is the maximum number of resolutions to follow to an effective blocker, as in the view v_task_blockers_effective.
const maxHops = 32

// effective returns the id of the entity that the blocker finally resolves to, and the number of resolutions to it. In a circle
// it is the last one before the circle closes.
func effective(blocker string, entities map[string]Entity) (id string, hops int) {
	id = blocker
	for seen := map[string]bool{id: true}; hops < maxHops; hops++ {
		next := entities[id].ResolvesTo
		if next == nil || seen[next.ID] {
			break
		}
		id = next.ID
		seen[id] = true
	}
	return id, hops
}

func titleOr(e Entity, text string) string { return cmp.Or(e.Title, text) }

// HistoryItem is one event of a task with its evidence.
type HistoryItem struct {
	Event schema.Event `json:"event"`
	// Act is the cause of the event.
	Act schema.Act `json:"act"`
	// The following fields are copied from the current entry. They are empty for a command. EvidenceSessionID is the
	// session that the evidence quotes.
	EntryTitle        string            `json:"entry_title,omitempty"`
	EvidenceAligned   bool              `json:"evidence_aligned,omitempty"`
	EvidenceProven    bool              `json:"evidence_proven,omitempty"`
	EvidenceSessionID string            `json:"evidence_session_id,omitempty"`
	Evidence          []schema.Evidence `json:"evidence,omitempty"`
}

// Detail is everything known about a task.
type Detail struct {
	View
	History []HistoryItem `json:"history"`
}

// GetTaskDetail returns the task with the id, the prefix of an id, the canonical key or the title. If there is none,
// the error is [ErrNotFound].
func (q *Queries) GetTaskDetail(ctx context.Context, s Selection, task string) (Detail, error) {
	src, err := q.source(ctx, s)
	if err != nil {
		return Detail{}, err
	}
	id, err := find(ctx, src, s.Project, task, schema.EntityTask)
	if err != nil {
		return Detail{}, err
	}
	found, err := src.load(ctx, []string{id})
	if err != nil {
		return Detail{}, fmt.Errorf("load task %q: %w", id, err)
	}
	e, ok := found[id]
	if !ok || e.Type != schema.EntityTask {
		return Detail{}, notFound(s.Project, task, []schema.EntityType{schema.EntityTask})
	}
	tasks := []Entity{e}
	if err := q.raise(ctx, s, tasks); err != nil {
		return Detail{}, err
	}
	view, err := views(ctx, src, tasks)
	if err != nil {
		return Detail{}, err
	}
	history, err := q.history(ctx, s, id)
	return Detail{View: view[0], History: history}, err
}
