package schema

// Method says how a quote was found in its source.
type Method string

// Methods, from the strictest.
const (
	MethodExact       Method = "exact"
	MethodNormalized  Method = "normalized"
	MethodApproximate Method = "approximate"
)

// Span is a half-open range of a message's text on grapheme borders, in bytes and in runes.
type Span struct {
	ByteStart int `json:"byte_start"`
	ByteEnd   int `json:"byte_end"`
	RuneStart int `json:"rune_start"`
	RuneEnd   int `json:"rune_end"`
}

// Evidence is a quote and what became of it.
type Evidence struct {
	// EventID is the session_ingested event that holds the message.
	EventID string `json:"event_id,omitempty"`
	// MessageIndex is where the quote was found, or, when it was not, where it was said to be.
	MessageIndex int    `json:"message_index"`
	Quote        string `json:"quote"`
	Aligned      bool   `json:"aligned"`
	Method       Method `json:"method,omitempty"`
	// Confidence is 1 for exact, in [0.95,1) for normalized, in [0.85,0.95) for approximate.
	Confidence float64 `json:"confidence"`
	// Span is the chosen occurrence; Text is the source's text there.
	Span Span   `json:"span"`
	Text string `json:"text,omitempty"`
	// Occurrences lists every place, the chosen one included, when there is more than one.
	Occurrences []Span `json:"occurrences,omitempty"`
	// QuoteHash and SourceHash are hex SHA-256 of the quote and of the message's text.
	QuoteHash  string `json:"quote_hash"`
	SourceHash string `json:"source_hash,omitempty"`
	// RepairedFrom is the message index the model gave, when the quote stood in another message.
	RepairedFrom *int `json:"repaired_from,omitempty"`
	// Reason says why the quote is not aligned, or "ambiguous" when it is, in several places.
	Reason string `json:"reason,omitempty"`
	// Doubts lists where the quote may say something else than Text, in order.
	Doubts []Doubt `json:"doubts,omitempty"`
}

// Doubt is something of a quote that may say something else than the source at its place: a word or
// number that differs in a noisy quote or is cut by its ends, what an ellipsis leaves out, or marks.
type Doubt struct {
	Quote  string `json:"quote"`
	Source string `json:"source"`
}

// String says what stands for what, such as “834” for “8134”.
func (d Doubt) String() string { return "“" + d.Quote + "” for “" + d.Source + "”" }

// Proves reports whether the evidence proves what its quote says: it is aligned, and nothing about it
// is in doubt.
func (e *Evidence) Proves() bool { return e.Aligned && len(e.Doubts) == 0 }

// Reasons of Evidence.
const (
	ReasonEmpty          = "empty"
	ReasonTooShort       = "too_short"
	ReasonInvalidIndex   = "invalid_index"
	ReasonNotFound       = "not_found"
	ReasonBelowThreshold = "below_threshold"
	ReasonAmbiguous      = "ambiguous"
)
