package schema

// Event types of memory streams. They tell of the facts of one user and agent.
const (
	FactCreated = "fact_created"
	FactUpdated = "fact_updated"
	FactDeleted = "fact_deleted"
	FactEvicted = "fact_evicted"
	FactSkipped = "fact_skipped"
)

// FactCategories are the categories a fact may have.
func FactCategories() []string {
	return []string{
		CategoryPreference, CategoryKnowledge, CategoryContext, CategoryBehavior, CategoryGoal, CategoryCorrection,
	}
}

// FactCreatedPayload brings a fact into being.
type FactCreatedPayload struct {
	Act
	// FactID is fact_ and 8 hex digits.
	FactID     string  `json:"fact_id"`
	Content    string  `json:"content"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
	// SourceError is what a correction says was done wrong.
	SourceError string `json:"source_error,omitempty"`
}

// FactUpdatedPayload changes those fields of a fact that are not nil.
type FactUpdatedPayload struct {
	Act
	FactID      string   `json:"fact_id"`
	Content     *string  `json:"content,omitempty"`
	Category    *string  `json:"category,omitempty"`
	Confidence  *float64 `json:"confidence,omitempty"`
	SourceError *string  `json:"source_error,omitempty"`
}

// FactDeletedPayload takes a fact away because a person asked for it.
type FactDeletedPayload struct {
	Act
	FactID string `json:"fact_id"`
}

// FactEvictedPayload takes a fact away to make room for another.
type FactEvictedPayload struct {
	Act
	FactID string `json:"fact_id"`
	// For is the id of the fact that comes in.
	For string `json:"for"`
	// MaxFacts is how many facts there was room for.
	MaxFacts int `json:"max_facts"`
}

// Skips of FactSkippedPayload.
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

// FactSkippedPayload records a fact that was proposed and not stored. It changes nothing.
type FactSkippedPayload struct {
	Act
	// Skipped is one of the constants above, Detail says more for people.
	Skipped string `json:"skipped"`
	Detail  string `json:"detail"`
	Content string `json:"content,omitempty"`
	// Category and Confidence are as proposed; Confidence is nil when JSON cannot hold it.
	Category   string   `json:"category,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// DuplicateOf is the id of the fact that says the same.
	DuplicateOf string `json:"duplicate_of,omitempty"`
}

// FactChange is the payload of an event that tells of facts.
type FactChange interface {
	// Fact is the id of the fact that the event changes, or empty for none.
	Fact() string
}

// Fact is the new fact.
func (p FactCreatedPayload) Fact() string { return p.FactID }

// Fact is the fact that a person changed.
func (p FactUpdatedPayload) Fact() string { return p.FactID }

// Fact is the fact that is deleted.
func (p FactDeletedPayload) Fact() string { return p.FactID }

// Fact is the fact that made room.
func (p FactEvictedPayload) Fact() string { return p.FactID }

// Fact is empty: nothing is stored.
func (p FactSkippedPayload) Fact() string { return "" }
