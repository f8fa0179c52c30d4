package schema

import "time"

// EntityType says what an entity is.
type EntityType string

// Entity types.
const (
	EntityTask      EntityType = "task"
	EntityCondition EntityType = "condition"
	EntityArtifact  EntityType = "artifact"
)

// ArtifactKind says what an artifact's key was read from.
type ArtifactKind string

// Artifact kinds.
const (
	ArtifactURL         ArtifactKind = "url"
	ArtifactJira        ArtifactKind = "jira"
	ArtifactGitHubIssue ArtifactKind = "gh_issue"
	ArtifactGitHubPull  ArtifactKind = "gh_pr"
	ArtifactPlain       ArtifactKind = "plain"
)

// RelType names the relation of an edge.
type RelType string

// Relations.
const (
	RelEvidenceOf         RelType = "evidence_of"
	RelBlockedBy          RelType = "blocked_by"
	RelBlockedBySuggested RelType = "blocked_by_suggested"
	// RelResolvesTo leads from a condition to what it turned out to be, and from a merged task to
	// the task it became part of.
	RelResolvesTo RelType = "resolves_to"
	// RelMentions leads from a condition to an artifact that its text names.
	RelMentions RelType = "mentions"
)

// BlockersMode says what a task_blockers_set event does with its blockers.
type BlockersMode string

// Blocker modes: what is proven replaces, what is not is suggested.
const (
	BlockersReplace BlockersMode = "replace"
	BlockersSuggest BlockersMode = "suggest"
)

// EntityRef points at an entity.
type EntityRef struct {
	Type EntityType `json:"entity_type"`
	ID   string     `json:"entity_id"`
}

// Blocker is what a task waits for.
type Blocker struct {
	EntityRef
	// Text is what the source called it.
	Text string `json:"text"`
	// Confidence is 1 for artifacts, task ids and commands, the match's score for task titles,
	// 0.5 for conditions and 0 for a placeholder.
	Confidence float64 `json:"confidence"`
	// Placeholder is true when nothing is known of the blocker.
	Placeholder bool `json:"auto_placeholder,omitempty"`
	// EntryID is the entry that told of it; empty for a command.
	EntryID string `json:"entry_id,omitempty"`
	// Since is when the task was first said to wait for it.
	Since time.Time `json:"since"`
}

// Candidate is an entity that a text may mean, below certainty.
type Candidate struct {
	EntityID string  `json:"entity_id"`
	Title    string  `json:"title"`
	Score    float64 `json:"score"`
	Method   string  `json:"method"`
}

// Act is what every task event says of its cause. Either EntryID or RequestID is set.
type Act struct {
	// EntryID is the entry whose evidence stands behind the event.
	EntryID string `json:"entry_id,omitempty"`
	// RequestID is the command's, and Reason what was given with it.
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// Cause returns the act: payloads embed it.
func (a Act) Cause() Act { return a }

// TaskCreatedPayload brings a task into being.
type TaskCreatedPayload struct {
	Act
	TaskID       string       `json:"task_id"`
	CanonicalKey string       `json:"canonical_key"`
	Title        string       `json:"title"`
	Status       TaskStatus   `json:"status"`
	Priority     TaskPriority `json:"priority"`
	// ReportedStatus is the status the entry gave, where Status is another: no task starts done.
	ReportedStatus TaskStatus `json:"reported_status,omitempty"`
	// Candidates are tasks that this one may repeat.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// TaskObservedPayload says that an entry speaks of the task. It is the last event of its entry.
type TaskObservedPayload struct {
	Act
	TaskID string `json:"task_id"`
	// CanonicalKey and Title are of the spelling in the entry: an alias of the task from now on.
	CanonicalKey string `json:"canonical_key"`
	Title        string `json:"title"`
	// Method and Score say how the task was found; "created" when it was not.
	Method          string  `json:"method"`
	Score           float64 `json:"score"`
	EvidenceAligned bool    `json:"evidence_aligned"`
	// Status is the status that the entry gives; empty for none.
	Status TaskStatus `json:"status,omitempty"`
}

// TaskDoneReportedPayload keeps a report of done that does not close the task: a person confirms it.
type TaskDoneReportedPayload struct {
	Act
	TaskID string `json:"task_id"`
	// EvidenceAligned and EvidenceProven are of the entry as a whole.
	EvidenceAligned bool       `json:"evidence_aligned"`
	EvidenceProven  bool       `json:"evidence_proven"`
	Evidence        []Evidence `json:"evidence,omitempty"`
}

// TaskStatusChangedPayload is a legal transition. One to blocked follows the task_blockers_set event
// that says by what; one away from blocked, and one that closes the task, clears the blockers.
type TaskStatusChangedPayload struct {
	Act
	TaskID string     `json:"task_id"`
	From   TaskStatus `json:"from"`
	To     TaskStatus `json:"to"`
	// Reopened is true when From is done or cancelled.
	Reopened bool `json:"reopened,omitempty"`
	// Lifted are the last blockers of a task that waits for nothing more, and so is not blocked.
	Lifted []Blocker `json:"lifted,omitempty"`
}

// TaskPriorityChangedPayload changes a task's priority.
type TaskPriorityChangedPayload struct {
	Act
	TaskID string       `json:"task_id"`
	From   TaskPriority `json:"from"`
	To     TaskPriority `json:"to"`
}

// TaskTitleChangedPayload renames a task. Its id stays and the old title remains an alias.
type TaskTitleChangedPayload struct {
	Act
	TaskID       string `json:"task_id"`
	From         string `json:"from"`
	To           string `json:"to"`
	CanonicalKey string `json:"canonical_key"`
}

// TaskBlockersSetPayload replaces a task's blockers or adds to its suggestions.
type TaskBlockersSetPayload struct {
	Act
	TaskID   string       `json:"task_id"`
	Mode     BlockersMode `json:"mode"`
	Blockers []Blocker    `json:"blockers"`
	// Lifted are the blockers that were replaced because they are done with.
	Lifted []Blocker `json:"lifted,omitempty"`
}

// Rejections of TaskTransitionRejectedPayload.
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

// TaskTransitionRejectedPayload records what was asked of a task and refused. It changes nothing.
type TaskTransitionRejectedPayload struct {
	Act
	TaskID string     `json:"task_id"`
	From   TaskStatus `json:"from"`
	// To is the status asked for; empty when it was not the status that was refused.
	To TaskStatus `json:"to,omitempty"`
	// Rejection is one of the constants above.
	Rejection string `json:"rejection"`
	// Blockers are those refused.
	Blockers []Blocker `json:"blockers,omitempty"`
}

// TaskMergedPayload makes TaskID part of Into.
type TaskMergedPayload struct {
	Act
	TaskID string `json:"task_id"`
	Into   string `json:"into"`
	// Aliases are the canonical keys of TaskID, which lead to Into from now on.
	Aliases []string `json:"aliases"`
}

// ConditionDeclaredPayload brings a condition into being: something a task waits for that is
// neither an artifact nor a known task.
type ConditionDeclaredPayload struct {
	Act
	ConditionID  string `json:"condition_id"`
	CanonicalKey string `json:"canonical_key"`
	Text         string `json:"text"`
	// Aliases are canonical keys of other spellings of the text.
	Aliases []string `json:"aliases,omitempty"`
	// AutoPlaceholder is true when it stands in for a blocker nobody named.
	AutoPlaceholder bool `json:"auto_placeholder,omitempty"`
	// Candidates are tasks the text may mean.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Mentions are the ids of the artifacts that the text names.
	Mentions []string `json:"mentions,omitempty"`
}

// ArtifactDeclaredPayload brings an artifact into being.
type ArtifactDeclaredPayload struct {
	Act
	ArtifactID   string       `json:"artifact_id"`
	CanonicalKey string       `json:"canonical_key"`
	Kind         ArtifactKind `json:"kind"`
	Text         string       `json:"text"`
}

// ArtifactClosedPayload says that the issue, pull request or page is done with.
type ArtifactClosedPayload struct {
	Act
	ArtifactID string `json:"artifact_id"`
}

// Ways in which a condition is resolved.
const (
	ResolvedByCommand   = "command"
	ResolvedByTaskTitle = "task_title"
	ResolvedByArtifact  = "artifact_closed"
)

// ConditionResolvedToPayload says what a condition turned out to be.
type ConditionResolvedToPayload struct {
	Act
	ConditionID string    `json:"condition_id"`
	Target      EntityRef `json:"target"`
	// ResolvedBy is one of the constants above.
	ResolvedBy string `json:"resolved_by"`
}

// EntityID is the id of the entity with the canonical key.
func EntityID(canonicalKey string) string { return DerivedID("entity", canonicalKey) }

// EdgeID is the id of the edge: the same two ends and relation are one edge.
func EdgeID(project, srcType, srcID string, rel RelType, dstType, dstID string) string {
	return DerivedID("edge", project, srcType, srcID, string(rel), dstType, dstID)
}
