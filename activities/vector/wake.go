package vector

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// Enqueuer passes a stream's requests to the collection's writer. It does not wait for the writer.
type Enqueuer struct {
	log       Log
	projector *OutboxProjector
	outbox    *Outbox
	temporal  client.Client
	writer    boundary.Writer
}

// NewEnqueuer returns an enqueuer for the projector's collection.
func NewEnqueuer(log Log, projector *OutboxProjector, temporal client.Client) *Enqueuer {
	return &Enqueuer{
		log: log, projector: projector, outbox: NewOutbox(projector.conn, projector.version), temporal: temporal,
		writer: boundary.WriterOf(schema.VectorWriterInput{Collection: schema.VectorCollection(projector.version)}),
	}
}

// Enqueue brings the outbox up to date with the stream, and wakes the writer if that added rows or others are pending.
func (e *Enqueuer) Enqueue(ctx context.Context, stream string) error {
	if _, err := e.log.Project(ctx, e.projector, stream); err != nil {
		return err
	}
	return e.enqueued(ctx)
}

// enqueued wakes the writer after the outbox was brought up to date, if that added rows. Facts that a session states add
// none. A retry adds none if an earlier attempt died after it added the rows. Neither does a session that is processed
// again, perhaps because the embedder was repaired. If no rows were added, the writer is woken if any row is pending. This
// check reads every row of the collection, so the first attempt for task titles skips it: most sessions add none.
func (e *Enqueuer) enqueued(ctx context.Context) error {
	if e.projector.written.Swap(0) > 0 {
		return e.writer.Wake(ctx, e.temporal)
	}
	_, messages := schema.SplitIndex(e.projector.version)
	if !messages && activity.IsActivity(ctx) && activity.GetInfo(ctx).Attempt == 1 {
		return nil
	}
	return e.WakePending(ctx)
}

// WakePending wakes the writer if any row is pending.
func (e *Enqueuer) WakePending(ctx context.Context) error {
	pending, err := e.outbox.pending(ctx)
	if err != nil || !pending {
		return err
	}
	return e.writer.Wake(ctx, e.temporal)
}
