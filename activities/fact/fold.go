package fact

import (
	"fmt"
	"time"

	"axiommind/schema"
)

// Status says whether a fact is remembered.
type Status string

// Statuses. A fact that is gone never comes back; what it said may, as another fact.
const (
	Active  Status = "active"
	Deleted Status = "deleted"
	Evicted Status = "evicted"
)

// SourceManual is the source of a fact that a person gave.
const SourceManual = "manual"

// Fact is the fold of its events.
type Fact struct {
	ID         string  `json:"id"`
	Content    string  `json:"content"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
	// SourceError is what a correction says was done wrong.
	SourceError string `json:"source_error,omitempty"`
	Status      Status `json:"status"`
	Project     string `json:"project,omitempty"`
	// Actor is who created it. SessionID and EntryID lead to its evidence; they are empty when a
	// person gave it.
	Actor     string    `json:"actor"`
	SessionID string    `json:"session_id,omitempty"`
	EntryID   string    `json:"entry_id,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// CreatedSeq is the position of its first event, Version that of its last.
	CreatedSeq uint64    `json:"created_seq"`
	UpdatedAt  time.Time `json:"updated_at"`
	// GoneAt is zero while the fact is active.
	GoneAt     time.Time `json:"gone_at,omitzero"`
	GoneReason string    `json:"gone_reason,omitempty"`
	Version    uint64    `json:"version"`
}

// Exists reports whether the fact was ever created.
func (f Fact) Exists() bool { return f.CreatedSeq > 0 }

// Source is the session the fact stems from, or [SourceManual].
func (f Fact) Source() string {
	if f.EntryID == "" {
		return SourceManual
	}
	return f.SessionID
}

// EventTypes are the types of the events of this package.
func EventTypes() []string { return schema.EventTypesOf[schema.FactChange]() }

// occurrence is an event with its payload read.
type occurrence struct {
	event   schema.Event
	payload schema.FactChange
}

func readEvent(e schema.Event) (occurrence, error) {
	payload, err := schema.DecodePayload(e)
	if err != nil {
		return occurrence{}, err
	}
	of, ok := payload.(schema.FactChange)
	if !ok {
		return occurrence{}, fmt.Errorf("read event %q: %q is no fact event", e.ID, e.Type)
	}
	return occurrence{event: e, payload: of}, nil
}

// after returns the fact after an event of its own. It is pure. An event folded before, by its position, changes
// nothing, and neither does one that has no fact to change.
func (f Fact) after(o occurrence) Fact {
	created, isFirst := o.payload.(schema.FactCreatedPayload)
	switch {
	case o.event.Seq <= f.Version || f.Exists() == isFirst:
		return f
	case isFirst:
		return firstFact(created, o.event)
	case f.Status != Active:
		return f
	}
	f.Version, f.UpdatedAt = o.event.Seq, o.event.TS
	switch p := o.payload.(type) {
	case schema.FactUpdatedPayload:
		set(&f.Content, p.Content)
		set(&f.Category, p.Category)
		set(&f.Confidence, p.Confidence)
		set(&f.SourceError, p.SourceError)
	case schema.FactDeletedPayload:
		f.Status, f.GoneAt, f.GoneReason = Deleted, o.event.TS, p.Reason
	case schema.FactEvictedPayload:
		f.Status, f.GoneAt, f.GoneReason = Evicted, o.event.TS, "gave way to "+p.For
	}
	return f
}

func firstFact(p schema.FactCreatedPayload, e schema.Event) Fact {
	return Fact{
		ID: p.FactID, Content: p.Content, Category: p.Category, Confidence: p.Confidence,
		SourceError: p.SourceError, Status: Active, Project: e.Project, Actor: e.Actor,
		SessionID: e.SessionID, EntryID: p.EntryID,
		CreatedAt: e.TS, CreatedSeq: e.Seq, UpdatedAt: e.TS, Version: e.Seq,
	}
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Remembered returns those of the facts that are active.
func Remembered(facts []Fact) []Fact {
	out := make([]Fact, 0, len(facts))
	for _, f := range facts {
		if f.Status == Active {
			out = append(out, f)
		}
	}
	return out
}
