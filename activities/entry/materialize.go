// Package entry makes immutable units of memory from aligned extractions, and keeps the later judgements of their
// evidence.
package entry

import (
	"fmt"
	"time"

	"axiommind/schema"
)

// Session is the data that entries take from their session.
type Session struct {
	schema.SessionKey
	Date time.Time
	// At returns when a message was written, zero when that is not known.
	At func(messageIndex int) time.Time
}

// extraction is one window's extraction and its alignment, with the ids of their events.
type extraction struct {
	ExtractedEventID string
	Extracted        schema.MemoryExtractedPayload
	// AlignedEventID, Aligned and AlignedAt are of the last alignment, which counts.
	AlignedEventID string
	Aligned        schema.EvidenceAlignedPayload
	AlignedAt      time.Time
	// First is the alignment before all others, nil where Aligned is.
	First *schema.EvidenceAlignedPayload
}

// statement is an extracted entry as the entry that would be made of it.
type statement struct {
	schema.EntryMaterializedPayload
	alignedAt time.Time
	by        schema.Extractor
}

func (s *statement) origin() Origin { return Origin{s.ExtractedEventID, s.Index} }

func (s *statement) judgement() judgement {
	return judgement{
		alignedEventID: s.AlignedEventID, rule: s.EvidenceRule,
		aligned: s.EvidenceAligned, proven: s.EvidenceProven, evidence: s.Evidence,
	}
}

// statements returns the statements of the sources, in order.
func statements(session Session, sources []extraction) ([]statement, error) {
	var out []statement
	for _, source := range sources {
		first := map[int]schema.AlignedEntry{}
		if source.First != nil {
			for _, aligned := range source.First.Entries {
				first[aligned.Index] = aligned
			}
		}
		for _, aligned := range source.Aligned.Entries {
			if aligned.Index < 0 || aligned.Index >= len(source.Extracted.Entries) {
				return nil, fmt.Errorf("materialize session %q: event %q aligns entry %d of %d",
					session.SessionID, source.AlignedEventID, aligned.Index, len(source.Extracted.Entries))
			}
			e := build(session, source.Extracted.Entries[aligned.Index], aligned)
			e.EvidenceRule = source.Aligned.Rule
			// The place in a task note's key must not follow a span that a newer rule of proof moved: it would
			// be another entry.
			placed := e
			if was, ok := first[aligned.Index]; ok {
				placed.Evidence = was.Evidence
			}
			e.CanonicalKey = CanonicalKey(placed)
			e.ID = ID(session.SessionKey, e.Type, e.CanonicalKey)
			out = append(out, statement{schema.EntryMaterializedPayload{
				Entry: e, ExtractedEventID: source.ExtractedEventID, Index: aligned.Index,
				AlignedEventID: source.AlignedEventID,
			}, source.AlignedAt, source.Extracted.Extractor})
		}
	}
	return out, nil
}

// best returns the statements in order, each id once. Of those that are the same it keeps the first that is
// proven, or else the first that is aligned, or else the first.
func best(said []statement) []schema.EntryMaterializedPayload {
	var out []schema.EntryMaterializedPayload
	position := map[string]int{}
	for i := range said {
		e := said[i].EntryMaterializedPayload
		at, seen := position[e.ID]
		switch {
		case !seen:
			position[e.ID] = len(out)
			out = append(out, e)
		case rank(e.EvidenceAligned, e.EvidenceProven) > rank(out[at].EvidenceAligned, out[at].EvidenceProven):
			out[at] = e
		}
	}
	return out
}

func build(session Session, x schema.ExtractedEntry, aligned schema.AlignedEntry) schema.Entry {
	e := schema.Entry{
		Type: x.Type, SessionID: session.SessionID, Scope: session.Scope,
		Title: x.Title, Content: x.Content, Category: x.Category, Section: x.Section, Confidence: x.Confidence,
		SourceError: x.SourceError, Task: x.Task, Corrects: x.Corrects,
		Stage: stageOf(aligned.EvidenceAligned), Status: schema.StatusActive,
		EvidenceAligned: aligned.EvidenceAligned, EvidenceProven: aligned.EvidenceProven, Evidence: aligned.Evidence,
		OccurredAt: session.Date,
	}
	for _, evidence := range aligned.Evidence {
		if at := session.At(evidence.MessageIndex); evidence.Found && !at.IsZero() {
			e.OccurredAt = at
			break
		}
	}
	return e
}

func stageOf(aligned bool) schema.Stage {
	if aligned {
		return schema.StageWorking
	}
	return schema.StageRaw
}

// Events returns the entry_materialized events of the entries. An entry is immutable: its id alone
// is the dedupe key.
func Events(entries []schema.EntryMaterializedPayload, buildID string) ([]schema.Event, error) {
	out := make([]schema.Event, len(entries))
	for i, e := range entries {
		event, err := schema.NewEvent(e, schema.Event{
			TS: e.OccurredAt, Actor: actor, SessionID: e.SessionID, Project: e.Project, BuildID: buildID,
			DedupeKey: schema.EntryMaterializedKey(e.ID),
		})
		if err != nil {
			return nil, err
		}
		out[i] = event
	}
	return out, nil
}

// actor is the actor of the room's events.
const actor = "pipeline"
