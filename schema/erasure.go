package schema

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// WorkflowForget erases the memory of a session, a user or a project, or all that contains a text.
const WorkflowForget = "forget"

// ForgetWorkflowID is the id of the only run of forget that erases.
const ForgetWorkflowID = "forget"

// QueueErase is the task queue of the activities that erase. Only workers with a connection that has the rights to
// erase serve it.
const QueueErase = "axiommind-erase"

// Types of the events in the streams of erasures, and of the event that replaces an erased one.
const (
	ErasureBegun    = "erasure_begun"
	ErasureLocked   = "erasure_locked"
	ErasureApplied  = "erasure_applied"
	ErasureFinished = "erasure_finished"
	ErasureLifted   = "erasure_lifted"
	EventErased     = "event_erased"
)

// Types of the errors about erasures.
const (
	// ErrorErased: the content was erased before, and its tombstone is in force.
	ErrorErased = "Erased"
	// ErrorErasing: an erasure is working on the stream. It ends within minutes.
	ErrorErasing = "Erasing"
)

// AuditStream returns the name of the audit trail of erasures: who requested which kind, and when. It names no erased
// user, project or session.
func AuditStream() string { return ErasurePrefix + "audit" }

// ErasureStream returns the name of the stream with the counts of the erasure.
func ErasureStream(erasureID string) string { return streamName(ErasurePrefix, erasureID) }

// ErasureKind is the kind of scope that an erasure names.
type ErasureKind string

// Kinds of erasures.
const (
	EraseSession ErasureKind = "session"
	EraseUser    ErasureKind = "user"
	EraseProject ErasureKind = "project"
	EraseQuery   ErasureKind = "query"
)

// ErasureScope selects the content to erase: a session, a user, a project, or all that contains a text.
type ErasureScope struct {
	// A session has all four, Agent may be empty. A user or a project has one alone.
	Project   string `json:"project,omitempty"`
	User      string `json:"user,omitempty"`
	Agent     string `json:"agent,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	// Query is the text to search for in Project, User or both. At least one of them is set.
	Query string `json:"query,omitempty"`
}

// Bounds of ErasureScope.Query, in bytes. A shorter text would match too much.
const (
	MinEraseQuery = 3
	MaxEraseQuery = 4 << 10
)

// Kind returns the kind of the scope.
func (s ErasureScope) Kind() ErasureKind {
	switch {
	case s.Query != "":
		return EraseQuery
	case s.SessionID != "":
		return EraseSession
	case s.User != "":
		return EraseUser
	default:
		return EraseProject
	}
}

// Session is the key of the session, if one is named.
func (s ErasureScope) Session() SessionKey {
	return SessionKey{Scope: Scope{Project: s.Project, User: s.User, Agent: s.Agent}, SessionID: s.SessionID}
}

// Validate returns an error if the scope is invalid. An empty scope is invalid: it never means all.
func (s ErasureScope) Validate() error {
	if err := checkNames(s.Project, s.User, s.Agent, s.SessionID); err != nil {
		return err
	}
	switch s.Kind() {
	case EraseQuery:
		switch {
		case s.SessionID != "" || s.Agent != "":
			return errors.New("query: give project or user with it, or both, and neither session_id nor agent")
		case s.Project == "" && s.User == "":
			return errors.New("query: give the project or the user in whose memory the text is to be erased")
		case len(strings.TrimSpace(s.Query)) < MinEraseQuery:
			return fmt.Errorf("query %q: want a text of %d bytes at least", s.Query, MinEraseQuery)
		case len(s.Query) > MaxEraseQuery || !utf8.ValidString(s.Query):
			return fmt.Errorf("query: want UTF-8 of %d bytes at most", MaxEraseQuery)
		}
		return nil
	case EraseSession:
		return s.Session().Validate()
	case EraseUser:
		if s.Project != "" || s.Agent != "" {
			return errors.New("user: give it alone: a user is erased in all projects and with all agents")
		}
		return nil
	default:
		if s.Agent != "" || s.Project == "" {
			return errors.New("name the data to erase: a session by project, user, agent and session_id; or a user; or a project; or a query")
		}
		return nil
	}
}

// Hash returns the tombstone's hash of the scope. The salt is the tombstone's own, so that hashes of different tombstones
// can't be compared. A query has no hash, because a reader of the log could guess a short text from it.
func (s ErasureScope) Hash(salt string) string {
	switch s.Kind() {
	case EraseSession:
		return SaltedHash(salt, string(EraseSession), s.Session().Stream())
	case EraseUser:
		return SaltedHash(salt, string(EraseUser), s.User)
	case EraseProject:
		return SaltedHash(salt, string(EraseProject), s.Project)
	default:
		return ""
	}
}

// SecretHash returns the hash of the scope under a secret, also that of a query.
func (s ErasureScope) SecretHash(secret string) string {
	return SaltedHash(secret, string(s.Kind()), s.Project, s.User, s.Agent, s.SessionID, s.Query)
}

// SaltedHash returns the hex HMAC-SHA256 of the parts under the salt.
func SaltedHash(salt string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(salt))
	_, _ = mac.Write([]byte(joinParts(parts)))
	return hex.EncodeToString(mac.Sum(nil))
}

// ForgetInput is the input of the workflow [WorkflowForget]: the scope to erase, the requester and the reason. With Verify
// the workflow erases nothing, and looks for leftovers of an earlier erasure.
type ForgetInput struct {
	ErasureScope
	// ID names the erasure. A retry with the same ID continues it. If it is empty, the id is derived from the
	// workflow's run.
	ID string `json:"id,omitempty"`
	// By is the name of the person who asks for the erasure, and Because the reason. Both are kept, so they must name
	// nothing that is erased.
	By      string `json:"by"`
	Because string `json:"because,omitempty"`
	// Verify only looks for leftovers of the erasure with the ID, and erases nothing.
	Verify bool `json:"verify,omitempty"`
	// Grant signs the ID and the scope. Without it, anyone who can reach Temporal could erase anything. starter forget
	// creates it.
	Grant string `json:"grant,omitempty"`
}

// maxBecause bounds the length of a reason, in bytes.
const maxBecause = 1000

// Validate returns an error if the input is invalid.
func (in ForgetInput) Validate() error {
	if in.By == "" {
		return errors.New("by is empty: say who asks for the erasure")
	}
	if in.Verify && in.ID == "" {
		return errors.New("id is empty: say which erasure is to be verified")
	}
	if len(in.Because) > maxBecause {
		return fmt.Errorf("because has %d bytes, more than %d", len(in.Because), maxBecause)
	}
	return cmp.Or(CheckName("by", in.By), CheckName("id", in.ID), CheckName("because", strings.ReplaceAll(in.Because, "\n", " ")), in.ErasureScope.Validate())
}

// ErasureCounts counts the items that an erasure has erased, or would erase.
type ErasureCounts struct {
	Sessions int `json:"sessions"`
	Messages int `json:"messages"`
	// Entries, Facts, Tasks and so on count the items derived from these messages alone.
	Entries   int `json:"entries"`
	Facts     int `json:"facts"`
	Tasks     int `json:"tasks"`
	Decisions int `json:"decisions"`
	Proposals int `json:"proposals"`
	// Records counts blocks of daily records, Edits the texts of files that a person edited, Versions the versions of
	// core memory that lost an item, and Dreams the dreams whose diary was erased.
	Records  int `json:"records"`
	Edits    int `json:"edits"`
	Versions int `json:"versions"`
	Dreams   int `json:"dreams"`
	// Answers counts raw answers of models, and Queued contexts that were enqueued.
	Answers int `json:"answers"`
	Queued  int `json:"queued"`
	// Deleted counts the events that are gone, with their streams or from others. Replaced counts the events that lost
	// a part.
	Deleted  int `json:"deleted"`
	Replaced int `json:"replaced"`
}

// ForgetResult is the result of forget.
type ForgetResult struct {
	ID string `json:"id"`
	ErasureCounts
	// Executions counts the deleted workflow executions, Files the files of memories that were deleted or rewritten,
	// and Vectors the objects of the vector store that were rewritten.
	Executions int `json:"executions"`
	Files      int `json:"files"`
	Vectors    int `json:"vectors"`
	// Left lists the places where leftovers were found afterwards.
	Left []Leftover `json:"left,omitempty"`
	// Elsewhere lists the places where others said the same. These stay.
	Elsewhere []Leftover `json:"elsewhere,omitempty"`
	// NamesOnly is true if stores were searched by names alone, because the fingerprints of the texts are destroyed
	// once a check finds nothing.
	NamesOnly bool `json:"names_only,omitempty"`
}

// Leftover is a place that still contains erased content. It never contains the content itself.
type Leftover struct {
	Store string `json:"store"`
	Place string `json:"place"`
}

// ForgetProgress is the answer of forget to QueryProgress.
type ForgetProgress struct {
	// Step is the current step, and Steps counts the completed ones, of Total.
	Step  string `json:"step"`
	Steps int    `json:"steps"`
	Total int    `json:"total"`
}

// ErasureBegunPayload is the tombstone of the erased content, and records who asked for the erasure and why. It names
// none of the content.
type ErasureBegunPayload struct {
	ErasureID string      `json:"erasure_id"`
	Kind      ErasureKind `json:"kind"`
	By        string      `json:"by"`
	Because   string      `json:"because,omitempty"`
	// Salt is random, and Scope is the [ErasureScope.Hash] under it. Content of a scope with that hash is not stored
	// again.
	Salt  string `json:"salt"`
	Scope string `json:"scope,omitempty"`
}

// ErasureLockedPayload lists all streams that accept no events until the erasure unlocks them or ends. Each is named by
// the [SaltedHash] of "stream" and its name.
type ErasureLockedPayload struct {
	ErasureID string   `json:"erasure_id"`
	Streams   []string `json:"streams"`
}

// ErasureAppliedPayload records that the log no longer contains the erased content.
type ErasureAppliedPayload struct {
	ErasureID string        `json:"erasure_id"`
	Counts    ErasureCounts `json:"counts"`
}

// ErasureFinishedPayload records the end of an erasure.
type ErasureFinishedPayload struct {
	ErasureID  string        `json:"erasure_id"`
	Counts     ErasureCounts `json:"counts"`
	Executions int           `json:"executions"`
	Files      int           `json:"files"`
	Vectors    int           `json:"vectors"`
	// Left counts the places where leftovers were found afterwards.
	Left int `json:"left"`
	// Failed is the reason why it ended too early, if it did.
	Failed string `json:"failed,omitempty"`
}

// ErasureLiftedPayload lifts the tombstone: its content may be stored again. It restores nothing.
type ErasureLiftedPayload struct {
	ErasureID string `json:"erasure_id"`
	By        string `json:"by"`
	Because   string `json:"because,omitempty"`
}

// EventErasedPayload replaces an erased event, so that the positions of a stream have no gaps. It is never shown.
type EventErasedPayload struct{}

// ErasureID returns the id of the erasure: the one in the input, or else one derived from the run.
func (in ForgetInput) ErasureID(workflowID, runID string) string {
	return cmp.Or(in.ID, DerivedID("erasure", workflowID, runID))
}

// Erasure is an erasure as the audit trail records it.
type Erasure struct {
	ID      string      `json:"id"`
	Kind    ErasureKind `json:"kind"`
	By      string      `json:"by"`
	Because string      `json:"because,omitempty"`
	BegunAt time.Time   `json:"begun_at"`
	// AppliedAt is the time when the log no longer contained the content, and FinishedAt the time when the erasure
	// ended.
	AppliedAt  time.Time              `json:"applied_at,omitzero"`
	FinishedAt time.Time              `json:"finished_at,omitzero"`
	Finished   ErasureFinishedPayload `json:"finished,omitzero"`
	LiftedAt   time.Time              `json:"lifted_at,omitzero"`
	LiftedBy   string                 `json:"lifted_by,omitempty"`
}
