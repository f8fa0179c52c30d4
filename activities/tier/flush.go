package tier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/schema"
)

// FlushRequest is the request to store the facts of a session and to flush its new messages.
type FlushRequest struct {
	schema.SessionKey
	BuildID string    `json:"build_id"`
	At      time.Time `json:"at"`
	// Facts is true if the session states facts.
	Facts bool               `json:"facts,omitempty"`
	Flush schema.FlushReason `json:"flush,omitempty"`
	// Messages is the number of messages of the session to flush up to. Windows are the model's summaries of those that
	// were not flushed before. Messages outside these windows are summarized offline.
	Messages int                `json:"messages"`
	Windows  []SummarizedWindow `json:"windows,omitempty"`
	// Review holds the model's answers about the facts of the memory, nil if it was not asked.
	Review *Reviewed `json:"review,omitempty"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Writer returns the input of the workflow that updates the memory.
func (in FlushRequest) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: in.User, Agent: in.Agent}
}

// Validate returns an error if the input is invalid.
func (in FlushRequest) Validate() error {
	if err := in.SessionKey.Validate(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(schema.FlushReasons(), in.Flush):
		return fmt.Errorf("flush %q: want one of %q", in.Flush, schema.FlushReasons())
	case in.Messages < 0:
		return fmt.Errorf("messages %d: want a number of messages", in.Messages)
	case in.Messages > 0 && in.At.IsZero():
		return errors.New("at is missing: a flush has a day")
	}
	return nil
}

// SessionResult describes the changes that a session made to the memory.
type SessionResult struct {
	Facts fact.Result `json:"facts"`
	// Flushed is the id of the event with the summary, or empty if there was nothing to record.
	Flushed string `json:"flushed,omitempty"`
	// Notify is true if the summary goes to a webhook.
	Notify bool `json:"notify,omitempty"`
	// FilesDue is the time at which to write the files that are now behind the log, or zero if there are none.
	FilesDue time.Time `json:"files_due,omitzero"`
}

// SubmitMemory asks the memory's workflow to update the memory and waits for the result.
func (a *Activities) SubmitMemory(ctx context.Context, in FlushRequest) (SessionResult, error) {
	// A long session is flushed by several updates.
	id := fmt.Sprintf("%s/%d", in.BuildID, in.Messages)
	return boundary.Submit[SessionResult](ctx, a.temporal, schema.UpdateSession, id, in)
}

// UpdateMemory stores the facts and the flushes of the sessions, which are all of one memory. Only the memory's
// workflow may call it.
func (a *Activities) UpdateMemory(ctx context.Context, in boundary.Batch[FlushRequest]) (boundary.Outcomes[SessionResult], error) {
	return boundary.Run(ctx, in, a.updateMemory)
}

func (a *Activities) updateMemory(ctx context.Context, in boundary.Batch[FlushRequest]) (boundary.Outcomes[SessionResult], error) {
	return ledger.Batch(ctx, a.log, a.sessions(), in, a.read)
}

// flushing is a session with the content that the memory takes from it.
type flushing struct {
	FlushRequest
	// facts is nil if the session says nothing about facts, and session if there are no messages to flush.
	facts   *fact.Batch
	session *session.Session
}

// withHead returns the context with the head of the session.
func (in FlushRequest) withHead(ctx context.Context) context.Context {
	return eventlog.WithHead(ctx, in.Stream(), in.Head)
}

func (a *Activities) read(ctx context.Context, in FlushRequest) (out flushing, err error) {
	out.FlushRequest, ctx = in, in.withHead(ctx)
	if in.Facts || in.Review != nil {
		removals, err := a.readReview(ctx, in)
		if err != nil {
			return out, err
		}
		facts, err := fact.Read(ctx, a.facts, in.SessionKey, in.BuildID)
		if err != nil {
			return out, err
		}
		facts.Removals = removals
		if len(facts.Entries)+len(facts.Removals) > 0 {
			out.facts = &facts
		}
	}
	if in.Messages > 0 {
		out.session, err = session.Open(ctx, a.log.Store, in.SessionKey)
	}
	return out, err
}

// flushState is a memory while sessions change it.
type flushState struct {
	// facts is nil if no session says anything about facts.
	facts *fact.State
	last  map[string]lastFlush
}

// sessions is the room of sessions' facts and flushes.
func (a *Activities) sessions() ledger.Room[flushing, *flushState, SessionResult] {
	facts := fact.Sessions(a.facts, a.projector)
	room := ledger.Room[flushing, *flushState, SessionResult]{
		Projectors: facts.Projectors,
		Load: func(ctx context.Context, reqs []flushing) (s *flushState, err error) {
			s = &flushState{}
			if stated := statedIn(reqs); len(stated) > 0 {
				if s.facts, err = facts.Load(ctx, stated); err != nil {
					return nil, err
				}
			}
			s.last, err = a.tables.lastFlushes(ctx, a.flushedBefore(reqs))
			return s, err
		},
		Decide: func(ctx context.Context, s *flushState, r flushing) (ledger.Decision[SessionResult], error) {
			var d ledger.Decision[SessionResult]
			if r.facts != nil {
				stated, err := facts.Decide(ctx, s.facts, *r.facts)
				if err != nil {
					return d, err
				}
				d.Events, d.Result.Facts = stated.Events, stated.Result
			}
			err := a.flush(r.withHead(ctx), s, r, &d)
			return d, err
		},
		Count: func(r *SessionResult, stored ledger.Stored) error {
			summaries, stated := stored.Split(schema.ContextFlushed)
			for _, e := range summaries.Events { // An earlier attempt may have stored another summary.
				p, err := schema.Decode[schema.ContextFlushedPayload](e)
				if err != nil {
					return err
				}
				a.flushed(r, flushOf(e.ID, p))
			}
			return facts.Count(&r.Facts, stated)
		},
		Project: func(ctx context.Context, stream string, at schema.StreamHead, s *flushState) error {
			if s.facts == nil {
				return a.log.ProjectEach(ctx, stream, []projection.Projector{a.projector})
			}
			return facts.Project(ctx, stream, at, s.facts)
		},
	}
	if facts.Fold == nil {
		return room
	}
	room.Folds = append(slices.Clone(facts.Folds), schema.ContextFlushed)
	room.Fold = func(ctx context.Context, reqs []flushing, events []schema.Event) (s *flushState, err error) {
		s = &flushState{}
		if s.last, err = foldFlushes(events, a.flushedBefore(reqs)); err != nil {
			return nil, err
		}
		if stated := statedIn(reqs); len(stated) > 0 {
			events = slices.DeleteFunc(slices.Clone(events), func(e schema.Event) bool { return e.Type == schema.ContextFlushed })
			s.facts, err = facts.Fold(ctx, stated, events)
		}
		return s, err
	}
	return room
}

// statedIn returns the facts of the sessions that state some.
func statedIn(reqs []flushing) []fact.Batch {
	var out []fact.Batch
	for _, r := range reqs {
		if r.facts != nil {
			out = append(out, *r.facts)
		}
	}
	return out
}

// flush decides on a flush of the messages of the session that were not flushed before.
func (a *Activities) flush(ctx context.Context, s *flushState, r flushing, d *ledger.Decision[SessionResult]) error {
	if r.session == nil {
		return nil
	}
	end, before := min(r.Messages, r.session.Len()), s.last[r.Stream()]
	if end <= before.To {
		// A retried build gets the result of its first attempt.
		if before.BuildID == r.BuildID {
			a.flushed(&d.Result, before)
		}
		return nil
	}
	event, done, err := a.planFlush(ctx, r.session, r.FlushRequest, before.To, end)
	if err != nil {
		return err
	}
	s.last[r.Stream()] = done // The batch may contain the session twice.
	d.Events = append(slices.Clip(d.Events), event)
	return nil
}

// flushed sets the flush in the result, unless the flush is empty.
func (a *Activities) flushed(r *SessionResult, f lastFlush) {
	if f.Empty {
		return
	}
	r.Flushed, r.Notify, r.FilesDue = f.EventID, a.opts.Webhook.URL != "", time.Now().Add(a.opts.Timing.WithDefaults().Files).UTC()
}
