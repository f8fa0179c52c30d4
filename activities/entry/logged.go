package entry

import (
	"context"
	"encoding/json"
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// ReadLogged returns those of the session's entries in the log that keep takes, in order.
func ReadLogged(ctx context.Context, log *eventlog.Store, session schema.SessionKey, keep func(schema.Entry) bool) ([]schema.Entry, error) {
	var entries []schema.Entry
	options := eventlog.StreamOptions{Types: []string{schema.EntryMaterialized}}
	for event, err := range log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return nil, fmt.Errorf("read entries of session %q: %w", session.SessionID, err)
		}
		var e schema.Entry
		if err := json.Unmarshal(event.Payload, &e); err != nil {
			return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
		}
		if keep(e) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}
