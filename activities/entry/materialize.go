// Package entry makes immutable units of memory out of what was extracted and aligned.
package entry

import (
	"encoding/json"
	"fmt"
	"time"

	"axiommind/schema"
)

// Session is what entries take from the session they stem from.
type Session struct {
	schema.SessionKey
	Date time.Time
	// At returns when a message was written, zero when that is not known.
	At func(messageIndex int) time.Time
}

// Source is one window's extraction and its alignment, with the ids of their events.
type Source struct {
	ExtractedEventID string
	Extracted        schema.MemoryExtractedPayload
	AlignedEventID   string
	Aligned          schema.EvidenceAlignedPayload
}

// Materialize returns the entries of the sources, in order, each id once. Of two that are the same
// the first with aligned evidence is kept.
func Materialize(session Session, sources []Source) ([]schema.EntryMaterializedPayload, error) {
	var out []schema.EntryMaterializedPayload
	position := map[string]int{}
	for _, source := range sources {
		for _, aligned := range source.Aligned.Entries {
			if aligned.Index < 0 || aligned.Index >= len(source.Extracted.Entries) {
				return nil, fmt.Errorf("materialize session %q: event %q aligns entry %d of %d",
					session.SessionID, source.AlignedEventID, aligned.Index, len(source.Extracted.Entries))
			}
			e := schema.EntryMaterializedPayload{
				Entry:            build(session, source.Extracted.Entries[aligned.Index], aligned),
				ExtractedEventID: source.ExtractedEventID, AlignedEventID: source.AlignedEventID,
			}
			at, seen := position[e.ID]
			switch {
			case !seen:
				position[e.ID] = len(out)
				out = append(out, e)
			case e.EvidenceAligned && !out[at].EvidenceAligned:
				out[at] = e
			}
		}
	}
	return out, nil
}

func build(session Session, x schema.ExtractedEntry, aligned schema.AlignedEntry) schema.Entry {
	e := schema.Entry{
		Type: x.Type, SessionID: session.SessionID, Scope: session.Scope,
		Title: x.Title, Content: x.Content, Category: x.Category, Confidence: x.Confidence, Task: x.Task,
		Stage: schema.StageRaw, Status: schema.StatusActive,
		EvidenceAligned: aligned.EvidenceAligned, Evidence: aligned.Evidence,
		OccurredAt: session.Date,
	}
	if e.EvidenceAligned {
		e.Stage = schema.StageWorking
	}
	for _, evidence := range aligned.Evidence {
		if at := session.At(evidence.MessageIndex); evidence.Aligned && !at.IsZero() {
			e.OccurredAt = at
			break
		}
	}
	e.CanonicalKey = CanonicalKey(e)
	e.ID = ID(session.SessionKey, e.Type, e.CanonicalKey)
	return e
}

// Events returns the entry_materialized events of the entries. An entry is immutable: its id alone
// is the dedupe key.
func Events(entries []schema.EntryMaterializedPayload, buildID string) ([]schema.Event, error) {
	out := make([]schema.Event, len(entries))
	for i, e := range entries {
		payload, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("encode entry %q: %w", e.ID, err)
		}
		out[i] = schema.Event{
			Type: schema.EntryMaterialized, TS: e.OccurredAt, Actor: "pipeline",
			SessionID: e.SessionID, Project: e.Project, BuildID: buildID,
			DedupeKey: "entry/" + e.ID, Payload: payload,
		}
	}
	return out, nil
}
