package entry

import (
	"context"
	"fmt"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// StatedBy returns the extractor's statements of the session up to the event with the id. There is one entry for each,
// as it was judged then: the best of those that are the same, in order.
func StatedBy(ctx context.Context, log *eventlog.Store, key schema.SessionKey, by schema.Extractor, until string) ([]schema.Entry, error) {
	s := &sessionStream{ledger: newLedger(), done: done{gained: map[string]bool{}}}
	position := map[string]int{}
	options := eventlog.StreamOptions{Types: []string{schema.MemoryExtracted, schema.EvidenceAligned, schema.BuildFinished}}
	for event, err := range log.Stream(ctx, key.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read extractions of session %q: %w", key.SessionID, err)
		}
		if event.ID == until {
			break
		}
		if event.Type == schema.BuildFinished {
			continue
		}
		if err := s.add(event, position); err != nil {
			return nil, fmt.Errorf("read session %q: %w", key.SessionID, err)
		}
	}
	all, err := statements(Session{SessionKey: key, At: noTime}, s.sources)
	if err != nil {
		return nil, err
	}
	var own []statement
	for _, x := range all {
		if x.by == by {
			own = append(own, x)
		}
	}
	var out []schema.Entry
	for _, e := range best(own) {
		out = append(out, e.Entry)
	}
	return out, nil
}

// noTime is for readers that do not need the time of a statement.
func noTime(int) time.Time { return time.Time{} }
