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
	out := boundary.Outcomes[SessionResult]{Items: make([]boundary.Outcome[SessionResult], len(in.Items))}
	if len(in.Items) == 0 {
		return out, nil
	}
	stream := in.Items[0].Writer().Stream()
	for i, item := range in.Items {
		if other := item.Writer().Stream(); other != stream {
			err := fmt.Errorf("session %q is of the memory %q, not of %q", item.SessionID, other, stream)
			if out.Items[i], err = boundary.Of(ctx, SessionResult{}, boundary.Invalid(schema.ErrorScopeMismatch, err)); err != nil {
				return out, err
			}
		}
	}
	if err := a.store(ctx, stream, in.Head, in.Items, out.Items); err != nil {
		return out, err
	}
	out.Head = a.log.Head(stream)
	return out, nil
}

// store stores all sessions that have not failed yet, in one append. If that ends in an error that no retry can mend, it
// stores each of them alone, so that only the faulty ones fail. It returns any other error, for the batch to be retried.
func (a *Activities) store(
	ctx context.Context, stream string, head schema.StreamHead, items []FlushRequest, out []boundary.Outcome[SessionResult],
) error {
	err := a.storeAtOnce(ctx, stream, head, items, out)
	if err == nil {
		return nil
	}
	failed, again := boundary.Of(ctx, SessionResult{}, err)
	if again != nil {
		return again
	}
	if len(items) == 1 {
		out[0] = failed
		return nil
	}
	for i := range items {
		if out[i].Failed != nil {
			continue
		}
		out[i] = boundary.Outcome[SessionResult]{}
		if err := a.store(ctx, stream, head, items[i:i+1], out[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// storeAtOnce appends the facts and the flushes of the sessions that did not fail, in one append, and projects both.
func (a *Activities) storeAtOnce(
	ctx context.Context, stream string, head schema.StreamHead, items []FlushRequest, out []boundary.Outcome[SessionResult],
) error {
	ctx, err := a.log.AsWriter(ctx, stream, head)
	if err != nil {
		return err
	}
	sessions, err := a.openSessions(ctx, items, out)
	if err != nil {
		return err
	}
	last, err := a.lastFlushes(ctx, stream, sessions)
	if err != nil {
		return err
	}
	holding, held := a.log.Hold(ctx, stream)
	facts, err := a.appendFacts(holding, items, out)
	if err != nil {
		return err
	}
	if err := a.flush(holding, stream, items, sessions, last, out); err != nil {
		return err
	}
	if err := held.Store(ctx); err != nil {
		return err
	}
	if facts {
		return fact.Project(ctx, a.facts, stream, a.projector)
	}
	_, err = a.log.Project(ctx, a.projector, stream) // Also projects events that an earlier attempt appended.
	return err
}

// appendFacts appends the removals and the new facts of the sessions that did not fail. It reports whether there may be
// some to project.
func (a *Activities) appendFacts(ctx context.Context, items []FlushRequest, out []boundary.Outcome[SessionResult]) (bool, error) {
	var inputs []fact.StoreRequest
	var places []int
	for i, item := range items {
		if out[i].Failed != nil || !item.Facts && item.Review == nil {
			continue
		}
		removals, err := a.readReview(eventlog.WithHead(ctx, item.Stream(), item.Head), item)
		if err != nil {
			if out[i], err = boundary.Of(ctx, SessionResult{}, err); err != nil {
				return false, err
			}
			continue
		}
		inputs = append(inputs, fact.StoreRequest{SessionKey: item.SessionKey, BuildID: item.BuildID, Removals: removals, Head: item.Head})
		places = append(places, i)
	}
	stored, err := fact.Append(ctx, a.facts, inputs)
	if err != nil {
		return false, err
	}
	for n, i := range places {
		out[i] = boundary.Outcome[SessionResult]{Result: SessionResult{Facts: stored[n].Result}, Failed: stored[n].Failed}
	}
	return len(places) > 0, nil
}

// flush appends a flush of the unflushed messages of each session that did not fail.
func (a *Activities) flush(
	ctx context.Context, stream string, items []FlushRequest, sessions []*session.Session, last map[string]lastFlush,
	out []boundary.Outcome[SessionResult],
) error {
	var events []schema.Event
	var places []int
	for i, s := range sessions {
		if s == nil || out[i].Failed != nil {
			continue
		}
		item := items[i]
		end, before := min(item.Messages, s.Len()), last[s.Stream()]
		if end <= before.To {
			// A retried build gets the result of its first attempt.
			if before.BuildID == item.BuildID {
				a.flushed(&out[i].Result, before)
			}
			continue
		}
		event, done, err := a.planFlush(eventlog.WithHead(ctx, item.Stream(), item.Head), s, item, before.To, end)
		if err != nil {
			if out[i], err = boundary.Of(ctx, SessionResult{}, err); err != nil {
				return err
			}
			continue
		}
		last[s.Stream()] = done // The batch may contain the session twice.
		events, places = append(events, event), append(places, i)
	}
	appended, err := a.log.AppendAll(ctx, stream, events)
	if err != nil {
		return err
	}
	for i, event := range appended.Events {
		p, err := schema.Decode[schema.ContextFlushedPayload](event)
		if err != nil {
			return err
		}
		a.flushed(&out[places[i]].Result, flushOf(event.ID, p))
	}
	return nil
}

// openSessions opens the sessions that did not fail and have messages to flush. The others are nil.
func (a *Activities) openSessions(
	ctx context.Context, items []FlushRequest, out []boundary.Outcome[SessionResult],
) ([]*session.Session, error) {
	sessions := make([]*session.Session, len(items))
	for i, item := range items {
		if out[i].Failed != nil || item.Messages == 0 {
			continue
		}
		s, err := session.Open(eventlog.WithHead(ctx, item.Stream(), item.Head), a.log.Store, item.SessionKey)
		if err != nil {
			if out[i], err = boundary.Of(ctx, SessionResult{}, err); err != nil {
				return nil, err
			}
			continue
		}
		sessions[i] = s
	}
	return sessions, nil
}

// flushed sets the flush in the result, unless the flush is empty.
func (a *Activities) flushed(r *SessionResult, f lastFlush) {
	if f.Empty {
		return
	}
	r.Flushed, r.Notify, r.FilesDue = f.EventID, a.opts.Webhook.URL != "", time.Now().Add(a.opts.Timing.WithDefaults().Files).UTC()
}
