package schema

import "time"

// Item kinds of the vector outbox.
const (
	ItemEntry     = "entry"
	ItemTaskTitle = "task_title"
)

// OutboxStatus is how a vector outbox row stands.
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

// ObjectID is the id of the item's object in Weaviate.
func (v VectorItem) ObjectID() string {
	return DerivedID("vector", v.Kind, v.ID, v.EmbeddingVersion)
}

// JobID is the id of the item's outbox row.
func (v VectorItem) JobID() string {
	return DerivedID("outbox", v.Kind, v.ID, v.EmbeddingVersion)
}

// VectorIndexedPayload says that items stand in the vector store with the given content.
type VectorIndexedPayload struct {
	Collection string          `json:"collection"`
	Items      []IndexedVector `json:"items"`
}

// IndexedVector is one item of VectorIndexedPayload.
type IndexedVector struct {
	VectorItem
	Project string `json:"project"`
	// EnqueuedAt is when the item was first asked for.
	EnqueuedAt time.Time `json:"enqueued_at"`
	// ContentHash is the hex SHA-256 of what was stored beside the vector.
	ContentHash string `json:"content_hash"`
}

// VectorFailedPayload says that items could not be written, each with its reason.
type VectorFailedPayload struct {
	Collection string         `json:"collection"`
	Items      []FailedVector `json:"items"`
}

// FailedVector is one item of VectorFailedPayload.
type FailedVector struct {
	VectorItem
	Project string `json:"project"`
	// EnqueuedAt is when the item was first asked for.
	EnqueuedAt time.Time `json:"enqueued_at"`
	// Attempt counts the item's failures, from 1.
	Attempt int    `json:"attempt"`
	Error   string `json:"error"`
	// Permanent is true when another attempt cannot succeed.
	Permanent bool `json:"permanent,omitempty"`
}

// VectorDriftedPayload says that what the vector store holds of items is not what it should be, and
// that they are to be written anew.
type VectorDriftedPayload struct {
	Collection string          `json:"collection"`
	Items      []DriftedVector `json:"items"`
}

// DriftedVector is one item of VectorDriftedPayload.
type DriftedVector struct {
	VectorItem
	Project string `json:"project"`
	// EnqueuedAt is when the item was first asked for.
	EnqueuedAt time.Time `json:"enqueued_at"`
	// Reason is one of the Drift constants.
	Reason string `json:"reason"`
}

// Reasons of DriftedVector.
const (
	// DriftMissing: the log says the object was written, and it is not there.
	DriftMissing = "missing"
	// DriftChanged: the object's content is not what was written.
	DriftChanged = "changed"
	// DriftStale: the item's content has changed since it was written.
	DriftStale = "stale"
	// DriftFailed: the item could not be written, and is tried again because a person asked for it.
	DriftFailed = "failed"
	// DriftUnknown: the item was never asked for under this embedding version.
	DriftUnknown = "not_enqueued"
)
