package fact

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"axiommind/schema"
)

// Status is the state of a fact: active or gone.
type Status string

// Statuses. A fact that is deleted or evicted never comes back. Its content may come back as another fact.
const (
	Active  Status = "active"
	Deleted Status = "deleted"
	Evicted Status = "evicted"
)

// SourceManual is the source of a fact that a person entered.
const SourceManual = "manual"

// Fact is the fold of its events.
type Fact struct {
	ID         string  `json:"id"`
	Content    string  `json:"content"`
	Category   string  `json:"category"`
	Confidence float64 `json:"confidence"`
	// SourceError is the mistake that a correction describes.
	SourceError string `json:"source_error,omitempty"`
	// SaidBy is the first speaker: the user, or only the assistant. It is empty if a person entered the fact.
	SaidBy  schema.Trust `json:"said_by,omitempty"`
	Status  Status       `json:"status"`
	Project string       `json:"project,omitempty"`
	// Actor created the fact. SessionID and EntryID lead to its evidence. They are empty if a person entered it.
	Actor     string    `json:"actor"`
	SessionID string    `json:"session_id,omitempty"`
	EntryID   string    `json:"entry_id,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// CreatedSeq is the position of its first event, and Version that of its last.
	CreatedSeq uint64    `json:"created_seq"`
	UpdatedAt  time.Time `json:"updated_at"`
	// GoneAt is the time at which the fact was deleted or evicted. It is zero while the fact is active.
	GoneAt     time.Time `json:"gone_at,omitzero"`
	GoneReason string    `json:"gone_reason,omitempty"`
	Version    uint64    `json:"version"`
	// Entry is the standing of its entry. Only [Tables.Judge] sets it, and it is nil for a fact that a person entered.
	Entry *EntryStatus `json:"entry,omitempty"`
}

// Exists reports whether the fact was created.
func (f Fact) Exists() bool { return f.CreatedSeq > 0 }

// Source returns the session that the fact comes from, or [SourceManual].
func (f Fact) Source() string {
	if f.EntryID == "" {
		return SourceManual
	}
	return f.SessionID
}

// EventTypes returns the types of the events that facts are folded from.
func EventTypes() []string { return schema.EventTypesOf[schema.FactChange]() }

// occurrence is an event with its decoded payload.
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

// after returns the fact as it is after one of its events. It is pure. An event that was folded before, as its
// position shows, changes nothing. Neither does a change of a fact that does not exist.
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
	// An event that arrives late may be older than the fact's last change.
	f.Version, f.UpdatedAt = o.event.Seq, later(f.UpdatedAt, o.event.TS)
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
	case schema.FactMergedPayload:
		f.Confidence = p.Confidence
	}
	return f
}

// foldMemory returns the whole memory from the events of its stream.
func foldMemory(events []schema.Event) (Memory, error) {
	m := Memory{Done: map[string]bool{}, Sections: map[string]Section{}}
	facts := map[string]Fact{}
	for _, e := range events {
		o, err := readEvent(e)
		if err != nil {
			return m, err
		}
		switch p := o.payload.(type) {
		case schema.FactCreatedPayload:
			m.Done[p.EntryID] = true
		case schema.FactSkippedPayload:
			m.Done[p.EntryID] = true
		case schema.FactMergedPayload:
			m.Done[p.EntryID] = true
		case schema.ProfileUpdatedPayload:
			m.Done[p.EntryID], m.Version = true, e.Seq
			if s := sectionOf(p, e); !s.UpdatedAt.Before(m.Sections[p.Section].UpdatedAt) {
				m.Sections[p.Section] = s
			}
		case schema.FactsClearedPayload:
			m.Cleared = later(m.Cleared, e.TS)
		}
		if id := o.payload.Fact(); id != "" {
			facts[id] = facts[id].after(o)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(facts)) {
		f := facts[id]
		if !f.Exists() {
			continue
		}
		m.Facts, m.Version = append(m.Facts, f), max(m.Version, f.Version)
		if f.Status == Active {
			m.Active++
		}
	}
	return m, nil
}

func firstFact(p schema.FactCreatedPayload, e schema.Event) Fact {
	created := e.TS
	if !p.Since.IsZero() {
		created = p.Since
	}
	return Fact{
		ID: p.FactID, Content: p.Content, Category: p.Category, Confidence: p.Confidence,
		SourceError: p.SourceError, SaidBy: p.SaidBy, Status: Active, Project: e.Project, Actor: e.Actor,
		SessionID: e.SessionID, EntryID: p.EntryID,
		CreatedAt: created, CreatedSeq: e.Seq, UpdatedAt: e.TS, Version: e.Seq,
	}
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Remembered returns the active facts.
func Remembered(facts []Fact) []Fact {
	out := make([]Fact, 0, len(facts))
	for _, f := range facts {
		if f.Status == Active {
			out = append(out, f)
		}
	}
	return out
}

func sectionOf(p schema.ProfileUpdatedPayload, e schema.Event) Section {
	return Section{
		Name: p.Section, Summary: p.Summary, Confidence: p.Confidence, Project: e.Project, Actor: e.Actor,
		SessionID: e.SessionID, EntryID: p.EntryID, UpdatedAt: e.TS, Version: e.Seq,
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
