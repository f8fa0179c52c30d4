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

// Activities indexes sessions, and runs the work of the collection's only writer.
type Activities struct {
	writer   *Writer
	version  string
	temporal client.Client
}

// NewActivities returns the activities of this package. They send updates for the vector_writer workflow through the
// client.
func NewActivities(writer *Writer, temporal client.Client) (*Activities, error) {
	if writer == nil || temporal == nil {
		return nil, errors.New("vector activities: a writer and a Temporal client are needed")
	}
	return &Activities{writer: writer, version: writer.embedder.Version(), temporal: temporal}, nil
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
	if err := a.writes(in.Collection); err != nil {
		return Result{}, err
	}
	ctx, _, err := a.writer.from(ctx, in.Head)
	if err != nil {
		return Result{}, err
	}
	result, err := a.writer.IndexPending(ctx, in.Limit)
	result.Head = a.writer.head(in.Head)
	return result, err
}

// writes returns an error unless the collection is that of the worker's embedder. Vectors of another model would be
// found by chance only, and the outbox would still say that they are done.
func (a *Activities) writes(collection string) error {
	if mine := a.writer.Collection(); collection != mine {
		return fmt.Errorf("write collection %q: %w: %q, which writes %q", collection, ErrOtherEmbedder, a.version, mine)
	}
	return nil
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
	if err := a.writes(in.Collection); err != nil {
		return Report{}, err
	}
	return a.writer.Reconcile(ctx)
}
