package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/transcript"
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
	logged, err := transcript.ReadLogged(ctx, a.log, in.SessionKey)
	if err != nil {
		return PlanResult{}, err
	}
	var seen ledger
	for x, err := range a.extractions(ctx, in.SessionKey, in.Extractor) {
		if err != nil {
			return PlanResult{}, err
		}
		seen.add(x, in.BuildID)
	}
	result := PlanResult{Recorded: seen.recorded}
	result.Windows, result.More = seen.next(logged.Messages, in, a.windowBytes, maxPlanned)
	return result, nil
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
			x := extraction{buildID: event.BuildID}
			if err := json.Unmarshal(event.Payload, &x.MemoryExtractedPayload); err != nil {
				yield(extraction{}, fmt.Errorf("decode event %q: %w", event.ID, err))
				return
			}
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
	from frontier
	// places are in the order in which they were first asked about; last is the latest extraction of each,
	// without its entries.
	places   []place
	last     map[place]extraction
	recorded RecordResult
}

func (l *ledger) add(x extraction, buildID string) {
	l.from = l.from.furthest(l.from.after(x.Window))
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

// next returns the first windows that the build is to ask about, at most limit.
func (l *ledger) next(messages []schema.Message, in PlanInput, size, limit int) (windows []schema.Window, more bool) {
	windows = l.again(in.BuildID)
	if len(windows) > limit {
		return windows[:limit], true
	}
	fresh, more := planWindows(messages, l.from, in.Extractor.Tools, size, limit-len(windows))
	return append(windows, fresh...), more
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
