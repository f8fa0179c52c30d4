package retrieve

import (
	"slices"

	"axiommind/schema"
)

// Kind is what a hit is.
type Kind string

// The kinds of hits.
const (
	// KindEntry is a memory: what a session states.
	KindEntry Kind = "entry"
	// KindTask is a task, found by one of its titles.
	KindTask Kind = "task"
	// KindMessage is a message of a session, in its own words.
	KindMessage Kind = "message"
	// KindFact is what a person entered about the user, or put in other words. Facts of sessions are entries.
	KindFact Kind = "fact"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{KindEntry, KindTask, KindMessage, KindFact} }

// wants reports whether hits of the kind are asked for. What a filter can't be true of is not: only entries have types, stages
// and statuses, and what a person entered has no session. A task has the sessions, agents and times of the entries that speak of
// it.
func (q Query) wants(k Kind) bool {
	if len(q.Kinds) > 0 && !slices.Contains(q.Kinds, k) {
		return false
	}
	switch k {
	case KindEntry:
		return true
	case KindFact:
		return len(q.Stages)+len(q.Statuses) == 0 && (len(q.Types) == 0 || slices.Contains(q.Types, schema.EntryFact)) && q.SessionID == ""
	default:
		return len(q.Types)+len(q.Stages)+len(q.Statuses) == 0
	}
}

// Impossible reports whether the filters leave none of the kinds.
func (q Query) Impossible() bool {
	return !slices.ContainsFunc(Kinds(), q.wants)
}

// items are the kinds of items of the index of entries that are asked for.
func (q Query) items() []string {
	var out []string
	if q.wants(KindEntry) {
		out = append(out, schema.ItemEntry)
	}
	if q.wants(KindTask) {
		out = append(out, schema.ItemTaskTitle)
	}
	return out
}
