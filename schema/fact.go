package schema

import (
	"cmp"
	"time"
)

// Event types of memory streams. They record the facts and the profile of one user and agent.
const (
	FactCreated    = "fact_created"
	FactUpdated    = "fact_updated"
	FactDeleted    = "fact_deleted"
	FactEvicted    = "fact_evicted"
	FactSkipped    = "fact_skipped"
	FactMerged     = "fact_merged"
	FactsCleared   = "facts_cleared"
	ProfileUpdated = "profile_updated"
)

// FactsShown is an event of session streams.
const FactsShown = "facts_shown"

// DefaultMaxTokens is the token budget of the memory in a context, whoever builds it: commands, clients, hooks and
// tools of agents.
const DefaultMaxTokens = 2000

// Sections of the profile. The first three describe the user, the others past events.
const (
	SectionWork       = "work"
	SectionPersonal   = "personal"
	SectionTopOfMind  = "top_of_mind"
	SectionRecent     = "recent"
	SectionEarlier    = "earlier"
	SectionBackground = "background"
)

// ProfileSections returns the sections of the profile in the order in which they are shown.
func ProfileSections() []string {
	return []string{SectionWork, SectionPersonal, SectionTopOfMind, SectionRecent, SectionEarlier, SectionBackground}
}

// Policies that choose the fact to evict for a new one.
const (
	// EvictConfidence evicts the fact with the lowest confidence, and among equals the oldest.
	EvictConfidence = "confidence"
	// EvictHybrid evicts the fact with the lowest score of confidence, freshness and use, and among equals the newest.
	EvictHybrid = "hybrid-v1"
)

// EvictionPolicies returns all policies, the default first.
func EvictionPolicies() []string { return []string{EvictConfidence, EvictHybrid} }

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
	// SaidBy is who said it in the session: [TrustUser] or [TrustAssistant]. It is empty if a person entered it, and in
	// events of older programs.
	SaidBy Trust `json:"said_by,omitempty"`
	// Since is when the fact became known, if that was before the event because another tool remembered it.
	Since time.Time `json:"since,omitzero"`
}

// Declares returns the fact's id.
func (p FactCreatedPayload) Declares() (id string, inMemory bool) { return p.FactID, true }

// Words calls f with a fact that a person entered.
func (p FactCreatedPayload) Words(f func(string)) { byHand(p.Act, p.Content, f) }

// byHand calls f with the text if the act is a command.
func byHand(act Act, text string, f func(string)) {
	if act.RequestID != "" {
		f(text)
	}
}

// Inherit returns the fact in the words of a later proposal that said the same.
func (p FactCreatedPayload) Inherit(by any, s Succession) any {
	created := FactCreatedPayload{Act: ActOf(by), FactID: p.FactID, SaidBy: s.SaidBy, Category: p.Category, Confidence: p.Confidence}
	switch of := by.(type) {
	case FactSkippedPayload:
		created.Content, created.Category = of.Content, cmp.Or(of.Category, p.Category)
		if of.Confidence != nil {
			created.Confidence = *of.Confidence
		}
	case FactMergedPayload:
		created.Content, created.Confidence = of.Content, of.Proposed
	}
	return created
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

// Words calls f with the new content.
func (p FactUpdatedPayload) Words(f func(string)) {
	if p.Content != nil {
		f(*p.Content)
	}
}

// FactDeletedPayload deletes a fact because a person asked for it, or because a session says that it is no longer true.
type FactDeletedPayload struct {
	Act
	FactID string `json:"fact_id"`
	// Answer is the key of the model's answer that names the fact, and Evidence the user's words about it. Both are
	// empty if a person asked for the removal.
	Answer   string     `json:"answer,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// EvidenceRule is the version of the rule of proof that judged the evidence.
	EvidenceRule int `json:"evidence_rule,omitempty"`
}

// AnswerKeys returns the key of the model's answer.
func (p FactDeletedPayload) AnswerKeys() []string { return []string{p.Answer} }

// FactEvictedPayload removes a fact to make room for another.
type FactEvictedPayload struct {
	Act
	FactID string `json:"fact_id"`
	// For is the id of the new fact.
	For string `json:"for"`
	// MaxFacts is the limit on the number of facts.
	MaxFacts int `json:"max_facts"`
	// Policy is one of [EvictionPolicies], and Score the fact's score under it: the lowest of all facts that could be
	// evicted.
	Policy string  `json:"policy,omitempty"`
	Score  float64 `json:"score"`
	// Reserve is the number of corrections that were kept regardless of their score.
	Reserve int `json:"reserve,omitempty"`
}

// FactMergedPayload records a proposed fact that says nearly the same as an older one, which stays with its content and
// the higher confidence of the two.
type FactMergedPayload struct {
	Act
	// FactID is the older fact, and Confidence the one that it has from now on.
	FactID     string  `json:"fact_id"`
	Confidence float64 `json:"confidence"`
	// Content and Proposed are the content and the confidence of the proposal.
	Content  string  `json:"content"`
	Proposed float64 `json:"proposed"`
	// Overlap is the share of words that both have, and Similarity the cosine of their vectors. MinOverlap and
	// MinSimilarity are the thresholds.
	Overlap       float64 `json:"overlap"`
	Similarity    float64 `json:"similarity"`
	MinOverlap    float64 `json:"min_overlap"`
	MinSimilarity float64 `json:"min_similarity"`
}

// Succeeds returns the fact that the proposal nearly repeats.
func (p FactMergedPayload) Succeeds(Forgetting) map[string]Succession {
	return map[string]Succession{p.FactID: {}}
}

// FactsClearedPayload records that a person cleared the memory. Every fact and section of the profile has an event of
// its own before this one. Content read from earlier sessions is not remembered again.
type FactsClearedPayload struct {
	Act
	// Facts and Sections count the removed facts and sections.
	Facts    int `json:"facts"`
	Sections int `json:"sections"`
}

// ProfileUpdatedPayload sets a section of the profile.
type ProfileUpdatedPayload struct {
	Act
	// Section is one of [ProfileSections].
	Section string `json:"section"`
	// Summary is the text of the section from now on. It is empty if a person removed it.
	Summary    string  `json:"summary"`
	Confidence float64 `json:"confidence"`
}

// Words calls f with a text that a person entered.
func (p ProfileUpdatedPayload) Words(f func(string)) { byHand(p.Act, p.Summary, f) }

// Values of FactSkippedPayload.Skipped.
const (
	SkippedUnaligned     = "evidence_not_aligned"
	SkippedEmpty         = "empty_content"
	SkippedConfidence    = "confidence_out_of_range"
	SkippedLowConfidence = "low_confidence"
	SkippedCategory      = "unknown_category"
	SkippedDuplicate     = "duplicate"
	SkippedDeleted       = "deleted_since"
	SkippedCleared       = "cleared_since"
	SkippedTrivial       = "says_nothing_lasting"
	SkippedUpload        = "about_an_upload"
	// SkippedUntrusted: its evidence is text that neither the user nor the assistant said.
	SkippedUntrusted = "untrusted_text"
	// SkippedNotUser: only the assistant said it, but it is for the user alone to say.
	SkippedNotUser = "not_said_by_user"
)

// Values of FactSkippedPayload.Skipped for a removal that a model's answer asks for: the fact stays.
const (
	// SkippedRemovalUnproven: the quote is not whole sentences of the message that it is said to be from.
	SkippedRemovalUnproven = "removal_not_proven"
	// SkippedRemovalNotUser: the quote is from no message of the user.
	SkippedRemovalNotUser = "removal_not_said_by_user"
	// SkippedRemovalOlder: it was said before the fact was.
	SkippedRemovalOlder = "removal_older_than_fact"
	// SkippedRemovalChanged: the fact has changed since it was shown.
	SkippedRemovalChanged = "removal_of_changed_fact"
	// SkippedRemovalGone: the fact was gone already.
	SkippedRemovalGone = "removal_of_gone_fact"
	// SkippedRemovalUnknown: the answer names facts that it was not shown.
	SkippedRemovalUnknown = "removal_of_unknown_fact"
	// SkippedReview: there is no answer, or none that can be read.
	SkippedReview = "review_not_answered"
)

// FactsShownPayload lists the facts that a model is shown with the session's new messages, to find those that are no
// longer true. It names the facts' versions and not their contents, so that a session contains nothing of others.
type FactsShownPayload struct {
	SessionKey
	BuildID string `json:"build_id"`
	// First and Last are the messages.
	First int `json:"first"`
	Last  int `json:"last"`
	// Groups are the facts that are shown together. The model is asked about each group with each window of messages.
	Groups [][]ShownFact `json:"groups"`
	// LeftOut counts the facts that were too many to show: those with the lowest confidence.
	LeftOut int `json:"left_out,omitempty"`
}

// ShownFact is a fact as it was shown.
type ShownFact struct {
	FactID string `json:"fact_id"`
	// Version is the position of the fact's last event, and At the time of that event: when it was said.
	Version uint64    `json:"version"`
	At      time.Time `json:"at"`
}

// FactSkippedPayload records a proposed fact that was not stored. It changes nothing.
type FactSkippedPayload struct {
	Act
	// Skipped is one of the constants above. Detail explains it to a person.
	Skipped string `json:"skipped"`
	Detail  string `json:"detail"`
	Content string `json:"content,omitempty"`
	// FactID is the fact that was proposed for removal, and Answer the key of the model's answer that names it.
	FactID string `json:"fact_id,omitempty"`
	Answer string `json:"answer,omitempty"`
	// Category and Confidence are as proposed. Confidence is nil if JSON cannot represent it.
	Category   string   `json:"category,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// DuplicateOf is the id of the fact with the same meaning.
	DuplicateOf string `json:"duplicate_of,omitempty"`
	// Section is the section of the profile that the proposal was for, or empty for a fact.
	Section string `json:"section,omitempty"`
	// Threshold is the required confidence, if the proposal's is lower.
	Threshold float64 `json:"threshold,omitempty"`
}

// Succeeds returns the fact that the proposal repeats.
func (p FactSkippedPayload) Succeeds(Forgetting) map[string]Succession {
	if p.Skipped != SkippedDuplicate || p.DuplicateOf == "" || p.Content == "" || p.Section != "" {
		return nil
	}
	return map[string]Succession{p.DuplicateOf: {}}
}

// AnswerKeys returns the key of the model's answer.
func (p FactSkippedPayload) AnswerKeys() []string { return []string{p.Answer} }

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

// Fact is the id of the fact that stays.
func (p FactMergedPayload) Fact() string { return p.FactID }

// Fact is empty, because each cleared fact has an event of its own.
func (p FactsClearedPayload) Fact() string { return "" }

// Fact is empty, because a section of the profile is no fact.
func (p ProfileUpdatedPayload) Fact() string { return "" }
