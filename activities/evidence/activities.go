package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
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
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// AlignResult counts the entries of the extractions that this build aligned.
type AlignResult struct {
	Entries int `json:"entries"`
	Aligned int `json:"aligned"`
	Proven  int `json:"proven"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// AlignSession finds the quotes of every extraction of the session that is not aligned yet.
func AlignSession(ctx context.Context, log *eventlog.Store, in AlignInput) (AlignResult, error) {
	a := &Activities{log}
	result, err := a.alignSession(eventlog.WithHead(ctx, in.Stream(), in.Head), in)
	result.Head = log.Head(in.Stream())
	return result, err
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
	var result AlignResult
	err = a.judge(ctx, in, open, func(_ *extraction, p schema.EvidenceAlignedPayload) {
		result.Entries += len(p.Entries)
		for _, e := range p.Entries {
			if e.EvidenceAligned {
				result.Aligned++
			}
			if e.EvidenceProven {
				result.Proven++
			}
		}
	})
	if err != nil {
		return AlignResult{}, err
	}
	return result, nil
}

// RealignInput names the session and the time of the act.
type RealignInput struct {
	schema.SessionKey
	At time.Time `json:"at"`
}

// RealignResult counts the quotes that this act judged again.
type RealignResult struct {
	// Pieces are the quotes that were judged again, Proven those that are newly proven, Unproven those that no longer are.
	Pieces   int `json:"pieces"`
	Proven   int `json:"proven"`
	Unproven int `json:"unproven"`
	// Extractions are those that were ever judged again, by this act or an earlier one, and BuildID is that of the last of
	// them. Without any, no entry of the session has to be checked again.
	Extractions int    `json:"extractions"`
	BuildID     string `json:"build_id"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// RealignSession judges again, by the current rule, every extraction of the session that only older rules have judged.
// The old judgements stay in the log.
func (a *Activities) RealignSession(ctx context.Context, in RealignInput) (RealignResult, error) {
	return boundary.Run(ctx, in, func(ctx context.Context, in RealignInput) (RealignResult, error) {
		ctx, err := a.log.AsWriter(ctx, in.Stream(), schema.StreamHead{})
		if err != nil {
			return RealignResult{}, err
		}
		result, err := a.realignSession(ctx, in)
		result.Head = a.log.Head(in.Stream())
		return result, err
	})
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
		err := a.judge(ctx, AlignInput{SessionKey: in.SessionKey, At: in.At}, older, func(x *extraction, p schema.EvidenceAlignedPayload) {
			x.judgements = append(x.judgements, judgement{at: in.At, EvidenceAlignedPayload: p})
		})
		if err != nil {
			return RealignResult{}, err
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
		// An interrupted attempt may have stored it: it belongs to this act all the same.
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

// maxJudged is the number of extractions that are aligned before the results are appended. It bounds the memory for a
// long session.
const maxJudged = 64

// judge aligns the extractions by the current rule, appends the results, and calls each with them, in order. Without a
// build, the events name the builds that extracted.
func (a *Activities) judge(
	ctx context.Context, in AlignInput, extractions []*extraction, each func(*extraction, schema.EvidenceAlignedPayload),
) error {
	s, err := session.Open(ctx, a.log, in.SessionKey)
	if err != nil {
		return err
	}
	aligner := &Aligner{}
	for part := range slices.Chunk(extractions, maxJudged) {
		judged, err := align(ctx, s, aligner, part)
		if err != nil {
			return err
		}
		events := make([]schema.Event, len(part))
		for i, x := range part {
			events[i], err = schema.NewEvent(judged[i], schema.Event{
				TS: in.At, Actor: "pipeline", SessionID: in.SessionID, Project: in.Project,
				BuildID: cmp.Or(in.BuildID, x.buildID), DedupeKey: schema.EvidenceAlignedKey(x.eventID, Rule),
			})
			if err != nil {
				return err
			}
		}
		if _, err := a.log.AppendAll(ctx, in.Stream(), events); err != nil {
			return err
		}
		for i, x := range part {
			each(x, judged[i])
		}
	}
	return nil
}

// align finds the quotes of the extractions, each in its window, and returns the results in their order. It goes
// through the windows in the order of the session, so that each of its messages is read once.
func align(ctx context.Context, s *session.Session, aligner *Aligner, extractions []*extraction) ([]schema.EvidenceAlignedPayload, error) {
	order := make([]int, len(extractions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(extractions[i].Window.First, extractions[j].Window.First)
	})
	judged := make([]schema.EvidenceAlignedPayload, len(extractions))
	for _, i := range order {
		x := extractions[i]
		window, err := s.Whole(ctx, x.Window, x.Extractor.Tools)
		if err != nil {
			return nil, err
		}
		aligner.next(window, s.EventID)
		judged[i] = x.align(aligner)
		judged[i].SessionID = s.SessionID
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return judged, nil
}

// extraction is a memory_extracted event with the judgements of its quotes, in order.
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

// extractions returns the extractions of the session, in order.
func (a *Activities) extractions(ctx context.Context, session schema.SessionKey) ([]*extraction, error) {
	var all []*extraction
	byID := map[string]*extraction{}
	options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted, schema.EvidenceAligned}}
	for event, err := range a.log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read extractions of session %q: %w", session.SessionID, err)
		}
		if event.Type == schema.EvidenceAligned {
			p, err := schema.Decode[schema.EvidenceAlignedPayload](event)
			if err != nil {
				return nil, err
			}
			if x := byID[p.ExtractedEventID]; x != nil {
				x.judgements = append(x.judgements, judgement{event.TS, p})
			}
			continue
		}
		p, err := schema.Decode[schema.MemoryExtractedPayload](event)
		if err != nil {
			return nil, err
		}
		x := &extraction{eventID: event.ID, buildID: event.BuildID, MemoryExtractedPayload: p}
		all, byID[event.ID] = append(all, x), x
	}
	return all, nil
}

// align finds the extraction's quotes in its window.
func (x *extraction) align(window *Aligner) schema.EvidenceAlignedPayload {
	p := schema.EvidenceAlignedPayload{ExtractedEventID: x.eventID, Rule: Rule, Entries: make([]schema.AlignedEntry, len(x.Entries))}
	for i, e := range x.Entries {
		evidence, aligned := window.AlignEntry(e.Evidence)
		p.Entries[i] = schema.AlignedEntry{Index: i, EvidenceAligned: aligned, EvidenceProven: Proven(evidence), Evidence: evidence}
	}
	return p
}
