package task

import (
	"fmt"
	"slices"
	"time"

	"axiommind/schema"
)

// EventTypes returns the types of the events that entities are folded from.
func EventTypes() []string { return schema.EventTypesOf[schema.EntityChange]() }

// occurrence is an event with its decoded payload.
type occurrence struct {
	project string
	ts      time.Time
	seq     uint64
	payload schema.EntityChange
}

func readEvent(e schema.Event) (occurrence, error) {
	payload, err := schema.DecodePayload(e)
	if err != nil {
		return occurrence{}, err
	}
	of, ok := payload.(schema.EntityChange)
	if !ok {
		return occurrence{}, fmt.Errorf("read event %q: %q is no task event", e.ID, e.Type)
	}
	return occurrence{project: e.Project, ts: e.TS, seq: e.Seq, payload: of}, nil
}

// subjects returns the type and the ids of the entities that the event changes.
func (o occurrence) subjects() (schema.EntityType, []string) {
	refs := o.payload.Entities()
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	return refs[0].Type, ids
}

func (o occurrence) ids() []string {
	_, ids := o.subjects()
	return ids
}

// creates reports whether the event creates an entity.
func (o occurrence) creates() bool {
	switch o.payload.(type) {
	case schema.TaskCreatedPayload, schema.ConditionDeclaredPayload, schema.ArtifactDeclaredPayload:
		return true
	}
	return false
}

// after returns the entity with the id after the event. It is pure: it does not change the given entity or its slices.
// An event that was folded before, as its position shows, changes nothing.
func (e Entity) after(id string, o occurrence) Entity {
	// Our events never change an entity that does not exist or create one twice.
	if kind, _ := o.subjects(); o.seq <= e.Version || o.creates() == e.Exists() || e.Exists() && e.Type != kind {
		return e
	}
	e.Version = o.seq
	if e.CreatedAt.IsZero() || o.ts.Before(e.CreatedAt) {
		e.CreatedAt = o.ts
	}
	if o.ts.After(e.UpdatedAt) {
		e.UpdatedAt = o.ts
	}
	e.Project = o.project
	switch p := o.payload.(type) {
	case schema.TaskCreatedPayload:
		return e.created(p)
	case schema.TaskObservedPayload:
		return e.observed(p, o.ts)
	case schema.TaskStatusChangedPayload:
		return e.statusChanged(p, o.ts)
	case schema.TaskPriorityChangedPayload:
		e.Priority = p.To
	case schema.TaskTitleChangedPayload:
		e.Title = p.To
		e.Aliases = e.withAliases(o.ts, p.CanonicalKey)
	case schema.TaskBlockersSetPayload:
		return e.blockersSet(p)
	case schema.TaskDoneReportedPayload:
		return e.doneReported(p, o.ts)
	case schema.TaskMergedPayload:
		return e.merged(id, p, o.ts)
	case schema.ConditionDeclaredPayload:
		e.EntityRef = schema.EntityRef{Type: schema.EntityCondition, ID: p.ConditionID}
		e.CanonicalKey, e.Title, e.AutoPlaceholder = p.CanonicalKey, p.Text, p.AutoPlaceholder
		e.Candidates, e.Mentions = p.Candidates, p.Mentions
		e.Aliases = e.withAliases(o.ts, p.Aliases...)
		e.Stage, e.Status = schema.StageWorking, schema.StatusActive
	case schema.ConditionResolvedToPayload:
		target := p.Target
		e.ResolvesTo, e.ResolvedBy, e.ResolvedAt = &target, p.ResolvedBy, o.ts
	case schema.ArtifactDeclaredPayload:
		e.EntityRef = schema.EntityRef{Type: schema.EntityArtifact, ID: p.ArtifactID}
		e.CanonicalKey, e.Title, e.ArtifactKind = p.CanonicalKey, p.Text, p.Kind
		e.Stage, e.Status = schema.StageWorking, schema.StatusActive
	case schema.ArtifactClosedPayload:
		e.ClosedAt = o.ts
	case schema.TaskTransitionRejectedPayload: // A refused transition changes nothing.
	default:
		panic(fmt.Sprintf("fold entity %q: no rule for a %T", id, p))
	}
	return e
}

func (e Entity) created(p schema.TaskCreatedPayload) Entity {
	e.EntityRef = schema.EntityRef{Type: schema.EntityTask, ID: p.TaskID}
	e.CanonicalKey, e.Title = p.CanonicalKey, p.Title
	e.TaskStatus, e.Priority, e.Candidates = initialStatus(p.Status), p.Priority, p.Candidates
	e.Stage, e.Status, e.Listed = schema.StageRaw, schema.StatusActive, p.Listed
	if p.RequestID != "" { // A person made it.
		e.Stage = schema.StageWorking
	}
	return e
}

func (e Entity) observed(p schema.TaskObservedPayload, at time.Time) Entity {
	e.Aliases = e.withAliases(at, p.CanonicalKey)
	if p.EvidenceAligned && e.Stage == schema.StageRaw {
		e.Stage = schema.StageWorking
	}
	// A later report that the task is open revokes the report that it is done.
	open := p.Status != "" && !Closed(p.Status)
	if open && p.EvidenceAligned && e.DoneReport != nil && !at.Before(e.DoneReport.At) {
		e.DoneReport = nil
	}
	return e
}

// doneReported keeps the report, unless an earlier one has better evidence.
func (e Entity) doneReported(p schema.TaskDoneReportedPayload, at time.Time) Entity {
	report := DoneReport{At: at, EntryID: p.EntryID, By: p.By, EvidenceAligned: p.EvidenceAligned, EvidenceProven: p.EvidenceProven}
	if len(p.Evidence) > 0 {
		report.Quote = clip(p.Evidence[0].Quote)
	}
	if !Closed(e.TaskStatus) && (e.DoneReport == nil || report.strength() >= e.DoneReport.strength()) {
		e.DoneReport = &report
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

func (e Entity) statusChanged(p schema.TaskStatusChangedPayload, at time.Time) Entity {
	// Our events never do this: a blocked task always has a blocker, and every transition is legal.
	if !Legal(e.TaskStatus, p.To, p.Reopened) || p.To == schema.TaskBlocked && len(e.Blockers) == 0 {
		return e
	}
	from := e.TaskStatus
	e.TaskStatus, e.ClosedAt, e.DoneReport, e.BlockedFrom = p.To, time.Time{}, nil, ""
	if p.To == schema.TaskBlocked {
		e.BlockedFrom = from
	}
	if from == schema.TaskBlocked || Closed(p.To) {
		e.Blockers, e.Suggestions = nil, nil
	}
	if Closed(p.To) {
		e.ClosedAt = at
	}
	return e
}

func (e Entity) withBlockers(blockers []schema.Blocker) Entity {
	e.Blockers = blockers
	if len(blockers) == 0 {
		e.Blockers = nil
	}
	e.Suggestions = slices.DeleteFunc(slices.Clone(e.Suggestions), func(b schema.Blocker) bool {
		return hasBlocker(blockers, b.ID)
	})
	if len(e.Suggestions) == 0 {
		e.Suggestions = nil
	}
	return e
}

func (e Entity) blockersSet(p schema.TaskBlockersSetPayload) Entity {
	switch {
	case Closed(e.TaskStatus):
	case p.Mode == schema.BlockersSuggest:
		for _, b := range p.Blockers {
			if !e.blockedBy(b.ID) && !hasBlocker(e.Suggestions, b.ID) {
				e.Suggestions = append(slices.Clip(e.Suggestions), b)
			}
		}
	case len(p.Blockers) > 0 || e.TaskStatus != schema.TaskBlocked:
		return e.withBlockers(p.Blockers)
	}
	return e
}

func (e Entity) merged(id string, p schema.TaskMergedPayload, at time.Time) Entity {
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
	e.Aliases, e.Blockers, e.Suggestions, e.DoneReport, e.BlockedFrom = nil, nil, nil, nil, ""
	return e
}

// initialStatus returns the initial status of a task if the entry reports the given one. Blocked and cancelled are
// reached by a transition. No task begins as done.
func initialStatus(status schema.TaskStatus) schema.TaskStatus {
	if status == schema.TaskInProgress || status == schema.TaskDone {
		return schema.TaskInProgress
	}
	return schema.TaskPending
}
