package vector

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// ErrOtherEmbedder is returned if a worker is asked to write or ask for vectors of another embedder than its own.
var ErrOtherEmbedder = boundary.Invalid(schema.ErrorInvalidInput, errors.New("this worker has another embedder"))

// Activities indexes sessions, and runs the work of the only writer of each collection.
type Activities struct {
	// writers are those of the embedder's indexes, by collection; collections are their names, that of entries first.
	writers     map[string]*Writer
	collections []string
	version     string
	temporal    client.Client
}

// NewActivities returns the activities of this package. The first writer is that of entries. They send updates for
// vector_writer workflows through the client.
func NewActivities(temporal client.Client, writers ...*Writer) (*Activities, error) {
	if len(writers) == 0 || temporal == nil {
		return nil, errors.New("vector activities: a writer and a Temporal client are needed")
	}
	a := &Activities{writers: map[string]*Writer{}, version: writers[0].embedder.Version(), temporal: temporal}
	for _, w := range writers {
		a.writers[w.Collection()] = w
		a.collections = append(a.collections, w.Collection())
	}
	return a, nil
}

// IndexInput names the collection to write and limits one call of IndexPending.
type IndexInput struct {
	Collection string `json:"collection"`
	Limit      int    `json:"limit"`
	// Head is the head of the collection's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// IndexPending processes the outbox rows that are due. Only the vector_writer workflow may call it.
func (a *Activities) IndexPending(ctx context.Context, in IndexInput) (Result, error) {
	return boundary.Run(ctx, in, a.index)
}

func (a *Activities) index(ctx context.Context, in IndexInput) (Result, error) {
	w, err := a.writerOf(in.Collection)
	if err != nil {
		return Result{}, err
	}
	ctx, _, err = w.from(ctx, in.Head)
	if err != nil {
		return Result{}, err
	}
	result, err := w.IndexPending(ctx, in.Limit)
	result.Head = w.head(in.Head)
	return result, err
}

// writerOf returns the writer of the collection, which must be one of the worker's embedder. Vectors of another model
// would be found by chance only, and the outbox would still say that they are done.
func (a *Activities) writerOf(collection string) (*Writer, error) {
	if w, ok := a.writers[collection]; ok {
		return w, nil
	}
	return nil, fmt.Errorf("write collection %q: %w: %q, which writes %q", collection, ErrOtherEmbedder, a.version, a.collections)
}

// ReconcileInput names the collection to compare with the log.
type ReconcileInput struct {
	Collection string `json:"collection"`
}

// Writer returns the input of the workflow that compares the collection.
func (in ReconcileInput) Writer() schema.WriterInput {
	return schema.VectorWriterInput{Collection: in.Collection}
}

// Validate returns an error if no collection is named.
func (in ReconcileInput) Validate() error {
	if in.Collection == "" {
		return errors.New("collection is empty")
	}
	return nil
}

// ReconcileCollection compares the collection with the log and requests what has drifted again. Only the
// vector_writer workflow may call it.
func (a *Activities) ReconcileCollection(ctx context.Context, in ReconcileInput) (Report, error) {
	return boundary.Run(ctx, in, a.reconcile)
}

func (a *Activities) reconcile(ctx context.Context, in ReconcileInput) (Report, error) {
	w, err := a.writerOf(in.Collection)
	if err != nil {
		return Report{}, err
	}
	return w.Reconcile(ctx)
}
