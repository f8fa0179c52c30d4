package schema

import "time"

// Item kinds of the vector outbox.
const (
	ItemEntry     = "entry"
	ItemTaskTitle = "task_title"
	ItemMessage   = "message"
	ItemFact      = "fact"
)

// OutboxStatus is the status of a vector outbox row.
type OutboxStatus string

// Outbox statuses.
const (
	OutboxPending OutboxStatus = "pending"
	OutboxDone    OutboxStatus = "done"
	OutboxFailed  OutboxStatus = "failed"
)

// VectorItem names one object of a vector collection.
type VectorItem struct {
	Kind             string `json:"item_kind"`
	ID               string `json:"item_id"`
	EmbeddingVersion string `json:"embedding_version"`
}

// ObjectID returns the id of the item's object in Weaviate.
func (v VectorItem) ObjectID() string {
	return DerivedID("vector", v.Kind, v.ID, v.EmbeddingVersion)
}

// JobID returns the id of the item's outbox row.
func (v VectorItem) JobID() string {
	return DerivedID("outbox", v.Kind, v.ID, v.EmbeddingVersion)
}

// VectorIndexedPayload records that items are in the vector store with the given content.
type VectorIndexedPayload struct {
	Collection string          `json:"collection"`
	Items      []IndexedVector `json:"items"`
}

// IndexedVector is one item of VectorIndexedPayload.
type IndexedVector struct {
	VectorItem
	Project string `json:"project"`
	// EnqueuedAt is the time at which the item was first requested.
	EnqueuedAt time.Time `json:"enqueued_at"`
	// ContentHash is the hex SHA-256 of everything that is stored with the vector.
	ContentHash string `json:"content_hash"`
}

// VectorFailedPayload records that items could not be written, with the reason for each.
type VectorFailedPayload struct {
	Collection string         `json:"collection"`
	Items      []FailedVector `json:"items"`
}

// FailedVector is one item of VectorFailedPayload.
type FailedVector struct {
	VectorItem
	Project string `json:"project"`
	// EnqueuedAt is the time at which the item was first requested.
	EnqueuedAt time.Time `json:"enqueued_at"`
	// Urgency orders pending items, the highest first.
	Urgency int64 `json:"urgency,omitempty"`
	// Attempt counts the item's failures, from 1. It is 0 if the cause was an outage.
	Attempt int    `json:"attempt"`
	Error   string `json:"error"`
	// Permanent is true if a retry cannot succeed.
	Permanent bool `json:"permanent,omitempty"`
}

// VectorDriftedPayload records items whose objects in the vector store are wrong and must be rewritten.
type VectorDriftedPayload struct {
	Collection string          `json:"collection"`
	Items      []DriftedVector `json:"items"`
}

// DriftedVector is one item of VectorDriftedPayload.
type DriftedVector struct {
	VectorItem
	Project string `json:"project"`
	// EnqueuedAt is the time at which the item was first requested.
	EnqueuedAt time.Time `json:"enqueued_at"`
	// Reason is one of the Drift constants.
	Reason string `json:"reason"`
}

// Values of DriftedVector.Reason.
const (
	// DriftMissing: the log says that the object was written, but it is missing.
	DriftMissing = "missing"
	// DriftChanged: the object's content differs from the written content.
	DriftChanged = "changed"
	// DriftStale: the item's content has changed since it was written.
	DriftStale = "stale"
	// DriftFailed: the item could not be written, and a person asked for a retry.
	DriftFailed = "failed"
	// DriftUnknown: the item was never requested for this embedding version.
	DriftUnknown = "not_enqueued"
)
