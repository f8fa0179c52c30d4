package vector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/border"
	"axiommind/schema"
)

const (
	// wakeAgain is how long a session waits for its vectors before it wakes the writer once more.
	wakeAgain = 30 * time.Second
	pollFirst = 50 * time.Millisecond
	pollLast  = time.Second
)

// Activities indexes sessions and lets the one writer of the collection work.
type Activities struct {
	writer   *Writer
	conn     driver.Conn
	version  string
	temporal client.Client
}

// NewActivities returns the room's activities. The client signals the vector_writer workflow.
func NewActivities(writer *Writer, conn driver.Conn, embedder Embedder, temporal client.Client) (*Activities, error) {
	if writer == nil || conn == nil || embedder == nil || temporal == nil {
		return nil, errors.New("vector activities: a writer, a database, an embedder and a Temporal client are needed")
	}
	return &Activities{writer: writer, conn: conn, version: embedder.Version(), temporal: temporal}, nil
}

// IndexInput bounds one call of IndexPending.
type IndexInput struct {
	Limit int `json:"limit"`
}

// IndexPending works on the outbox rows that are due. Only the vector_writer workflow may call it.
func (a *Activities) IndexPending(ctx context.Context, in IndexInput) (Result, error) {
	return border.Run(ctx, in.Limit, a.writer.IndexPending)
}

// ReconcileCollection compares the collection with the log and asks for what has drifted to be
// written anew. Only the vector_writer workflow may call it.
func (a *Activities) ReconcileCollection(ctx context.Context) (Report, error) {
	stop := border.Heartbeat(ctx, border.HeartbeatInterval)
	defer stop()
	report, err := a.writer.Reconcile(ctx)
	return report, border.Return(err)
}

// SessionInput names the session whose vectors are waited for.
type SessionInput struct{ schema.SessionKey }

// SessionResult counts the session's outbox rows by their end.
type SessionResult struct {
	Indexed int `json:"indexed"`
	Failed  int `json:"failed"`
}

// IndexSession wakes the collection's writer and waits until no row of the session is pending.
func (a *Activities) IndexSession(ctx context.Context, in SessionInput) (SessionResult, error) {
	return border.Run(ctx, in, a.indexSession)
}

func (a *Activities) indexSession(ctx context.Context, in SessionInput) (SessionResult, error) {
	var woken time.Time
	for wait := pollFirst; ; wait = min(2*wait, pollLast) {
		pending, result, err := a.session(ctx, in)
		if err != nil || pending == 0 {
			return result, err
		}
		if time.Since(woken) > wakeAgain {
			if err := wake(ctx, a.temporal, a.writer.Collection()); err != nil {
				return SessionResult{}, err
			}
			woken = time.Now()
		}
		select {
		case <-ctx.Done():
			return SessionResult{}, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// session counts the session's rows. A row that failed is not waited for: its retry may be far off.
func (a *Activities) session(ctx context.Context, in SessionInput) (pending uint64, result SessionResult, err error) {
	var done, failed uint64
	err = a.conn.QueryRow(ctx, `SELECT countIf(status = 'pending'), countIf(status = 'done'), countIf(status = 'failed')
		FROM vector_outbox WHERE embedding_version = ? AND project = ? AND item_kind = 'entry' AND item_id IN
		(SELECT entry_id FROM entries WHERE project = ? AND stream = ?)`,
		a.version, in.Project, in.Project, in.Stream()).Scan(&pending, &done, &failed)
	if err != nil {
		return 0, SessionResult{}, fmt.Errorf("count vectors of session %q: %w", in.SessionID, err)
	}
	return pending, SessionResult{Indexed: int(done), Failed: int(failed)}, nil
}

func wake(ctx context.Context, temporal client.Client, collection string) error {
	w := border.VectorWriter(collection)
	options := client.StartWorkflowOptions{
		ID: w.ID, TaskQueue: schema.QueueMain, StaticSummary: w.Summary,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}
	_, err := temporal.SignalWithStartWorkflow(ctx, w.ID, schema.SignalWake, nil, options, w.Type, w.Input)
	if err != nil {
		return fmt.Errorf("wake the vector writer of %q: %w", collection, err)
	}
	return nil
}

// Enqueuer hands what a stream asks to be indexed to the collection's writer, and does not wait.
type Enqueuer struct {
	log        Log
	projector  *OutboxProjector
	temporal   client.Client
	collection string
}

// NewEnqueuer returns the enqueuer of the projector's collection.
func NewEnqueuer(log Log, projector *OutboxProjector, temporal client.Client) *Enqueuer {
	return &Enqueuer{log: log, projector: projector, temporal: temporal, collection: schema.VectorCollection(projector.version)}
}

// Enqueue brings the outbox up to date with the stream, and wakes the writer if there is anything new.
func (e *Enqueuer) Enqueue(ctx context.Context, stream string) error {
	progress, err := e.log.Project(ctx, e.projector, stream)
	if err != nil || progress.Events == 0 {
		return err
	}
	return wake(ctx, e.temporal, e.collection)
}
