package vector

import (
	"context"
	"errors"

	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// ErrOtherEmbedder is returned for a write of vectors of an embedder that was never chosen.
var ErrOtherEmbedder = boundary.Invalid(schema.ErrorInvalidInput, errors.New("this embedder is not one that was chosen"))

// ErrNoEmbedder is returned for a write of vectors of an embedder that is unavailable to this worker, or whose vectors
// are deleted. The next attempt may run on another worker, or use the embedder in use.
var ErrNoEmbedder error = noEmbedder{}

type noEmbedder struct{}

func (noEmbedder) Error() string       { return "this worker does not have the embedder" }
func (noEmbedder) FailureType() string { return schema.ErrorVectorUnavailable }
func (noEmbedder) Retryable() bool     { return true }
func (noEmbedder) Uncertain() bool     { return true }

// Activities indexes sessions, and runs the work of each collection's only writer.
type Activities struct {
	indexes  *Indexes
	temporal client.Client
}

// NewActivities returns the activities of this package over the indexes.
func NewActivities(indexes *Indexes) (*Activities, error) {
	if indexes == nil || indexes.temporal == nil {
		return nil, errors.New("vector activities: indexes and a Temporal client are needed")
	}
	return &Activities{indexes: indexes, temporal: indexes.temporal}, nil
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
	w, err := a.indexes.Writer(ctx, in.Collection)
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

// ReconcileCollection compares the collection with the log and requests the drifted items again. Only the vector_writer
// workflow may call it.
func (a *Activities) ReconcileCollection(ctx context.Context, in ReconcileInput) (Report, error) {
	return boundary.Run(ctx, in, a.reconcile)
}

func (a *Activities) reconcile(ctx context.Context, in ReconcileInput) (Report, error) {
	w, err := a.indexes.Writer(ctx, in.Collection)
	if err != nil {
		return Report{}, err
	}
	return w.Reconcile(ctx)
}
