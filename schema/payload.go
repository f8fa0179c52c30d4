package schema

import "time"

// Source says where a session came from.
type Source struct {
	// URI is empty for inline messages.
	URI    string `json:"uri,omitempty"`
	Format string `json:"format"`
	// SHA256 is the hex hash of the source's bytes as read, and Bytes their number: empty and 0 where
	// nothing of it was stored.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// FormatInline is the format of messages given in a workflow's input.
const FormatInline = "inline"

// String says where the session came from.
func (s Source) String() string {
	if s.URI == "" && s.Format == FormatInline {
		return "inline messages"
	}
	return s.URI
}

// Scope says whose memory something is. Nothing is read across projects or users.
type Scope struct {
	Project string `json:"project"`
	User    string `json:"user"`
	Agent   string `json:"agent,omitempty"`
}

// SessionIngestedPayload holds a run of a session's messages that were not in the log before. Its
// events of one session, in order of seq, hold the session's messages with indexes from 0.
type SessionIngestedPayload struct {
	SessionKey
	// Date is when the session took place: given, or of its first dated message.
	Date     time.Time `json:"date"`
	Source   Source    `json:"source"`
	Messages []Message `json:"messages"`
	// Skipped is what the source held and could not be read.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// ModelRespondedPayload is a model's raw answer, stored before it is parsed, under the hash of all
// that went into the call. Neither a retry nor a parser's fix pays for the call twice.
type ModelRespondedPayload struct {
	Key      string `json:"key"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Raw is the provider's response body.
	Raw   string `json:"raw"`
	Usage Usage  `json:"usage"`
}

// Usage counts what a model call took.
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

// Extractor identifies what turns messages into entries; another identity extracts anew.
type Extractor struct {
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	PromptVersion string `json:"prompt_version"`
	PromptHash    string `json:"prompt_hash"`
	SchemaVersion string `json:"schema_version"`
	// Tools is true when tool calls and their results are extracted from too.
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

// Window is the part of a session that one model call extracts from: the extractable messages from
// First to Last.
type Window struct {
	// Hash is that of the roles, positions and texts of the window's messages.
	Hash  string `json:"hash"`
	First int    `json:"first"`
	Last  int    `json:"last"`
	// A message longer than a window is cut: ByteStart is where the window begins in First, ByteEnd
	// where it ends in Last, 0 for the end of the message.
	ByteStart int `json:"byte_start,omitempty"`
	ByteEnd   int `json:"byte_end,omitempty"`
	// Asked is how many builds asked about the window before and got no whole answer: an extraction
	// that is quarantined or truncated leaves its window to the next build.
	Asked int `json:"asked,omitempty"`
	// Kept is true when an earlier answer broke off after entries that are kept: the rest is asked for.
	Kept bool `json:"kept,omitempty"`
}

// MemoryExtractedPayload is what was read out of the model's answer for one window.
type MemoryExtractedPayload struct {
	SessionID string    `json:"session_id"`
	Window    Window    `json:"window"`
	Extractor Extractor `json:"extractor"`
	// ResponseKeys name the model_responded events that were read: the answer, and the repair.
	ResponseKeys []string         `json:"response_keys"`
	Entries      []ExtractedEntry `json:"entries"`
	Rejected     []RejectedItem   `json:"rejected,omitempty"`
	// Quarantined says why the answer could not be read; the window then has no entries.
	Quarantined string `json:"quarantined,omitempty"`
	// Truncated is true when the answer broke off after the entries read.
	Truncated bool `json:"truncated,omitempty"`
	// Usage is what the build's calls about the window took.
	Usage Usage `json:"usage"`
}

// Answered reports whether the window has its whole answer, and is not to be asked about again.
func (p MemoryExtractedPayload) Answered() bool { return p.Quarantined == "" && !p.Truncated }

// EvidenceAlignedPayload is where the quotes of one memory_extracted event stand in the source.
type EvidenceAlignedPayload struct {
	SessionID        string `json:"session_id"`
	ExtractedEventID string `json:"extracted_event_id"`
	// Rule is the version of the rule of proof that judged the quotes: see activities/evidence.
	Rule    int            `json:"rule"`
	Entries []AlignedEntry `json:"entries"`
}

// AlignedEntry is the evidence of the entry at Index of the memory_extracted event.
type AlignedEntry struct {
	Index int `json:"index"`
	// EvidenceAligned is true when there is evidence and every piece of it is aligned, EvidenceProven when
	// there is evidence and every piece of it is proven.
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
	Title      string         `json:"title"`
	Content    string         `json:"content,omitempty"`
	Category   string         `json:"category,omitempty"`
	Confidence *float64       `json:"confidence,omitempty"`
	Task       *ExtractedTask `json:"task,omitempty"`
	Stage      Stage          `json:"stage"`
	Status     Status         `json:"status"`
	// EvidenceAligned and EvidenceProven are those of AlignedEntry. Only what is proven becomes verified.
	EvidenceAligned bool       `json:"evidence_aligned"`
	EvidenceProven  bool       `json:"evidence_proven"`
	Evidence        []Evidence `json:"evidence"`
	// EvidenceRule is the version of the rule of proof that judged Evidence.
	EvidenceRule int `json:"evidence_rule"`
	// OccurredAt is when the message of the first evidence was written, or the session's date.
	OccurredAt time.Time `json:"occurred_at"`
}

// Session identifies the session that the entry stems from.
func (e Entry) Session() SessionKey { return SessionKey{Scope: e.Scope, SessionID: e.SessionID} }

// Text is what of the entry is embedded and searched.
func (e Entry) Text() string {
	if e.Content == "" || e.Content == e.Title {
		return e.Title
	}
	return e.Title + "\n" + e.Content
}

// EntryMaterializedPayload is an entry and what it was made from: its own origin, the extracted entry at
// Index of the memory_extracted event, and how the evidence_aligned event judges that.
type EntryMaterializedPayload struct {
	Entry
	ExtractedEventID string `json:"extracted_event_id"`
	Index            int    `json:"index"`
	AlignedEventID   string `json:"aligned_event_id"`
}

// EntryEvidenceSetPayload is what the evidence of an entry in the log is judged to be later: by another
// build, by another session that states the same, or by a newer rule of proof. It stands in the stream of
// the session that Evidence is of. Of an entry's origins each has its last judgement.
type EntryEvidenceSetPayload struct {
	// EntryID is the entry's, of the event's project, whichever session it stems from.
	EntryID string `json:"entry_id"`
	// ExtractedEventID and Index name the origin: the extracted entry that Evidence is of.
	ExtractedEventID string `json:"extracted_event_id"`
	Index            int    `json:"index"`
	// Own is true when that is the extracted entry which the entry was made of.
	Own            bool   `json:"own,omitempty"`
	AlignedEventID string `json:"aligned_event_id"`
	// Rule is that of the evidence_aligned event.
	Rule            int        `json:"rule"`
	EvidenceAligned bool       `json:"evidence_aligned"`
	EvidenceProven  bool       `json:"evidence_proven"`
	Evidence        []Evidence `json:"evidence"`
}
