package entry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"axiommind/activities/border"
	"axiommind/activities/eventlog"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// Activities materializes entries.
type Activities struct{ log *eventlog.Store }

// NewActivities returns the room's activities over the log.
func NewActivities(log *eventlog.Store) (*Activities, error) {
	if log == nil {
		return nil, errors.New("entry activities: no event log")
	}
	return &Activities{log: log}, nil
}

// MaterializeInput names the session and the build.
type MaterializeInput struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
}

// MaterializeResult counts the session's entries.
type MaterializeResult struct {
	Entries int `json:"entries"`
	// New are those this build added, Aligned those of all whose evidence is aligned.
	New     int `json:"new"`
	Aligned int `json:"aligned"`
}

// MaterializeEntries appends the entries of every aligned extraction of the session that the log does not
// hold yet.
func (a *Activities) MaterializeEntries(ctx context.Context, in MaterializeInput) (MaterializeResult, error) {
	return border.Run(ctx, in, a.materialize)
}

func (a *Activities) materialize(ctx context.Context, in MaterializeInput) (MaterializeResult, error) {
	logged, err := transcript.ReadLogged(ctx, a.log, in.SessionKey)
	if err != nil {
		return MaterializeResult{}, err
	}
	sources, err := a.readSources(ctx, in.SessionKey)
	if err != nil {
		return MaterializeResult{}, err
	}
	entries, err := Materialize(Session{
		SessionKey: in.SessionKey, Date: logged.Date,
		At: func(i int) time.Time {
			if i < 0 || i >= len(logged.Messages) {
				return time.Time{}
			}
			return logged.Messages[i].At
		},
	}, sources)
	if err != nil || len(entries) == 0 {
		return MaterializeResult{}, err
	}
	events, err := Events(entries, in.BuildID)
	if err != nil {
		return MaterializeResult{}, err
	}
	appended, err := a.log.AppendAll(ctx, in.Stream(), events)
	if err != nil {
		return MaterializeResult{}, err
	}
	result := MaterializeResult{Entries: len(entries)}
	for i, e := range entries {
		if e.EvidenceAligned {
			result.Aligned++
		}
		// An attempt that broke off may have stored it: it is this build's all the same.
		if appended.Events[i].BuildID == in.BuildID {
			result.New++
		}
	}
	return result, nil
}

// readSources pairs each extraction of the session with its alignment, in the order of extraction.
func (a *Activities) readSources(ctx context.Context, session schema.SessionKey) ([]Source, error) {
	var sources []Source
	position := map[string]int{}
	options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted, schema.EvidenceAligned}}
	for event, err := range a.log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read extractions of session %q: %w", session.SessionID, err)
		}
		if event.Type == schema.MemoryExtracted {
			s := Source{ExtractedEventID: event.ID}
			if err := json.Unmarshal(event.Payload, &s.Extracted); err != nil {
				return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
			}
			position[event.ID] = len(sources)
			sources = append(sources, s)
			continue
		}
		var p schema.EvidenceAlignedPayload
		if err := json.Unmarshal(event.Payload, &p); err != nil {
			return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
		}
		at, ok := position[p.ExtractedEventID]
		if !ok {
			return nil, fmt.Errorf("read session %q: event %q aligns %q, which does not come before it",
				session.SessionID, event.ID, p.ExtractedEventID)
		}
		sources[at].AlignedEventID, sources[at].Aligned = event.ID, p
	}
	return sources, nil
}
