package evidence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/boundary"
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
	Proven  int `json:"proven"`
}

// AlignSession finds the quotes of every extraction of the session that is not aligned yet.
func (a *Activities) AlignSession(ctx context.Context, in AlignInput) (AlignResult, error) {
	return boundary.Run(ctx, in, a.alignSession)
}

func (a *Activities) alignSession(ctx context.Context, in AlignInput) (AlignResult, error) {
	all, err := a.extractions(ctx, in.SessionKey)
	if err != nil {
		return AlignResult{}, err
	}
	open := all[:0]
	for _, x := range all {
		if len(x.judgements) == 0 {
			open = append(open, x)
		}
	}
	if len(open) == 0 {
		return AlignResult{}, nil
	}
	judged, err := a.judge(ctx, in, open)
	if err != nil {
		return AlignResult{}, err
	}
	var result AlignResult
	for _, p := range judged {
		result.Entries += len(p.Entries)
		for _, e := range p.Entries {
			if e.EvidenceAligned {
				result.Aligned++
			}
			if e.EvidenceProven {
				result.Proven++
			}
		}
	}
	return result, nil
}

// RealignInput names the session and the time of the act.
type RealignInput struct {
	schema.SessionKey
	At time.Time `json:"at"`
}

// RealignResult counts what this act judged anew.
type RealignResult struct {
	// Pieces are the quotes judged anew, Proven those that are proven since, Unproven those that are not any
	// more.
	Pieces   int `json:"pieces"`
	Proven   int `json:"proven"`
	Unproven int `json:"unproven"`
	// Extractions are those that were ever judged anew, by this act or one before it, and BuildID is that of the
	// last of them. Without any, no entry of the session has to be looked at again.
	Extractions int    `json:"extractions"`
	BuildID     string `json:"build_id"`
}

// RealignSession judges anew, by today's rule, every extraction of the session that only older rules have
// judged. What they said stays in the log.
func (a *Activities) RealignSession(ctx context.Context, in RealignInput) (RealignResult, error) {
	return boundary.Run(ctx, in, a.realignSession)
}

func (a *Activities) realignSession(ctx context.Context, in RealignInput) (RealignResult, error) {
	in.At = in.At.Truncate(time.Microsecond)
	all, err := a.extractions(ctx, in.SessionKey)
	if err != nil {
		return RealignResult{}, err
	}
	var older []*extraction
	for _, x := range all {
		if x.outdated() {
			older = append(older, x)
		}
	}
	if len(older) > 0 {
		judged, err := a.judge(ctx, AlignInput{SessionKey: in.SessionKey, At: in.At}, older)
		if err != nil {
			return RealignResult{}, err
		}
		for i, p := range judged {
			older[i].judgements = append(older[i].judgements, judgement{at: in.At, EvidenceAlignedPayload: p})
		}
	}
	var result RealignResult
	for _, x := range all {
		n := len(x.judgements)
		if n < 2 {
			continue
		}
		result.Extractions++
		result.BuildID = x.buildID
		// An attempt that broke off may have stored it: it is of this act all the same.
		if last := x.judgements[n-1]; last.at.Equal(in.At) {
			result.compare(x.judgements[n-2].Entries, last.Entries)
		}
	}
	return result, nil
}

// compare counts how the pieces of an extraction are judged now, and were before.
func (r *RealignResult) compare(before, now []schema.AlignedEntry) {
	for i, e := range now {
		r.Pieces += len(e.Evidence)
		for n := range e.Evidence {
			was := i < len(before) && n < len(before[i].Evidence) && before[i].Evidence[n].Proven
			switch is := e.Evidence[n].Proven; {
			case is && !was:
				r.Proven++
			case was && !is:
				r.Unproven++
			}
		}
	}
}

// judge aligns the extractions by today's rule and appends what comes of it, which it returns in their order.
// Without a build it is the work of those that extracted.
func (a *Activities) judge(ctx context.Context, in AlignInput, extractions []*extraction) ([]schema.EvidenceAlignedPayload, error) {
	logged, err := transcript.ReadLogged(ctx, a.log, in.SessionKey)
	if err != nil {
		return nil, err
	}
	judged := make([]schema.EvidenceAlignedPayload, len(extractions))
	events := make([]schema.Event, len(extractions))
	for i, x := range extractions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		judged[i] = x.align(logged)
		payload, err := json.Marshal(judged[i])
		if err != nil {
			return nil, fmt.Errorf("encode alignment of %q: %w", x.eventID, err)
		}
		events[i] = schema.Event{
			Type: schema.EvidenceAligned, TS: in.At, Actor: "pipeline", SessionID: in.SessionID, Project: in.Project,
			BuildID: cmp.Or(in.BuildID, x.buildID), DedupeKey: fmt.Sprintf("evidence_aligned/%s/rule/%d", x.eventID, Rule), Payload: payload,
		}
	}
	_, err = a.log.AppendAll(ctx, in.Stream(), events)
	return judged, err
}

// extraction is a memory_extracted event and what was judged of its quotes, in order.
type extraction struct {
	eventID, buildID string
	schema.MemoryExtractedPayload
	judgements []judgement
}

type judgement struct {
	at time.Time
	schema.EvidenceAlignedPayload
}

// outdated reports whether nothing but older rules has judged the extraction.
func (x *extraction) outdated() bool {
	return len(x.judgements) > 0 && !slices.ContainsFunc(x.judgements, func(j judgement) bool { return j.Rule >= Rule })
}

// extractions returns those of the session, in order.
func (a *Activities) extractions(ctx context.Context, session schema.SessionKey) ([]*extraction, error) {
	var all []*extraction
	byID := map[string]*extraction{}
	options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted, schema.EvidenceAligned}}
	for event, err := range a.log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read extractions of session %q: %w", session.SessionID, err)
		}
		if event.Type == schema.EvidenceAligned {
			j := judgement{at: event.TS}
			err = json.Unmarshal(event.Payload, &j.EvidenceAlignedPayload)
			if x := byID[j.ExtractedEventID]; x != nil {
				x.judgements = append(x.judgements, j)
			}
		} else {
			x := &extraction{eventID: event.ID, buildID: event.BuildID}
			err = json.Unmarshal(event.Payload, &x.MemoryExtractedPayload)
			all, byID[event.ID] = append(all, x), x
		}
		if err != nil {
			return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
		}
	}
	return all, nil
}

// align finds the extraction's quotes in its window.
func (x *extraction) align(logged *transcript.Logged) schema.EvidenceAlignedPayload {
	window := llm.WindowMessages(logged.Messages, x.Window, x.Extractor.Tools)
	aligner := NewAligner(window, func(i int) string { return logged.EventIDs[i] })
	p := schema.EvidenceAlignedPayload{
		SessionID: logged.SessionID, ExtractedEventID: x.eventID, Rule: Rule, Entries: make([]schema.AlignedEntry, len(x.Entries)),
	}
	for i, e := range x.Entries {
		evidence, aligned := aligner.AlignEntry(e.Evidence)
		p.Entries[i] = schema.AlignedEntry{Index: i, EvidenceAligned: aligned, EvidenceProven: Proven(evidence), Evidence: evidence}
	}
	return p
}
