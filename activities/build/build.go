// Package build records each run over a session: what it was made with, what it did, how long every
// step took and, when it failed, where. A build that finds nothing to do records nothing.
package build

import (
	"context"
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// ID is the id of the session's build with the ordinal, counted from 1.
func ID(session schema.SessionKey, ordinal int) string {
	return schema.DerivedID("build", session.Stream(), fmt.Sprint(ordinal))
}

// Last is what the log says of a session's latest build.
type Last struct {
	// Started is zero when the session has no build.
	Started schema.BuildStartedPayload
	// Finished is nil while the build runs, or when it broke off.
	Finished *schema.BuildFinishedPayload
}

// Completed reports whether the latest build did all there was to do, with that extractor. A window
// without a whole answer is left to do: each build asks about those of the builds before it.
func (l Last) Completed(extractorID string) bool {
	return l.Finished != nil && l.Finished.Status.Completed() && l.Finished.Counts.Quarantined == 0 &&
		l.Finished.ExtractorID == extractorID
}

// NextOrdinal is that of the build to run now: a build that broke off is taken up again.
func (l Last) NextOrdinal() int {
	switch {
	case l.Started.Ordinal == 0:
		return 1
	case l.Finished == nil:
		return l.Started.Ordinal
	default:
		return l.Started.Ordinal + 1
	}
}

// ReadLast reads the session's latest build from the log.
func ReadLast(ctx context.Context, log *eventlog.Store, session schema.SessionKey) (Last, error) {
	var last Last
	options := eventlog.StreamOptions{Types: []string{schema.BuildStarted, schema.BuildFinished}}
	for event, err := range log.Stream(ctx, session.Stream(), options) {
		if err != nil {
			return Last{}, fmt.Errorf("read builds of session %q: %w", session.SessionID, err)
		}
		if event.Type == schema.BuildStarted {
			last = Last{}
			last.Started, err = schema.Decode[schema.BuildStartedPayload](event)
		} else {
			last.Finished, err = decodeFinished(event)
		}
		if err != nil {
			return Last{}, err
		}
	}
	return last, nil
}

func decodeFinished(event schema.Event) (*schema.BuildFinishedPayload, error) {
	p, err := schema.Decode[schema.BuildFinishedPayload](event)
	return &p, err
}
