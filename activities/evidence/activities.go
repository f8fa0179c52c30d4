package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"axiommind/activities/border"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// Activities finds the quotes of extractions in their sources.
type Activities struct{ log *eventlog.Store }

// NewActivities returns the room's activities over the log.
func NewActivities(log *eventlog.Store) (*Activities, error) {
	if log == nil {
		return nil, errors.New("evidence activities: no event log")
	}
	return &Activities{log: log}, nil
}

// AlignInput names the session and the build.
type AlignInput struct {
	schema.SessionKey
	BuildID string    `json:"build_id"`
	At      time.Time `json:"at"`
}

// AlignResult counts what this build aligned.
type AlignResult struct {
	Entries int `json:"entries"`
	Aligned int `json:"aligned"`
}

// AlignSession finds the quotes of every extraction of the session that is not aligned yet.
func (a *Activities) AlignSession(ctx context.Context, in AlignInput) (AlignResult, error) {
	return border.Run(ctx, in, a.alignSession)
}

func (a *Activities) alignSession(ctx context.Context, in AlignInput) (AlignResult, error) {
	logged, err := transcript.ReadLogged(ctx, a.log, in.SessionKey)
	if err != nil {
		return AlignResult{}, err
	}
	open, err := a.unaligned(ctx, in.SessionKey)
	if err != nil {
		return AlignResult{}, err
	}
	var result AlignResult
	events := make([]schema.Event, 0, len(open))
	for _, extraction := range open {
		p := alignExtraction(logged, extraction)
		result.Entries += len(p.Entries)
		for _, e := range p.Entries {
			if e.EvidenceAligned {
				result.Aligned++
			}
		}
		payload, err := json.Marshal(p)
		if err != nil {
			return AlignResult{}, fmt.Errorf("encode alignment of %q: %w", extraction.eventID, err)
		}
		events = append(events, schema.Event{
			Type: schema.EvidenceAligned, TS: in.At, Actor: "pipeline", SessionID: in.SessionID, Project: in.Project,
			BuildID: in.BuildID, DedupeKey: "evidence_aligned/" + extraction.eventID, Payload: payload,
		})
	}
	if len(events) == 0 {
		return result, nil
	}
	_, err = a.log.AppendAll(ctx, in.Stream(), events)
	return result, err
}

type extraction struct {
	eventID string
	schema.MemoryExtractedPayload
}

// unaligned returns the extractions that no alignment follows, in order.
func (a *Activities) unaligned(ctx context.Context, session schema.SessionKey) ([]extraction, error) {
	var all []extraction
	aligned := map[string]bool{}
	options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted, schema.EvidenceAligned}}
	for event, err := range a.log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read extractions of session %q: %w", session.SessionID, err)
		}
		if event.Type == schema.EvidenceAligned {
			var p schema.EvidenceAlignedPayload
			err = json.Unmarshal(event.Payload, &p)
			aligned[p.ExtractedEventID] = true
		} else {
			x := extraction{eventID: event.ID}
			err = json.Unmarshal(event.Payload, &x.MemoryExtractedPayload)
			all = append(all, x)
		}
		if err != nil {
			return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
		}
	}
	open := all[:0]
	for _, x := range all {
		if !aligned[x.eventID] {
			open = append(open, x)
		}
	}
	return open, nil
}

func alignExtraction(logged *transcript.Logged, x extraction) schema.EvidenceAlignedPayload {
	window := llm.WindowMessages(logged.Messages, x.Window, x.Extractor.Tools)
	aligner := NewAligner(window, func(i int) string { return logged.EventIDs[i] })
	p := schema.EvidenceAlignedPayload{
		SessionID: logged.SessionID, ExtractedEventID: x.eventID, Entries: make([]schema.AlignedEntry, len(x.Entries)),
	}
	for i, e := range x.Entries {
		evidence, aligned := aligner.AlignEntry(e.Evidence)
		p.Entries[i] = schema.AlignedEntry{Index: i, EvidenceAligned: aligned, Evidence: evidence}
	}
	return p
}
