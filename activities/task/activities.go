package task

import (
	"context"
	"errors"

	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Indexer indexes the titles of new tasks for search.
type Indexer interface {
	Enqueue(ctx context.Context, stream string) error
	// EnqueueWith is Enqueue, and brings other projections up to date with the stream.
	EnqueueWith(ctx context.Context, stream string, others []projection.Projector) error
}

// Activities writes project streams, or submits updates to their writer.
type Activities struct {
	log      *projection.Store
	writer   *Writer
	indexer  Indexer
	temporal client.Client
}

// NewActivities returns the activities of this package. They send updates for project_tasks through the client.
func NewActivities(log *projection.Store, writer *Writer, indexer Indexer, temporal client.Client) (*Activities, error) {
	if log == nil || writer == nil || indexer == nil || temporal == nil {
		return nil, errors.New("task activities: an event log, a writer, an indexer and a Temporal client are needed")
	}
	return &Activities{log: log, writer: writer, indexer: indexer, temporal: temporal}, nil
}

// ResolveRequest identifies a session with task notes to resolve.
type ResolveRequest struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Writer returns the input of the workflow that resolves the task notes.
func (in ResolveRequest) Writer() schema.WriterInput {
	return schema.ProjectTasksInput{Project: in.Project}
}

// SubmitTasks asks the project's workflow to resolve the session's task notes and waits for the result.
func (a *Activities) SubmitTasks(ctx context.Context, in ResolveRequest) (Result, error) {
	return boundary.Submit[Result](ctx, a.temporal, schema.UpdateSession, in.BuildID, in)
}

// ResolveTasks resolves the task notes of sessions, all of one project. Only the project's workflow may call it.
func (a *Activities) ResolveTasks(ctx context.Context, in boundary.Batch[ResolveRequest]) (boundary.Outcomes[Result], error) {
	return boundary.Run(ctx, in, a.resolve)
}

func (a *Activities) resolve(ctx context.Context, in boundary.Batch[ResolveRequest]) (boundary.Outcomes[Result], error) {
	room := a.writer.resolution()
	room.Project = func(ctx context.Context, stream string, at schema.StreamHead, v *overlay) error {
		return a.indexer.EnqueueWith(ctx, stream, []projection.Projector{a.writer.projectorOf(at, v)})
	}
	return ledger.Batch(ctx, a.log, room, in, a.notes)
}

// notes reads the task notes of the session.
func (a *Activities) notes(ctx context.Context, in ResolveRequest) (Batch, error) {
	ctx = eventlog.WithHead(ctx, in.Stream(), in.Head)
	entries, err := entry.ReadLogged(ctx, a.log.Store, in.SessionKey, func(e schema.Entry) bool { return e.Type == schema.EntryTaskNote })
	return Batch{Project: in.Project, SessionID: in.SessionID, BuildID: in.BuildID, Entries: entries}, err
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
