package erase

import (
	"cmp"
	"encoding/json"
	"fmt"

	"axiommind/activities/task"
	"axiommind/schema"
)

// declares returns the ids that the event declares, apart from its own. A fact's id is unique in its memory only.
func declares(payload any) (ids []string, fact string) {
	switch x := payload.(type) {
	case schema.EntryMaterializedPayload:
		return []string{x.ID}, ""
	case schema.FactCreatedPayload:
		return nil, x.FactID
	case schema.TaskCreatedPayload:
		return []string{x.TaskID}, ""
	case schema.ConditionDeclaredPayload:
		return []string{x.ConditionID}, ""
	case schema.ArtifactDeclaredPayload:
		return []string{x.ArtifactID}, ""
	case schema.ConflictDetectedPayload:
		return []string{x.ConflictID}, ""
	case schema.DecisionRecordedPayload:
		return []string{x.DecisionID}, ""
	case schema.ChangeProposedPayload:
		return []string{x.ProposalID}, ""
	}
	return nil, ""
}

// successor is a remaining event that names a thing, such as a fact or a task, and can replace the event that declared it,
// if that one is erased. The first such event is taken, but one about a task goes before one that only waits for it. From
// it, succeed makes a new declaration in its words, at the position of the erased one. The successor itself stays.
type successor struct {
	event   schema.Event
	payload any
	// condition is true if the event only says that something waits for a task. The task then becomes a condition,
	// because no remaining event is about it.
	condition bool
	text      string
}

// successorsOf returns the declarations that the event can take over, by their ids.
func successorsOf(e schema.Event, payload any) map[string]successor {
	out := map[string]successor{}
	switch x := payload.(type) {
	case schema.TaskObservedPayload:
		out[x.TaskID] = successor{event: e, payload: x}
	case schema.TaskBlockersSetPayload:
		for _, list := range [][]schema.Blocker{x.Blockers, x.Lifted} {
			for _, b := range list {
				if _, ok := out[b.ID]; !ok && !b.Placeholder {
					out[b.ID] = successor{event: e, payload: x, condition: b.Type == schema.EntityTask, text: b.Text}
				} else if b.Placeholder {
					out[b.ID] = successor{event: e, payload: x, text: b.Text}
				}
			}
		}
	case schema.FactSkippedPayload:
		if x.Skipped == schema.SkippedDuplicate && x.DuplicateOf != "" && x.Content != "" && x.Section == "" {
			out[x.DuplicateOf] = successor{event: e, payload: x}
		}
	case schema.FactMergedPayload:
		out[x.FactID] = successor{event: e, payload: x}
	}
	return out
}

// succeed returns the event that replaces the old declaration by the successor's words. saidBy is the speaker of the fact in
// the successor's entry. If a condition replaces a task, condition is its id, which differs from the task's.
func succeed(erasureID string, old schema.Event, h successor, saidBy schema.Trust) (e schema.Event, condition string, err error) {
	declared, err := schema.DecodePayload(old)
	if err != nil {
		return e, "", err
	}
	var act schema.Act
	if x, ok := h.payload.(interface{ Cause() schema.Act }); ok {
		act = x.Cause()
	}
	var payload any
	key := old.DedupeKey
	switch x := declared.(type) {
	case schema.TaskCreatedPayload:
		observed, ok := h.payload.(schema.TaskObservedPayload)
		if !ok {
			k, err := task.KeyOfCondition(old.Project, h.text)
			if err != nil {
				return e, "", fmt.Errorf("make a condition of a task that is gone: %w", err)
			}
			condition = k.ID()
			payload = schema.ConditionDeclaredPayload{Act: act, ConditionID: condition, CanonicalKey: k.String(), Text: h.text}
			key = schema.EventErasedKey(erasureID, old.Stream, old.Seq)
			break
		}
		created := schema.TaskCreatedPayload{
			Act: act, TaskID: x.TaskID, CanonicalKey: observed.CanonicalKey, Title: observed.Title, Priority: schema.PriorityMedium,
			Status: schema.TaskPending,
		}
		switch observed.Status {
		case schema.TaskInProgress, schema.TaskBlocked:
			created.Status = schema.TaskInProgress
		case schema.TaskDone:
			created.Status, created.ReportedStatus = schema.TaskInProgress, schema.TaskDone
		}
		payload = created
	case schema.ConditionDeclaredPayload:
		payload = schema.ConditionDeclaredPayload{
			Act: act, ConditionID: x.ConditionID, CanonicalKey: x.CanonicalKey, Text: h.text, AutoPlaceholder: x.AutoPlaceholder,
		}
	case schema.ArtifactDeclaredPayload:
		payload = schema.ArtifactDeclaredPayload{Act: act, ArtifactID: x.ArtifactID, CanonicalKey: x.CanonicalKey, Kind: x.Kind, Text: h.text}
	case schema.FactCreatedPayload:
		created := schema.FactCreatedPayload{Act: act, FactID: x.FactID, SaidBy: saidBy, Category: x.Category, Confidence: x.Confidence}
		switch of := h.payload.(type) {
		case schema.FactSkippedPayload:
			created.Content, created.Category = of.Content, cmp.Or(of.Category, x.Category)
			if of.Confidence != nil {
				created.Confidence = *of.Confidence
			}
		case schema.FactMergedPayload:
			created.Content, created.Confidence = of.Content, of.Proposed
		}
		payload = created
		key = schema.EventErasedKey(erasureID, old.Stream, old.Seq) // The old key names erased content.
	default:
		return e, "", fmt.Errorf("event %q declares nothing that can be inherited", old.ID)
	}
	e, err = schema.NewEvent(payload, schema.Event{
		TS: h.event.TS, Actor: h.event.Actor, SessionID: h.event.SessionID, Project: h.event.Project, BuildID: h.event.BuildID, DedupeKey: key,
	})
	return e, condition, err
}

// causeOf returns the id of the entry that caused the event, or "".
func causeOf(payload any) string {
	if x, ok := payload.(interface{ Cause() schema.Act }); ok {
		return x.Cause().EntryID
	}
	return ""
}

// withPayload returns the event with another payload.
func withPayload(e schema.Event, payload json.RawMessage) schema.Event {
	e.Payload = payload
	return e
}
