package fact

import (
	"context"
	"errors"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Activities writes the facts of memory streams.
type Activities struct {
	log     *projection.Store
	writer  *Writer
	indexer Indexer
}

// Indexer indexes the facts that people entered for search.
type Indexer interface {
	// Enqueue requests that the facts in the stream be indexed. It does not wait.
	Enqueue(ctx context.Context, stream string) error
	// EnqueueWith is Enqueue, and brings other projections up to date with the stream.
	EnqueueWith(ctx context.Context, stream string, others []projection.Projector) error
}

// NewActivities returns the activities of this package. Without an indexer facts are not indexed.
func NewActivities(log *projection.Store, writer *Writer, indexer Indexer) (*Activities, error) {
	if log == nil || writer == nil {
		return nil, errors.New("fact activities: an event log and a writer are needed")
	}
	return &Activities{log: log, writer: writer, indexer: indexer}, nil
}

// index requests that the facts of the stream be indexed.
func (a *Activities) index(ctx context.Context, stream string) error {
	if a.indexer == nil {
		return nil
	}
	return a.indexer.Enqueue(ctx, stream)
}

// Sessions is the room of the facts that sessions state. It has them indexed, and brings the tables of another
// projection of the memory up to date as well.
func Sessions(a *Activities, other projection.Projector) ledger.Room[Batch, *State, Result] {
	room := a.writer.Sessions()
	room.Projectors = append(room.Projectors, other)
	room.Project = func(ctx context.Context, stream string, _ schema.StreamHead, _ *State) error {
		if a.indexer == nil {
			return a.log.ProjectEach(ctx, stream, room.Projectors)
		}
		return a.indexer.EnqueueWith(ctx, stream, room.Projectors)
	}
	return room
}

// Read reads the facts that the entries of the session state, with the session's head in the context.
func Read(ctx context.Context, a *Activities, key schema.SessionKey, buildID string) (Batch, error) {
	entries, err := entry.ReadLogged(ctx, a.log.Store, key, func(e schema.Entry) bool { return e.Type == schema.EntryFact })
	if err != nil {
		return Batch{}, err
	}
	b := Batch{User: key.User, Agent: key.Agent, Project: key.Project, SessionID: key.SessionID, BuildID: buildID, Entries: entries}
	b.Entries, err = b.facts()
	return b, err
}

// RunFactCommand runs a person's command. Only the memory's workflow may call it.
func (a *Activities) RunFactCommand(ctx context.Context, c Command) (Result, error) {
	return boundary.Run(ctx, c, func(ctx context.Context, c Command) (Result, error) {
		result, err := a.writer.Do(ctx, c)
		if err != nil {
			return result, err
		}
		return result, a.index(ctx, schema.MemoryStream(c.User, c.Agent))
	})
}
