package schema

// Event types of memory streams. They record the facts of one user and agent.
const (
	FactCreated = "fact_created"
	FactUpdated = "fact_updated"
	FactDeleted = "fact_deleted"
	FactEvicted = "fact_evicted"
	FactSkipped = "fact_skipped"
)

// FactCategories returns the categories of facts.
func FactCategories() []string {
	return []string{
		CategoryPreference, CategoryKnowledge, CategoryContext, CategoryBehavior, CategoryGoal, CategoryCorrection,
	}
}

// FactCreatedPayload creates a fact.
type FactCreatedPayload struct {
	Act
	// FactID is "fact_" and 8 hex digits.
	FactID     string  `json:"fact_id"`
	Content    string  `json:"content"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
	// SourceError is the mistake that a correction describes.
	SourceError string `json:"source_error,omitempty"`
}

// FactUpdatedPayload changes the fields of a fact that are not nil here.
type FactUpdatedPayload struct {
	Act
	FactID      string   `json:"fact_id"`
	Content     *string  `json:"content,omitempty"`
	Category    *string  `json:"category,omitempty"`
	Confidence  *float64 `json:"confidence,omitempty"`
	SourceError *string  `json:"source_error,omitempty"`
}

// FactDeletedPayload deletes a fact because a person asked for it.
type FactDeletedPayload struct {
	Act
	FactID string `json:"fact_id"`
}

// FactEvictedPayload removes a fact to make room for another.
type FactEvictedPayload struct {
	Act
	FactID string `json:"fact_id"`
	// For is the id of the fact that takes its place.
	For string `json:"for"`
	// MaxFacts is the limit on the number of facts.
	MaxFacts int `json:"max_facts"`
}

// Values of FactSkippedPayload.Skipped.
const (
	SkippedUnaligned     = "evidence_not_aligned"
	SkippedEmpty         = "empty_content"
	SkippedConfidence    = "confidence_out_of_range"
	SkippedLowConfidence = "low_confidence"
	SkippedCategory      = "unknown_category"
	SkippedDuplicate     = "duplicate"
	SkippedDeleted       = "deleted_since"
	SkippedCapacity      = "more_than_max_facts"
)

// FactSkippedPayload records a proposed fact that was not stored. It changes nothing.
type FactSkippedPayload struct {
	Act
	// Skipped is one of the constants above. Detail explains it to a person.
	Skipped string `json:"skipped"`
	Detail  string `json:"detail"`
	Content string `json:"content,omitempty"`
	// Category and Confidence are as proposed. Confidence is nil if JSON cannot represent it.
	Category   string   `json:"category,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// DuplicateOf is the id of the fact with the same meaning.
	DuplicateOf string `json:"duplicate_of,omitempty"`
}

// FactChange is the payload of an event about facts.
type FactChange interface {
	// Fact is the id of the fact that the event changes, or empty if it changes none.
	Fact() string
}

// Fact is the id of the new fact.
func (p FactCreatedPayload) Fact() string { return p.FactID }

// Fact is the id of the fact that a person changed.
func (p FactUpdatedPayload) Fact() string { return p.FactID }

// Fact is the id of the deleted fact.
func (p FactDeletedPayload) Fact() string { return p.FactID }

// Fact is the id of the evicted fact.
func (p FactEvictedPayload) Fact() string { return p.FactID }

// Fact is empty, because nothing is stored.
func (p FactSkippedPayload) Fact() string { return "" }
