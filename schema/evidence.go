package schema

// Method is the way in which a quote was found in its source.
type Method string

// Methods, the strictest first.
const (
	MethodExact      Method = "exact"
	MethodNormalized Method = "normalized"
	// MethodJoined finds a quote with ellipses: each of its pieces matches exactly, and the text between them is
	// skipped.
	MethodJoined      Method = "joined"
	MethodApproximate Method = "approximate"
)

// Aligns reports whether the method finds quotes word for word.
func (m Method) Aligns() bool { return m == MethodExact || m == MethodNormalized }

// Span is a half-open range of a message's text, in bytes and in runes. It begins and ends on grapheme boundaries.
type Span struct {
	ByteStart int `json:"byte_start"`
	ByteEnd   int `json:"byte_end"`
	RuneStart int `json:"rune_start"`
	RuneEnd   int `json:"rune_end"`
}

// Evidence is a quote and the result of looking for it in its source. Found, Aligned and Proven are increasingly
// strict: each implies the previous one.
type Evidence struct {
	// EventID is the id of the session_ingested event that contains the message.
	EventID string `json:"event_id,omitempty"`
	// MessageIndex is the message in which the quote was found, or, if it was not found, the one that the model
	// named.
	MessageIndex int `json:"message_index"`
	// Trust is the class of the source's text at Span. It is empty if the quote was not found, and in evidence that was
	// judged before rule 2 of proof.
	Trust Trust `json:"trust,omitempty"`
	// By is the name of the agent whose statement the text is, if Trust is TrustAgent.
	By    string `json:"by,omitempty"`
	Quote string `json:"quote"`
	// Found is true if the quote was located, by any method.
	Found bool `json:"found"`
	// Aligned is true if the quote was found word for word, by MethodExact or MethodNormalized.
	Aligned bool `json:"aligned"`
	// Proven is true if the quote consists of whole sentences or lines of the message. The event names the version of
	// the proof rule that decided this.
	Proven bool   `json:"proven"`
	Method Method `json:"method,omitempty"`
	// Confidence is 1 for exact, in [0.95,1) for normalized, in [0.85,0.95) for joined and approximate.
	Confidence float64 `json:"confidence"`
	// Span is the chosen occurrence, and Text the source's text there.
	Span Span   `json:"span"`
	Text string `json:"text,omitempty"`
	// Within is the whole sentences or lines around Span, if the quote was found but is not proven.
	Within *Passage `json:"within,omitempty"`
	// Occurrences lists all occurrences, the chosen one included, if there is more than one.
	Occurrences []Span `json:"occurrences,omitempty"`
	// QuoteHash and SourceHash are hex SHA-256 of the quote and of the message's text.
	QuoteHash  string `json:"quote_hash"`
	SourceHash string `json:"source_hash,omitempty"`
	// RepairedFrom is the message index that the model gave, if the quote was found in another message.
	RepairedFrom *int `json:"repaired_from,omitempty"`
	// Reason is the reason why the quote was not found. It is "ambiguous" if the quote was found in several places.
	Reason string `json:"reason,omitempty"`
}

// Passage is a part of a message.
type Passage struct {
	Span Span `json:"span"`
	// Text is the source's text at Span. It is empty if that is longer than MaxPassage.
	Text string `json:"text,omitempty"`
}

// MaxPassage is the maximum size of a Passage's text, in bytes.
const MaxPassage = 4096

// Values of Evidence.Reason.
const (
	ReasonEmpty          = "empty"
	ReasonTooShort       = "too_short"
	ReasonInvalidIndex   = "invalid_index"
	ReasonNotFound       = "not_found"
	ReasonBelowThreshold = "below_threshold"
	ReasonAmbiguous      = "ambiguous"
)
