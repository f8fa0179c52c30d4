// Package build records every run over a session: the software it used, its results, the duration of each step and,
// if it failed, the failed step. A build that finds nothing to do is not recorded.
package build

import (
	"context"
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// ID returns the id of the session's build with the ordinal, counted from 1.
func ID(session schema.SessionKey, ordinal int) string {
	return schema.DerivedID("build", session.Stream(), fmt.Sprint(ordinal))
}

// Last is the latest build of a session, as recorded in the log.
type Last struct {
	// Started is zero if the session has no build.
	Started schema.BuildStartedPayload
	// Finished is nil if the build is still running or was interrupted.
	Finished *schema.BuildFinishedPayload
	// Before is the build before an interrupted one, if there is one. Its own Before is nil.
	Before *Last
}

// Completed reports whether the latest build finished all the work with this extractor. A window without a complete
// answer is unfinished work, unless it was given up: each build asks again about those of earlier builds.
func (l Last) Completed(extractorID string) bool {
	return l.Finished != nil && l.Finished.Status.Completed() &&
		l.Finished.Counts.Quarantined == l.Finished.Counts.GivenUp && l.Finished.ExtractorID == extractorID
}

// NextOrdinal returns the ordinal of the build to run now. An interrupted build is resumed and keeps its ordinal.
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
			before := Last{Started: last.Started, Finished: last.Finished}
			last = Last{}
			if before.Finished != nil {
				last.Before = &before
			}
			last.Started, err = schema.Decode[schema.BuildStartedPayload](event)
		} else {
			last.Before = nil
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
