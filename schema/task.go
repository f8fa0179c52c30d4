package schema

import (
	"slices"
	"time"
)

// EntityType is the kind of an entity.
type EntityType string

// Entity types.
const (
	EntityTask      EntityType = "task"
	EntityCondition EntityType = "condition"
	EntityArtifact  EntityType = "artifact"
)

// ArtifactKind is the kind of identifier that an artifact's key was read from.
type ArtifactKind string

// Artifact kinds.
const (
	ArtifactURL         ArtifactKind = "url"
	ArtifactJira        ArtifactKind = "jira"
	ArtifactGitHubIssue ArtifactKind = "gh_issue"
	ArtifactGitHubPull  ArtifactKind = "gh_pr"
	ArtifactPlain       ArtifactKind = "plain"
)

// RelType is the relation of an edge.
type RelType string

// Relations.
const (
	RelEvidenceOf         RelType = "evidence_of"
	RelBlockedBy          RelType = "blocked_by"
	RelBlockedBySuggested RelType = "blocked_by_suggested"
	// RelResolvesTo leads from a condition to the entity that it was resolved to, and from a merged task to the task
	// that it was merged into.
	RelResolvesTo RelType = "resolves_to"
	// RelMentions leads from a condition to an artifact that its text names.
	RelMentions RelType = "mentions"
)

// BlockersMode is the way in which a task_blockers_set event changes the blockers.
type BlockersMode string

// Blocker modes. Blockers with aligned evidence replace the old ones, others are added as suggestions.
const (
	BlockersReplace BlockersMode = "replace"
	BlockersSuggest BlockersMode = "suggest"
)

// EntityRef refers to an entity.
type EntityRef struct {
	Type EntityType `json:"entity_type"`
	ID   string     `json:"entity_id"`
}

// Blocker is something that a task waits for.
type Blocker struct {
	EntityRef
	// Text is the source's name for it.
	Text string `json:"text"`
	// Confidence is 1 for artifacts, task ids and commands, the match's score for task titles, 0.5 for conditions and
	// 0 for a placeholder.
	Confidence float64 `json:"confidence"`
	// Placeholder is true if nothing is known about the blocker.
	Placeholder bool `json:"auto_placeholder,omitempty"`
	// EntryID is the entry that named it. It is empty for a command.
	EntryID string `json:"entry_id,omitempty"`
	// Since is the time at which the task was first said to wait for it.
	Since time.Time `json:"since"`
}

// Candidate is an entity that a text may refer to, without certainty.
type Candidate struct {
	EntityID string  `json:"entity_id"`
	Title    string  `json:"title"`
	Score    float64 `json:"score"`
	Method   string  `json:"method"`
}

// Act is the cause of a task event. Exactly one of EntryID and RequestID is set.
type Act struct {
	// EntryID is the entry whose evidence supports the event.
	EntryID string `json:"entry_id,omitempty"`
	// RequestID is the command's id, and Reason the reason given with it.
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// Cause returns the act. Payloads get this method by embedding Act.
func (a Act) Cause() Act { return a }

// TaskCreatedPayload creates a task.
type TaskCreatedPayload struct {
	Act
	TaskID       string       `json:"task_id"`
	CanonicalKey string       `json:"canonical_key"`
	Title        string       `json:"title"`
	Status       TaskStatus   `json:"status"`
	Priority     TaskPriority `json:"priority"`
	// ReportedStatus is the status that the entry gave, if Status differs: no task starts as done.
	ReportedStatus TaskStatus `json:"reported_status,omitempty"`
	// Listed is true for an item of an agent's own list: see [ExtractedTask].
	Listed bool `json:"listed,omitempty"`
	// Candidates are tasks that may be the same as this one.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Declares returns the task's id.
func (p TaskCreatedPayload) Declares() (id string, inMemory bool) { return p.TaskID, false }

// Inherit returns the task as another entry observed it. A task that no entry observed becomes a condition instead.
func (p TaskCreatedPayload) Inherit(by any, _ Succession) any {
	observed, ok := by.(TaskObservedPayload)
	if !ok {
		return nil
	}
	created := TaskCreatedPayload{
		Act: observed.Act, TaskID: p.TaskID, CanonicalKey: observed.CanonicalKey, Title: observed.Title, Priority: PriorityMedium, Status: TaskPending,
	}
	switch observed.Status {
	case TaskInProgress, TaskBlocked:
		created.Status = TaskInProgress
	case TaskDone:
		created.Status, created.ReportedStatus = TaskInProgress, TaskDone
	}
	return created
}

// TaskObservedPayload records that an entry is about the task. It is the last event that an entry causes.
type TaskObservedPayload struct {
	Act
	TaskID string `json:"task_id"`
	// CanonicalKey and Title are those of the title as the entry spells it. They are an alias of the task from now
	// on.
	CanonicalKey string `json:"canonical_key"`
	Title        string `json:"title"`
	// Method and Score say how the task was found. Method is "created" if it was not found.
	Method          string  `json:"method"`
	Score           float64 `json:"score"`
	EvidenceAligned bool    `json:"evidence_aligned"`
	// Status is the status that the entry reports. It is empty if the entry reports none.
	Status TaskStatus `json:"status,omitempty"`
}

// Succeeds returns the observed task.
func (p TaskObservedPayload) Succeeds(Forgetting) map[string]Succession {
	return map[string]Succession{p.TaskID: {}}
}

// TaskDoneReportedPayload records a report that the task is done which does not close it. A person has to confirm it.
type TaskDoneReportedPayload struct {
	// By is the name of the agent that reports it by a command, empty for an entry.
	By string `json:"by,omitempty"`
	Act
	TaskID string `json:"task_id"`
	// EvidenceAligned and EvidenceProven are those of the whole entry.
	EvidenceAligned bool       `json:"evidence_aligned"`
	EvidenceProven  bool       `json:"evidence_proven"`
	Evidence        []Evidence `json:"evidence,omitempty"`
}

// TaskStatusChangedPayload is a legal transition. A transition to blocked follows the task_blockers_set event with
// the blockers. A transition away from blocked, or one that closes the task, clears the blockers.
type TaskStatusChangedPayload struct {
	Act
	TaskID string     `json:"task_id"`
	From   TaskStatus `json:"from"`
	To     TaskStatus `json:"to"`
	// Reopened is true if From is done or cancelled.
	Reopened bool `json:"reopened,omitempty"`
	// Lifted are the last blockers of a task that is no longer blocked because it waits for nothing more.
	Lifted []Blocker `json:"lifted,omitempty"`
}

// TaskPriorityChangedPayload changes a task's priority.
type TaskPriorityChangedPayload struct {
	Act
	TaskID string       `json:"task_id"`
	From   TaskPriority `json:"from"`
	To     TaskPriority `json:"to"`
}

// TaskTitleChangedPayload renames a task. Its id stays the same and the old title remains an alias.
type TaskTitleChangedPayload struct {
	Act
	TaskID       string `json:"task_id"`
	From         string `json:"from"`
	To           string `json:"to"`
	CanonicalKey string `json:"canonical_key"`
}

// Remains erases the event if the new title contains the text to erase, and otherwise the old title alone.
func (p TaskTitleChangedPayload) Remains(f Forgetting) Remainder {
	changed := p.From != ForgottenText && f.Says(p.From)
	if changed {
		p.From = ForgottenText
	}
	left := remainder(p, changed)
	left.Erased, left.General = f.Says(p.To), true
	return left
}

// Words calls f with a title that a person gave.
func (p TaskTitleChangedPayload) Words(f func(string)) { byHand(p.Act, p.To, f) }

// TaskBlockersSetPayload replaces a task's blockers or adds to its suggested ones.
type TaskBlockersSetPayload struct {
	Act
	TaskID   string       `json:"task_id"`
	Mode     BlockersMode `json:"mode"`
	Blockers []Blocker    `json:"blockers"`
	// Lifted are the replaced blockers that the task no longer has to wait for.
	Lifted []Blocker `json:"lifted,omitempty"`
}

// Remains turns blocking tasks that are erased into conditions, named by the words of this event.
func (p TaskBlockersSetPayload) Remains(f Forgetting) Remainder {
	turned := false
	p.Blockers, p.Lifted = slices.Clone(p.Blockers), slices.Clone(p.Lifted)
	for _, list := range [][]Blocker{p.Blockers, p.Lifted} {
		for i, b := range list {
			if condition := f.Condition(b.ID); condition != "" && b.Type == EntityTask {
				list[i].EntityRef, list[i].Confidence, turned = EntityRef{Type: EntityCondition, ID: condition}, 0.5, true
			}
		}
	}
	left := remainder(p, turned)
	left.General = true
	return left
}

// Succeeds returns the conditions, artifacts and tasks that the task waits for.
func (p TaskBlockersSetPayload) Succeeds(f Forgetting) map[string]Succession {
	out := map[string]Succession{}
	for _, list := range [][]Blocker{p.Blockers, p.Lifted} {
		for _, b := range list {
			if f.Says(b.Text) || f.Names(b.Text) || f.Names(b.EntryID) {
				continue
			}
			if _, ok := out[b.ID]; !ok || b.Placeholder {
				out[b.ID] = Succession{Waits: b.Type == EntityTask && !b.Placeholder, Text: b.Text}
			}
		}
	}
	return out
}

// Values of TaskTransitionRejectedPayload.Rejection.
const (
	RejectedTransition      = "illegal_transition"
	RejectedStale           = "older_than_the_close"
	RejectedUnaligned       = "reopen_without_aligned_evidence"
	RejectedUnalignedCancel = "cancel_without_aligned_evidence"
	RejectedStatus          = "unknown_status"
	RejectedPriority        = "unknown_priority"
	RejectedSelfBlock       = "self_block"
	RejectedCycle           = "cycle"
	RejectedBlockersOnClose = "blockers_of_a_closed_task"
)

// TaskTransitionRejectedPayload records a change of a task that was refused. It changes nothing.
type TaskTransitionRejectedPayload struct {
	Act
	TaskID string     `json:"task_id"`
	From   TaskStatus `json:"from"`
	// To is the requested status. It is empty if something other than the status was refused.
	To TaskStatus `json:"to,omitempty"`
	// Rejection is one of the constants above.
	Rejection string `json:"rejection"`
	// Blockers are the refused blockers.
	Blockers []Blocker `json:"blockers,omitempty"`
}

// TaskMergedPayload merges TaskID into Into.
type TaskMergedPayload struct {
	Act
	TaskID string `json:"task_id"`
	Into   string `json:"into"`
	// Aliases are the canonical keys of TaskID, which lead to Into from now on.
	Aliases []string `json:"aliases"`
}

// ConditionDeclaredPayload creates a condition: something a task waits for that is neither an artifact nor a known
// task.
type ConditionDeclaredPayload struct {
	Act
	ConditionID  string `json:"condition_id"`
	CanonicalKey string `json:"canonical_key"`
	Text         string `json:"text"`
	// Aliases are the canonical keys of other spellings of the text.
	Aliases []string `json:"aliases,omitempty"`
	// AutoPlaceholder is true if it represents a blocker that was not named.
	AutoPlaceholder bool `json:"auto_placeholder,omitempty"`
	// Candidates are tasks that the text may refer to.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Mentions are the ids of the artifacts that the text names.
	Mentions []string `json:"mentions,omitempty"`
}

// Declares returns the condition's id.
func (p ConditionDeclaredPayload) Declares() (id string, inMemory bool) { return p.ConditionID, false }

// Inherit returns the condition in the words of an event whose task waits for it.
func (p ConditionDeclaredPayload) Inherit(by any, s Succession) any {
	return ConditionDeclaredPayload{
		Act: ActOf(by), ConditionID: p.ConditionID, CanonicalKey: p.CanonicalKey, Text: s.Text, AutoPlaceholder: p.AutoPlaceholder,
	}
}

// ArtifactDeclaredPayload creates an artifact.
type ArtifactDeclaredPayload struct {
	Act
	ArtifactID   string       `json:"artifact_id"`
	CanonicalKey string       `json:"canonical_key"`
	Kind         ArtifactKind `json:"kind"`
	Text         string       `json:"text"`
}

// Declares returns the artifact's id.
func (p ArtifactDeclaredPayload) Declares() (id string, inMemory bool) { return p.ArtifactID, false }

// Inherit returns the artifact in the words of an event whose task waits for it.
func (p ArtifactDeclaredPayload) Inherit(by any, s Succession) any {
	return ArtifactDeclaredPayload{Act: ActOf(by), ArtifactID: p.ArtifactID, CanonicalKey: p.CanonicalKey, Kind: p.Kind, Text: s.Text}
}

// ArtifactClosedPayload records that the issue, pull request or page is closed, so that nothing waits for it.
type ArtifactClosedPayload struct {
	Act
	ArtifactID string `json:"artifact_id"`
}

// The ways to resolve a condition.
const (
	ResolvedByCommand   = "command"
	ResolvedByTaskTitle = "task_title"
	ResolvedByArtifact  = "artifact_closed"
)

// ConditionResolvedToPayload records the entity that a condition was resolved to.
type ConditionResolvedToPayload struct {
	Act
	ConditionID string    `json:"condition_id"`
	Target      EntityRef `json:"target"`
	// ResolvedBy is one of the constants above.
	ResolvedBy string `json:"resolved_by"`
}

// EntityID returns the id of the entity with the canonical key.
func EntityID(canonicalKey string) string { return DerivedID("entity", canonicalKey) }

// EdgeID returns the id of the edge. There is one edge for each relation between two ends.
func EdgeID(project, srcType, srcID string, rel RelType, dstType, dstID string) string {
	return DerivedID("edge", project, srcType, srcID, string(rel), dstType, dstID)
}
