package task

import (
	"context"
	"errors"

	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Indexer indexes the titles of new tasks for search.
type Indexer interface {
	Enqueue(ctx context.Context, stream string) error
}

// Activities writes project streams, or asks their writer to do so.
type Activities struct {
	log      *eventlog.Store
	writer   *Writer
	indexer  Indexer
	temporal client.Client
}

// NewActivities returns the activities of this package. They send updates for project_tasks through the client.
func NewActivities(log *eventlog.Store, writer *Writer, indexer Indexer, temporal client.Client) (*Activities, error) {
	if log == nil || writer == nil || indexer == nil || temporal == nil {
		return nil, errors.New("task activities: an event log, a writer, an indexer and a Temporal client are needed")
	}
	return &Activities{log: log, writer: writer, indexer: indexer, temporal: temporal}, nil
}

// SessionInput names a session whose task notes are to be resolved.
type SessionInput struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
}

// Writer returns the input of the workflow that resolves the task notes.
func (in SessionInput) Writer() schema.WriterInput {
	return schema.ProjectTasksInput{Project: in.Project}
}

// SubmitTasks asks the project's workflow to resolve the session's task notes and waits for the result.
func (a *Activities) SubmitTasks(ctx context.Context, in SessionInput) (Result, error) {
	return boundary.Submit[Result](ctx, a.temporal, schema.UpdateSession, in.BuildID, in)
}

// ResolveTasks resolves the session's task notes. Only the project's workflow may call it.
func (a *Activities) ResolveTasks(ctx context.Context, in SessionInput) (Result, error) {
	return boundary.Run(ctx, in, a.resolve)
}

func (a *Activities) resolve(ctx context.Context, in SessionInput) (Result, error) {
	entries, err := entry.ReadLogged(ctx, a.log, in.SessionKey, func(e schema.Entry) bool {
		return e.Type == schema.EntryTaskNote
	})
	if err != nil {
		return Result{}, err
	}
	batch := Batch{Project: in.Project, SessionID: in.SessionID, BuildID: in.BuildID, Entries: entries}
	result, err := a.writer.Apply(ctx, batch)
	if err != nil {
		return result, err
	}
	return result, a.indexer.Enqueue(ctx, schema.ProjectStream(in.Project))
}

// RunTaskCommand runs a person's command. Only the project's workflow may call it.
func (a *Activities) RunTaskCommand(ctx context.Context, c Command) (Result, error) {
	return boundary.Run(ctx, c, a.do)
}

func (a *Activities) do(ctx context.Context, c Command) (Result, error) {
	result, err := a.writer.Do(ctx, c)
	if err != nil {
		return result, err
	}
	return result, a.indexer.Enqueue(ctx, schema.ProjectStream(c.Project))
}
