package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// MakeEmbedder returns the embedder of a version, or an error if it is unavailable to this process.
type MakeEmbedder func(ctx context.Context, version string) (Embedder, error)

// InUse returns the embedder that searches use.
type InUse interface {
	InUse(ctx context.Context) (Embedder, error)
}

// Indexes are the indexes of the embedding version in use and of the one that will replace it. The versions may change
// at any time, so writers are created on demand.
type Indexes struct {
	*Choices
	conn     driver.Conn
	log      *projection.Store
	client   *Client
	temporal client.Client
	own      Embedder
	make     MakeEmbedder
	opts     Options

	mu      sync.Mutex
	made    map[string]Embedder
	writers map[string]*Writer
}

// NewIndexes returns the indexes of the log. The embedder is that of this process, which is also used if the log has no
// choice. Without a Temporal client the indexes are read-only.
func NewIndexes(
	conn driver.Conn, log *projection.Store, c *Client, temporal client.Client, own Embedder, make MakeEmbedder, opts Options,
) *Indexes {
	kept := searchersKeep
	if temporal != nil {
		kept = opts.withDefaults().Timing.Embedder
	}
	return &Indexes{
		Choices: newChoices(log, kept), conn: conn, log: log, client: c, temporal: temporal, own: own, make: make, opts: opts,
		made: map[string]Embedder{own.Version(): own}, writers: map[string]*Writer{},
	}
}

// Versions returns the versions that items are indexed with, the one in use first.
func (x *Indexes) Versions(ctx context.Context) ([]string, error) {
	choice, err := x.Recent(ctx)
	switch {
	case err != nil:
		return nil, err
	case choice.Used == "":
		return []string{x.own.Version()}, nil
	}
	return choice.Versions(), nil
}

// InUse returns the embedder in use, or a [WordsOnly] if it is unavailable to this process.
func (x *Indexes) InUse(ctx context.Context) (Embedder, error) {
	versions, err := x.Versions(ctx)
	if err != nil {
		return nil, err
	}
	e, err := x.embedder(ctx, versions[0])
	if none, ok := e.(WordsOnly); ok {
		return nil, none.Reason // Nothing is indexed, and this process has no embedder.
	}
	if err != nil {
		return WordsOnly{versions[0], err}, nil //nolint:nilerr // the embedder says why there is none
	}
	return e, nil
}

// writable returns the version in use, or this process's own version if the embedder in use is unavailable. Items
// indexed with the latter are found once it is in use.
func (x *Indexes) writable(ctx context.Context) (version string, err error) {
	e, err := x.InUse(ctx)
	if err != nil {
		return "", err
	}
	if _, words := e.(WordsOnly); words {
		return x.own.Version(), nil
	}
	return e.Version(), nil
}

// embedder returns the embedder of the version.
func (x *Indexes) embedder(ctx context.Context, version string) (Embedder, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e := x.made[version]; e != nil {
		return e, nil
	}
	e, err := x.make(ctx, version)
	if err != nil {
		return nil, fmt.Errorf("make the embedder of version %q: %w", version, err)
	}
	x.made[version] = e
	return e, nil
}

// Writer returns the writer of the collection, which must be of a version whose vectors are kept. Vectors of another
// model would be found only by chance, although the outbox marks them done.
func (x *Indexes) Writer(ctx context.Context, collection string) (*Writer, error) {
	choice, err := x.Recent(ctx)
	if err != nil {
		return nil, err
	}
	index := x.indexOf(choice, collection)
	if index == "" { // It may have been chosen just now.
		if choice, err = x.Now(ctx); err != nil {
			return nil, err
		}
		index = x.indexOf(choice, collection)
	}
	switch {
	case index != "":
		return x.writerOf(ctx, index)
	case slices.Contains(collections(choice.Dropped...), collection):
		return nil, fmt.Errorf("write collection %q, which is deleted: %w", collection, ErrNoEmbedder)
	}
	return nil, fmt.Errorf("write collection %q: %w: there are %q", collection, ErrOtherEmbedder, collections(choice.Versions()...))
}

// indexOf returns the index with the collection, among the versions whose vectors exist, or "".
func (x *Indexes) indexOf(choice Choice, collection string) string {
	for _, version := range slices.Concat(choice.Versions(), choice.Old, []string{x.own.Version()}) {
		for _, index := range schema.Indexes(version) {
			if version != "" && schema.VectorCollection(index) == collection {
				return index
			}
		}
	}
	return ""
}

// writerOf returns the writer of the index.
func (x *Indexes) writerOf(ctx context.Context, index string) (*Writer, error) {
	version, messages := schema.SplitIndex(index)
	e, err := x.embedder(ctx, version)
	if err != nil {
		return nil, errors.Join(ErrNoEmbedder, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if w := x.writers[index]; w != nil {
		return w, nil
	}
	sources := []Source{NewEntrySource(x.conn, x.log), NewTitleSource(x.conn), NewFactSource(x.conn, x.log)}
	if messages {
		sources = []Source{NewMessageSource(x.conn, x.log)}
	}
	w, err := NewWriter(x.conn, x.log, NewOutboxProjector(x.conn, index), x.client, e, sources, x.opts)
	x.writers[index] = w
	return w, err
}

// collections returns the collections of the versions.
func collections(versions ...string) []string {
	var out []string
	for _, version := range versions {
		for _, index := range schema.Indexes(version) {
			out = append(out, schema.VectorCollection(index))
		}
	}
	return out
}

// Enqueuers pass a stream's requests to the writers of the indexes of one kind, without waiting for the writers.
type Enqueuers struct {
	indexes  *Indexes
	messages bool
}

// Enqueuers returns the enqueuers of entries and task titles, or those of messages.
func (x *Indexes) Enqueuers(messages bool) *Enqueuers { return &Enqueuers{x, messages} }

// enqueuer returns the enqueuer of one index.
func (x *Indexes) enqueuer(index string) *Enqueuer {
	return NewEnqueuer(x.log, NewOutboxProjector(x.conn, index), x.temporal)
}

// Enqueue brings the outboxes up to date with the stream, and wakes the writers whose outbox got new rows.
func (e *Enqueuers) Enqueue(ctx context.Context, stream string) error {
	return e.EnqueueWith(ctx, stream, nil)
}

// EnqueueWith is [Enqueuers.Enqueue], and brings other projections of the stream up to date with the same inserts.
func (e *Enqueuers) EnqueueWith(ctx context.Context, stream string, others []projection.Projector) error {
	all, err := e.all(ctx)
	if err != nil { // The other tables do not depend on the embedder.
		return errors.Join(err, e.indexes.log.ProjectEach(ctx, stream, others))
	}
	projectors := slices.Clone(others)
	for _, one := range all {
		same := func(p projection.Projector) bool { return p.Name() == one.projector.Name() }
		projectors = append(slices.DeleteFunc(projectors, same), one.projector)
	}
	err = e.indexes.log.ProjectEach(ctx, stream, projectors)
	for _, one := range all {
		err = errors.Join(err, one.enqueued(ctx))
	}
	return err
}

func (e *Enqueuers) all(ctx context.Context) (all []*Enqueuer, err error) {
	versions, err := e.indexes.Versions(ctx)
	for _, version := range versions {
		for _, index := range schema.Indexes(version) {
			if _, messages := schema.SplitIndex(index); messages == e.messages {
				all = append(all, e.indexes.enqueuer(index))
			}
		}
	}
	return all, err
}

// WakePending wakes the writers of all indexes that have pending rows.
func (x *Indexes) WakePending(ctx context.Context) error {
	versions, err := x.Versions(ctx)
	for _, version := range versions {
		err = errors.Join(err, x.wake(ctx, version))
	}
	return err
}

// wake wakes the writers of the version's indexes that have pending rows.
func (x *Indexes) wake(ctx context.Context, version string) (err error) {
	for _, index := range schema.Indexes(version) {
		err = errors.Join(err, x.enqueuer(index).WakePending(ctx))
	}
	return err
}

// WordsOnly replaces an embedder that is unavailable to this process: its index is searched by words only.
type WordsOnly struct {
	version string
	// Reason is the reason why there is no embedder.
	Reason error
}

// NoEmbedder is the embedder of a reading process without one of its own, for the given reason. It does not matter if
// the log has a choice.
func NoEmbedder(reason error) WordsOnly { return WordsOnly{Reason: reason} }

// Version implements [Embedder].
func (w WordsOnly) Version() string { return w.version }

// Dimensions implements [Embedder].
func (WordsOnly) Dimensions() int { return 0 }

// Embed implements [Embedder].
func (w WordsOnly) Embed(context.Context, []string) ([][]float32, error) {
	return nil, boundary.Invalid(schema.ErrorModelRefused, w.Reason)
}

// EmbedQuery implements [Embedder].
func (w WordsOnly) EmbedQuery(context.Context, string) ([]float32, error) {
	return nil, boundary.Invalid(schema.ErrorModelRefused, w.Reason)
}

// Waiting counts the items that are not indexed yet with the version: those of the projects, and the facts that people
// entered about the user, who may be empty. Permanently failed items do not count. The items that are not done in one of their
// rows are found first: most are indexed, and the engine need not look for the last row of each.
func Waiting(ctx context.Context, conn driver.Conn, version, user string, projects ...string) (int, error) {
	waiting, memories := 0, schema.MemoryPrefix
	if user != "" {
		memories = schema.MemoryStream(user, "")
	}
	err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var n uint64
		err := rows.Scan(&n)
		waiting = int(n) //nolint:gosec // rows of a table
		return err
	}, `SELECT count() FROM vector_outbox WHERE embedding_version IN $1
			AND job_id IN (SELECT job_id FROM vector_outbox_raw WHERE embedding_version IN $1 AND status != 'done')
			AND (status = 'pending' OR status = 'failed' AND NOT permanent)
			AND (project IN $2 OR $3 AND project = '' AND item_id IN (SELECT event_id FROM events_raw WHERE $3 AND startsWith(stream, $4)))`,
		schema.Indexes(version), clickhouse.Set(projects), user != "", memories)
	if err != nil {
		return 0, fmt.Errorf("count the items that are not indexed yet: %w", err)
	}
	return waiting, nil
}
