package retrieve

import (
	"slices"

	"axiommind/schema"
)

// Kind is the kind of a hit.
type Kind string

// The kinds of hits.
const (
	// KindEntry is a memory: a statement of a session.
	KindEntry Kind = "entry"
	// KindTask is a task, found by one of its titles.
	KindTask Kind = "task"
	// KindMessage is a message of a session, in its own words.
	KindMessage Kind = "message"
	// KindFact is a fact about the user that a person entered or reworded. Facts of sessions are entries.
	KindFact Kind = "fact"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{KindEntry, KindTask, KindMessage, KindFact} }

// wants reports whether the query asks for hits of the kind. A filter on a property excludes kinds that lack it. Only
// entries have types, stages and statuses, but a fact that a person entered counts as the type fact. It has no session.
// A task has the sessions, agents and times of its entries.
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
