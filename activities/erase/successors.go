package erase

import (
	"fmt"

	"axiommind/activities/task"
	"axiommind/schema"
)

// successor is a remaining event that names a thing, such as a fact or a task, and can replace the event that declared it,
// if that one is erased. The first such event is taken, but one about a task goes before one that only waits for it. From
// it, succeed makes a new declaration in its words, at the position of the erased one. The successor itself stays.
type successor struct {
	schema.Succession
	event   schema.Event
	payload any
}

// succeed returns the event that replaces the old declaration by the successor's words. If a condition replaces a task,
// condition is its id, which differs from the task's.
func succeed(erasureID string, old schema.Event, h successor) (e schema.Event, condition string, err error) {
	declared, err := schema.DecodePayload(old)
	if err != nil {
		return e, "", err
	}
	x, ok := declared.(schema.Heritable)
	if !ok {
		return e, "", fmt.Errorf("event %q declares nothing that can be inherited", old.ID)
	}
	key := old.DedupeKey
	payload := x.Inherit(h.payload, h.Succession)
	if _, inMemory := declares(declared); inMemory || payload == nil {
		key = schema.EventErasedKey(erasureID, old.Stream, old.Seq) // The old key names erased content.
	}
	if payload == nil {
		k, err := task.KeyOfCondition(old.Project, h.Text)
		if err != nil {
			return e, "", fmt.Errorf("make a condition of a task that is gone: %w", err)
		}
		condition = k.ID()
		payload = schema.ConditionDeclaredPayload{Act: schema.ActOf(h.payload), ConditionID: condition, CanonicalKey: k.String(), Text: h.Text}
	}
	e, err = schema.NewEvent(payload, schema.Event{
		TS: h.event.TS, Actor: h.event.Actor, SessionID: h.event.SessionID, Project: h.event.Project, BuildID: h.event.BuildID, DedupeKey: key,
	})
	return e, condition, err
}

// causeOf returns the id of the entry that caused the event, or "".
func causeOf(payload any) string { return schema.ActOf(payload).EntryID }
