package task

import (
	"slices"
	"time"

	"axiommind/schema"
)

// Entity is a task, a condition or an artifact: the fold of its events alone. Its JSON is stored in
// entities.current_json, and the fold continues from there.
type Entity struct {
	schema.EntityRef
	Project      string        `json:"project"`
	CanonicalKey string        `json:"canonical_key"`
	Title        string        `json:"title"`
	Stage        schema.Stage  `json:"stage"`
	Status       schema.Status `json:"status"`
	// Aliases are the other canonical keys of the entity.
	Aliases []Alias `json:"aliases,omitempty"`
	// ResolvesTo is the entity that a condition was resolved to, or the task that this task was merged into.
	ResolvesTo *schema.EntityRef `json:"resolves_to,omitempty"`
	ResolvedBy string            `json:"resolved_by,omitempty"`
	ResolvedAt time.Time         `json:"resolved_at,omitzero"`
	// Candidates are tasks that may be the same as this entity.
	Candidates []schema.Candidate `json:"candidates,omitempty"`

	// The fields from TaskStatus to DoneReport are for tasks only. Blockers is never empty while the task is blocked
	// and always empty once it is closed. A task in progress may have blockers too.
	TaskStatus  schema.TaskStatus   `json:"task_status,omitempty"`
	Priority    schema.TaskPriority `json:"priority,omitempty"`
	Blockers    []schema.Blocker    `json:"blockers,omitempty"`
	Suggestions []schema.Blocker    `json:"blocker_suggestions,omitempty"`
	// BlockedFrom is the status that a blocked task had before it was blocked.
	BlockedFrom schema.TaskStatus `json:"blocked_from,omitempty"`
	// Listed is true for a task that began as an item of an agent's own list. The list then determines when it is done.
	Listed bool `json:"listed,omitempty"`
	// DoneReport is set while the task is open and has been reported done.
	DoneReport *DoneReport `json:"done_report,omitempty"`

	// AutoPlaceholder and Mentions are for conditions only.
	AutoPlaceholder bool     `json:"auto_placeholder,omitempty"`
	Mentions        []string `json:"mentions,omitempty"`

	// ArtifactKind is for artifacts only.
	ArtifactKind schema.ArtifactKind `json:"artifact_kind,omitempty"`

	// ClosedAt is the time at which a task was done or cancelled, or an artifact closed. It is zero while the entity
	// is open.
	ClosedAt  time.Time `json:"closed_at,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is the latest TS of the entity's events.
	UpdatedAt time.Time `json:"updated_at"`
	// Version is the position in the project's stream of the last folded event.
	Version uint64 `json:"version"`
}

// Alias is an additional canonical key of an entity.
type Alias struct {
	CanonicalKey string    `json:"canonical_key"`
	Since        time.Time `json:"since"`
}

// DoneReport is an unconfirmed report that the task is done.
type DoneReport struct {
	At      time.Time `json:"at"`
	EntryID string    `json:"entry_id"`
	// By is the name of the agent that reported it with a command. It is empty for an entry.
	By string `json:"by,omitempty"`
	// Quote is the first quote of the entry's evidence, shortened.
	Quote           string `json:"quote,omitempty"`
	EvidenceAligned bool   `json:"evidence_aligned"`
	EvidenceProven  bool   `json:"evidence_proven"`
}

func (r DoneReport) strength() int {
	switch {
	case r.EvidenceProven:
		return 2
	case r.EvidenceAligned:
		return 1
	}
	return 0
}

// Exists reports whether an event has created the entity.
func (e Entity) Exists() bool { return e.ID != "" }

// Open reports whether tasks that are blocked by the entity must still wait for it.
func (e Entity) Open() bool {
	return e.ClosedAt.IsZero() && e.Status != schema.StatusSuperseded
}

// Edge relates two entities.
type Edge struct {
	Src EdgeEnd
	Rel schema.RelType
	Dst EdgeEnd
	// Meta is nil, or the blocker or resolution that the edge represents.
	Meta  any
	Since time.Time
}

// EdgeEnd is one end of an edge.
type EdgeEnd struct{ Type, ID string }

// Types of edge ends.
const (
	endEntry  = "entry"
	endEntity = "entity"
)

func (e Entity) end() EdgeEnd { return EdgeEnd{endEntity, e.ID} }

// edgeKey identifies an edge within a project.
type edgeKey struct {
	src EdgeEnd
	rel schema.RelType
	dst EdgeEnd
}

func (e Edge) key() edgeKey { return edgeKey{e.Src, e.Rel, e.Dst} }

// resolution is the Meta of a resolves_to edge.
type resolution struct {
	ResolvedBy string `json:"resolved_by"`
}

// Edges returns the outgoing edges of the entity, in a fixed order.
func (e Entity) Edges() []Edge {
	var out []Edge
	for _, b := range e.Blockers {
		out = append(out, Edge{e.end(), schema.RelBlockedBy, EdgeEnd{endEntity, b.ID}, b, b.Since})
	}
	for _, b := range e.Suggestions {
		out = append(out, Edge{e.end(), schema.RelBlockedBySuggested, EdgeEnd{endEntity, b.ID}, b, b.Since})
	}
	if e.ResolvesTo != nil {
		out = append(out, Edge{e.end(), schema.RelResolvesTo, EdgeEnd{endEntity, e.ResolvesTo.ID}, resolution{e.ResolvedBy}, e.ResolvedAt})
	}
	for _, id := range e.Mentions {
		out = append(out, Edge{e.end(), schema.RelMentions, EdgeEnd{endEntity, id}, nil, e.CreatedAt})
	}
	return out
}

// Keys returns the canonical keys of the entity, its own key first. A merged task has none: its keys belong to the
// other task.
func (e Entity) Keys() []Alias {
	if e.Status == schema.StatusSuperseded {
		return nil
	}
	return append([]Alias{{e.CanonicalKey, e.CreatedAt}}, e.Aliases...)
}

func (e Entity) hasKey(key string) bool {
	return e.CanonicalKey == key || slices.ContainsFunc(e.Aliases, func(a Alias) bool { return a.CanonicalKey == key })
}

func (e Entity) blockedBy(id string) bool { return hasBlocker(e.Blockers, id) }

func hasBlocker(blockers []schema.Blocker, id string) bool {
	return slices.ContainsFunc(blockers, func(b schema.Blocker) bool { return b.ID == id })
}

// onlyPlaceholder reports whether all of the task's blockers are placeholders.
func (e Entity) onlyPlaceholder() bool {
	return len(e.Blockers) > 0 && !slices.ContainsFunc(e.Blockers, func(b schema.Blocker) bool { return !b.Placeholder })
}
