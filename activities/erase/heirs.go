package erase

import (
	"cmp"
	"encoding/json"
	"fmt"

	"axiommind/activities/task"
	"axiommind/schema"
)

// declares returns the ids of what the event makes, besides its own. A fact's id is one of its memory alone.
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

// heir is the first event that stays and speaks of something whose declaration is gone. It declares it from now on: in its
// place, and by its own words.
type heir struct {
	event   schema.Event
	payload any
	// condition is true if it only says that something waits for a task. Then that is a condition from now on, since a task that
	// nobody speaks of is none.
	condition bool
	text      string
}

// heirsOf returns what the event can declare in place of another one, by the ids of what that had declared.
func heirsOf(e schema.Event, payload any) map[string]heir {
	out := map[string]heir{}
	switch x := payload.(type) {
	case schema.TaskObservedPayload:
		out[x.TaskID] = heir{event: e, payload: x}
	case schema.TaskBlockersSetPayload:
		for _, list := range [][]schema.Blocker{x.Blockers, x.Lifted} {
			for _, b := range list {
				if _, ok := out[b.ID]; !ok && !b.Placeholder {
					out[b.ID] = heir{event: e, payload: x, condition: b.Type == schema.EntityTask, text: b.Text}
				} else if b.Placeholder {
					out[b.ID] = heir{event: e, payload: x, text: b.Text}
				}
			}
		}
	case schema.FactSkippedPayload:
		if x.Skipped == schema.SkippedDuplicate && x.DuplicateOf != "" && x.Content != "" && x.Section == "" {
			out[x.DuplicateOf] = heir{event: e, payload: x}
		}
	case schema.FactMergedPayload:
		out[x.FactID] = heir{event: e, payload: x}
	}
	return out
}

// inherit returns the event that declares in place of the old one what the heir speaks of. saidBy is who said the fact in the
// heir's entry. A condition in place of a task has another id than the task.
func inherit(erasureID string, old schema.Event, h heir, saidBy schema.Trust) (e schema.Event, condition string, err error) {
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
		key = schema.EventErasedKey(erasureID, old.Stream, old.Seq) // The old one names what is gone.
	default:
		return e, "", fmt.Errorf("event %q declares nothing that can be inherited", old.ID)
	}
	e, err = schema.NewEvent(payload, schema.Event{
		TS: h.event.TS, Actor: h.event.Actor, SessionID: h.event.SessionID, Project: h.event.Project, BuildID: h.event.BuildID, DedupeKey: key,
	})
	return e, condition, err
}

// causeOf returns the id of the entry that caused the event, or nothing.
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
