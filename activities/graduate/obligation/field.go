package obligation

// Kind is the kind of a field's value.
type Kind int

// Kinds of fields.
const (
	Text Kind = iota
	Number
	Texts
)

// Field is a named value of an entry or of a piece of evidence. It is comparable.
type Field struct {
	// Name is a word in lower camel case.
	Name string
	Kind Kind
	// Type names the type that wraps the text, if it is an id.
	Type string
}

// Fields of an entry.
var (
	EntryID = Field{Name: "entryId", Type: "EntryId"}
	// TaskKey is the canonical key of a task note. It is empty for other entries.
	TaskKey = Field{Name: "entryTask", Type: "TaskId"}
	Type    = Field{Name: "entryType"}
	// Title is without white space and invisible characters around it.
	Title = Field{Name: "entryTitle"}
	// Confidence is in millionths, rounded away from the allowed range. It is 0 if there is none.
	Confidence = Field{Name: "entryConfidence", Kind: Number}
	Pieces     = Field{Name: "entryPieces", Kind: Number}
	// Unreadable counts the texts of the entry that are not valid UTF-8.
	Unreadable = Field{Name: "entryUnreadable", Kind: Number}
	// Claims are the numbers and identifiers of the title, and Stated the words of the evidence. See [ClaimsOf].
	Claims = Field{Name: "entryClaims", Kind: Texts}
	Stated = Field{Name: "entryStated", Kind: Texts}
)

// Fields of a piece of evidence.
var (
	EventID = Field{Name: "spanEvent", Type: "EventId"}
	Found   = Field{Name: "spanFound", Kind: Number}
	Message = Field{Name: "spanMessage", Kind: Number}
	// Start and End are the stored span in bytes, and Size is the length of the message in bytes.
	Start = Field{Name: "spanStart", Kind: Number}
	End   = Field{Name: "spanEnd", Kind: Number}
	Size  = Field{Name: "spanSize", Kind: Number}
	// RuneStart and RuneEnd are the stored span in runes. RunesToStart and RunesToEnd are counted in the message. They
	// are -1 if the span in bytes is not in it.
	RuneStart    = Field{Name: "spanRuneStart", Kind: Number}
	RuneEnd      = Field{Name: "spanRuneEnd", Kind: Number}
	RunesToStart = Field{Name: "spanRunesToStart", Kind: Number}
	RunesToEnd   = Field{Name: "spanRunesToEnd", Kind: Number}
	// StoredText is the text of the evidence, and SourceText is the text of the message at the span.
	StoredText = Field{Name: "spanText"}
	SourceText = Field{Name: "spanSource"}
	// Quoted is the quote, and Held is the text of the message at the span, both in the recorded normal form.
	Quoted = Field{Name: "spanQuoted"}
	Held   = Field{Name: "spanHeld"}
	// StoredHash is the stored hash of the message, and SourceHash is the computed hash of its text.
	StoredHash = Field{Name: "spanStoredHash"}
	SourceHash = Field{Name: "spanSourceHash"}
	// Verdict is the result of the recorded rule of proof: [Proven], or why not.
	Verdict = Field{Name: "spanVerdict"}
	// Trust is the class of the text at the span, computed from the message and not taken from the evidence.
	Trust = Field{Name: "spanTrust"}
)

// EntryFields returns the fields of an entry, in order.
func EntryFields() []Field {
	return []Field{EntryID, TaskKey, Type, Title, Confidence, Pieces, Unreadable, Claims, Stated}
}

// PieceFields returns the fields of a piece of evidence, in order.
func PieceFields() []Field {
	return []Field{
		EventID, Found, Message, Start, End, Size, RuneStart, RuneEnd, RunesToStart, RunesToEnd, StoredText, SourceText,
		Quoted, Held, StoredHash, SourceHash, Verdict, Trust,
	}
}

// Literal is a value. The field's kind determines which part is used.
type Literal struct {
	Text   string
	Number int
	Texts  []string
}

// Record has the values of the fields of an entry or of a piece.
type Record map[Field]Literal
