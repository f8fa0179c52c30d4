package fact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"axiommind/activities/border"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

const heartbeat = 10 * time.Second

// Activities writes the facts of memory streams, and asks their writer to.
type Activities struct {
	log      *eventlog.Store
	writer   *Writer
	temporal client.Client
}

// NewActivities returns the room's activities. The client sends updates to memory_queue.
func NewActivities(log *eventlog.Store, writer *Writer, temporal client.Client) (*Activities, error) {
	if log == nil || writer == nil || temporal == nil {
		return nil, errors.New("fact activities: an event log, a writer and a Temporal client are needed")
	}
	return &Activities{log: log, writer: writer, temporal: temporal}, nil
}

// SessionInput names a session whose facts are to be remembered.
type SessionInput struct {
	schema.Scope
	SessionID string `json:"session_id"`
	BuildID   string `json:"build_id"`
}

// SubmitFacts asks the memory's workflow to take in the session's facts, and waits for it.
func (a *Activities) SubmitFacts(ctx context.Context, in SessionInput) (Result, error) {
	stop := border.Heartbeat(ctx, heartbeat)
	defer stop()
	var result Result
	// Another attempt is another update: the outcome of the one before may have been a failure that
	// is mended by now. What an update does is keyed by what it is about.
	id := in.BuildID + "/" + strconv.Itoa(int(activity.GetInfo(ctx).Attempt))
	err := border.MemoryWriter(in.User, in.Agent).Update(ctx, a.temporal, schema.UpdateSession, id, in, &result)
	return result, border.Return(err)
}

// UpdateFacts takes in the session's facts. Only the memory's workflow may call it.
func (a *Activities) UpdateFacts(ctx context.Context, in SessionInput) (Result, error) {
	stop := border.Heartbeat(ctx, heartbeat)
	defer stop()
	result, err := a.update(ctx, in)
	return result, border.Return(err)
}

func (a *Activities) update(ctx context.Context, in SessionInput) (Result, error) {
	batch := Batch{User: in.User, Agent: in.Agent, Project: in.Project, SessionID: in.SessionID, BuildID: in.BuildID}
	options := eventlog.StreamOptions{Types: []string{schema.EntryMaterialized}}
	for event, err := range a.log.Stream(ctx, schema.SessionStream(in.SessionID), options) {
		if err != nil {
			return Result{}, fmt.Errorf("read entries of session %q: %w", in.SessionID, err)
		}
		var e schema.Entry
		if err := json.Unmarshal(event.Payload, &e); err != nil {
			return Result{}, fmt.Errorf("decode event %q: %w", event.ID, err)
		}
		if e.Type == schema.EntryFact {
			batch.Entries = append(batch.Entries, e)
		}
	}
	return a.writer.Apply(ctx, batch)
}

// RunFactCommand does what a person asks of a fact. Only the memory's workflow may call it.
func (a *Activities) RunFactCommand(ctx context.Context, c Command) (Result, error) {
	stop := border.Heartbeat(ctx, heartbeat)
	defer stop()
	result, err := a.writer.Do(ctx, c)
	if errors.Is(err, ErrFactNotFound) || errors.Is(err, ErrInvalid) {
		err = border.Invalid(schema.ErrorInvalidInput, err)
	}
	return result, border.Return(err)
}
