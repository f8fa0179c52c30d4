package schema

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
	// Attempt counts the item's failures, from 1.
	Attempt int    `json:"attempt"`
	Error   string `json:"error"`
	// Permanent is true when another attempt cannot succeed.
	Permanent bool `json:"permanent,omitempty"`
}
