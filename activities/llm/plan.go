package llm

import (
	"context"
	"fmt"
	"iter"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// maxPlanned is the maximum number of windows in a plan. It keeps the payload of their results small, even if each of
// them is quarantined with a long reason.
const maxPlanned = 32

// PlanInput names the session to extract from, the extractor and the build.
type PlanInput struct {
	schema.SessionKey
	BuildID   string           `json:"build_id"`
	Extractor schema.Extractor `json:"extractor"`
	// At is the time of what is recorded.
	At time.Time `json:"at"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// PlanResult holds the next windows to ask the model about, in order. More is true if others follow.
type PlanResult struct {
	Windows []schema.Window `json:"windows,omitempty"`
	More    bool            `json:"more"`
	// Recorded counts what the build has recorded so far, in this call, in earlier ones and in other attempts.
	Recorded RecordResult `json:"recorded"`
}

// PlanWindows returns the windows without a complete answer. First come those that earlier builds asked about in
// vain. Then comes the part of the session that the extractor has not seen, cut into windows. A build asks about each
// window only once.
//
// Nobody has to be asked if the model is [Local]: then PlanWindows extracts from the windows, records what it found and
// returns no windows.
func (a *Activities) PlanWindows(ctx context.Context, in PlanInput) (PlanResult, error) {
	return boundary.Run(eventlog.WithHead(ctx, in.Stream(), in.Head), in, a.plan)
}

func (a *Activities) plan(ctx context.Context, in PlanInput) (PlanResult, error) {
	if err := a.sameExtractor(in.Extractor); err != nil {
		return PlanResult{}, err
	}
	var seen ledger
	for x, err := range a.extractions(ctx, in.SessionKey, in.Extractor) {
		if err != nil {
			return PlanResult{}, err
		}
		seen.add(x, in.BuildID)
	}
	s, err := session.Open(ctx, a.log, in.SessionKey)
	if err != nil {
		return PlanResult{}, err
	}
	result := PlanResult{Recorded: seen.recorded}
	messages := s.From(ctx, seen.from.Message)
	result.Windows, result.More, err = seen.next(messages, in.BuildID, session.Cut{
		Tools: in.Extractor.Tools, Size: a.windowBytes, Limit: maxPlanned, Hash: WindowHash,
	})
	if err == nil {
		err = a.extractHere(ctx, in, s, &result)
	}
	result.Recorded.Head = a.log.Head(in.Stream())
	return result, err
}

// extraction is a memory_extracted event.
type extraction struct {
	schema.MemoryExtractedPayload
	buildID string
}

// extractions yields the extractor's extractions from the session, in order. It stops after an error.
func (a *Activities) extractions(ctx context.Context, key schema.SessionKey, by schema.Extractor) iter.Seq2[extraction, error] {
	return func(yield func(extraction, error) bool) {
		options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted}}
		for event, err := range a.log.Stream(ctx, key.Stream(), options) {
			if err != nil {
				yield(extraction{}, fmt.Errorf("read extractions of session %q: %w", key.SessionID, err))
				return
			}
			p, err := schema.Decode[schema.MemoryExtractedPayload](event)
			if err != nil {
				yield(extraction{}, err)
				return
			}
			x := extraction{p, event.BuildID}
			if x.Extractor == by && !yield(x, nil) {
				return
			}
		}
	}
}

// place identifies a window in its session. The hash alone does not: two parts of one message may have the same hash.
type place struct {
	hash             string
	first, byteStart int
}

func placeOf(w schema.Window) place { return place{w.Hash, w.First, w.ByteStart} }

// ledger records which windows of a session an extractor has asked about.
type ledger struct {
	from session.Frontier
	// places are in the order in which they were first asked about. last is the latest extraction of each, without
	// its entries.
	places   []place
	last     map[place]extraction
	recorded RecordResult
}

func (l *ledger) add(x extraction, buildID string) {
	l.from = l.from.Furthest(l.from.After(x.Window))
	if x.buildID == buildID {
		l.recorded.count(x.MemoryExtractedPayload)
	}
	at := placeOf(x.Window)
	if l.last == nil {
		l.last = map[place]extraction{}
	}
	if _, known := l.last[at]; !known {
		l.places = append(l.places, at)
	}
	// Once entries of a truncated answer were kept, they stay kept, whatever comes later.
	x.Window.Kept = l.last[at].Window.Kept || len(x.Entries) > 0
	x.Entries, x.Rejected = nil, nil
	l.last[at] = x
}

// again returns the windows to ask about again. Those that this build has already asked about wait for the next
// build.
func (l *ledger) again(buildID string) []schema.Window {
	var out []schema.Window
	for _, at := range l.places {
		if x := l.last[at]; !x.Answered() && x.buildID != buildID {
			x.Window.Asked++
			out = append(out, x.Window)
		}
	}
	return out
}

// next returns the first windows that the build should ask about. The messages are the session's, starting at the
// frontier or earlier.
func (l *ledger) next(
	messages iter.Seq2[schema.Message, error], buildID string, cut session.Cut,
) (windows []schema.Window, more bool, err error) {
	windows = l.again(buildID)
	if len(windows) > cut.Limit {
		return windows[:cut.Limit], true, nil
	}
	cut.Limit -= len(windows)
	fresh, more, err := session.Plan(messages, l.from, cut)
	return append(windows, fresh...), more, err
}

// kept returns, by the windows' places, the entries of earlier truncated answers. It reads the log once for all
// windows, and not at all if no entries were kept.
func (a *Activities) kept(
	ctx context.Context, key schema.SessionKey, by schema.Extractor, windows ...schema.Window,
) (map[place][]schema.ExtractedEntry, error) {
	asked := map[place]int{}
	for _, w := range windows {
		if w.Kept {
			asked[placeOf(w)] = w.Asked
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	out := make(map[place][]schema.ExtractedEntry, len(asked))
	for x, err := range a.extractions(ctx, key, by) {
		if err != nil {
			return nil, err
		}
		if at := placeOf(x.Window); x.Window.Asked < asked[at] {
			out[at] = append(out[at], x.Entries...)
		}
	}
	return out, nil
}
