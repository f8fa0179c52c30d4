package fact

import (
	"context"
	"errors"

	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Activities writes the facts of memory streams, or asks their writer to do so.
type Activities struct {
	log      *eventlog.Store
	writer   *Writer
	temporal client.Client
}

// NewActivities returns the activities of this package. They send updates for memory_writer through the client.
func NewActivities(log *eventlog.Store, writer *Writer, temporal client.Client) (*Activities, error) {
	if log == nil || writer == nil || temporal == nil {
		return nil, errors.New("fact activities: an event log, a writer and a Temporal client are needed")
	}
	return &Activities{log: log, writer: writer, temporal: temporal}, nil
}

// SessionInput names a session whose facts are to be stored.
type SessionInput struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
}

// Writer returns the input of the workflow that stores the facts.
func (in SessionInput) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: in.User, Agent: in.Agent}
}

// SubmitFacts asks the memory's workflow to store the session's facts and waits for the result.
func (a *Activities) SubmitFacts(ctx context.Context, in SessionInput) (Result, error) {
	return boundary.Submit[Result](ctx, a.temporal, schema.UpdateSession, in.BuildID, in)
}

// UpdateFacts stores the session's facts. Only the memory's workflow may call it.
func (a *Activities) UpdateFacts(ctx context.Context, in SessionInput) (Result, error) {
	return boundary.Run(ctx, in, a.update)
}

func (a *Activities) update(ctx context.Context, in SessionInput) (Result, error) {
	entries, err := entry.ReadLogged(ctx, a.log, in.SessionKey, func(e schema.Entry) bool {
		return e.Type == schema.EntryFact
	})
	if err != nil {
		return Result{}, err
	}
	return a.writer.Apply(ctx, Batch{
		User: in.User, Agent: in.Agent, Project: in.Project, SessionID: in.SessionID, BuildID: in.BuildID, Entries: entries,
	})
}

// RunFactCommand runs a person's command. Only the memory's workflow may call it.
func (a *Activities) RunFactCommand(ctx context.Context, c Command) (Result, error) {
	return boundary.Run(ctx, c, a.writer.Do)
}
