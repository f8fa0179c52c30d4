package task

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// memory keeps the highest version of each sort key, like a ReplacingMergeTree table. It is the index over the rows
// that the projector writes.
type memory struct {
	project  string
	entities map[string]Entity
	tables   map[string]map[string][]any
}

var sortKeys = map[string]struct {
	columns []int
	version int
}{
	"entity_events_raw":  {[]int{0, 1, 2}, 2},
	"edges_raw":          {[]int{1, 3, 4, 6}, 10},
	"entity_aliases_raw": {[]int{0, 2}, 6},
	"entities_raw":       {[]int{2, 0}, 16},
}

func newMemory(project string) *memory {
	m := &memory{project: project, entities: map[string]Entity{}, tables: map[string]map[string][]any{}}
	for name := range sortKeys {
		m.tables[name] = map[string][]any{}
	}
	return m
}

func (m *memory) apply(t require.TestingT, events []schema.Event) { m.write(t, m.fold(t, events)) }

func (m *memory) fold(t require.TestingT, events []schema.Event) page {
	g, err := foldPage(m.project, events, func(ids []string) (map[string]Entity, error) {
		found, err := m.Read(context.Background(), m.project, Wants{IDs: ids})
		return found.Entities, err
	})
	require.NoError(t, err)
	return g
}

func (m *memory) write(t require.TestingT, g page) {
	rows, entities, err := g.rows()
	require.NoError(t, err)
	for _, table := range append(rows, entities) {
		name, _, _ := strings.Cut(table.into, " ")
		layout := sortKeys[name]
		for _, row := range table.rows {
			key := ""
			for _, c := range layout.columns {
				key += fmt.Sprint(row[c]) + "\x00"
			}
			old, exists := m.tables[name][key]
			if !exists || old[layout.version].(uint64) <= row[layout.version].(uint64) {
				m.tables[name][key] = row
			}
		}
	}
	for id, e := range g.after {
		if e.Exists() && e.Version >= m.entities[id].Version {
			m.entities[id] = e
		}
	}
}

// view returns the rows as the views show them: without versions and removed edges.
func (m *memory) view() map[string][]string {
	out := map[string][]string{}
	for name, rows := range m.tables {
		for _, row := range rows {
			if name == "edges_raw" && row[9].(bool) {
				continue
			}
			shown := slices.Clone(row)
			if name != "entity_events_raw" {
				shown = shown[:len(shown)-1]
			}
			out[name] = append(out[name], fmt.Sprint(shown...))
		}
		slices.Sort(out[name])
	}
	return out
}

func (m *memory) edges(rel schema.RelType) map[string][]string {
	out := map[string][]string{}
	for _, row := range m.tables["edges_raw"] {
		if row[4] == string(rel) && !row[9].(bool) {
			out[row[3].(string)] = append(out[row[3].(string)], row[6].(string))
		}
	}
	return out
}

// Read searches like the tables, without a limit.
func (m *memory) Read(ctx context.Context, project string, w Wants) (Found, error) {
	found := newFound()
	for _, k := range w.Keys {
		if row, ok := m.tables["entity_aliases_raw"][project+"\x00"+k+"\x00"]; ok {
			found.Keys[k] = row[3].(string)
		}
	}
	for _, id := range w.IDs {
		if e, ok := m.entities[id]; ok && project == m.project {
			found.Entities[id] = e
		}
	}
	for _, title := range w.Titles {
		tasks := newTitleIndex()
		for _, id := range slices.Sorted(maps.Keys(m.entities)) {
			if e := m.entities[id]; e.Type == schema.EntityTask {
				tasks.add(id, e.Title)
			}
		}
		found.Titles[title] = tasks.find(searchOf(title), len(m.entities))
	}
	for _, rel := range []schema.RelType{schema.RelMentions, schema.RelBlockedBy, schema.RelResolvesTo} {
		for src, targets := range m.edges(rel) {
			for _, dst := range targets {
				if slices.Contains(w.Targets, dst) {
					found.Pointing[dst] = append(found.Pointing[dst], src)
				}
			}
		}
	}
	for src := range m.edges(schema.RelEvidenceOf) {
		if slices.Contains(w.Entries, src) {
			found.Observed[src] = true
		}
	}
	return found, nil
}

func (m *memory) Prefixed(_ context.Context, _ string, types []schema.EntityType, prefix string, limit int) ([]string, error) {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(m.entities)) {
		if slices.Contains(types, m.entities[id].Type) && strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	return ids[:min(len(ids), limit)], nil
}

func (m *memory) ReportedDone(_ context.Context, _ string, limit int) ([]string, error) {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(m.entities)) {
		if m.entities[id].DoneReport != nil {
			ids = append(ids, id)
		}
	}
	return ids[:min(len(ids), limit)], nil
}

// project is a project on memory: a log that keeps each dedupe key once, and its projection.
type project struct {
	t      require.TestingT
	name   string
	memory *memory
	rules  Rules
	log    []schema.Event
	known  map[string]bool
	n      int
}

var day = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func newProject(t require.TestingT, name string) *project {
	return &project{t: t, name: name, memory: newMemory(name), known: map[string]bool{}}
}

func (p *project) append(events []schema.Event) {
	var fresh []schema.Event
	for _, e := range events {
		e.ID = schema.EventID(e.DedupeKey)
		e.Stream = schema.ProjectStream(p.name)
		if p.known[e.ID] {
			continue
		}
		p.known[e.ID] = true
		e.Seq = uint64(len(p.log) + 1)
		p.log = append(p.log, e)
		fresh = append(fresh, e)
	}
	p.memory.apply(p.t, fresh)
}

// say resolves the entries as one session.
func (p *project) say(entries ...schema.Entry) Planned {
	planned, err := Plan(context.Background(), p.memory, p.rules, []Batch{{Project: p.name, SessionID: "s", Entries: entries}})
	require.NoError(p.t, err)
	p.append(planned.Events)
	return planned
}

func (p *project) do(c Command) error {
	p.n++
	c.Project, c.Actor, c.At = p.name, "user:ada", cmp.Or(c.At, day)
	c.RequestID = cmp.Or(c.RequestID, fmt.Sprint("r", p.n))
	planned, err := PlanCommand(context.Background(), p.memory, p.rules, c)
	p.append(planned.Events)
	return err
}

// note returns an aligned entry of the project, a new statement with each call.
func (p *project) note(task schema.ExtractedTask) schema.Entry {
	p.n++
	return schema.Entry{
		ID: schema.DerivedID("test", p.name, fmt.Sprint(p.n)), Type: schema.EntryTaskNote, Scope: schema.Scope{Project: p.name},
		Title: task.Title, Task: &task, EvidenceAligned: true, OccurredAt: day,
	}
}

func (p *project) report(title string, status schema.TaskStatus, blockedBy ...string) schema.Entry {
	return p.note(schema.ExtractedTask{Title: title, Status: status, BlockedBy: blockedBy})
}

func unaligned(e schema.Entry) schema.Entry {
	e.EvidenceAligned = false
	return e
}

func (p *project) task(title string) Entity {
	key, err := KeyOfTask(p.name, title)
	require.NoError(p.t, err)
	return p.entity(key)
}

func (p *project) entity(key Key) Entity {
	found, err := p.memory.Read(context.Background(), p.name, Wants{Keys: []string{key.String()}})
	require.NoError(p.t, err)
	return p.memory.entities[found.Keys[key.String()]]
}

func (p *project) condition(text string) Entity {
	key, err := KeyOfCondition(p.name, text)
	require.NoError(p.t, err)
	return p.entity(key)
}

func (p *project) tasks() []Entity {
	var out []Entity
	for _, id := range slices.Sorted(maps.Keys(p.memory.entities)) {
		if e := p.memory.entities[id]; e.Type == schema.EntityTask {
			out = append(out, e)
		}
	}
	return out
}

// rejections returns the recorded rejections, in order.
func (p *project) rejections() []string {
	var out []string
	for _, e := range p.log {
		if o, err := readEvent(e); err == nil {
			if r, ok := o.payload.(schema.TaskTransitionRejectedPayload); ok {
				out = append(out, r.Rejection)
			}
		}
	}
	return out
}

func (p *project) count(eventType string) int {
	n := 0
	for _, e := range p.log {
		if e.Type == eventType {
			n++
		}
	}
	return n
}

// requireI6 checks the folds and the written edges: closed tasks have no blockers, blocked tasks have at least one, and
// no task waits for itself, directly or indirectly.
func (p *project) requireI6() {
	blockedBy, resolvesTo := p.memory.edges(schema.RelBlockedBy), p.memory.edges(schema.RelResolvesTo)
	for _, e := range p.tasks() {
		require.Len(p.t, blockedBy[e.ID], len(e.Blockers), "edges of %q are those of the fold", e.Title)
		switch {
		case e.TaskStatus == schema.TaskBlocked:
			require.NotEmpty(p.t, blockedBy[e.ID], "%q is blocked", e.Title)
		case Closed(e.TaskStatus):
			require.Empty(p.t, blockedBy[e.ID], "%q is %s", e.Title, e.TaskStatus)
			require.Nil(p.t, e.DoneReport, "%q is %s", e.Title, e.TaskStatus)
		}
		seen := map[string]bool{}
		for level := slices.Clone(blockedBy[e.ID]); len(level) > 0; {
			id := level[0]
			level = level[1:]
			require.NotEqual(p.t, e.ID, id, "%q waits for itself", e.Title)
			if !seen[id] {
				seen[id] = true
				level = append(append(level, blockedBy[id]...), resolvesTo[id]...)
			}
		}
	}
}

func newTestProject(t *testing.T) *project {
	t.Helper()
	return newProject(t, "alpha")
}
