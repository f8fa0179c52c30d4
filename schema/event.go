package schema

import (
	"encoding/json"
	"time"
)

// Event is one row of the event log: see activities/eventlog.
//
// The caller sets Type, TS, Actor, DedupeKey and Payload, and SessionID, Project, BuildID, PayloadRedacted and
// Sensitivity where they are known. The log computes ID, Stream, Seq, Checksum and RecordedAt.
type Event struct {
	ID     string `json:"event_id"`
	Stream string `json:"stream"`
	// Seq is the position in the stream, counted from 1 without gaps. It alone decides the order.
	Seq  uint64 `json:"seq"`
	Type string `json:"event_type"`
	// TS is the time at which the recorded thing happened, in UTC, to the microsecond. It never decides the order.
	TS    time.Time `json:"ts"`
	Actor string    `json:"actor"`
	// SessionID and Project are empty where they do not apply.
	SessionID string `json:"session_id,omitempty"`
	Project   string `json:"project,omitempty"`
	// BuildID is the build that caused the event. Where no build did, it is the id of the command, or of the run of the
	// workflow that appended the event.
	BuildID string `json:"build_id,omitempty"`
	// DedupeKey names the act, not the attempt. Appending the same act again has no effect.
	DedupeKey string `json:"dedupe_key"`
	// Payload is JSON. Its Go type is the payload struct named after Type.
	Payload json.RawMessage `json:"payload"`
	// PayloadRedacted counts the redactions in Payload by rule, as a JSON object. They were made before it was stored.
	// It is empty if there were none. The log counts the placeholders in Payload: see [Redactions].
	PayloadRedacted json.RawMessage `json:"payload_redacted,omitempty"`
	// Sensitivity is SensitivityNormal unless redaction found something, or the event keeps the redacted text.
	Sensitivity string `json:"sensitivity"`
	// Checksum is the hex SHA-256 of the payload's canonical form (RFC 8785).
	Checksum   string    `json:"checksum"`
	RecordedAt time.Time `json:"recorded_at"`
}

// Values of Event.Sensitivity.
const (
	SensitivityNormal   = "normal"
	SensitivityRedacted = "redacted"
	// SensitivitySealed is for encrypted text.
	SensitivitySealed = "sealed"
)

// Event types. Each has a payload struct in this package.
const (
	SessionIngested   = "session_ingested"
	OriginalSealed    = "original_sealed"
	ModelResponded    = "model_responded"
	MemoryExtracted   = "memory_extracted"
	EvidenceAligned   = "evidence_aligned"
	EntryMaterialized = "entry_materialized"
	EntryEvidenceSet  = "entry_evidence_set"
	EntryStatusSet    = "entry_status_set"
	BuildStarted      = "build_started"
	BuildFinished     = "build_finished"
	VectorIndexed     = "vector_indexed"
	VectorFailed      = "vector_failed"
	VectorDrifted     = "vector_drifted"

	ContextEnqueued  = "context_enqueued"
	ContextProcessed = "context_processed"
	ContextHeld      = "context_held"

	BatchListed   = "batch_listed"
	BatchReported = "batch_reported"

	TaskCreated            = "task_created"
	TaskStatusChanged      = "task_status_changed"
	TaskPriorityChanged    = "task_priority_changed"
	TaskTitleChanged       = "task_title_changed"
	TaskBlockersSet        = "task_blockers_set"
	TaskTransitionRejected = "task_transition_rejected"
	TaskDoneReported       = "task_done_reported"
	TaskMerged             = "task_merged"
	TaskObserved           = "task_observed"
	ConditionDeclared      = "condition_declared"
	ArtifactDeclared       = "artifact_declared"
	ArtifactClosed         = "artifact_closed"
	ConditionResolvedTo    = "condition_resolved_to"
)
