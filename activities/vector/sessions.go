package vector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.temporal.io/sdk/activity"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// IndexRequest identifies a session with entries to index.
type IndexRequest struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
	// EmbeddingVersion is the version with which the build started.
	EmbeddingVersion string `json:"embedding_version"`
	// Again retries failed items now, including permanent failures and those that await a retry.
	Again bool `json:"again,omitempty"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Writer returns the input of the workflow that indexes the session.
func (in IndexRequest) Writer() schema.WriterInput {
	return schema.VectorWriterInput{Collection: in.collection()}
}

func (in IndexRequest) collection() string { return schema.VectorCollection(in.EmbeddingVersion) }

// Validate returns an error if the input names no session, no build or no embedding version.
func (in IndexRequest) Validate() error {
	if in.BuildID == "" || in.EmbeddingVersion == "" {
		return errors.New("build_id or embedding_version is empty")
	}
	return in.SessionKey.Validate()
}

// SessionResult counts the session's items by outcome.
type SessionResult struct {
	Indexed int `json:"indexed"`
	Failed  int `json:"failed"`
	// NextRetry is the time at which the first failed item is due. It is zero if none awaits a retry.
	NextRetry time.Time `json:"next_retry,omitzero"`
}

// IndexSession asks the collection's workflow to index the session and waits for the result. Failed items are counted.
// The workflow retries them later, without IndexSession waiting for it.
func (a *Activities) IndexSession(ctx context.Context, in IndexRequest) (SessionResult, error) {
	// Another version may be in use by now. A version that will replace it is indexed in the background.
	version, err := a.indexes.writable(ctx)
	if err != nil {
		return SessionResult{}, boundary.Return(ctx, err)
	}
	in.EmbeddingVersion = version
	if in.Again { // The writer of messages, which no session waits for, may have ended because of the same failure.
		if err := a.indexes.WakePending(ctx); err != nil {
			return SessionResult{}, boundary.Return(ctx, err)
		}
	}
	return boundary.Submit[SessionResult](ctx, a.temporal, schema.UpdateSession, in.BuildID, in)
}

// IndexSessions indexes a batch of sessions. Only the vector_writer workflow may call it.
func (a *Activities) IndexSessions(ctx context.Context, in boundary.Batch[IndexRequest]) (boundary.Outcomes[SessionResult], error) {
	return boundary.Run(ctx, in, a.indexSessions)
}

func (a *Activities) indexSessions(ctx context.Context, in boundary.Batch[IndexRequest]) (boundary.Outcomes[SessionResult], error) {
	out := boundary.Outcomes[SessionResult]{Items: make([]boundary.Outcome[SessionResult], len(in.Items))}
	if len(in.Items) == 0 {
		return out, nil
	}
	w, err := a.indexes.Writer(ctx, in.Items[0].collection())
	if err != nil {
		return out, err
	}
	ctx, unbroken, err := w.from(ctx, in.Head)
	if err != nil {
		return out, err
	}
	jobs := make([][]string, len(in.Items))
	var all []request
	for i, session := range in.Items {
		requests, err := w.requests(ctx, session)
		if out.Items[i], err = boundary.Of(ctx, SessionResult{}, err); err != nil {
			return out, err
		}
		for _, r := range requests {
			r.fresh = r.fresh && unbroken
			jobs[i] = append(jobs[i], r.row.JobID())
			all = append(all, r)
		}
	}
	rows, err := w.index(ctx, all)
	if err != nil {
		return out, err
	}
	for i := range in.Items {
		out.Items[i].Result = w.count(rows, jobs[i])
	}
	out.Head = w.head(in.Head)
	return out, nil
}

// requests returns the requests of the session's stream, in order. For each item it has only the last request.
func (w *Writer) requests(ctx context.Context, in IndexRequest) ([]request, error) {
	stream := in.Stream()
	ctx = eventlog.WithHead(ctx, stream, in.Head)
	var out []request
	place := map[string]int{}
	for event, err := range w.log.Stream(ctx, stream, eventlog.StreamOptions{Types: w.projector.requestTypes()}) {
		if err != nil {
			return nil, fmt.Errorf("read entries of session %q: %w", in.SessionID, err)
		}
		asked, err := w.projector.read(event)
		if err != nil {
			return nil, err
		}
		for _, r := range asked {
			r.fresh, r.again = event.BuildID == in.BuildID, in.Again
			job := r.row.JobID()
			if at, ok := place[job]; ok {
				out[at] = r
				continue
			}
			place[job] = len(out)
			out = append(out, r)
		}
	}
	return out, nil
}

// from passes the head of the collection's stream to the log and the cache of recent rows. It reports whether this
// process has seen all recent writes. After a retry it has not, since the earlier attempt may have written more.
func (w *Writer) from(ctx context.Context, head schema.StreamHead) (_ context.Context, unbroken bool, err error) {
	if ctx, err = w.log.AsWriter(ctx, w.stream(), head); err != nil {
		return ctx, false, err
	}
	if activity.IsActivity(ctx) && activity.GetInfo(ctx).Attempt > 1 {
		head = schema.StreamHead{}
	}
	return ctx, w.recent.at(head), nil
}

// head returns the head of the collection's stream after work that began at the given one.
func (w *Writer) head(began schema.StreamHead) schema.StreamHead {
	if seen := w.log.Head(w.stream()); seen.Known && (!began.Known || seen.Seq > began.Seq) {
		return seen
	}
	return began
}

// index writes the requested items whose vectors are missing or outdated. It returns the rows of all items, by job id.
func (w *Writer) index(ctx context.Context, requests []request) (map[string]Row, error) {
	rows, err := w.current(ctx, requests)
	if err != nil {
		return nil, err
	}
	now := w.opts.Now()
	var due []*work
	taken := map[string]bool{}
	for _, r := range requests {
		job := r.row.JobID()
		if row := rows[job]; !taken[job] && (row.needs(r.item, now, w.opts.Backoff) || r.again && row.Status == schema.OutboxFailed) {
			taken[job] = true
			row.BuildID = r.row.BuildID
			due = append(due, &work{row: row, item: r.item})
		}
	}
	return rows, w.do(ctx, due, func(changed map[string]Row) { maps.Copy(rows, changed) })
}

// needs reports whether the item must be written now.
func (r Row) needs(item Item, now time.Time, b Backoff) bool {
	switch r.Status {
	case schema.OutboxDone:
		return r.ContentHash != item.ContentHash()
	case schema.OutboxFailed:
		return !r.Permanent && !r.dueAt(now, b).After(now)
	default:
		return true
	}
}

// current returns the rows of the requests by job id. It reads from the outbox the rows that another process may have
// changed. An error about a fresh request only costs an embedding.
func (w *Writer) current(ctx context.Context, requests []request) (map[string]Row, error) {
	rows := make(map[string]Row, len(requests))
	var unknown []string
	for _, r := range requests {
		job := r.row.JobID()
		row, ok := w.recent.get(job)
		if !ok {
			row = r.row
			if !r.fresh {
				unknown = append(unknown, job)
			}
		}
		rows[job] = row
	}
	if len(unknown) == 0 {
		return rows, nil
	}
	var found []Row
	err := w.log.Steady(ctx, w.projector, w.stream(), func() (err error) {
		found, err = w.outbox.byJob(ctx, unknown)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read vector outbox: %w", err)
	}
	known := make(map[string]Row, len(found))
	for _, row := range found {
		if job := row.JobID(); row.Rank >= rows[job].Rank {
			rows[job], known[job] = row, row
		}
	}
	w.recent.put(known)
	return rows, nil
}

// count counts the jobs by the status of their rows.
func (w *Writer) count(rows map[string]Row, jobs []string) (result SessionResult) {
	for _, job := range jobs {
		switch row := rows[job]; row.Status {
		case schema.OutboxDone:
			result.Indexed++
		case schema.OutboxFailed:
			result.Failed++
			if !row.Permanent {
				result.NextRetry = sooner(result.NextRetry, row.dueAt(w.opts.Now(), w.opts.Backoff))
			}
		}
	}
	return result
}

// sooner returns the earlier of two times. Zero means none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
