package vector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/schema"
)

const (
	pollFirst = 50 * time.Millisecond
	pollLast  = time.Second
)

// ErrOtherEmbedder is returned if a worker is asked to write or wait for vectors of another embedder than its own.
var ErrOtherEmbedder = boundary.Invalid(schema.ErrorInvalidInput, errors.New("this worker has another embedder"))

// Activities indexes sessions, and runs the work of the collection's only writer.
type Activities struct {
	writer  *Writer
	entries *entry.Reader
	// projector makes the rows that entries reads.
	projector *entry.Projector
	version   string
	temporal  client.Client
}

// NewActivities returns the activities of this package. They signal the vector_writer workflow through the client.
func NewActivities(writer *Writer, conn driver.Conn, embedder Embedder, temporal client.Client) (*Activities, error) {
	if writer == nil || conn == nil || embedder == nil || temporal == nil {
		return nil, errors.New("vector activities: a writer, a database, an embedder and a Temporal client are needed")
	}
	return &Activities{
		writer: writer, entries: entry.NewReader(conn), projector: entry.NewProjector(conn),
		version: embedder.Version(), temporal: temporal,
	}, nil
}

// IndexInput names the collection to write and limits one call of IndexPending.
type IndexInput struct {
	Collection string `json:"collection"`
	Limit      int    `json:"limit"`
}

// IndexPending processes the outbox rows that are due. Only the vector_writer workflow may call it.
func (a *Activities) IndexPending(ctx context.Context, in IndexInput) (Result, error) {
	return boundary.Run(ctx, in, a.index)
}

func (a *Activities) index(ctx context.Context, in IndexInput) (Result, error) {
	if err := a.writes(in.Collection); err != nil {
		return Result{}, err
	}
	return a.writer.IndexPending(ctx, in.Limit)
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

// SessionInput names the session whose vectors to wait for.
type SessionInput struct {
	schema.SessionKey
	// EmbeddingVersion is the version with which the build started.
	EmbeddingVersion string `json:"embedding_version"`
}

// SessionResult counts the session's outbox rows by final status.
type SessionResult struct {
	Indexed int `json:"indexed"`
	Failed  int `json:"failed"`
}

// IndexSession wakes the collection's writer and waits until no row of the session is pending. If the writer has
// failed or waits to retry, IndexSession returns its error, so that the session shows the reason.
func (a *Activities) IndexSession(ctx context.Context, in SessionInput) (SessionResult, error) {
	return boundary.Run(boundary.WaitsFor(ctx, a.collection()), in, a.indexSession)
}

func (a *Activities) indexSession(ctx context.Context, in SessionInput) (SessionResult, error) {
	if in.EmbeddingVersion != a.version {
		return SessionResult{}, fmt.Errorf("index session %q: the build began with embedder %q: %w: %q: process the session again",
			in.SessionID, in.EmbeddingVersion, ErrOtherEmbedder, a.version)
	}
	ids, err := a.ids(ctx, in.SessionKey)
	if err != nil {
		return SessionResult{}, fmt.Errorf("index session %q: %w", in.SessionID, err)
	}
	w := &watch{temporal: a.temporal, writer: boundary.WriterOf(a.collection())}
	for wait := pollFirst; ; wait = min(2*wait, pollLast) {
		pending, result, err := a.session(ctx, in.SessionKey, ids)
		if err != nil {
			return SessionResult{}, fmt.Errorf("count vectors of session %q: %w", in.SessionID, err)
		}
		if pending == 0 {
			return result, nil
		}
		if err := w.look(ctx); err != nil {
			return SessionResult{}, err
		}
		select {
		case <-ctx.Done():
			return SessionResult{}, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// collection returns the input of the workflow that writes the collection.
func (a *Activities) collection() schema.VectorWriterInput {
	return schema.VectorWriterInput{Collection: a.writer.Collection()}
}

// ids returns those of the session's entries.
func (a *Activities) ids(ctx context.Context, session schema.SessionKey) (ids []string, err error) {
	err = a.writer.log.Steady(ctx, a.projector, session.Stream(), func() (err error) {
		ids, err = a.entries.IDs(ctx, entry.OfSession(session))
		return err
	})
	return ids, err
}

// session counts the rows of the session's entries by status. Nobody waits for a failed row, because its retry may be
// far off.
func (a *Activities) session(ctx context.Context, session schema.SessionKey, ids []string) (pending int, result SessionResult, err error) {
	counts, err := a.writer.outbox.statuses(ctx, schema.ItemEntry, ids)
	if err != nil {
		return 0, SessionResult{}, err
	}
	if counts[schema.OutboxPending]+counts[schema.OutboxDone]+counts[schema.OutboxFailed] < len(ids) {
		// A worker with another embedder has projected the session, or a rebuild has emptied the outbox.
		if _, err := a.writer.log.Project(ctx, a.writer.projector, session.Stream()); err != nil {
			return 0, SessionResult{}, err
		}
		if counts, err = a.writer.outbox.statuses(ctx, schema.ItemEntry, ids); err != nil {
			return 0, SessionResult{}, err
		}
	}
	result = SessionResult{Indexed: counts[schema.OutboxDone], Failed: counts[schema.OutboxFailed]}
	return len(ids) - result.Indexed - result.Failed, result, nil
}
