package fact

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Errors of commands that callers branch on.
var (
	ErrFactNotFound = boundary.Invalid(schema.ErrorFactNotFound, errors.New("no such fact"))
	// ErrDuplicate is returned if another fact says the same.
	ErrDuplicate = boundary.Invalid(schema.ErrorFactRefused, errors.New("duplicate fact"))
	// ErrStale is returned if the subject of a command has another version than the command expects.
	ErrStale = boundary.Invalid(schema.ErrorFactStale, errors.New("it has changed"))
	// ErrInvalid is wrapped by every [InvalidError].
	ErrInvalid = boundary.Invalid(schema.ErrorInvalidInput, errors.New("invalid command"))
)

// InvalidError names the invalid field of a command.
type InvalidError struct {
	// Field is the field's JSON name.
	Field  string
	Reason string
}

func (e *InvalidError) Error() string { return fmt.Sprintf("invalid %s: %s", e.Field, e.Reason) }

// Unwrap makes errors.Is(err, ErrInvalid) hold.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Op is the operation of a command.
type Op string

// Operations.
const (
	OpCreate Op = "create"
	OpUpdate Op = "update"
	OpDelete Op = "delete"
	// OpSection sets or removes a section of the profile.
	OpSection Op = "section"
	// OpImport creates several facts and sets several sections.
	OpImport Op = "import"
	// OpClear deletes all facts and removes all sections. Statements from sessions read before are not remembered again.
	OpClear Op = "clear"
)

// Limits of a command, which keep its payload small.
const (
	// MaxContentBytes is the maximum size of a content.
	MaxContentBytes = 8 << 10
	// MaxImportItems and MaxImportBytes bound the items of one import.
	MaxImportItems = 200
	MaxImportBytes = 40 << 10
)

// Command is a person's request for facts or the profile.
type Command struct {
	User    string `json:"user"`
	Agent   string `json:"agent,omitempty"`
	Project string `json:"project,omitempty"`
	// RequestID names the act. Sending the command again with the same RequestID changes nothing.
	RequestID string    `json:"request_id"`
	Actor     string    `json:"actor"`
	At        time.Time `json:"at"`
	Reason    string    `json:"reason,omitempty"`

	Op Op `json:"op"`
	// FactID is the fact to update or delete.
	FactID string `json:"fact_id,omitempty"`
	// For a new fact, Content is required, Category defaults to context and Confidence to [DefaultConfidence]. An
	// update changes the fields that are not nil. A section has Content and Confidence; a Content that is empty removes it.
	Content     *string  `json:"content,omitempty"`
	Category    *string  `json:"category,omitempty"`
	Confidence  *float64 `json:"confidence,omitempty"`
	SourceError *string  `json:"source_error,omitempty"`
	// Section is the section of the profile to set.
	Section string `json:"section,omitempty"`
	// Items are the items to import.
	Items []Item `json:"items,omitempty"`
	// ExpectVersion, if it is not 0, is the version of the fact or section, or for the other operations of the whole memory,
	// without which the command is refused.
	ExpectVersion uint64 `json:"expect_version,omitempty"`
}

// Item is a fact or a section of the profile to import.
type Item struct {
	Section     string   `json:"section,omitempty"`
	Content     string   `json:"content"`
	Category    string   `json:"category,omitempty"`
	Confidence  *float64 `json:"confidence,omitempty"`
	SourceError string   `json:"source_error,omitempty"`
	// Since is when the fact became known.
	Since time.Time `json:"since,omitzero"`
}

// Writer returns the input of the workflow that runs the command.
func (c Command) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: c.User, Agent: c.Agent}
}

// Redacted returns the command without secrets.
func (c Command) Redacted() boundary.Request {
	copied := func(text *string) *string {
		if text == nil {
			return nil
		}
		return new(*text)
	}
	c.Content, c.SourceError, c.Items = copied(c.Content), copied(c.SourceError), slices.Clone(c.Items)
	redact.Strings(&c.Reason, c.Content, c.SourceError)
	for i := range c.Items {
		redact.Strings(&c.Items[i].Content, &c.Items[i].SourceError)
	}
	return c
}

// Validate returns an [InvalidError] if the command is invalid.
func (c Command) Validate() error {
	invalid := func(field, format string, args ...any) error {
		return &InvalidError{field, fmt.Sprintf(format, args...)}
	}
	ops := []Op{OpCreate, OpUpdate, OpDelete, OpSection, OpImport, OpClear}
	switch {
	case c.User == "":
		return invalid("user", "is missing")
	case c.RequestID == "":
		return invalid("request_id", "is missing")
	case c.Actor == "":
		return invalid("actor", "is missing")
	case c.At.IsZero():
		return invalid("at", "is missing")
	case !slices.Contains(ops, c.Op):
		return invalid("op", "is %q, want one of %q", c.Op, ops)
	case (c.Op == OpUpdate || c.Op == OpDelete) != (c.FactID != ""):
		if c.FactID == "" {
			return invalid("fact_id", "is missing")
		}
		return invalid("fact_id", "%s takes none", c.Op)
	case (c.Op == OpSection) != (c.Section != ""):
		return invalid("section", "belongs to the operation %s alone", OpSection)
	case (c.Op == OpImport) != (len(c.Items) > 0):
		return invalid("items", "belong to the operation %s alone", OpImport)
	case (c.Op == OpDelete || c.Op == OpClear || c.Op == OpImport) && c.changes():
		return invalid("op", "%s takes no content, category or confidence", c.Op)
	case c.Op == OpUpdate && !c.changes():
		return invalid("op", "update needs content, category, confidence or source_error")
	case (c.Op == OpCreate || c.Op == OpSection) && c.Content == nil:
		return invalid("content", "is missing")
	}
	if c.Op == OpSection {
		return c.validateSection()
	}
	if err := c.validateFields(); err != nil {
		return err
	}
	return c.validateItems()
}

func (c Command) validateSection() error {
	switch {
	case !slices.Contains(schema.ProfileSections(), c.Section):
		return &InvalidError{"section", fmt.Sprintf("is %q, want one of %s", c.Section, strings.Join(schema.ProfileSections(), ", "))}
	case c.Category != nil || c.SourceError != nil:
		return &InvalidError{"op", "section takes content and confidence alone"}
	case strings.TrimSpace(*c.Content) == "":
		return nil
	}
	return c.validateFields()
}

func (c Command) validateFields() error {
	if c.Content != nil {
		if reason := wrongContent(*c.Content); reason != "" {
			return &InvalidError{"content", reason}
		}
	}
	if c.SourceError != nil && len(*c.SourceError) > MaxContentBytes {
		return &InvalidError{"source_error", fmt.Sprintf("has %d bytes, want at most %d", len(*c.SourceError), MaxContentBytes)}
	}
	if c.Confidence != nil && !validConfidence(*c.Confidence) {
		return &InvalidError{"confidence", fmt.Sprintf("is %v, want 0 to 1", *c.Confidence)}
	}
	if c.Category != nil {
		if _, ok := Category(*c.Category); !ok {
			return &InvalidError{"category", wrongCategory(*c.Category)}
		}
	}
	return nil
}

// validateItems returns an error if the payload would be too large. An error in a single item is recorded for that item.
func (c Command) validateItems() error {
	size := 0
	for _, item := range c.Items {
		size += item.Bytes()
	}
	switch {
	case len(c.Items) > MaxImportItems:
		return &InvalidError{"items", fmt.Sprintf("are %d, want at most %d in one command", len(c.Items), MaxImportItems)}
	case size > MaxImportBytes:
		return &InvalidError{"items", fmt.Sprintf("have %d bytes, want at most %d in one command", size, MaxImportBytes)}
	}
	return nil
}

// Bytes is the size of the item in a payload, where a control character takes six bytes.
func (i Item) Bytes() int {
	raw, err := json.Marshal(i)
	if err != nil { // A confidence that is no number, which no command can hold.
		return len(i.Content)
	}
	return len(raw)
}

func wrongContent(content string) string {
	switch {
	case Key(content) == "":
		return "is blank"
	case len(content) > MaxContentBytes:
		return fmt.Sprintf("has %d bytes, want at most %d", len(content), MaxContentBytes)
	}
	return ""
}

func wrongCategory(category string) string {
	return fmt.Sprintf("is %q, want one of %s", category, strings.Join(schema.FactCategories(), ", "))
}

func (c Command) changes() bool {
	return c.Content != nil || c.Category != nil || c.Confidence != nil || c.SourceError != nil
}
