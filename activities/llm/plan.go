package llm

import (
	"context"
	"fmt"
	"iter"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// maxPlanned is how many windows one plan holds, so that what became of them stays a small payload although
// each of them may be quarantined with a long reason.
const maxPlanned = 32

// PlanInput says what to extract, with what, and for which build.
type PlanInput struct {
	schema.SessionKey
	BuildID   string           `json:"build_id"`
	Extractor schema.Extractor `json:"extractor"`
}

// PlanResult holds the next windows to extract, in order; More is true when others follow them.
type PlanResult struct {
	Windows []schema.Window `json:"windows"`
	More    bool            `json:"more"`
	// Recorded is what the build has recorded so far. A build that is taken up again goes on from it.
	Recorded RecordResult `json:"recorded"`
}

// PlanWindows returns the windows that have no whole answer yet: those that builds before this one asked
// about in vain, and then what of the session the extractor has not seen, cut into windows. A build asks
// about each window once.
func (a *Activities) PlanWindows(ctx context.Context, in PlanInput) (PlanResult, error) {
	return boundary.Run(ctx, in, a.plan)
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
	return result, err
}

// extraction is a memory_extracted event.
type extraction struct {
	schema.MemoryExtractedPayload
	buildID string
}

// extractions gives what the extractor made of the session, in order. An error is the last thing given.
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

// place identifies a window in its session. Two pieces of one message may have the same hash.
type place struct {
	hash             string
	first, byteStart int
}

func placeOf(w schema.Window) place { return place{w.Hash, w.First, w.ByteStart} }

// ledger is how far an extractor has come in a session.
type ledger struct {
	from session.Frontier
	// places are in the order in which they were first asked about; last is the latest extraction of each,
	// without its entries.
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
	// Of what broke off something may be kept, and stays kept whatever comes after it.
	x.Window.Kept = l.last[at].Window.Kept || len(x.Entries) > 0
	x.Entries, x.Rejected = nil, nil
	l.last[at] = x
}

// again returns the windows to ask about once more. Those that the build itself asked about wait for
// the next one.
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

// next returns the first windows that the build is to ask about. The messages are the session's from the
// frontier on, or before it.
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

// kept returns the entries of the answers that broke off before the windows were asked about this time, by
// the windows' places. It reads the log once for all of them, and not at all where nothing was kept.
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
