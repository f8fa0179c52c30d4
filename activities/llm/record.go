package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"axiommind/activities/border"
	"axiommind/schema"
)

// AnsweredWindow is a window, the keys of the answers to it, the last of which counts, and why
// there is none, if so.
type AnsweredWindow struct {
	Window      schema.Window `json:"window"`
	Keys        []string      `json:"keys,omitempty"`
	Quarantined string        `json:"quarantined,omitempty"`
}

// RecordInput holds the windows of one plan, in its order.
type RecordInput struct {
	schema.SessionKey
	BuildID   string           `json:"build_id"`
	Extractor schema.Extractor `json:"extractor"`
	Windows   []AnsweredWindow `json:"windows"`
	At        time.Time        `json:"at"`
}

// RecordResult counts what was read.
type RecordResult struct {
	Entries     int `json:"entries"`
	Rejected    int `json:"rejected"`
	Quarantined int `json:"quarantined"`
	Truncated   int `json:"truncated"`
}

// RecordExtraction reads the stored answers and appends what they say, one event for each window.
func (a *Activities) RecordExtraction(ctx context.Context, in RecordInput) (RecordResult, error) {
	return border.Run(ctx, in, a.record)
}

func (a *Activities) record(ctx context.Context, in RecordInput) (RecordResult, error) {
	var result RecordResult
	events := make([]schema.Event, 0, len(in.Windows))
	for _, w := range in.Windows {
		p := schema.MemoryExtractedPayload{
			SessionID: in.SessionID, Window: w.Window, Extractor: in.Extractor, ResponseKeys: w.Keys,
			Entries: []schema.ExtractedEntry{}, Quarantined: w.Quarantined,
		}
		if w.Quarantined == "" {
			if err := a.readInto(ctx, &p); err != nil {
				return RecordResult{}, err
			}
		}
		result.Entries += len(p.Entries)
		result.Rejected += len(p.Rejected)
		if p.Quarantined != "" {
			result.Quarantined++
		}
		if p.Truncated {
			result.Truncated++
		}
		payload, err := json.Marshal(p)
		if err != nil {
			return RecordResult{}, fmt.Errorf("encode extraction of session %q: %w", in.SessionID, err)
		}
		events = append(events, schema.Event{
			Type: schema.MemoryExtracted, TS: in.At, Actor: in.Extractor.Provider + "/" + in.Extractor.Model,
			SessionID: in.SessionID, Project: in.Project, BuildID: in.BuildID, Payload: payload,
			DedupeKey: "memory_extracted/" + schema.HashParts(in.Stream(), in.Extractor.ID(), w.Window.Hash,
				fmt.Sprint(w.Window.First, w.Window.ByteStart)),
		})
	}
	if len(events) == 0 {
		return result, nil
	}
	_, err := a.log.AppendAll(ctx, in.Stream(), events)
	return result, err
}

// readInto reads the last answer. One that the reader cannot read any more is quarantined.
func (a *Activities) readInto(ctx context.Context, p *schema.MemoryExtractedPayload) error {
	if len(p.ResponseKeys) == 0 {
		return fmt.Errorf("record extraction of session %q: window %d to %d has no answer", p.SessionID, p.Window.First, p.Window.Last)
	}
	answer, err := a.stored(ctx, p.ResponseKeys[len(p.ResponseKeys)-1])
	if err != nil {
		return err
	}
	read, err := read(answer)
	if err != nil {
		p.Quarantined = err.Error()
		return nil //nolint:nilerr // the event says it
	}
	p.Rejected, p.Truncated = read.Rejected, read.Truncated
	p.Entries = append(p.Entries, read.Entries...)
	return nil
}
