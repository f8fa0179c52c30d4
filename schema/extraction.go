package schema

import "encoding/json"

// EntryType says what an entry is.
type EntryType string

// Entry types.
const (
	EntryFact      EntryType = "fact"
	EntryDecision  EntryType = "decision"
	EntryInsight   EntryType = "insight"
	EntryTaskNote  EntryType = "task_note"
	EntryReference EntryType = "reference"
)

// EntryTypes are all there are.
func EntryTypes() []EntryType {
	return []EntryType{EntryFact, EntryDecision, EntryInsight, EntryTaskNote, EntryReference}
}

// Stage says how far an entry or entity has graduated.
type Stage string

// The stages, in order.
const (
	StageRaw       Stage = "raw"
	StageWorking   Stage = "working"
	StageCandidate Stage = "candidate"
	StageVerified  Stage = "verified"
	StageCertified Stage = "certified"
)

// Stages are all there are, in order.
func Stages() []Stage {
	return []Stage{StageRaw, StageWorking, StageCandidate, StageVerified, StageCertified}
}

// Status says whether an entry or entity still counts.
type Status string

// Statuses.
const (
	StatusActive     Status = "active"
	StatusContested  Status = "contested"
	StatusDeprecated Status = "deprecated"
	StatusSuperseded Status = "superseded"
)

// Fact categories.
const (
	CategoryPreference = "preference"
	CategoryKnowledge  = "knowledge"
	CategoryContext    = "context"
	CategoryBehavior   = "behavior"
	CategoryGoal       = "goal"
	CategoryCorrection = "correction"
)

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

// TaskStatuses are all there are.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{TaskPending, TaskInProgress, TaskBlocked, TaskDone, TaskCancelled}
}

// TaskPriority ranks a task.
type TaskPriority string

// Task priorities.
const (
	PriorityLow      TaskPriority = "low"
	PriorityMedium   TaskPriority = "medium"
	PriorityHigh     TaskPriority = "high"
	PriorityCritical TaskPriority = "critical"
)

// TaskPriorities are all there are, from the lowest.
func TaskPriorities() []TaskPriority {
	return []TaskPriority{PriorityLow, PriorityMedium, PriorityHigh, PriorityCritical}
}

// Extraction is what a model returns for one window of a session: the JSON schema is
// ExtractionSchema.
type Extraction struct {
	Entries []ExtractedEntry `json:"entries"`
}

// ExtractedEntry is one memory a model proposes. It carries quotes, never offsets: the pipeline
// decides the span.
type ExtractedEntry struct {
	// EntryID is the model's own label, which the schema requires; entry ids are derived, never taken
	// from it.
	EntryID string    `json:"entryId,omitempty"`
	Type    EntryType `json:"type"`
	// Title is one sentence in the language of the source.
	Title   string `json:"title"`
	Content string `json:"content,omitempty"`
	// Category is set on facts only.
	Category string `json:"category,omitempty"`
	// Confidence is the model's, in [0,1]; nil when it gave none.
	Confidence *float64 `json:"confidence,omitempty"`
	// Task is set on task notes only.
	Task     *ExtractedTask `json:"task,omitempty"`
	Evidence []Quote        `json:"evidence"`
}

// ExtractedTask is what a task note says of its task.
type ExtractedTask struct {
	Title     string       `json:"title,omitempty"`
	Status    TaskStatus   `json:"status,omitempty"`
	Priority  TaskPriority `json:"priority,omitempty"`
	BlockedBy []string     `json:"blockedBy,omitempty"`
}

// Quote is a verbatim piece of one message.
type Quote struct {
	MessageIndex int    `json:"messageIndex"`
	Quote        string `json:"quote"`
}

// RejectedItem is an item of a model's response that did not fit the schema.
type RejectedItem struct {
	Index  int             `json:"index"`
	Reason string          `json:"reason"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}
