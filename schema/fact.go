package schema

import (
	"fmt"
	"strings"
)

// Event types of memory streams. They tell of the facts of one user and agent.
const (
	FactCreated = "fact_created"
	FactUpdated = "fact_updated"
	FactDeleted = "fact_deleted"
	FactEvicted = "fact_evicted"
	FactSkipped = "fact_skipped"
)

// MemoryPrefix is what the names of memory streams begin with.
const MemoryPrefix = "memory/"

// MemoryStream is the stream of what is remembered of the user by the agent: memory/{user}/{agent},
// slashes and percent signs in either percent-encoded, so
// that no two pairs share a stream.
func MemoryStream(user, agent string) string {
	return MemoryPrefix + escapeMemory.Replace(user) + "/" + escapeMemory.Replace(agent)
}

// ParseMemoryStream returns the user and agent of the stream. It accepts exactly what [MemoryStream]
// returns.
func ParseMemoryStream(stream string) (user, agent string, err error) {
	rest, ok := strings.CutPrefix(stream, MemoryPrefix)
	left, right, ok2 := strings.Cut(rest, "/")
	user, agent = unescapeMemory.Replace(left), unescapeMemory.Replace(right)
	if !ok || !ok2 || MemoryStream(user, agent) != stream {
		return "", "", fmt.Errorf("parse stream %q: want memory/{user}/{agent}", stream)
	}
	return user, agent, nil
}

var (
	escapeMemory   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescapeMemory = strings.NewReplacer("%25", "%", "%2F", "/")
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
