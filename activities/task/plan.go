package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"axiommind/schema"
)

// ActorResolver is the actor of events that follow from a session's entries.
const ActorResolver = "task_resolver"

// Batch is a list of consecutive entries of one session, in the order of their events.
type Batch struct {
	Project   string         `json:"project"`
	SessionID string         `json:"session_id"`
	BuildID   string         `json:"build_id,omitempty"`
	Entries   []schema.Entry `json:"entries"`
}

// Skipped is an entry that no event could be made from.
type Skipped struct {
	EntryID string `json:"entry_id"`
	Reason  string `json:"reason"`
}

// Planned is the plan for a batch or a command.
type Planned struct {
	// Events are to be appended to the project's stream in this order.
	Events []schema.Event
	// Skipped are the entries that were skipped. They are reported again with every batch that contains them.
	Skipped []Skipped
}

// DoneReports decides what happens to a report of done that may not close its task: the first mention of the task, a
// report for a task that nobody has started, or another report while one is unconfirmed.
type DoneReports string

// Values of DoneReports. KeepReports, the default, leaves it to a person to confirm the report. CloseProven closes
// the task if the report's evidence is proven.
const (
	KeepReports DoneReports = "keep"
	CloseProven DoneReports = "close"
)

// String implements [flag.Value].
func (d *DoneReports) String() string { return string(*d) }

// Set implements [flag.Value].
func (d *DoneReports) Set(text string) error {
	switch v := DoneReports(text); v {
	case KeepReports, CloseProven:
		*d = v
		return nil
	}
	return fmt.Errorf("%q is none of %s, %s", text, KeepReports, CloseProven)
}

// Type returns the name of a value in help texts.
func (d *DoneReports) Type() string { return "keep|close" }

// Rules configures how tasks are resolved. The zero value uses the defaults.
type Rules struct {
	// Vectors finds tasks by the meaning of their titles. Default: none.
	Vectors TitleSearcher
	// DoneReports decides about reports of done. Default KeepReports.
	DoneReports DoneReports
}

// planner turns one act after the other into events.
type planner struct {
	overlay *overlay
	rules   Rules
	session string
	build   string
	actor   string
	// act and at belong to the current entry or command.
	act schema.Act
	at  time.Time
	// changes counts the events of a command.
	changes int
	// ended are the entities that the act closed or resolved.
	ended []string
}

// Plan returns the events that follow from the batch. The index must be up to date with the project's stream. Entries
// that were observed before, and entries that are not task notes, produce no events.
func Plan(ctx context.Context, index Index, rules Rules, batch Batch) (Planned, error) {
	if strings.TrimSpace(batch.Project) == "" {
		return Planned{}, fmt.Errorf("%w: project is missing", ErrCommand)
	}
	p := &planner{
		overlay: newOverlay(batch.Project, index, rules.Vectors), rules: rules,
		session: batch.SessionID, build: batch.BuildID, actor: ActorResolver,
	}
	var out Planned
	entries, err := p.unseen(ctx, batch.Entries)
	if err != nil {
		return out, err
	}
	if err := p.overlay.prefetch(ctx, p.keysOf(entries)); err != nil {
		return out, err
	}
	if err := p.overlay.prefetchSources(ctx, p.closing(entries)); err != nil {
		return out, err
	}
	for _, e := range entries {
		p.act, p.at = schema.Act{EntryID: e.ID}, instant(e.OccurredAt)
		err := p.resolveEntry(ctx, e)
		if errors.Is(err, ErrKey) {
			out.Skipped = append(out.Skipped, Skipped{EntryID: e.ID, Reason: err.Error()})
			continue
		}
		if err != nil {
			return Planned{}, fmt.Errorf("resolve entry %q: %w", e.ID, err)
		}
	}
	out.Events = p.overlay.planned
	return out, nil
}

// unseen returns the task notes that no event refers to yet, each once.
func (p *planner) unseen(ctx context.Context, entries []schema.Entry) ([]schema.Entry, error) {
	var ids []string
	var notes []schema.Entry
	known := map[string]bool{}
	for _, e := range entries {
		if e.Type == schema.EntryTaskNote && e.Task != nil && !known[e.ID] {
			known[e.ID] = true
			ids = append(ids, e.ID)
			notes = append(notes, e)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	observed, err := p.overlay.index.Observed(ctx, p.overlay.project, ids)
	if err != nil {
		return nil, fmt.Errorf("find observed entries: %w", err)
	}
	var out []schema.Entry
	for _, e := range notes {
		if !observed[e.ID] {
			out = append(out, e)
		}
	}
	return out, nil
}

func (p *planner) keysOf(entries []schema.Entry) []string {
	var keys []string
	add := func(k Key, err error) {
		if err == nil {
			keys = append(keys, k.String())
		}
	}
	for _, e := range entries {
		title := titleOf(e)
		add(KeyOfTask(p.overlay.project, title))
		add(KeyOfCondition(p.overlay.project, title))
		if key, ok := spellingKey(p.overlay.project, title); ok {
			add(key, nil)
		}
		for _, text := range e.Task.BlockedBy {
			forms := formsOf(text)
			add(KeyOfCondition(p.overlay.project, forms.condition))
			if key, ok := spellingKey(p.overlay.project, forms.condition); ok {
				add(key, nil)
			}
			for _, t := range forms.titles {
				add(KeyOfTask(p.overlay.project, t))
			}
			for _, t := range forms.artifacts {
				artifacts, _ := StrongArtifact(t)
				for _, k := range artifacts {
					add(k, nil)
				}
			}
		}
	}
	return keys
}

// closing returns the ids of known tasks that the entries may close.
func (p *planner) closing(entries []schema.Entry) []string {
	var ids []string
	for _, e := range entries {
		key, err := KeyOfTask(p.overlay.project, titleOf(e))
		if id := p.overlay.keys[key.String()]; err == nil && id != "" && Closed(e.Task.Status) {
			ids = append(ids, id)
		}
	}
	return ids
}

func titleOf(e schema.Entry) string {
	if strings.TrimSpace(e.Task.Title) != "" {
		return e.Task.Title
	}
	return e.Title
}

func clipTitle(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= MaxTitle {
		return s
	}
	if runes := []rune(s); len(runes) > MaxTitle {
		return string(runes[:MaxTitle])
	}
	return s
}

func isID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil && len(s) == 36
}

// emit plans an event under a dedupe key that names the act.
func (p *planner) emit(key string, payload any) error {
	event, err := schema.NewEvent(payload, schema.Event{
		TS: p.at, Actor: p.actor, SessionID: p.session, Project: p.overlay.project, BuildID: p.build, DedupeKey: key,
	})
	if err != nil {
		return err
	}
	if id, ok := endedBy(payload); ok {
		p.ended = append(p.ended, id)
	}
	return p.overlay.plan(event)
}

// changeKey returns the dedupe key of a change that the current entry or command makes.
func (p *planner) changeKey(change ...string) string {
	if p.act.RequestID == "" {
		return schema.TaskOfEntryKey(p.overlay.project, p.act.EntryID, change...)
	}
	p.changes++
	return schema.TaskOfCommandKey(p.overlay.project, p.act.RequestID, p.changes-1)
}

func (p *planner) entityKey(kind schema.EntityType, id string) string {
	return schema.EntityKey(p.overlay.project, schema.EntityRef{Type: kind, ID: id})
}

// instant returns the time with the precision of the tables.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func (p *planner) reject(task Entity, to schema.TaskStatus, rejection string, blockers []schema.Blocker) error {
	change := []string{"rejected", rejection}
	if to != "" {
		change = append(change, string(to))
	}
	for _, b := range blockers {
		change = append(change, orElse(b.ID, schema.HashText(b.Text)))
	}
	return p.emit(p.changeKey(change...), schema.TaskTransitionRejectedPayload{
		Act: p.act, TaskID: task.ID, From: task.TaskStatus, To: to, Rejection: rejection, Blockers: blockers,
	})
}
