package fact

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// Errors of commands that callers branch on.
var (
	ErrFactNotFound = boundary.Invalid(schema.ErrorFactNotFound, errors.New("no such fact"))
	// ErrDuplicate is returned if another fact says the same.
	ErrDuplicate = boundary.Invalid(schema.ErrorFactRefused, errors.New("duplicate fact"))
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
)

// Command is a person's request for one fact.
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
	// update changes the fields that are not nil.
	Content     *string  `json:"content,omitempty"`
	Category    *string  `json:"category,omitempty"`
	Confidence  *float64 `json:"confidence,omitempty"`
	SourceError *string  `json:"source_error,omitempty"`
}

// Writer returns the input of the workflow that runs the command.
func (c Command) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: c.User, Agent: c.Agent}
}

// Validate returns an [InvalidError] if the command is invalid.
func (c Command) Validate() error {
	invalid := func(field, format string, args ...any) error {
		return &InvalidError{field, fmt.Sprintf(format, args...)}
	}
	switch {
	case c.RequestID == "":
		return invalid("request_id", "is missing")
	case c.Actor == "":
		return invalid("actor", "is missing")
	case c.At.IsZero():
		return invalid("at", "is missing")
	case c.Op != OpCreate && c.Op != OpUpdate && c.Op != OpDelete:
		return invalid("op", "is %q, want create, update or delete", c.Op)
	case c.Op == OpCreate && c.FactID != "":
		return invalid("fact_id", "is derived, not given")
	case c.Op != OpCreate && c.FactID == "":
		return invalid("fact_id", "is missing")
	case c.Op == OpDelete && c.changes():
		return invalid("op", "delete takes no content, category or confidence")
	case c.Op == OpUpdate && !c.changes():
		return invalid("op", "update needs content, category or confidence")
	case c.Op == OpCreate && c.Content == nil:
		return invalid("content", "is missing")
	case c.Content != nil && Key(*c.Content) == "":
		return invalid("content", "is blank")
	case c.Confidence != nil && !validConfidence(*c.Confidence):
		return invalid("confidence", "is %v, want 0 to 1", *c.Confidence)
	}
	if c.Category != nil {
		if _, ok := Category(*c.Category); !ok {
			return invalid("category", "is %q, want one of %s", *c.Category, strings.Join(schema.FactCategories(), ", "))
		}
	}
	return nil
}

func (c Command) changes() bool {
	return c.Content != nil || c.Category != nil || c.Confidence != nil || c.SourceError != nil
}

// PlanCommand returns the events that carry out the command, to be appended to the memory's stream as one batch. If
// the error is [ErrDuplicate], the returned event records the refusal.
func PlanCommand(m Memory, c Command, opts Options) ([]schema.Event, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &planner{
		overlay: newOverlay(m), opts: opts,
		project: c.Project, actor: c.Actor,
	}
	if c.Op == OpCreate {
		err = p.consider(p.commanded(c))
	} else {
		err = p.change(c)
	}
	if err != nil {
		return nil, err
	}
	return p.overlay.planned, refusal(p.overlay.planned[len(p.overlay.planned)-1])
}

func (p *planner) commanded(c Command) proposal {
	x := proposal{
		act: schema.Act{RequestID: c.RequestID, Reason: c.Reason}, key: schema.FactOfCommandKey(c.User, c.Agent, c.RequestID),
		at: instant(c.At), aligned: true, confidence: c.Confidence,
	}
	set(&x.content, c.Content)
	set(&x.category, c.Category)
	set(&x.sourceError, c.SourceError)
	return x
}

func (p *planner) change(c Command) error {
	x := p.commanded(c)
	f, ok := p.overlay.facts[c.FactID]
	if !ok || f.Status != Active {
		return fmt.Errorf("%s fact %q of user %q, agent %q: %w", c.Op, c.FactID, c.User, c.Agent, ErrFactNotFound)
	}
	if c.Op == OpDelete {
		return p.emit(x.key, x.at, schema.FactDeletedPayload{Act: x.act, FactID: f.ID})
	}
	if c.Content != nil {
		if other, taken := p.overlay.byKey[Key(*c.Content)]; taken && other != f.ID {
			return p.skip(x, schema.FactSkippedPayload{
				Skipped: schema.SkippedDuplicate, Detail: other + " says the same", DuplicateOf: other,
			})
		}
	}
	payload := schema.FactUpdatedPayload{Act: x.act, FactID: f.ID, Confidence: c.Confidence}
	payload.Content, payload.SourceError = trimmed(c.Content), trimmed(c.SourceError)
	if c.Category != nil {
		category, _ := Category(*c.Category)
		payload.Category = &category
	}
	return p.emit(x.key, x.at, payload)
}

func trimmed(s *string) *string {
	if s == nil {
		return nil
	}
	t := strings.TrimSpace(*s)
	return &t
}

// refusal returns the error that the command's event records, or nil.
func refusal(e schema.Event) error {
	if e.Type != schema.FactSkipped {
		return nil
	}
	p, err := schema.Decode[schema.FactSkippedPayload](e)
	if err != nil {
		return err
	}
	if p.Skipped == schema.SkippedDuplicate {
		return fmt.Errorf("%w: %s", ErrDuplicate, p.Detail)
	}
	return fmt.Errorf("%w: %s", ErrInvalid, p.Detail)
}
