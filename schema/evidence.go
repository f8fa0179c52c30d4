package schema

// Method says how a quote was found in its source.
type Method string

// Methods, from the strictest.
const (
	MethodExact      Method = "exact"
	MethodNormalized Method = "normalized"
	// MethodJoined finds the pieces of a quote with ellipses word for word, and leaves out what is between.
	MethodJoined      Method = "joined"
	MethodApproximate Method = "approximate"
)

// Aligns reports whether what was found by the method is the quote word for word.
func (m Method) Aligns() bool { return m == MethodExact || m == MethodNormalized }

// Span is a half-open range of a message's text on grapheme borders, in bytes and in runes.
type Span struct {
	ByteStart int `json:"byte_start"`
	ByteEnd   int `json:"byte_end"`
	RuneStart int `json:"rune_start"`
	RuneEnd   int `json:"rune_end"`
}

// Evidence is a quote and what became of it. Found, Aligned and Proven are each stricter than the one
// before.
type Evidence struct {
	// EventID is the session_ingested event that holds the message.
	EventID string `json:"event_id,omitempty"`
	// MessageIndex is where the quote was found, or, when it was not, where it was said to be.
	MessageIndex int    `json:"message_index"`
	Quote        string `json:"quote"`
	// Found is true when the place of the quote is known, by any method.
	Found bool `json:"found"`
	// Aligned is true when it was found word for word: by MethodExact or MethodNormalized.
	Aligned bool `json:"aligned"`
	// Proven is true when the quote is whole sentences or lines of the message, by the rule of the version
	// that the event names.
	Proven bool   `json:"proven"`
	Method Method `json:"method,omitempty"`
	// Confidence is 1 for exact, in [0.95,1) for normalized, in [0.85,0.95) for joined and approximate.
	Confidence float64 `json:"confidence"`
	// Span is the chosen occurrence; Text is the source's text there.
	Span Span   `json:"span"`
	Text string `json:"text,omitempty"`
	// Within are the whole sentences or lines that hold Span, of a quote that is found and not proven.
	Within *Passage `json:"within,omitempty"`
	// Occurrences lists every place, the chosen one included, when there is more than one.
	Occurrences []Span `json:"occurrences,omitempty"`
	// QuoteHash and SourceHash are hex SHA-256 of the quote and of the message's text.
	QuoteHash  string `json:"quote_hash"`
	SourceHash string `json:"source_hash,omitempty"`
	// RepairedFrom is the message index the model gave, when the quote stood in another message.
	RepairedFrom *int `json:"repaired_from,omitempty"`
	// Reason says why the quote is not found, or "ambiguous" when it is, in several places.
	Reason string `json:"reason,omitempty"`
}

// Passage is a stretch of a message.
type Passage struct {
	Span Span `json:"span"`
	// Text is the source's text at Span, empty when that is longer than MaxPassage.
	Text string `json:"text,omitempty"`
}

// MaxPassage is how many bytes of text a Passage holds.
const MaxPassage = 4096

// Reasons of Evidence.
const (
	ReasonEmpty          = "empty"
	ReasonTooShort       = "too_short"
	ReasonInvalidIndex   = "invalid_index"
	ReasonNotFound       = "not_found"
	ReasonBelowThreshold = "below_threshold"
	ReasonAmbiguous      = "ambiguous"
)
