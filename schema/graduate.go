package schema

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Event types of graduation. Those of a session's own step are in its stream, all others in the stream
// graduate/{project}. Each has a payload struct in this package.
const (
	IdrisChecked    = "idris_checked"
	EntriesPromoted = "entries_promoted"

	SessionGraduated = "session_graduated"
	EntryGraduated   = "entry_graduated"
	EntryConfirmed   = "entry_confirmed"
	EntryDoubted     = "entry_doubted"
	EntryLinked      = "entry_linked"
	EntryRetired     = "entry_retired"
	EntryRestored    = "entry_restored"
	ConflictDetected = "conflict_detected"
	PairsAsked       = "pairs_asked"
	PairsJudged      = "pairs_judged"
	ConflictResolved = "conflict_resolved"
	DecisionRecorded = "decision_recorded"
	ChangeProposed   = "change_proposed"
	ProposalDecided  = "proposal_decided"
)

// CheckStatus is the outcome of the compiler's check of a module.
type CheckStatus string

// Statuses of a check.
const (
	CheckPassed CheckStatus = "passed"
	// CheckFailed: the compiler refused some obligations.
	CheckFailed CheckStatus = "failed"
	// CheckUnavailable: idris2 is not installed.
	CheckUnavailable CheckStatus = "unavailable"
	// CheckTimedOut and CheckBroken: the compiler was stopped, or ended without an answer that can be read.
	CheckTimedOut CheckStatus = "timed_out"
	CheckBroken   CheckStatus = "broken"
)

// Verifiers that may support a promotion.
const (
	VerifierIdris = "idris2"
	VerifierGo    = "go"
)

// ObligationFailure is an obligation that an entry does not meet.
type ObligationFailure struct {
	EntryID    string `json:"entry_id"`
	Obligation string `json:"obligation"`
	// Piece is the index of the piece of evidence, or -1 if the obligation is about the whole entry.
	Piece  int    `json:"piece"`
	Reason string `json:"reason"`
}

// IdrisCheckedPayload is the result of checking the module of a session's candidate entries.
type IdrisCheckedPayload struct {
	SessionID string `json:"session_id"`
	// Module is the hex SHA-256 of the module's text, and Entries counts its entries.
	Module  string      `json:"module"`
	Entries int         `json:"entries"`
	Status  CheckStatus `json:"status"`
	// Version is that of the compiler, or "unavailable".
	Version string `json:"version"`
	// Verifier is the verifier of the promotions that follow: VerifierIdris or VerifierGo. It is empty if only the
	// compiler counts and it gave no answer.
	Verifier string `json:"verifier"`
	// Policy is the version of the rules that the obligations were checked for.
	Policy int `json:"policy"`
	// Failures are in the order of the entries. Reason explains why the compiler gave no answer.
	Failures []ObligationFailure `json:"failures,omitempty"`
	Reason   string              `json:"reason,omitempty"`
}

// Promotion is the step of an entry from one stage to another.
type Promotion struct {
	EntryID string `json:"entry_id"`
	From    Stage  `json:"from"`
	To      Stage  `json:"to"`
	// Number counts the entry's promotions in the session's stream from 1.
	Number  int      `json:"number"`
	Reasons []string `json:"reasons"`
}

// EntriesPromotedPayload contains the promotions to candidate and verified that follow from the idris_checked event.
type EntriesPromotedPayload struct {
	SessionID      string `json:"session_id"`
	CheckedEventID string `json:"checked_event_id"`
	// Policy is the version of the rules that promoted.
	Policy int `json:"policy"`
	// Verifier is as in IdrisCheckedPayload.
	Verifier   string      `json:"verifier"`
	Promotions []Promotion `json:"promotions"`
}

// SessionGraduatedPayload records that graduation has considered a session up to a position in its stream.
type SessionGraduatedPayload struct {
	SessionKey
	Seq uint64 `json:"seq"`
	// Head is the position up to which the stream of graduation was considered, too.
	Head uint64 `json:"head"`
	// Policy and Rule are the versions of the promotion policy and of the comparison of statements.
	Policy int `json:"policy"`
	Rule   int `json:"rule"`
}

// Remains erases the event if graduation has to consider the session again.
func (p SessionGraduatedPayload) Remains(f Forgetting) Remainder {
	return Remainder{Erased: f.Regraduates(p.Project) || f.OwnsSession(p.SessionKey) || f.Owns(p.Scope)}
}

// EntryGraduatedPayload is a step of an entry to another stage that does not rest on its session alone.
type EntryGraduatedPayload struct {
	Scope
	EntryID string `json:"entry_id"`
	From    Stage  `json:"from"`
	To      Stage  `json:"to"`
	// Demotes is true if no later check of the session promotes the entry above To.
	Demotes bool     `json:"demotes,omitempty"`
	Policy  int      `json:"policy"`
	Reasons []string `json:"reasons"`
	// Sources are the ids of the entries that corroborate it.
	Sources []string `json:"sources,omitempty"`
	// Verifier is set if the step needed a proof: see [EntriesPromotedPayload].
	Verifier string `json:"verifier,omitempty"`
}

// Remains erases a step that lost any of its sources: it depends on all of them.
func (p EntryGraduatedPayload) Remains(f Forgetting) Remainder {
	return Remainder{Erased: f.Names(p.EntryID) || slices.ContainsFunc(p.Sources, f.Names) || f.Owns(p.Scope)}
}

// EntryConfirmedPayload records that a person or a model read the whole sentences around the entry's quotes and found
// that they state it. The entry gains these sentences as evidence.
type EntryConfirmedPayload struct {
	Scope
	EntryID string `json:"entry_id"`
	// By is the person's name. Model is set instead if a model was asked.
	By    string `json:"by,omitempty"`
	Model string `json:"model,omitempty"`
	// Evidence is from the messages of the session. It is empty if the entry was proven before.
	SessionID    string     `json:"session_id"`
	Evidence     []Evidence `json:"evidence,omitempty"`
	EvidenceRule int        `json:"evidence_rule,omitempty"`
	// AnswerKey names the model_responded event that was read.
	AnswerKey string `json:"answer_key,omitempty"`
}

// AnswerKeys returns the key of the model's answer.
func (p EntryConfirmedPayload) AnswerKeys() []string { return []string{p.AnswerKey} }

// EntryDoubtedPayload records a model's answer that the entry is not stated.
type EntryDoubtedPayload struct {
	Scope
	EntryID   string `json:"entry_id"`
	Model     string `json:"model"`
	Reason    string `json:"reason"`
	AnswerKey string `json:"answer_key"`
}

// AnswerKeys returns the key of the model's answer.
func (p EntryDoubtedPayload) AnswerKeys() []string { return []string{p.AnswerKey} }

// EntryLinkedPayload records that the entry states the same as an older one.
type EntryLinkedPayload struct {
	Scope
	EntryID string `json:"entry_id"`
	// OriginalID is the oldest entry that says so. It is empty if none does any longer.
	OriginalID string `json:"original_id"`
	// Strict is true if the two have the same words in the same order.
	Strict bool `json:"strict,omitempty"`
	// Rule is the version of the comparison of statements.
	Rule int `json:"rule"`
}

// EntryRetiredPayload ends the time for which an entry is believed.
type EntryRetiredPayload struct {
	Scope
	EntryID string `json:"entry_id"`
	// Status is deprecated, or superseded if SupersededBy takes the entry's place.
	Status       Status `json:"status"`
	SupersededBy string `json:"superseded_by,omitempty"`
	Because      string `json:"because"`
	// By is a person's name, or RetiredByCorrection.
	By string `json:"by"`
}

// RetiredByCorrection is the value of By if a session corrects the entry.
const RetiredByCorrection = "correction"

// EntryRestoredPayload makes a retired entry active again.
type EntryRestoredPayload struct {
	Scope
	EntryID string `json:"entry_id"`
	Because string `json:"because,omitempty"`
	By      string `json:"by"`
}

// ConflictDetectedPayload records that two entries contradict each other. Both are contested until it is resolved.
type ConflictDetectedPayload struct {
	Scope
	ConflictID string `json:"conflict_id"`
	OlderID    string `json:"older_id"`
	NewerID    string `json:"newer_id"`
	// ConflictType is the kind of difference: see activities/graduate/pair. It is ConflictOfMeaning if a model found it.
	ConflictType string `json:"conflict_type"`
	Reason       string `json:"reason"`
	// Rule is the version of the comparison of statements.
	Rule int `json:"rule"`
	// Model is the model that found the conflict, and AnswerKey the key of its answer. Both are empty if the rule found
	// it.
	Model     string `json:"model,omitempty"`
	AnswerKey string `json:"answer_key,omitempty"`
}

// Declares returns the conflict's id.
func (p ConflictDetectedPayload) Declares() (id string, inMemory bool) { return p.ConflictID, false }

// AnswerKeys returns the key of the model's answer.
func (p ConflictDetectedPayload) AnswerKeys() []string { return []string{p.AnswerKey} }

// ConflictOfMeaning is the type of the conflicts that a model finds.
const ConflictOfMeaning = "meaning"

// EntryPair is two entries, the older one first.
type EntryPair struct {
	OlderID string `json:"older_id"`
	NewerID string `json:"newer_id"`
}

// PairsAskedPayload lists the pairs of entries of one scope in a question to a model, in order. It is stored before the
// model is asked, so that another attempt asks the same.
type PairsAskedPayload struct {
	Scope
	Model string `json:"model"`
	// Prompt is the version of the question, and AnswerKey the key of its answer.
	Prompt    string      `json:"prompt"`
	AnswerKey string      `json:"answer_key"`
	Pairs     []EntryPair `json:"pairs"`
	// More is true if other pairs could be asked about, too.
	More bool `json:"more,omitempty"`
}

// AnswerKeys returns the key of the model's answer.
func (p PairsAskedPayload) AnswerKeys() []string { return []string{p.AnswerKey} }

// PairVerdict is a model's verdict on two entries.
type PairVerdict string

// Verdicts.
const (
	PairContradicts PairVerdict = "contradicts"
	PairCompatible  PairVerdict = "compatible"
	PairUnclear     PairVerdict = "unclear"
)

// JudgedPair is a pair with a model's verdict.
type JudgedPair struct {
	EntryPair
	Verdict PairVerdict `json:"verdict"`
	Reason  string      `json:"reason"`
	// LeftOut is the reason why no conflict follows from a contradiction.
	LeftOut string `json:"left_out,omitempty"`
}

// PairsJudgedPayload contains a model's answer to the question of a [PairsAskedPayload]. The conflicts that follow are
// events of their own.
type PairsJudgedPayload struct {
	Scope
	Model  string `json:"model"`
	Prompt string `json:"prompt"`
	// AnswerKey names the model_responded event that was read.
	AnswerKey string       `json:"answer_key"`
	Pairs     []JudgedPair `json:"pairs"`
	// Dropped counts the answers about anything other than the pairs.
	Dropped int  `json:"dropped,omitempty"`
	More    bool `json:"more,omitempty"`
}

// AnswerKeys returns the key of the model's answer.
func (p PairsJudgedPayload) AnswerKeys() []string { return []string{p.AnswerKey} }

// ConflictResolvedPayload ends a conflict. The entry that is not kept is retired by another event.
type ConflictResolvedPayload struct {
	Scope
	ConflictID string `json:"conflict_id"`
	OlderID    string `json:"older_id"`
	NewerID    string `json:"newer_id"`
	// Kept is the id of the entry that is right. It is empty if both are, or if neither is believed any longer.
	Kept    string `json:"kept,omitempty"`
	Because string `json:"because,omitempty"`
	By      string `json:"by"`
}

// ConflictID returns the id of the conflict between two entries of a project. The order of the entries does not matter.
func ConflictID(project, a, b string) string {
	return DerivedID("conflict", project, min(a, b), max(a, b))
}

// Roles of the evidence of a decision.
const (
	// RoleStatement is the entry that states the decision, RoleGround one that it rests on.
	RoleStatement = "statement"
	RoleGround    = "ground"
)

// Kinds of the evidence of a decision.
const (
	GroundEntry = "entry"
	// GroundEntity is a task. Its stage is that of the best entry that states it.
	GroundEntity = "entity"
)

// DecisionEvidence is an entry or a task that a decision rests on. Its stage, when the decision was recorded, is verified
// or certified.
type DecisionEvidence struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Stage Stage  `json:"stage"`
	Role  string `json:"role"`
}

// DecisionRecordedPayload is a decision and its evidence. All evidence was recorded before the decision was made.
type DecisionRecordedPayload struct {
	Scope
	DecisionID string `json:"decision_id"`
	// Action is the text of the decision.
	Action     string             `json:"action"`
	By         string             `json:"by"`
	Confidence *float64           `json:"confidence,omitempty"`
	Evidence   []DecisionEvidence `json:"evidence"`
}

// Declares returns the decision's id.
func (p DecisionRecordedPayload) Declares() (id string, inMemory bool) { return p.DecisionID, false }

// Remains removes erased evidence. A decision that loses its statement or all of its evidence is erased.
func (p DecisionRecordedPayload) Remains(f Forgetting) Remainder {
	if f.Names(p.DecisionID) || f.Says(p.Action) || f.Owns(p.Scope) {
		return Remainder{Erased: true}
	}
	n, by := len(p.Evidence), f.Rename(p.By)
	changed := by != p.By
	p.By = by
	lost := false
	p.Evidence = slices.DeleteFunc(slices.Clone(p.Evidence), func(e DecisionEvidence) bool {
		gone := f.Names(e.ID)
		lost = lost || gone && e.Role == RoleStatement
		return gone
	})
	if lost || n > 0 && len(p.Evidence) == 0 {
		return Remainder{Erased: true}
	}
	return remainder(p, changed || len(p.Evidence) < n)
}

// MarshalJSON returns an error for evidence that is not verified, so that no event contains it.
func (p DecisionRecordedPayload) MarshalJSON() ([]byte, error) {
	for _, e := range p.Evidence {
		if !e.proven() {
			return nil, fmt.Errorf("decision %q rests on %s %q, which is %q: want verified or certified", p.DecisionID, e.Kind, e.ID, e.Stage)
		}
	}
	return json.Marshal(plainDecision(p))
}

// UnmarshalJSON drops evidence that is not verified, so that an event from another writer can be read but its
// unverified evidence does not count.
func (p *DecisionRecordedPayload) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*plainDecision)(p)); err != nil {
		return err
	}
	p.Evidence = slices.DeleteFunc(p.Evidence, func(e DecisionEvidence) bool { return !e.proven() })
	return nil
}

// plainDecision is encoded field by field.
type plainDecision DecisionRecordedPayload

func (e DecisionEvidence) proven() bool { return e.Stage == StageVerified || e.Stage == StageCertified }

// DecisionID returns the id of the decision that the entry states.
func DecisionID(entryID string) string { return DerivedID("decision", entryID) }
