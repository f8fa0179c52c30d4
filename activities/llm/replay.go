package llm

import (
	"context"
	"errors"
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// ReplayInput holds a build's recorded windows, in order. Their extractor counts.
type ReplayInput struct {
	RecordInput
	Recorded []schema.MemoryExtractedPayload
	// Statement is set if the session holds a person's direct statement.
	Statement *schema.Statement
}

// ReplayResult reports the results of a replay.
type ReplayResult struct {
	Entries  int
	Rejected int
	// Here is the identity of the extractor if the answers were computed here again, instead of read.
	Here string
	// Moved are the windows that show other messages today. They have today's hash.
	Moved []MovedWindow
}

// MovedWindow is a window as it was recorded, with the hash that it has today.
type MovedWindow struct {
	schema.Window
	Hash string
}

// Replay records a build's windows again in the log, with its recorded answers read by today's reader. No model is
// asked. Answers that were computed in a worker, and not recorded, are computed again. A window without a readable
// answer keeps its cause of failure.
func Replay(ctx context.Context, log *eventlog.Store, in ReplayInput) (ReplayResult, error) {
	a := &Activities{log: log, model: NewRules()}
	if in.Statement != nil {
		a = a.asPerson(*in.Statement)
	}
	s, err := session.Open(ctx, log, in.SessionKey)
	if err != nil {
		return ReplayResult{}, err
	}
	var result ReplayResult
	for _, page := range pagesOf(in.Recorded) {
		in.Windows, in.Extractor = nil, page[0].Extractor
		if in.Statement == nil {
			a.model = OfflineModel(in.Extractor.Model)
		}
		for _, p := range page {
			messages, err := s.Shown(ctx, p.Window, in.Extractor.Tools)
			if err != nil {
				return result, err
			}
			if hash := WindowHash(messages); hash != p.Window.Hash {
				result.Moved = append(result.Moved, MovedWindow{p.Window, hash})
			}
			w, err := a.recorded(ctx, p)
			if err != nil {
				return result, err
			}
			in.Windows = append(in.Windows, w)
		}
		var recorded RecordResult
		if here := a.model.Identity(); in.Extractor.Provider == here.Provider {
			result.Here = here.String()
			recorded, err = a.computeAgain(ctx, in, s)
		} else {
			recorded, err = Record(ctx, a, in.RecordInput)
		}
		if err != nil {
			return result, err
		}
		result.Entries += recorded.Entries
		result.Rejected += recorded.Rejected
	}
	return result, nil
}

// pagesOf divides extractions into pages of one extractor. A window with kept entries begins a page: these entries are
// read from the log.
func pagesOf(all []schema.MemoryExtractedPayload) (pages [][]schema.MemoryExtractedPayload) {
	from := 0
	for i := range all {
		if i > from && (all[i].Window.Kept || i-from == maxPlanned || all[i].Extractor != all[from].Extractor) {
			pages, from = append(pages, all[from:i]), i
		}
	}
	if from < len(all) {
		pages = append(pages, all[from:])
	}
	return pages
}

// recorded returns the window with the recorded answers. The reason for which a window has none counts unless its last
// answer can be read today.
func (a *Activities) recorded(ctx context.Context, p schema.MemoryExtractedPayload) (AnsweredWindow, error) {
	w := AnsweredWindow{
		Window: p.Window, Keys: p.ResponseKeys, Quarantined: p.Quarantined, QuarantinedType: p.QuarantinedType, Usage: p.Usage,
	}
	for i, key := range w.Keys {
		answer, err := a.stored(ctx, key)
		if errors.Is(err, eventlog.ErrNotFound) {
			return w, fmt.Errorf("read the answer for messages %d to %d: the log holds none with the recorded key %q: %w",
				p.Window.First, p.Window.Last, key, err)
		}
		if err != nil {
			return w, err
		}
		if _, err := read(answer); err == nil && i == len(w.Keys)-1 {
			w.Quarantined, w.QuarantinedType = "", ""
		}
	}
	return w, nil
}

// computeAgain runs the local model on the windows and records its results.
func (a *Activities) computeAgain(ctx context.Context, in ReplayInput, s *session.Session) (RecordResult, error) {
	var result RecordResult
	events := make([]schema.Event, 0, len(in.Windows))
	for _, w := range in.Windows {
		p, err := a.readHere(ctx, s, ExtractInput{SessionKey: in.SessionKey, Extractor: in.Extractor, Window: w.Window})
		if err != nil {
			return result, err
		}
		event, err := in.event(p)
		if err != nil {
			return result, err
		}
		result.add(p)
		events = append(events, event)
	}
	_, err := a.log.AppendAll(ctx, in.Stream(), events)
	return result, err
}
