package entry

import (
	"context"
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// ReadLogged returns those of the session's active entries in the log that keep takes, in order, with their evidence
// as the session's own stream has it by now.
func ReadLogged(ctx context.Context, log *eventlog.Store, session schema.SessionKey, keep func(schema.Entry) bool) ([]schema.Entry, error) {
	l := newLedger()
	options := eventlog.StreamOptions{Types: []string{schema.EntryMaterialized, schema.EntryEvidenceSet, schema.EntryStatusSet}}
	for event, err := range log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read entries of session %q: %w", session.SessionID, err)
		}
		if _, err := l.add(event); err != nil {
			return nil, err
		}
	}
	var entries []schema.Entry
	for _, h := range l.own() {
		if e := h.current(); e.Status == schema.StatusActive && keep(e) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}
