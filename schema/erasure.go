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

// WorkflowForget erases what is remembered of a session, a user or a project, or what holds a text.
const WorkflowForget = "forget"

// ForgetWorkflowID is the id of the only run of forget that erases.
const ForgetWorkflowID = "forget"

// QueueErase is the task queue of the activities that erase. Only workers that have a connection with the rights for that
// serve it.
const QueueErase = "axiommind-erase"

// Types of the events in the streams of erasures, and of what stands in the place of an erased event.
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
	// ErrorErased: what is to be stored was erased before, and its tombstone stands.
	ErrorErased = "Erased"
	// ErrorErasing: an erasure is at work on the stream. It ends in some minutes.
	ErrorErasing = "Erasing"
)

// AuditStream returns the name of the stream that says who has had what kind of thing erased, and when. It names no user,
// no project and no session.
func AuditStream() string { return ErasurePrefix + "audit" }

// ErasureStream returns the name of the stream with the counts of the erasure.
func ErasureStream(erasureID string) string { return streamName(ErasurePrefix, erasureID) }

// ErasureKind says what was named to be erased.
type ErasureKind string

// Kinds of erasures.
const (
	EraseSession ErasureKind = "session"
	EraseUser    ErasureKind = "user"
	EraseProject ErasureKind = "project"
	EraseQuery   ErasureKind = "query"
)

// ErasureScope says what is to be erased: a session, a user, a project, or all that holds a text.
type ErasureScope struct {
	// A session has all four, Agent may be empty. A user or a project has one alone.
	Project   string `json:"project,omitempty"`
	User      string `json:"user,omitempty"`
	Agent     string `json:"agent,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	// Query is the text. Project and User say where it is looked for: one of them at least.
	Query string `json:"query,omitempty"`
}

// Bounds of ErasureScope.Query, in bytes. A shorter text stands in too much.
const (
	MinEraseQuery = 3
	MaxEraseQuery = 4 << 10
)

// Kind returns what is named.
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

// Validate reports what is wrong with the scope. One that names nothing is no scope: it never means all.
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
			return errors.New("name what is to be erased: a session by project, user, agent and session_id; or a user; or a project; or a query")
		}
		return nil
	}
}

// Hash returns the tombstone's hash of the scope. The salt is the tombstone's own, so that hashes of different tombstones
// can't be compared. A query has none: who reads the log could find a short text by its hash.
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

// ForgetInput is the input of forget.
type ForgetInput struct {
	ErasureScope
	// ID names the erasure: a retry with the same ID goes on with it. Empty means the workflow's id.
	ID string `json:"id,omitempty"`
	// By is who asks for it, and Because why. Both are kept, and must name nothing that is to be forgotten.
	By      string `json:"by"`
	Because string `json:"because,omitempty"`
	// Verify only looks for what the erasure with the ID has left, and erases nothing.
	Verify bool `json:"verify,omitempty"`
	// Grant signs the ID and the scope: whoever can reach Temporal could have anything erased otherwise. starter forget makes it.
	Grant string `json:"grant,omitempty"`
}

// maxBecause bounds what is kept of a reason, in bytes.
const maxBecause = 1000

// Validate reports what is wrong with the input.
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

// ErasureCounts counts what an erasure has erased, or would.
type ErasureCounts struct {
	Sessions int `json:"sessions"`
	Messages int `json:"messages"`
	// Entries, Facts, Tasks and so on are what was made of them, and of nothing else.
	Entries   int `json:"entries"`
	Facts     int `json:"facts"`
	Tasks     int `json:"tasks"`
	Decisions int `json:"decisions"`
	Proposals int `json:"proposals"`
	// Records counts blocks of daily records, Edits files as a person had left them, Versions those of core memory that lost an
	// item, and Dreams those whose diary is gone.
	Records  int `json:"records"`
	Edits    int `json:"edits"`
	Versions int `json:"versions"`
	Dreams   int `json:"dreams"`
	// Answers counts raw answers of models, and Queued contexts that were enqueued.
	Answers int `json:"answers"`
	Queued  int `json:"queued"`
	// Deleted and Replaced count the events that are gone, with their streams or from others, and those that lost a part.
	Deleted  int `json:"deleted"`
	Replaced int `json:"replaced"`
}

// ForgetResult is the result of forget.
type ForgetResult struct {
	ID string `json:"id"`
	ErasureCounts
	// Executions counts the workflow executions that were deleted, Files the files of memories that were deleted or written anew,
	// and Vectors the objects of the vector store that were written anew.
	Executions int `json:"executions"`
	Files      int `json:"files"`
	Vectors    int `json:"vectors"`
	// Left is where something of it was found afterwards.
	Left []Leftover `json:"left,omitempty"`
	// Elsewhere is where the same was said by others, which stays.
	Elsewhere []Leftover `json:"elsewhere,omitempty"`
	// NamesOnly is true if stores were searched by names alone: fingerprints of the texts are destroyed after a check that finds
	// nothing.
	NamesOnly bool `json:"names_only,omitempty"`
}

// Leftover is a place that holds something of what was erased. It never says what.
type Leftover struct {
	Store string `json:"store"`
	Place string `json:"place"`
}

// ForgetProgress is the answer of forget to QueryProgress.
type ForgetProgress struct {
	// Step is what is done at present, and Steps counts those that are done, of Total.
	Step  string `json:"step"`
	Steps int    `json:"steps"`
	Total int    `json:"total"`
}

// ErasureBegunPayload is the tombstone of what is erased, and says who wants that and why. It names nothing of it.
type ErasureBegunPayload struct {
	ErasureID string      `json:"erasure_id"`
	Kind      ErasureKind `json:"kind"`
	By        string      `json:"by"`
	Because   string      `json:"because,omitempty"`
	// Salt is random, and Scope the [ErasureScope.Hash] under it. What has that hash is not stored again.
	Salt  string `json:"salt"`
	Scope string `json:"scope,omitempty"`
}

// ErasureLockedPayload names, by the [SaltedHash] of "stream" and the name, all streams that take no events from now on, until
// the erasure says otherwise or has ended.
type ErasureLockedPayload struct {
	ErasureID string   `json:"erasure_id"`
	Streams   []string `json:"streams"`
}

// ErasureAppliedPayload records that the log holds nothing of it any longer.
type ErasureAppliedPayload struct {
	ErasureID string        `json:"erasure_id"`
	Counts    ErasureCounts `json:"counts"`
}

// ErasureFinishedPayload records that no store holds anything of it, as far as was found.
type ErasureFinishedPayload struct {
	ErasureID  string        `json:"erasure_id"`
	Counts     ErasureCounts `json:"counts"`
	Executions int           `json:"executions"`
	Files      int           `json:"files"`
	Vectors    int           `json:"vectors"`
	// Left counts the places that held something of it afterwards.
	Left int `json:"left"`
	// Failed says why it ended too early, if it did.
	Failed string `json:"failed,omitempty"`
}

// ErasureLiftedPayload admits again what the tombstone keeps out. It brings nothing back.
type ErasureLiftedPayload struct {
	ErasureID string `json:"erasure_id"`
	By        string `json:"by"`
	Because   string `json:"because,omitempty"`
}

// EventErasedPayload stands in the place of an event that was erased, so that the positions of a stream have no gaps. Nobody
// is shown it.
type EventErasedPayload struct{}

// ErasureID returns the id of the erasure that the run makes, unless its input names one.
func (in ForgetInput) ErasureID(workflowID, runID string) string {
	return cmp.Or(in.ID, DerivedID("erasure", workflowID, runID))
}

// Erasure is an erasure as the audit trail tells it.
type Erasure struct {
	ID      string      `json:"id"`
	Kind    ErasureKind `json:"kind"`
	By      string      `json:"by"`
	Because string      `json:"because,omitempty"`
	BegunAt time.Time   `json:"begun_at"`
	// AppliedAt is when the log held nothing of it any longer, and FinishedAt when that was true of all stores.
	AppliedAt  time.Time              `json:"applied_at,omitzero"`
	FinishedAt time.Time              `json:"finished_at,omitzero"`
	Finished   ErasureFinishedPayload `json:"finished,omitzero"`
	LiftedAt   time.Time              `json:"lifted_at,omitzero"`
	LiftedBy   string                 `json:"lifted_by,omitempty"`
}
