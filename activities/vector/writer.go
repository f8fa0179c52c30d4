package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Log is the part of the event log that a Writer uses.
type Log interface {
	Append(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	Project(ctx context.Context, p eventlog.Projector, stream string) (eventlog.Progress, error)
	Steady(ctx context.Context, p eventlog.Projector, stream string, plan func() error) error
}

// Defaults of [Options].
const (
	DefaultBatchSize   = 64
	DefaultMaxAttempts = 8
	DefaultRetryBase   = 30 * time.Second
	DefaultRetryMax    = time.Hour
	DefaultSample      = 200
)

// maxReason limits the stored size of an item's error, in bytes.
const maxReason = 500

// Options configures a [Writer]. Zero values mean the defaults.
type Options struct {
	// BatchSize is the number of items that are embedded, written and recorded at a time.
	BatchSize int
	// MaxAttempts is the number of attempts after which an item's failure is permanent.
	MaxAttempts int
	// Backoff is the wait before a failed item is retried.
	Backoff Backoff
	// Sample is the number of objects per project that reconcile compares if the counts agree.
	Sample int
	// Actor is the actor of the events.
	Actor string
	// Now returns the current time.
	Now func() time.Time
	// Progress is called after each batch with the number of items processed so far.
	Progress func(items int)
}

func (o Options) withDefaults() Options {
	o.BatchSize = cmp.Or(o.BatchSize, DefaultBatchSize)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, DefaultMaxAttempts)
	o.Backoff.Base = cmp.Or(o.Backoff.Base, DefaultRetryBase)
	o.Backoff.Max = cmp.Or(o.Backoff.Max, DefaultRetryMax)
	o.Sample = cmp.Or(o.Sample, DefaultSample)
	o.Actor = cmp.Or(o.Actor, "vector_writer")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	return o
}

// Writer updates the vector store as the outbox requests. Only one at a time may write a collection.
type Writer struct {
	log        Log
	outbox     *Outbox
	projector  *OutboxProjector
	client     *Client
	embedder   Embedder
	sources    map[string]Source
	collection string
	opts       Options
}

// NewWriter returns the writer of the embedder's collection. The projector must be for the embedder's version. The
// sources provide the items of each kind.
func NewWriter(conn driver.Conn, log Log, projector *OutboxProjector, client *Client, embedder Embedder,
	sources []Source, opts Options,
) (*Writer, error) {
	version := embedder.Version()
	if projector.version != version {
		return nil, fmt.Errorf("make vector writer: the outbox is of version %q, the embedder of %q",
			projector.version, version)
	}
	w := &Writer{
		log: log, outbox: NewOutbox(conn, version), projector: projector, client: client, embedder: embedder,
		sources: map[string]Source{}, collection: schema.VectorCollection(version), opts: opts.withDefaults(),
	}
	for _, s := range sources {
		w.sources[s.Kind()] = s
	}
	return w, nil
}

// Collection returns the name of the Weaviate class that the writer writes.
func (w *Writer) Collection() string { return w.collection }

// Result is the outcome of one call of [Writer.IndexPending], and what remains to be done.
type Result struct {
	Indexed int
	// Failed counts the items whose failure this call recorded.
	Failed int
	// Remaining counts the items that can be processed now.
	Remaining int
	// NextRetry is the time at which the next failed item is due. It is zero if none waits for a retry.
	NextRetry time.Time
}

// IndexPending processes up to limit items that are pending, or failed and due. It may be stopped at any point and
// called again: recorded work is not repeated, and what was written but not recorded is overwritten.
//
// Failures of single items are recorded and counted. IndexPending returns only errors that no single item caused.
func (w *Writer) IndexPending(ctx context.Context, limit int) (Result, error) {
	var result Result
	if err := w.project(ctx); err != nil {
		return result, err
	}
	rows, err := w.outbox.Due(ctx, w.opts.Now(), w.opts.Backoff, limit)
	if err != nil {
		return result, err
	}
	if err := w.ensure(ctx, rows); err != nil {
		return result, err
	}
	worked := 0
	for batch := range slices.Chunk(rows, w.opts.BatchSize) {
		outcomes, err := w.write(ctx, batch)
		if err != nil {
			return result, err
		}
		indexed, err := w.record(ctx, outcomes)
		if err != nil {
			return result, err
		}
		result.Indexed += indexed
		result.Failed += len(batch) - indexed
		worked += len(batch)
		w.opts.Progress(worked)
	}
	counts, err := w.outbox.Counts(ctx, w.opts.Now(), w.opts.Backoff)
	if err != nil {
		return result, err
	}
	result.Remaining, result.NextRetry = counts.Due, counts.NextRetry
	return result, nil
}

// project brings the outbox up to date with the collection's stream.
func (w *Writer) project(ctx context.Context) error {
	if _, err := w.log.Project(ctx, w.projector, schema.VectorStream(w.collection)); err != nil {
		return fmt.Errorf("project vector outbox: %w", err)
	}
	return nil
}

// ensure creates the collection and the rows' tenants if they are missing.
func (w *Writer) ensure(ctx context.Context, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := w.client.EnsureCollection(ctx, schema.EntryClass(w.collection)); err != nil {
		return err
	}
	for _, project := range projects(rows) {
		if err := w.client.EnsureTenant(ctx, w.collection, project); err != nil {
			return err
		}
	}
	return nil
}

func projects(rows []Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Project)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// outcome is the outcome of one row.
type outcome struct {
	row       Row
	hash      string
	fault     error
	permanent bool
}

// write embeds the rows' items and puts them into the store.
func (w *Writer) write(ctx context.Context, rows []Row) ([]outcome, error) {
	outcomes, items, err := w.load(ctx, rows)
	if err != nil {
		return nil, err
	}
	var loaded []int
	var texts []string
	for i := range outcomes {
		if outcomes[i].fault == nil {
			loaded = append(loaded, i)
			texts = append(texts, items[i].Text())
		}
	}
	vectors, faults, err := embedAll(ctx, w.embedder, texts)
	if err != nil {
		return nil, err
	}
	objects := map[string][]Object{}
	places := map[string][]int{}
	for n, i := range loaded {
		if faults[n] != nil {
			outcomes[i].fault, outcomes[i].permanent = faults[n], true
			continue
		}
		item := items[i]
		outcomes[i].hash = item.ContentHash()
		objects[item.Project] = append(objects[item.Project], item.object(w.embedder.Version(), vectors[n]))
		places[item.Project] = append(places[item.Project], i)
	}
	for _, project := range projects(rows) {
		if len(objects[project]) == 0 {
			continue
		}
		results, err := w.client.Put(ctx, w.collection, project, objects[project])
		if err != nil {
			return nil, err
		}
		for n, fault := range results {
			outcomes[places[project][n]].fault = fault
		}
	}
	return outcomes, nil
}

// errNoItem may go away after a later projection.
var errNoItem = errors.New("item is not in its projection")

// load finds the items of the rows. If an outcome has a fault, its item is empty.
func (w *Writer) load(ctx context.Context, rows []Row) ([]outcome, []Item, error) {
	type group struct{ kind, project string }
	ids := map[group][]string{}
	var groups []group
	for _, r := range rows {
		g := group{r.Kind, r.Project}
		if ids[g] == nil {
			groups = append(groups, g)
		}
		ids[g] = append(ids[g], r.ID)
	}
	found := map[group]map[string]Item{}
	for _, g := range groups {
		source, ok := w.sources[g.kind]
		if !ok {
			continue
		}
		items, err := source.Load(ctx, g.project, ids[g])
		if err != nil {
			return nil, nil, err
		}
		found[g] = items
	}
	outcomes, items := make([]outcome, len(rows)), make([]Item, len(rows))
	for i, r := range rows {
		outcomes[i].row = r
		item, ok := found[group{r.Kind, r.Project}][r.ID]
		switch {
		case w.sources[r.Kind] == nil:
			outcomes[i].fault = fmt.Errorf("no source of kind %q", r.Kind)
		case !ok:
			outcomes[i].fault = errNoItem
		case item.Text() == "":
			outcomes[i].fault, outcomes[i].permanent = errors.New("item has no text"), true
		default:
			items[i] = item
		}
	}
	return outcomes, items, nil
}

// record appends the outcomes of the rows and projects them. It returns the number of indexed rows.
func (w *Writer) record(ctx context.Context, outcomes []outcome) (indexed int, err error) {
	now := w.opts.Now().UTC().Truncate(time.Microsecond)
	done := schema.VectorIndexedPayload{Collection: w.collection}
	failed := schema.VectorFailedPayload{Collection: w.collection}
	var doneStates, failedStates []string
	for _, o := range outcomes {
		if o.fault == nil {
			done.Items = append(done.Items, schema.IndexedVector{
				VectorItem: o.row.VectorItem, Project: o.row.Project, EnqueuedAt: o.row.CreatedAt, ContentHash: o.hash,
			})
			doneStates = append(append(doneStates, o.row.state()...), o.hash)
			continue
		}
		attempt := o.row.Attempts + 1
		failed.Items = append(failed.Items, schema.FailedVector{
			VectorItem: o.row.VectorItem, Project: o.row.Project, EnqueuedAt: o.row.CreatedAt, Attempt: attempt,
			Error: shorten(o.fault.Error()), Permanent: o.permanent || attempt >= w.opts.MaxAttempts,
		})
		failedStates = append(failedStates, o.row.state()...)
	}
	var events []schema.Event
	add := func(payload any, key string) error {
		event, err := w.event(payload, key, now)
		events = append(events, event)
		return err
	}
	if len(done.Items) > 0 {
		err = add(done, schema.VectorIndexedKey(w.collection, doneStates))
	}
	if len(failed.Items) > 0 {
		err = errors.Join(err, add(failed, schema.VectorFailedKey(w.collection, failedStates)))
	}
	if err != nil {
		return 0, err
	}
	return len(done.Items), w.append(ctx, events)
}

func (w *Writer) append(ctx context.Context, events []schema.Event) error {
	if len(events) == 0 {
		return nil
	}
	if _, err := w.log.Append(ctx, schema.VectorStream(w.collection), events); err != nil {
		return fmt.Errorf("record vectors: %w", err)
	}
	return w.project(ctx)
}

func (w *Writer) event(payload any, key string, now time.Time) (schema.Event, error) {
	return schema.NewEvent(payload, schema.Event{
		TS: now, Actor: w.opts.Actor, Sensitivity: schema.SensitivityNormal, DedupeKey: key,
	})
}

// shorten turns an error text into valid UTF-8 of at most maxReason bytes.
func shorten(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxReason)], "")
}
