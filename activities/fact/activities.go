package fact

import (
	"context"
	"errors"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
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

// StoreRequest is the request to store the facts of a session.
type StoreRequest struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
	// Removals are the facts that the session's messages end.
	Removals []Removal `json:"removals,omitempty"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Append appends the facts of the sessions, all of one memory, as if one was appended after the other. Only an activity
// of the memory's workflow may call it, with the head of the memory's stream in the context. [Project] must follow.
func Append(ctx context.Context, a *Activities, in []StoreRequest) ([]boundary.Outcome[Result], error) {
	out := make([]boundary.Outcome[Result], len(in))
	var batches []Batch
	var places []int
	for i, item := range in {
		batch, err := a.read(ctx, item)
		if out[i], err = boundary.Of(ctx, Result{}, err); err != nil {
			return nil, err
		}
		if out[i].Failed == nil {
			batches, places = append(batches, batch), append(places, i)
		}
	}
	outcomes, err := a.writer.Append(ctx, batches)
	if err != nil {
		return nil, err
	}
	for i, outcome := range outcomes {
		out[places[i]] = outcome
	}
	return out, nil
}

// Project brings the tables of facts and those of another projection up to date with the memory's stream, and has its
// facts indexed.
func Project(ctx context.Context, a *Activities, stream string, other projection.Projector) error {
	both := []projection.Projector{a.writer.projector, other}
	if a.indexer == nil {
		return a.log.ProjectEach(ctx, stream, both)
	}
	return a.indexer.EnqueueWith(ctx, stream, both)
}

// read reads the facts that the session's entries state.
func (a *Activities) read(ctx context.Context, in StoreRequest) (Batch, error) {
	ctx = eventlog.WithHead(ctx, in.Stream(), in.Head)
	entries, err := entry.ReadLogged(ctx, a.log.Store, in.SessionKey, func(e schema.Entry) bool {
		return e.Type == schema.EntryFact
	})
	return Batch{
		User: in.User, Agent: in.Agent, Project: in.Project, SessionID: in.SessionID, BuildID: in.BuildID, Entries: entries,
		Removals: in.Removals,
	}, err
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
