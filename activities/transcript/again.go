package transcript

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
)

// reading is the input of a build.
type reading struct {
	// session holds no messages if all of them are in the log.
	session *Session
	source  schema.Source
	// unread says why the source could not be read again.
	unread string
	// queued are the positions of the contexts that were read, of those that the input names.
	queued []uint64
	// unseen are the messages that the session does not hold. They count only if laid is true.
	unseen []schema.Message
	merged bool
}

// reading reads the source of the input. On a retry, the log replaces a source that cannot be read again, provided that
// it holds all of it: inline messages are nowhere else, and a file may be gone.
func (a *Activities) reading(ctx context.Context, in schema.ProcessSessionInput, build schema.OpenedBuild, logged *session.Session) (reading, error) {
	switch {
	case in.FromLog:
		return reading{session: &Session{}, source: logSource(logged)}, nil
	case len(in.Queued) > 0:
		return a.queued(ctx, in, build, logged)
	case in.Retry == "":
		s, source, err := a.readSession(ctx, in, build.Refused)
		return reading{session: s, source: source}, err
	}
	last, err := a.lastStarted(ctx, in.Key())
	if err != nil {
		return reading{}, err
	}
	whole := last.Source.SHA256 != "" && logged.Len() >= last.Messages
	held := reading{session: &Session{}, source: last.Source}
	if in.URI == "" && whole {
		return held, nil
	}
	if in.URI == "" {
		if in.Messages = last.Input.Messages; in.Messages == nil {
			return reading{}, boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf(
				"the messages of session %q are not in the log: process it again with its messages", in.SessionID))
		}
	}
	s, source, err := a.readSession(ctx, in, "")
	var known boundary.Failure
	if whole && errors.As(err, &known) && !known.Retryable() {
		held.unread = err.Error()
		return held, nil
	}
	return reading{session: s, source: source}, err
}

// logSource describes the messages that the log holds. There is at least one.
func logSource(s *session.Session) schema.Source {
	return schema.Source{Format: schema.FormatLog, SHA256: schema.HashParts(s.EventID(s.Len()-1), strconv.Itoa(s.Len()))}
}

// lastStarted returns the start of the session's latest build.
func (a *Activities) lastStarted(ctx context.Context, key schema.SessionKey) (last schema.BuildStartedPayload, err error) {
	options := eventlog.StreamOptions{Types: []string{schema.BuildStarted}}
	for event, err := range a.log.Stream(ctx, key.Stream(), options) {
		if err == nil {
			last, err = schema.Decode[schema.BuildStartedPayload](event)
		}
		if err != nil {
			return last, fmt.Errorf("read builds of session %q: %w", key.SessionID, err)
		}
	}
	return last, nil
}
