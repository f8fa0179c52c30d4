// Package queue stores the parts of sessions that are pending, and their outcomes. Only the workflow memory_queue writes
// its stream. The pending items are derived from the stream, so a crash loses none.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/activity"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Activities reads and writes queues.
type Activities struct {
	log  *eventlog.Store
	conn driver.Conn
}

// NewActivities returns the activities of this package.
func NewActivities(log *eventlog.Store, conn driver.Conn) (*Activities, error) {
	if log == nil || conn == nil {
		return nil, errors.New("queue activities: an event log and a connection are needed")
	}
	return &Activities{log, conn}, nil
}

// StoreInput contains the new contexts, in order.
type StoreInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// At is when the queue took them.
	At       time.Time                       `json:"at"`
	Contexts []schema.ContextEnqueuedPayload `json:"contexts"`
	// Head is the head of the queue's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// StoreResult reports the positions of the contexts.
type StoreResult struct {
	// Positions are those of the contexts, in order. The position of a context that was stored before is not after the head
	// of the input. A context of a forgotten session is not stored, and has position 0.
	Positions []uint64          `json:"positions"`
	Head      schema.StreamHead `json:"head"`
}

// StoreContexts appends the contexts to the queue's stream. A context whose id is in the stream already changes nothing,
// and one of a forgotten session is dropped.
func (a *Activities) StoreContexts(ctx context.Context, in StoreInput) (StoreResult, error) {
	return boundary.Run(ctx, in, a.store)
}

func (a *Activities) store(ctx context.Context, in StoreInput) (StoreResult, error) {
	stream := schema.QueueStream(in.User, in.Agent)
	ctx, err := a.log.AsWriter(ctx, stream, in.Head)
	if err != nil {
		return StoreResult{}, err
	}
	events, places := make([]schema.Event, 0, len(in.Contexts)), make([]int, 0, len(in.Contexts))
	for i, c := range in.Contexts {
		switch forgotten, err := a.forgotten(ctx, c.Key()); {
		case err != nil:
			return StoreResult{}, err
		case forgotten:
			continue
		}
		id := c.ID
		if c.Refused != "" {
			id = schema.HashParts("refused", c.ID) // So that the context can come again.
		}
		event, err := schema.NewEvent(c, schema.Event{
			TS: in.At, Actor: "queue", SessionID: c.Thread, Project: c.Project,
			DedupeKey: schema.ContextEnqueuedKey(in.User, in.Agent, id),
		})
		if err != nil {
			return StoreResult{}, err
		}
		events, places = append(events, event), append(places, i)
	}
	appended, err := a.log.AppendAll(ctx, stream, events)
	if err != nil {
		return StoreResult{}, err
	}
	result := StoreResult{Positions: make([]uint64, len(in.Contexts)), Head: a.log.Head(stream)}
	for i, e := range appended.Events {
		result.Positions[places[i]] = e.Seq
	}
	return result, nil
}

// forgotten reports whether the session was forgotten. It can't report this to the sender, who is gone.
func (a *Activities) forgotten(ctx context.Context, key schema.SessionKey) (bool, error) {
	err := a.log.Admits(ctx, key)
	var erased *eventlog.ErasedError
	if !errors.As(err, &erased) {
		return false, err
	}
	if activity.IsActivity(ctx) {
		activity.GetLogger(ctx).Warn("a context is dropped: its session was forgotten", "erasure", erased.ErasureID)
	}
	return true, nil
}

// EndInput is the outcome of contexts of a thread.
type EndInput struct {
	User  string                         `json:"user"`
	Agent string                         `json:"agent,omitempty"`
	End   schema.ContextProcessedPayload `json:"end"`
	Head  schema.StreamHead              `json:"head,omitzero"`
}

// EndContexts records that contexts were processed, or given up. It returns the head of the queue's stream.
func (a *Activities) EndContexts(ctx context.Context, in EndInput) (schema.StreamHead, error) {
	return boundary.Run(ctx, in, a.end)
}

func (a *Activities) end(ctx context.Context, in EndInput) (schema.StreamHead, error) {
	stream := schema.QueueStream(in.User, in.Agent)
	ctx, err := a.log.AsWriter(ctx, stream, in.Head)
	if err != nil {
		return schema.StreamHead{}, err
	}
	key := schema.SessionKey{Scope: schema.Scope{Project: in.End.Project, User: in.User, Agent: in.Agent}, SessionID: in.End.Thread}
	if forgotten, err := a.forgotten(ctx, key); forgotten || err != nil {
		return a.log.Head(stream), err // Its pending contexts are gone.
	}
	event, err := schema.NewEvent(in.End, schema.Event{
		TS: in.End.At, Actor: "queue", SessionID: in.End.Thread, Project: in.End.Project, BuildID: in.End.BuildID,
		DedupeKey: schema.ContextProcessedKey(in.User, in.Agent, in.End.To),
	})
	if err != nil {
		return schema.StreamHead{}, err
	}
	if _, err := a.log.Append(ctx, stream, []schema.Event{event}); err != nil {
		return schema.StreamHead{}, err
	}
	return a.log.Head(stream), nil
}

// Context is a context with its place in the queue.
type Context struct {
	Position uint64
	schema.QueuedContext
}

// Contexts returns the contexts at the positions in the stream of the session's queue, with the messages that are stored
// separately.
func Contexts(ctx context.Context, log *eventlog.Store, key schema.SessionKey, positions []uint64) ([]Context, error) {
	stream := schema.QueueStream(key.User, key.Agent)
	events, err := log.At(ctx, stream, positions)
	if errors.Is(err, eventlog.ErrNotFound) {
		return nil, boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("queued names positions that %q does not hold: %w", stream, err))
	}
	if err != nil {
		return nil, err
	}
	out := make([]Context, len(events))
	for i, e := range events {
		if e.Type != schema.ContextEnqueued {
			return nil, notOf(key, e)
		}
		p, err := schema.Decode[schema.ContextEnqueuedPayload](e)
		if err != nil {
			return nil, err
		}
		if p.Key() != key {
			return nil, notOf(key, e)
		}
		out[i] = Context{e.Seq, p.QueuedContext}
		if p.Held != "" {
			if out[i].Messages, err = storedMessages(ctx, log, key, p.Held); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Pending returns the contexts of the session that wait in its queue.
func Pending(ctx context.Context, log *eventlog.Store, conn driver.Conn, key schema.SessionKey) ([]Context, error) {
	a, positions := &Activities{log, conn}, []uint64(nil)
	for in, more := (LoadInput{User: key.User, Agent: key.Agent}), true; more; {
		page, err := a.load(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Threads {
			if t.Project == key.Project && t.Thread == key.SessionID {
				positions = append(positions, t.Positions...)
			}
		}
		in.Since, in.After, more = page.Since, page.After, page.More
	}
	if len(positions) == 0 {
		return nil, nil
	}
	return Contexts(ctx, log, key, positions)
}

func notOf(key schema.SessionKey, e schema.Event) error {
	return boundary.Invalid(schema.ErrorScopeMismatch,
		fmt.Errorf("position %d of %q is no context of session %q of project %q", e.Seq, e.Stream, key.SessionID, key.Project))
}

// storedMessages returns the thread's messages that were stored under the hash.
func storedMessages(ctx context.Context, log *eventlog.Store, thread schema.SessionKey, hash string) ([]schema.InlineMessage, error) {
	event, err := log.Get(ctx, schema.EventID(schema.ContextHeldKey(thread, hash)))
	if errors.Is(err, eventlog.ErrNotFound) {
		return nil, boundary.Invalid(schema.ErrorSourceUnreadable, fmt.Errorf("the log does not hold the messages with the hash %q: enqueue them again", hash))
	}
	if err != nil {
		return nil, err
	}
	p, err := schema.Decode[schema.ContextHeldPayload](event)
	return p.Messages, err
}
