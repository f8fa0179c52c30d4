package schema

import (
	"slices"
	"time"
)

// Source describes where a session came from.
type Source struct {
	// URI is empty for inline messages and for those of the log or the queue.
	URI    string `json:"uri,omitempty"`
	Format string `json:"format"`
	// SHA256 is the hex hash of the source's bytes as read, and Bytes is their number. They are empty and 0 if
	// nothing of the source was stored.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// FormatInline is the format of messages given in a workflow's input.
const FormatInline = "inline"

// FormatLog is the format of messages that are read from the log alone.
const FormatLog = "log"

// FormatQueue is the format of messages that were enqueued.
const FormatQueue = "queue"

// String returns the origin in words, for people.
func (s Source) String() string {
	switch {
	case s.URI == "" && s.Format == FormatInline:
		return "inline messages"
	case s.URI == "" && s.Format == FormatLog:
		return "messages of the log"
	case s.URI == "" && s.Format == FormatQueue:
		return "messages of the queue"
	default:
		return s.URI
	}
}

// Scope names the owner of a memory. Nothing is read across projects or users.
type Scope struct {
	Project string `json:"project"`
	User    string `json:"user"`
	Agent   string `json:"agent,omitempty"`
}

// Owner returns the scope. Payloads get this method by embedding Scope.
func (s Scope) Owner() Scope { return s }

// SessionIngestedPayload contains consecutive messages of a session that were not in the log before. A session's events
// of this type, in order of seq, contain all its messages, indexed from 0.
type SessionIngestedPayload struct {
	SessionKey
	// Date is the date of the session: the given one, or that of its first message with a date.
	Date     time.Time `json:"date"`
	Source   Source    `json:"source"`
	Messages []Message `json:"messages"`
	// Tokens estimates how many tokens the messages have.
	Tokens int `json:"tokens,omitempty"`
	// Skipped lists the parts of the source that could not be read.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Remains removes the texts of erased messages, and reasons that quote them. The messages stay, with the keys by which the
// next import recognizes them.
func (p SessionIngestedPayload) Remains(f Forgetting) Remainder {
	lost := func(m Message) bool { return m.Text != ForgottenText && f.OwnsMessages("", m.Index, m.Index) }
	said := func(s Skipped) bool { return s.Reason != ForgottenText && f.Says(s.Reason) }
	changed := slices.ContainsFunc(p.Messages, lost)
	if changed {
		p.Messages = slices.Clone(p.Messages)
		for i, m := range p.Messages {
			if lost(m) {
				p.Messages[i].Text, p.Messages[i].Author = ForgottenText, ""
			}
		}
		p.Tokens = f.Tokens(p.Messages)
	}
	if slices.ContainsFunc(p.Skipped, said) {
		p.Skipped, changed = slices.Clone(p.Skipped), true
		for i, s := range p.Skipped {
			if said(s) {
				p.Skipped[i].Reason = ForgottenText
			}
		}
	}
	return remainder(p, changed)
}

// Words calls f with the texts of the messages.
func (p SessionIngestedPayload) Words(f func(string)) {
	for _, m := range p.Messages {
		f(m.Text)
	}
}

// ModelRespondedPayload is a model's raw response. It is stored before it is parsed, under the hash of everything
// that went into the call. Neither a retry nor a fix of the parser pays for the call twice.
type ModelRespondedPayload struct {
	Key      string `json:"key"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Raw is the provider's response body.
	Raw   string `json:"raw"`
	Usage Usage  `json:"usage"`
}

// Usage counts model calls, their tokens and their cost.
type Usage struct {
	Calls         int     `json:"calls"`
	InputTokens   int64   `json:"input_tokens"`
	OutputTokens  int64   `json:"output_tokens"`
	ThoughtTokens int64   `json:"thought_tokens,omitempty"`
	CostUSD       float64 `json:"cost_usd,omitempty"`
}

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	u.Calls += v.Calls
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.ThoughtTokens += v.ThoughtTokens
	u.CostUSD += v.CostUSD
}

// Extractor identifies the program and model that turn messages into entries. A different extractor extracts everything
// again.
type Extractor struct {
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	PromptVersion string `json:"prompt_version"`
	PromptHash    string `json:"prompt_hash"`
	SchemaVersion string `json:"schema_version"`
	// Tools is true if tool calls and their results are extracted from too.
	Tools bool `json:"tools,omitempty"`
}

// ID returns the identity as a short hash.
func (e Extractor) ID() string {
	tools := ""
	if e.Tools {
		tools = "tools"
	}
	return HashParts(e.Provider, e.Model, e.PromptVersion, e.PromptHash, e.SchemaVersion, tools)[:16]
}

// Window is the part of a session that one model call extracts from: the extractable messages from First to Last,
// both included.
type Window struct {
	// Hash is the hash of the roles, positions and texts of the window's messages.
	Hash  string `json:"hash"`
	First int    `json:"first"`
	Last  int    `json:"last"`
	// A message longer than a window is split. ByteStart is the offset in First at which the window begins, and
	// ByteEnd the offset in Last at which it ends, or 0 for the end of the message.
	ByteStart int `json:"byte_start,omitempty"`
	ByteEnd   int `json:"byte_end,omitempty"`
	// Asked counts the earlier questions about the window. It is asked about again if a server failed, or if its answer
	// was truncated, then only for the rest.
	Asked int `json:"asked,omitempty"`
	// Kept is true if entries were kept of an earlier, truncated answer to this window or to the one that it is a half
	// of. Only the rest is then asked for.
	Kept bool `json:"kept,omitempty"`
	// Small is true if the window is too small to be halved.
	Small bool `json:"small,omitempty"`
	// Acts is true if the window shows acts of the agent, an approved plan, or an answer to its question.
	Acts bool `json:"acts,omitempty"`
}

// Contains reports whether v is a part of w, or w itself.
func (w Window) Contains(v Window) bool {
	from, to := w.extent()
	begin, end := v.extent()
	return slices.Compare(from[:], begin[:]) <= 0 && slices.Compare(end[:], to[:]) <= 0
}

// extent returns the message and the byte at which the window begins, and those at which it ends.
func (w Window) extent() (from, to [2]int) {
	if w.ByteEnd > 0 {
		return [2]int{w.First, w.ByteStart}, [2]int{w.Last, w.ByteEnd}
	}
	return [2]int{w.First, w.ByteStart}, [2]int{w.Last + 1, 0}
}

// MemoryExtractedPayload is the parsed answer of the model for one window.
type MemoryExtractedPayload struct {
	SessionID string    `json:"session_id"`
	Window    Window    `json:"window"`
	Extractor Extractor `json:"extractor"`
	// ResponseKeys name the model_responded events that were read: the answer and its repair.
	ResponseKeys []string         `json:"response_keys"`
	Entries      []ExtractedEntry `json:"entries"`
	Rejected     []RejectedItem   `json:"rejected,omitempty"`
	// Quarantined is the reason why there is no readable answer. The window then has no entries. QuarantinedType is the
	// type of the failure: one of the Error constants.
	Quarantined     string `json:"quarantined,omitempty"`
	QuarantinedType string `json:"quarantined_type,omitempty"`
	// Truncated is true if the answer broke off after these entries.
	Truncated bool `json:"truncated,omitempty"`
	// Usage is the usage of the build's calls for the window.
	Usage Usage `json:"usage"`
}

// AnswerKeys returns those of the answer and of its repair.
func (p MemoryExtractedPayload) AnswerKeys() []string { return p.ResponseKeys }

// Remains removes the entries that were extracted from erased messages. It keeps their places, because other events refer
// to entries by index.
func (p MemoryExtractedPayload) Remains(f Forgetting) Remainder {
	changed := false
	p.Entries = slices.Clone(p.Entries)
	quoted := func(q Quote) bool { return f.OwnsMessages("", q.MessageIndex, q.MessageIndex) }
	for i, entry := range p.Entries {
		if entry.Title != ForgottenText && (slices.ContainsFunc(entry.Evidence, quoted) || f.SaysIn(entry)) {
			p.Entries[i] = ExtractedEntry{Type: entry.Type, Title: ForgottenText, Evidence: []Quote{}}
			changed = true
		}
	}
	var left Remainder
	whole := f.OwnsMessages("", p.Window.First, p.Window.Last)
	if whole { // The answer was read from all of the window.
		left.Answers = p.ResponseKeys
	}
	rejected := len(p.Rejected)
	p.Rejected = slices.DeleteFunc(slices.Clone(p.Rejected), func(r RejectedItem) bool { return whole || r.says(f) })
	if p.Quarantined != "" && p.Quarantined != ForgottenText && (whole || f.Says(p.Quarantined)) {
		p.Quarantined, changed = ForgottenText, true
	}
	if changed || len(p.Rejected) < rejected {
		left.Payload = p
	}
	return left
}

// Answered reports whether the window has a complete answer, so that it is not asked about again.
func (p MemoryExtractedPayload) Answered() bool { return p.Quarantined == "" && !p.Truncated }

// FailureType returns the type of the failure that left the window without a complete answer, or "" if it has one.
func (p MemoryExtractedPayload) FailureType() string {
	switch {
	case p.Quarantined != "":
		return p.QuarantinedType
	case p.Truncated:
		return ErrorModelCut
	default:
		return ""
	}
}

// Failed reports whether the window has failed so often that it is not asked about again as a whole. It is halved
// instead. An answer that broke off is no such failure if some of it was kept and the rest was not asked for yet.
func (p MemoryExtractedPayload) Failed() bool {
	cutOnce := p.Quarantined == "" && p.Window.Asked == 0 && len(p.Entries) > 0
	return !p.Answered() && !cutOnce
}

// GivenUp reports whether the window has failed and is too small to be halved. Its extractor is not asked about it
// again unless a retry forces that. The failure of a server does not count.
func (p MemoryExtractedPayload) GivenUp() bool {
	return p.Failed() && p.Window.Small && ClassOf(p.FailureType()) != FailurePassing
}

// EvidenceAlignedPayload contains the evidence of the quotes of one memory_extracted event.
type EvidenceAlignedPayload struct {
	SessionID        string `json:"session_id"`
	ExtractedEventID string `json:"extracted_event_id"`
	// Rule is the version of the proof rule that judged the quotes: see activities/evidence.
	Rule    int            `json:"rule"`
	Entries []AlignedEntry `json:"entries"`
}

// AlignedEntry is the evidence of the entry at Index of the memory_extracted event.
type AlignedEntry struct {
	Index int `json:"index"`
	// EvidenceAligned and EvidenceProven are true if there is evidence and all of it is aligned or proven.
	EvidenceAligned bool       `json:"evidence_aligned"`
	EvidenceProven  bool       `json:"evidence_proven"`
	Evidence        []Evidence `json:"evidence"`
}

// Entry is an immutable unit of memory.
type Entry struct {
	ID           string    `json:"entry_id"`
	Type         EntryType `json:"entry_type"`
	CanonicalKey string    `json:"canonical_key"`
	SessionID    string    `json:"session_id"`
	Scope
	Title    string `json:"title"`
	Content  string `json:"content,omitempty"`
	Category string `json:"category,omitempty"`
	// Section and SourceError are as in [ExtractedEntry].
	Section     string         `json:"section,omitempty"`
	Confidence  *float64       `json:"confidence,omitempty"`
	SourceError string         `json:"source_error,omitempty"`
	Task        *ExtractedTask `json:"task,omitempty"`
	// Corrects is the id of the entry that this one replaces, if it is a person's correction.
	Corrects string `json:"corrects,omitempty"`
	Stage    Stage  `json:"stage"`
	Status   Status `json:"status"`
	// EvidenceAligned and EvidenceProven are as in AlignedEntry. Only proven entries become verified.
	EvidenceAligned bool       `json:"evidence_aligned"`
	EvidenceProven  bool       `json:"evidence_proven"`
	Evidence        []Evidence `json:"evidence"`
	// EvidenceRule is the version of the proof rule that judged Evidence.
	EvidenceRule int `json:"evidence_rule"`
	// OccurredAt is the time of the message that the first evidence is in, or the session's date.
	OccurredAt time.Time `json:"occurred_at"`
}

// Session returns the key of the session that the entry comes from.
func (e Entry) Session() SessionKey { return SessionKey{Scope: e.Scope, SessionID: e.SessionID} }

// Text returns the part of the entry that is embedded and searched.
func (e Entry) Text() string {
	if e.Content == "" || e.Content == e.Title {
		return e.Title
	}
	return e.Title + "\n" + e.Content
}

// EntryMaterializedPayload is a new entry and its origin: the extracted entry at Index of the memory_extracted event,
// as judged by the evidence_aligned event.
type EntryMaterializedPayload struct {
	Entry
	ExtractedEventID string `json:"extracted_event_id"`
	Index            int    `json:"index"`
	AlignedEventID   string `json:"aligned_event_id"`
}

// Declares returns the entry's id.
func (p EntryMaterializedPayload) Declares() (id string, inMemory bool) { return p.ID, false }

// EntryEvidenceSetPayload is a later judgement of the evidence of an existing entry. It comes from another build,
// from another session that states the same, or from a newer proof rule. The event is in the stream of the session
// that Evidence is from. The last judgement for each of the entry's origins counts.
type EntryEvidenceSetPayload struct {
	// EntryID is the id of an entry of the event's project. The entry may come from another session.
	EntryID string `json:"entry_id"`
	// ExtractedEventID and Index name the origin: the extracted entry that Evidence belongs to.
	ExtractedEventID string `json:"extracted_event_id"`
	Index            int    `json:"index"`
	// Own is true if the entry was created from that extracted entry.
	Own            bool   `json:"own,omitempty"`
	AlignedEventID string `json:"aligned_event_id"`
	// Rule is the proof rule of the evidence_aligned event.
	Rule            int        `json:"rule"`
	EvidenceAligned bool       `json:"evidence_aligned"`
	EvidenceProven  bool       `json:"evidence_proven"`
	Evidence        []Evidence `json:"evidence"`
}

// EntryStatusSetPayload is a change of an entry's status by a build of its session. An extractor that has extracted the
// whole session supersedes the entries that only other extractors state. The entries that it states itself are active.
type EntryStatusSetPayload struct {
	EntryID string `json:"entry_id"`
	// Number counts the changes of the entry's status from 1.
	Number int    `json:"number"`
	Status Status `json:"status"`
	// SupersededBy is the id of an entry that the extractor made of the same sentences. It is empty if there is none.
	SupersededBy string `json:"superseded_by,omitempty"`
	// Extractor is that of the build.
	Extractor Extractor `json:"extractor"`
}
