package task

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"axiommind/schema"
)

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

// olderThan compares whole days if only the day is known: the date of a session is midnight.
func olderThan(occurred, closed time.Time) bool {
	if day := closed.Truncate(24 * time.Hour); occurred.Equal(occurred.Truncate(24 * time.Hour)) {
		closed = day
	}
	return occurred.Before(closed)
}

func (p *planner) task(id string) Entity { return p.overlay.entities[id] }

// clip shortens a text for an error message.
func clip(s string) string {
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return s
}
