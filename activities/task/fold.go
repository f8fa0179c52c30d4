package task

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"axiommind/schema"
)

// EventTypes are the types of the events that entities are folded from.
func EventTypes() []string {
	return []string{
		schema.TaskCreated, schema.TaskObserved, schema.TaskStatusChanged, schema.TaskPriorityChanged,
		schema.TaskTitleChanged, schema.TaskBlockersSet, schema.TaskTransitionRejected, schema.TaskMerged,
		schema.ConditionDeclared, schema.ConditionResolvedTo, schema.ArtifactDeclared, schema.ArtifactClosed,
	}
}

// fact is an event with its payload read.
type fact struct {
	project string
	ts      time.Time
	seq     uint64
	payload any
}

func readFact(e schema.Event) (fact, error) {
	f := fact{project: e.Project, ts: e.TS, seq: e.Seq}
	switch e.Type {
	case schema.TaskCreated:
		f.payload = &schema.TaskCreatedPayload{}
	case schema.TaskObserved:
		f.payload = &schema.TaskObservedPayload{}
	case schema.TaskStatusChanged:
		f.payload = &schema.TaskStatusChangedPayload{}
	case schema.TaskPriorityChanged:
		f.payload = &schema.TaskPriorityChangedPayload{}
	case schema.TaskTitleChanged:
		f.payload = &schema.TaskTitleChangedPayload{}
	case schema.TaskBlockersSet:
		f.payload = &schema.TaskBlockersSetPayload{}
	case schema.TaskTransitionRejected:
		f.payload = &schema.TaskTransitionRejectedPayload{}
	case schema.TaskMerged:
		f.payload = &schema.TaskMergedPayload{}
	case schema.ConditionDeclared:
		f.payload = &schema.ConditionDeclaredPayload{}
	case schema.ConditionResolvedTo:
		f.payload = &schema.ConditionResolvedToPayload{}
	case schema.ArtifactDeclared:
		f.payload = &schema.ArtifactDeclaredPayload{}
	case schema.ArtifactClosed:
		f.payload = &schema.ArtifactClosedPayload{}
	default:
		return f, fmt.Errorf("read event %q: %q is no task event", e.ID, e.Type)
	}
	if err := json.Unmarshal(e.Payload, f.payload); err != nil {
		return f, fmt.Errorf("read %s event %q: %w", e.Type, e.ID, err)
	}
	return f, nil
}

// subjects returns the ids of the entities that the event changes.
func (f fact) subjects() []string {
	switch p := f.payload.(type) {
	case *schema.TaskCreatedPayload:
		return []string{p.TaskID}
	case *schema.TaskObservedPayload:
		return []string{p.TaskID}
	case *schema.TaskStatusChangedPayload:
		return []string{p.TaskID}
	case *schema.TaskPriorityChangedPayload:
		return []string{p.TaskID}
	case *schema.TaskTitleChangedPayload:
		return []string{p.TaskID}
	case *schema.TaskBlockersSetPayload:
		return []string{p.TaskID}
	case *schema.TaskTransitionRejectedPayload:
		return []string{p.TaskID}
	case *schema.TaskMergedPayload:
		return []string{p.TaskID, p.Into}
	case *schema.ConditionDeclaredPayload:
		return []string{p.ConditionID}
	case *schema.ConditionResolvedToPayload:
		return []string{p.ConditionID}
	case *schema.ArtifactDeclaredPayload:
		return []string{p.ArtifactID}
	case *schema.ArtifactClosedPayload:
		return []string{p.ArtifactID}
	}
	return nil
}

// Fold returns the entity with the given id after the event. It is pure: the entity given, and the
// slices in it, stay as they are. An event folded before, by its position, changes nothing.
func Fold(e Entity, id string, event schema.Event) (Entity, error) {
	f, err := readFact(event)
	if err != nil {
		return e, err
	}
	return e.after(id, f), nil
}

func (e Entity) after(id string, f fact) Entity {
	if f.seq <= e.Version {
		return e
	}
	e.Version = f.seq
	if e.CreatedAt.IsZero() || f.ts.Before(e.CreatedAt) {
		e.CreatedAt = f.ts
	}
	if f.ts.After(e.UpdatedAt) {
		e.UpdatedAt = f.ts
	}
	e.Project = f.project
	switch p := f.payload.(type) {
	case *schema.TaskCreatedPayload:
		return e.created(p)
	case *schema.TaskObservedPayload:
		return e.observed(p, f.ts)
	case *schema.TaskStatusChangedPayload:
		return e.statusChanged(p, f.ts)
	case *schema.TaskPriorityChangedPayload:
		e.Priority = p.To
	case *schema.TaskTitleChangedPayload:
		e.Title = p.To
		e.Aliases = e.withAliases(f.ts, p.CanonicalKey)
	case *schema.TaskBlockersSetPayload:
		return e.blockersSet(p)
	case *schema.TaskMergedPayload:
		return e.merged(id, p, f.ts)
	case *schema.ConditionDeclaredPayload:
		e.EntityRef = schema.EntityRef{Type: schema.EntityCondition, ID: p.ConditionID}
		e.CanonicalKey, e.Title, e.AutoPlaceholder = p.CanonicalKey, p.Text, p.AutoPlaceholder
		e.Candidates, e.Mentions = p.Candidates, p.Mentions
		e.Stage, e.Status = schema.StageWorking, schema.StatusActive
	case *schema.ConditionResolvedToPayload:
		target := p.Target
		e.ResolvesTo, e.ResolvedBy, e.ResolvedAt = &target, p.ResolvedBy, f.ts
	case *schema.ArtifactDeclaredPayload:
		e.EntityRef = schema.EntityRef{Type: schema.EntityArtifact, ID: p.ArtifactID}
		e.CanonicalKey, e.Title, e.ArtifactKind = p.CanonicalKey, p.Text, p.Kind
		e.Stage, e.Status = schema.StageWorking, schema.StatusActive
	case *schema.ArtifactClosedPayload:
		e.ClosedAt = f.ts
	}
	return e
}

func (e Entity) created(p *schema.TaskCreatedPayload) Entity {
	e.EntityRef = schema.EntityRef{Type: schema.EntityTask, ID: p.TaskID}
	e.CanonicalKey, e.Title = p.CanonicalKey, p.Title
	e.TaskStatus, e.Priority, e.Candidates = p.Status, p.Priority, p.Candidates
	e.Stage, e.Status = schema.StageRaw, schema.StatusActive
	if p.RequestID != "" { // A person made it.
		e.Stage = schema.StageWorking
	}
	return e
}

func (e Entity) observed(p *schema.TaskObservedPayload, at time.Time) Entity {
	e.Aliases = e.withAliases(at, p.CanonicalKey)
	if p.EvidenceAligned && e.Stage == schema.StageRaw {
		e.Stage = schema.StageWorking
	}
	return e
}

func (e Entity) withAliases(since time.Time, keys ...string) []Alias {
	for _, key := range keys {
		if !e.hasKey(key) {
			e.Aliases = append(slices.Clip(e.Aliases), Alias{key, since})
		}
	}
	return e.Aliases
}

func (e Entity) statusChanged(p *schema.TaskStatusChangedPayload, at time.Time) Entity {
	if p.To == schema.TaskBlocked {
		if len(e.StagedBlockers) == 0 {
			return e // No event of ours says so: blocked always has a blocker.
		}
		e.TaskStatus, e.ClosedAt = p.To, time.Time{}
		return e.withBlockers(e.StagedBlockers)
	}
	if e.TaskStatus == schema.TaskBlocked || Closed(p.To) {
		e.Suggestions = nil
	}
	e.TaskStatus, e.Blockers, e.StagedBlockers, e.ClosedAt = p.To, nil, nil, time.Time{}
	if Closed(p.To) {
		e.ClosedAt = at
	}
	return e
}

func (e Entity) withBlockers(blockers []schema.Blocker) Entity {
	e.Blockers, e.StagedBlockers = blockers, nil
	e.Suggestions = slices.DeleteFunc(slices.Clone(e.Suggestions), func(b schema.Blocker) bool {
		return hasBlocker(blockers, b.ID)
	})
	if len(e.Suggestions) == 0 {
		e.Suggestions = nil
	}
	return e
}

func (e Entity) blockersSet(p *schema.TaskBlockersSetPayload) Entity {
	switch {
	case len(p.Blockers) == 0:
	case p.Mode == schema.BlockersSuggest:
		if Closed(e.TaskStatus) {
			return e
		}
		for _, b := range p.Blockers {
			if !e.blockedBy(b.ID) && !hasBlocker(e.Suggestions, b.ID) {
				e.Suggestions = append(slices.Clip(e.Suggestions), b)
			}
		}
	case e.TaskStatus == schema.TaskBlocked:
		return e.withBlockers(p.Blockers)
	default:
		e.StagedBlockers = p.Blockers
	}
	return e
}

func (e Entity) merged(id string, p *schema.TaskMergedPayload, at time.Time) Entity {
	if id == p.Into {
		e.Aliases = e.withAliases(at, p.Aliases...)
		return e
	}
	if !Closed(e.TaskStatus) {
		e.TaskStatus, e.ClosedAt = schema.TaskCancelled, at
	}
	e.Status = schema.StatusSuperseded
	e.ResolvesTo = &schema.EntityRef{Type: schema.EntityTask, ID: p.Into}
	e.ResolvedBy, e.ResolvedAt = schema.TaskMerged, at
	e.Aliases, e.Blockers, e.StagedBlockers, e.Suggestions = nil, nil, nil, nil
	return e
}
