package schema

import (
	"encoding/json"
	"slices"
)

// EntryType is the kind of an entry.
type EntryType string

// Entry types.
const (
	EntryFact      EntryType = "fact"
	EntryDecision  EntryType = "decision"
	EntryInsight   EntryType = "insight"
	EntryTaskNote  EntryType = "task_note"
	EntryReference EntryType = "reference"
)

// EntryTypes returns all entry types.
func EntryTypes() []EntryType {
	return []EntryType{EntryFact, EntryDecision, EntryInsight, EntryTaskNote, EntryReference}
}

// Stage is how far an entry or entity has been confirmed.
type Stage string

// Stages, in order.
const (
	StageRaw       Stage = "raw"
	StageWorking   Stage = "working"
	StageCandidate Stage = "candidate"
	StageVerified  Stage = "verified"
	StageCertified Stage = "certified"
)

// Rank returns the stage's place in the order of stages, from 1, or 0 for an unknown one.
func (s Stage) Rank() int { return slices.Index(Stages(), s) + 1 }

// Stages returns all stages, in order.
func Stages() []Stage {
	return []Stage{StageRaw, StageWorking, StageCandidate, StageVerified, StageCertified}
}

// Status is the validity of an entry or entity.
type Status string

// Statuses.
const (
	StatusActive     Status = "active"
	StatusContested  Status = "contested"
	StatusDeprecated Status = "deprecated"
	StatusSuperseded Status = "superseded"
)

// Statuses returns all statuses.
func Statuses() []Status {
	return []Status{StatusActive, StatusContested, StatusDeprecated, StatusSuperseded}
}

// Fact categories.
const (
	CategoryPreference = "preference"
	CategoryKnowledge  = "knowledge"
	CategoryContext    = "context"
	CategoryBehavior   = "behavior"
	CategoryGoal       = "goal"
	CategoryCorrection = "correction"
)

// Categories returns all fact categories.
func Categories() []string {
	return []string{CategoryPreference, CategoryKnowledge, CategoryContext, CategoryBehavior, CategoryGoal, CategoryCorrection}
}

// TaskStatus is the state of a task.
type TaskStatus string

// Task statuses.
const (
	TaskPending    TaskStatus = "pending"
	TaskInProgress TaskStatus = "in_progress"
	TaskBlocked    TaskStatus = "blocked"
	TaskDone       TaskStatus = "done"
	TaskCancelled  TaskStatus = "cancelled"
)

// TaskStatuses returns all task statuses.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{TaskPending, TaskInProgress, TaskBlocked, TaskDone, TaskCancelled}
}

// TaskPriority is the priority of a task.
type TaskPriority string

// Task priorities.
const (
	PriorityLow      TaskPriority = "low"
	PriorityMedium   TaskPriority = "medium"
	PriorityHigh     TaskPriority = "high"
	PriorityCritical TaskPriority = "critical"
)

// TaskPriorities returns all priorities, the lowest first.
func TaskPriorities() []TaskPriority {
	return []TaskPriority{PriorityLow, PriorityMedium, PriorityHigh, PriorityCritical}
}

// Extraction is a model's result for one window of a session. Its JSON schema is ExtractionSchema.
type Extraction struct {
	Entries []ExtractedEntry `json:"entries"`
}

// ExtractedEntry is one memory that a model proposes. It carries quotes but no offsets: the pipeline computes the
// spans.
type ExtractedEntry struct {
	// EntryID is the model's own label, which the schema requires. Entry ids are derived and never taken from it.
	EntryID string    `json:"entryId,omitempty"`
	Type    EntryType `json:"type"`
	// Title is one sentence in the language of the source.
	Title   string `json:"title"`
	Content string `json:"content,omitempty"`
	// Category is set for facts only.
	Category string `json:"category,omitempty"`
	// Section is set for facts only, if the entry is the summary of a section of the profile: one of [ProfileSections].
	Section string `json:"section,omitempty"`
	// Confidence is the model's own estimate, in [0,1]. It is nil if the model gave none.
	Confidence *float64 `json:"confidence,omitempty"`
	// SourceError is the mistake that a correction describes. It is set for facts of that category only.
	SourceError string `json:"sourceError,omitempty"`
	// Task is set for task notes only.
	Task     *ExtractedTask `json:"task,omitempty"`
	Evidence []Quote        `json:"evidence"`
	// Corrects is the id of the entry that this one replaces. Only a person's statement has it. A model's value is
	// ignored.
	Corrects string `json:"corrects,omitempty"`
}

// ExtractedTask is the content of a task note about its task.
type ExtractedTask struct {
	Title     string       `json:"title,omitempty"`
	Status    TaskStatus   `json:"status,omitempty"`
	Priority  TaskPriority `json:"priority,omitempty"`
	BlockedBy []string     `json:"blockedBy,omitempty"`
	// Listed is true for an item of the agent's own to-do list, whose state its harness keeps. A model's value is
	// ignored.
	Listed bool `json:"listed,omitempty"`
}

// Quote is a verbatim part of one message.
type Quote struct {
	MessageIndex int    `json:"messageIndex"`
	Quote        string `json:"quote"`
}

// RejectedItem is an item of a model's response that does not match the schema.
type RejectedItem struct {
	Index  int             `json:"index"`
	Reason string          `json:"reason"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

// says reports whether the item contains the text to erase, in whatever fields it has: it may fit no schema.
func (r RejectedItem) says(f Forgetting) bool {
	found := f.Says(r.Reason)
	EachString(r.Raw, func(s string) { found = found || f.Says(s) })
	return found
}
