package llm

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// maxPlanned is the maximum number of windows in a plan. It keeps the payload of their results small, even if each of
// them is quarantined with a long reason.
const maxPlanned = 32

// smallWindow is the size in bytes up to which a window is not halved.
const smallWindow = 1 << 10

// PlanInput names the session to extract from, the extractor and the build.
type PlanInput struct {
	schema.SessionKey
	BuildID   string           `json:"build_id"`
	Extractor schema.Extractor `json:"extractor"`
	// AskGivenUp asks once more about the windows that earlier builds have given up.
	AskGivenUp bool `json:"ask_given_up,omitempty"`
	// Statement is set if the session holds a person's direct statement. Then the person takes the model's place.
	Statement *schema.Statement `json:"statement,omitempty"`
	// At is the time of the recorded events.
	At time.Time `json:"at"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// PlanResult holds the next windows to ask the model about, in order. More is true if others follow.
type PlanResult struct {
	Windows []schema.Window `json:"windows,omitempty"`
	More    bool            `json:"more"`
	// Recorded counts the build's records so far, in this call, in earlier ones and in other attempts.
	Recorded RecordResult `json:"recorded"`
}

// Plan returns the windows without a complete answer. First come the open ones among those that were asked about
// before: see [ledger.decide]. Then comes the part of the session that the extractor has not seen, cut into windows.
//
// If the model is [Local], no question is needed: Plan extracts from the windows, records the results and returns no windows.
func Plan(ctx context.Context, a *Activities, in PlanInput) (PlanResult, error) {
	return a.plan(eventlog.WithHead(ctx, in.Stream(), in.Head), in)
}

func (a *Activities) plan(ctx context.Context, in PlanInput) (PlanResult, error) {
	if in.Statement != nil {
		a = a.asPerson(*in.Statement)
	}
	if err := a.sameExtractor(in.Extractor); err != nil {
		return PlanResult{}, err
	}
	seen := newLedger(in.BuildID)
	seen.askGivenUp = in.AskGivenUp
	for x, err := range a.extractions(ctx, in.SessionKey, in.Extractor) {
		if err != nil {
			return PlanResult{}, err
		}
		seen.add(x)
	}
	s, err := session.Open(ctx, a.log, in.SessionKey)
	if err != nil {
		return PlanResult{}, err
	}
	cut := session.Cut{
		Tools: in.Extractor.Tools, Stated: in.Statement != nil, Size: a.windowBytes, Limit: maxPlanned, Small: smallWindow, Hash: WindowHash,
	}
	var result PlanResult
	open, err := seen.open(func(w schema.Window) (left, right schema.Window, ok bool, err error) {
		messages, err := s.Range(ctx, w.First, w.Last+1)
		if err == nil {
			left, right, ok = cut.Halve(messages, w)
		}
		return left, right, ok, err
	})
	if err != nil {
		return PlanResult{}, err
	}
	result.Recorded = seen.recorded
	result.Windows, result.More, err = seen.next(open, s.From(ctx, seen.from.Message), cut)
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
		for x, err := range extractions(ctx, a.log, key) {
			if (err != nil || x.Extractor == by) && !yield(x, err) {
				return
			}
		}
	}
}

// extractions yields all extractions from the session, in order. It stops after an error.
func extractions(ctx context.Context, log *eventlog.Store, key schema.SessionKey) iter.Seq2[extraction, error] {
	return func(yield func(extraction, error) bool) {
		options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted}}
		for event, err := range log.Stream(ctx, key.Stream(), options) {
			if err != nil {
				yield(extraction{}, fmt.Errorf("read extractions of session %q: %w", key.SessionID, err))
				return
			}
			p, err := schema.Decode[schema.MemoryExtractedPayload](event)
			if err != nil {
				yield(extraction{}, err)
				return
			}
			if !yield(extraction{p, event.BuildID}, nil) {
				return
			}
		}
	}
}

// kept returns, by the windows' places, the entries of earlier truncated answers to them and to those that they are
// halves of. It reads the log once for all windows, and not at all if no entries were kept.
func (a *Activities) kept(
	ctx context.Context, key schema.SessionKey, by schema.Extractor, windows ...schema.Window,
) (map[windowKey][]schema.ExtractedEntry, error) {
	windows = slices.DeleteFunc(slices.Clone(windows), func(w schema.Window) bool { return !w.Kept })
	if len(windows) == 0 {
		return nil, nil
	}
	out := make(map[windowKey][]schema.ExtractedEntry, len(windows))
	for x, err := range a.extractions(ctx, key, by) {
		if err != nil {
			return nil, err
		}
		for _, w := range windows {
			at := windowKeyOf(w)
			switch {
			case len(x.Entries) == 0:
			case windowKeyOf(x.Window) != at:
				out[at] = append(out[at], within(w, x)...)
			case x.Window.Asked < w.Asked:
				out[at] = append(out[at], x.Entries...)
			}
		}
	}
	return out, nil
}

// within returns the entries of an extraction that an answer about a part of its window may repeat, with the quotes that
// it may have.
func within(w schema.Window, x extraction) []schema.ExtractedEntry {
	if !x.Window.Contains(w) {
		return nil
	}
	var out []schema.ExtractedEntry
	for _, e := range x.Entries {
		e.Evidence = slices.DeleteFunc(slices.Clone(e.Evidence), func(q schema.Quote) bool {
			return q.MessageIndex < w.First || q.MessageIndex > w.Last
		})
		if len(e.Evidence) > 0 {
			out = append(out, e)
		}
	}
	return out
}
