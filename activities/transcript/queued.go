package transcript

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"axiommind/activities/eventlog"
	"axiommind/activities/queue"
	"axiommind/activities/session"
	"axiommind/schema"
)

// maxQueuedBytes bounds the texts that one build takes from a queue. They are stored all at once or not at all. The rest is
// for the next build.
const maxQueuedBytes = 2 << 20

// queued reads contexts of the session's queue: messages, or the transcript that they name. It takes the input's first
// contexts of one kind.
//
// The start of a build names the contexts that it took, and is stored together with the messages. So no context of
// messages is added to the session twice, even if the session has changed since. A transcript is read again, which
// changes nothing.
func (a *Activities) queued(ctx context.Context, in schema.ProcessSessionInput, build schema.OpenedBuild, logged *session.Session) (reading, error) {
	last, own, err := a.lastQueued(ctx, logged, build.BuildID)
	if err != nil {
		return reading{}, err
	}
	if own != nil { // An attempt of this build has begun to store these contexts.
		in.Queued = own
	}
	r := reading{session: &Session{Format: schema.FormatQueue}, source: schema.Source{Format: schema.FormatQueue}, queued: in.Queued}
	contexts, err := queue.Contexts(ctx, a.log, in.Key(), in.Queued)
	if err != nil {
		return reading{}, err
	}
	if contexts = slices.DeleteFunc(contexts, func(c queue.Context) bool { return c.URI == "" && c.Position <= last }); len(contexts) == 0 {
		r.source.SHA256 = positionsHash(in.Queued)
		return r, nil
	}
	taken := firstOfAKind(contexts)
	end := contexts[taken-1].Position
	r.queued = slices.DeleteFunc(slices.Clone(in.Queued), func(p uint64) bool { return p > end })
	if taken == len(contexts) {
		r.queued = in.Queued
	}
	if c := contexts[taken-1]; c.URI != "" {
		in.Queued, in.URI, in.Grant, in.Format = nil, c.URI, c.Grant, c.Format
		r.session, r.source, err = a.readSession(ctx, in, build.Refused)
		return r, err
	}
	err = a.take(ctx, &r, in, logged, contexts[:taken])
	return r, err
}

// take adds the messages of the contexts to the session.
func (a *Activities) take(ctx context.Context, r *reading, in schema.ProcessSessionInput, logged *session.Session, contexts []queue.Context) error {
	parts := make([][]schema.Message, len(contexts))
	for i, c := range contexts {
		s, source, err := a.readInline(ctx, c.Messages, in.Statement)
		if err != nil {
			return err
		}
		for j := range s.Messages {
			if s.Messages[j].At.IsZero() {
				s.Messages[j].At = c.At.UTC()
			}
		}
		parts[i], r.source.Bytes = s.Messages, r.source.Bytes+source.Bytes
		r.session.Skipped = append(r.session.Skipped, s.Skipped...)
	}
	r.session.Started = contexts[0].At
	r.source.SHA256 = positionsHash(r.queued)
	unseen, err := logged.Continue(ctx, parts)
	r.unseen, r.merged = unseen, true
	return err
}

// Pending returns the messages of the contexts that the session does not hold yet. It does not read the transcripts
// that the contexts name, but returns their number.
func Pending(ctx context.Context, logged *session.Session, contexts []queue.Context) (messages []schema.Message, transcripts int, err error) {
	var parts [][]schema.Message
	uris := map[string]bool{}
	for _, c := range contexts {
		if c.URI != "" {
			uris[c.URI] = true
			continue
		}
		s, err := inlineSession(ctx, c.Messages, c.Statement, false)
		if err != nil {
			return nil, 0, err
		}
		parts = append(parts, s.Messages)
	}
	messages, err = logged.Continue(ctx, parts)
	return messages, len(uris), err
}

// firstOfAKind returns how many of the contexts, from the first on, are read at once: those that name the same transcript, or
// messages. A later transcript need not hold the messages of an earlier one.
func firstOfAKind(contexts []queue.Context) int {
	size := 0
	for i, c := range contexts {
		for _, m := range c.Messages {
			size += len(m.Content)
		}
		if i > 0 && (c.URI != contexts[0].URI || size > maxQueuedBytes) {
			return i
		}
	}
	return len(contexts)
}

// lastQueued returns the position of the last context that the session's builds took, and those that this build took.
func (a *Activities) lastQueued(ctx context.Context, logged *session.Session, buildID string) (last uint64, own []uint64, err error) {
	options := eventlog.StreamOptions{Types: []string{schema.BuildStarted}}
	for event, err := range a.log.Stream(ctx, logged.Stream(), options) {
		var p schema.BuildStartedPayload
		if err == nil {
			p, err = schema.Decode[schema.BuildStartedPayload](event)
		}
		if err != nil {
			return 0, nil, fmt.Errorf("read builds of session %q: %w", logged.SessionID, err)
		}
		if n := len(p.Input.Queued); n > 0 && p.Source.SHA256 != "" {
			last = max(last, p.Input.Queued[n-1])
			if p.BuildID == buildID {
				own = p.Input.Queued
			}
		}
	}
	return last, own, nil
}

func positionsHash(positions []uint64) string {
	parts := make([]string, len(positions))
	for i, p := range positions {
		parts[i] = strconv.FormatUint(p, 10)
	}
	return schema.HashParts(parts...)
}
