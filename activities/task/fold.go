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
		schema.TaskDoneReported,
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
	case schema.TaskDoneReported:
		f.payload = &schema.TaskDoneReportedPayload{}
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

// subjects returns the type of the entities that the event changes, and their ids.
func (f fact) subjects() (schema.EntityType, []string) {
	switch p := f.payload.(type) {
	case *schema.TaskCreatedPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskObservedPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskStatusChangedPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskPriorityChangedPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskTitleChangedPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskBlockersSetPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskTransitionRejectedPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskDoneReportedPayload:
		return schema.EntityTask, []string{p.TaskID}
	case *schema.TaskMergedPayload:
		return schema.EntityTask, []string{p.TaskID, p.Into}
	case *schema.ConditionDeclaredPayload:
		return schema.EntityCondition, []string{p.ConditionID}
	case *schema.ConditionResolvedToPayload:
		return schema.EntityCondition, []string{p.ConditionID}
	case *schema.ArtifactDeclaredPayload:
		return schema.EntityArtifact, []string{p.ArtifactID}
	case *schema.ArtifactClosedPayload:
		return schema.EntityArtifact, []string{p.ArtifactID}
	}
	return "", nil
}

func (f fact) ids() []string {
	_, ids := f.subjects()
	return ids
}

// creates reports whether the event brings an entity into being.
func (f fact) creates() bool {
	switch f.payload.(type) {
	case *schema.TaskCreatedPayload, *schema.ConditionDeclaredPayload, *schema.ArtifactDeclaredPayload:
		return true
	}
	return false
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
	// Of what does not exist, or twice, no event of ours tells.
	if kind, _ := f.subjects(); f.seq <= e.Version || f.creates() == e.Exists() || e.Exists() && e.Type != kind {
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
	case *schema.TaskDoneReportedPayload:
		return e.doneReported(p, f.ts)
	case *schema.TaskMergedPayload:
		return e.merged(id, p, f.ts)
	case *schema.ConditionDeclaredPayload:
		e.EntityRef = schema.EntityRef{Type: schema.EntityCondition, ID: p.ConditionID}
		e.CanonicalKey, e.Title, e.AutoPlaceholder = p.CanonicalKey, p.Text, p.AutoPlaceholder
		e.Candidates, e.Mentions = p.Candidates, p.Mentions
		e.Aliases = e.withAliases(f.ts, p.Aliases...)
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
	e.TaskStatus, e.Priority, e.Candidates = initialStatus(p.Status), p.Priority, p.Candidates
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
	// Whoever says later that the task is still open takes back that it is done.
	open := p.Status != "" && !Closed(p.Status)
	if open && p.EvidenceAligned && e.DoneReport != nil && !at.Before(e.DoneReport.At) {
		e.DoneReport = nil
	}
	return e
}

// doneReported keeps the report, unless there is one that rests on better evidence.
func (e Entity) doneReported(p *schema.TaskDoneReportedPayload, at time.Time) Entity {
	report := DoneReport{At: at, EntryID: p.EntryID, EvidenceAligned: p.EvidenceAligned, EvidenceProven: p.EvidenceProven}
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

func (e Entity) statusChanged(p *schema.TaskStatusChangedPayload, at time.Time) Entity {
	// No event of ours says so: blocked always has a blocker, and no task leaps.
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

func (e Entity) blockersSet(p *schema.TaskBlockersSetPayload) Entity {
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
	e.Aliases, e.Blockers, e.Suggestions, e.DoneReport, e.BlockedFrom = nil, nil, nil, nil, ""
	return e
}
