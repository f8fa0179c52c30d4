package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Log is the part of the event log that a Writer uses.
type Log interface {
	Stream(ctx context.Context, stream string, opts eventlog.StreamOptions) iter.Seq2[schema.Event, error]
	Append(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error)
	Project(ctx context.Context, p projection.Projector, stream string) (projection.Progress, error)
	ProjectEach(ctx context.Context, stream string, projectors []projection.Projector) error
	Steady(ctx context.Context, p projection.Projector, stream string, plan func() error) error
	Head(stream string) schema.StreamHead
	AsWriter(ctx context.Context, stream string, head schema.StreamHead) (context.Context, error)
}

// Defaults of [Options].
const (
	DefaultBatchSize   = 256
	DefaultMaxAttempts = 8
	DefaultRetryBase   = 30 * time.Second
	DefaultRetryMax    = time.Hour
	DefaultSample      = 200
	DefaultTurn        = 5 * time.Second
)

// maxReason limits the stored size of an item's error, in bytes.
const maxReason = 500

// Options configures a [Writer]. Zero values mean the defaults.
type Options struct {
	// BatchSize is the number of items to embed, write and record at a time.
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
	// Turn is the approximate time of a rebuild's turn, before other work has its turn.
	Turn time.Duration
	// Timing has the time to cache a choice of the embedder, and the time that old vectors stay after a switch.
	Timing schema.Timing
}

func (o Options) withDefaults() Options {
	o.BatchSize = cmp.Or(o.BatchSize, DefaultBatchSize)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, DefaultMaxAttempts)
	o.Backoff.Base = cmp.Or(o.Backoff.Base, DefaultRetryBase)
	o.Backoff.Max = cmp.Or(o.Backoff.Max, DefaultRetryMax)
	o.Sample = cmp.Or(o.Sample, DefaultSample)
	o.Actor = cmp.Or(o.Actor, "vector_writer")
	o.Turn = cmp.Or(o.Turn, DefaultTurn)
	o.Timing = o.Timing.WithDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	return o
}

// Writer writes the requested items of the outbox to the vector store. Only one writer at a time may write a
// collection.
type Writer struct {
	log Log
	// version is that of the index: see [schema.Indexes].
	version    string
	outbox     *Outbox
	projector  *OutboxProjector
	client     *Client
	embedder   Embedder
	sources    map[string]Source
	collection string
	opts       Options
	recent     recent
}

// NewWriter returns the writer of the projector's index, which must be one of the embedder's version. The sources
// provide the items of each kind.
func NewWriter(conn driver.Conn, log Log, projector *OutboxProjector, client *Client, embedder Embedder,
	sources []Source, opts Options,
) (*Writer, error) {
	version := projector.version
	if of, _ := schema.SplitIndex(version); of != embedder.Version() {
		return nil, fmt.Errorf("make vector writer: the outbox is of version %q, the embedder of %q", version, embedder.Version())
	}
	w := &Writer{
		log: log, version: version, outbox: NewOutbox(conn, version), projector: projector, client: client, embedder: embedder,
		sources: map[string]Source{}, collection: schema.VectorCollection(version), opts: opts.withDefaults(),
	}
	for _, s := range sources {
		w.sources[s.Kind()] = s
	}
	return w, nil
}

// Collection returns the name of the Weaviate class that the writer writes.
func (w *Writer) Collection() string { return w.collection }

func (w *Writer) stream() string { return schema.VectorStream(w.collection) }

// Result is the outcome of one call of [Writer.IndexPending], and describes the remaining work.
type Result struct {
	Indexed int `json:"indexed"`
	// Failed counts the items whose failure this call recorded.
	Failed int `json:"failed"`
	// More is true if there are more items that can be processed now.
	More bool `json:"more,omitempty"`
	// NextRetry is the time when the next failed item is due, unless there are more items. It is zero if none awaits a
	// retry.
	NextRetry time.Time `json:"next_retry,omitzero"`
	// Head is the head of the collection's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// IndexPending processes up to limit items that are pending, or failed and due. It may be stopped at any point and
// called again: recorded work is not repeated, and unrecorded writes are overwritten.
//
// Failures of single items are recorded and counted. IndexPending returns only errors that no single item caused.
func (w *Writer) IndexPending(ctx context.Context, limit int) (Result, error) {
	var result Result
	if err := w.project(ctx); err != nil {
		return result, err
	}
	due, err := w.outbox.Due(ctx, w.opts.Now(), w.opts.Backoff, limit)
	if err != nil {
		return result, err
	}
	result.More, result.NextRetry = due.More, due.NextRetry
	pending, err := w.load(ctx, due.Rows)
	if err != nil {
		return result, err
	}
	err = w.do(ctx, pending, func(rows map[string]Row) {
		for _, row := range rows {
			switch {
			case row.Status == schema.OutboxDone:
				result.Indexed++
				continue
			case !row.Permanent && !result.More:
				result.NextRetry = sooner(result.NextRetry, row.dueAt(w.opts.Now(), w.opts.Backoff))
			}
			result.Failed++
		}
	})
	return result, err
}

// project brings the outbox up to date with the collection's stream.
func (w *Writer) project(ctx context.Context) error {
	if _, err := w.log.Project(ctx, w.projector, w.stream()); err != nil {
		return fmt.Errorf("project vector outbox: %w", err)
	}
	return nil
}

// ensure creates the collection and the tenants of the work if they are missing, and returns the class to write.
func (w *Writer) ensure(ctx context.Context, todo []*work) (class string, err error) {
	if len(todo) == 0 {
		return "", nil
	}
	if class, err = w.client.EnsureCollection(ctx, w.collection); err != nil {
		return "", err
	}
	return class, w.ensureTenants(ctx, todo, class)
}

// ensureTenants creates the tenants of the work that are missing in the classes.
func (w *Writer) ensureTenants(ctx context.Context, todo []*work, classes ...string) error {
	for _, project := range projects(todo) {
		for _, class := range classes {
			if err := w.client.EnsureTenant(ctx, class, project); err != nil {
				return err
			}
		}
	}
	return nil
}

func projects(todo []*work) []string {
	var out []string
	for _, t := range todo {
		out = append(out, t.row.Project)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// work is an item to write and its outcome.
type work struct {
	row  Row
	item Item
	// vector is the vector of the item if it is known. Such an item is not embedded.
	vector []float32
	// fault is the reason why the item was not written. If it is permanent, a retry cannot succeed.
	fault     error
	permanent bool
	// outage is true if the item is not at fault. Then it does not count as an attempt.
	outage bool
}

// do writes the items in batches. After each it records the outcomes, and passes the new rows by job id to changed.
func (w *Writer) do(ctx context.Context, todo []*work, changed func(rows map[string]Row)) error {
	class, err := w.ensure(ctx, todo)
	if err != nil {
		return w.outage(ctx, todo, err)
	}
	worked := 0
	for batch := range slices.Chunk(todo, w.opts.BatchSize) {
		if err := w.write(ctx, batch, class); err != nil {
			return w.outage(ctx, todo[worked:], err)
		}
		rows, err := w.record(ctx, batch)
		if err != nil {
			return err
		}
		changed(rows)
		worked += len(batch)
		w.opts.Progress(worked)
	}
	return nil
}

// outage records that none of the items could be written, and returns the error, which no item caused. An item that has
// failed before keeps its error, so that an outage is recorded once, however often it occurs.
func (w *Writer) outage(ctx context.Context, todo []*work, err error) error {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return err
	}
	said := clickhouse.Readable(err).Error()
	redact.Strings(&said) // An error may quote an item's text.
	var pending []*work
	for _, t := range todo {
		if t.row.Status == schema.OutboxPending {
			t.fault, t.outage = errors.New(said), true
			pending = append(pending, t)
		}
	}
	for batch := range slices.Chunk(pending, w.opts.BatchSize) {
		if _, recorded := w.record(ctx, batch); recorded != nil {
			return errors.Join(err, recorded)
		}
	}
	return err
}

// write embeds the items that have no fault and no vector, and puts them into the classes.
func (w *Writer) write(ctx context.Context, batch []*work, classes ...string) error {
	if err := w.embed(ctx, batch); err != nil {
		return err
	}
	objects, puts := map[string][]Object{}, map[string][]*work{}
	for _, t := range batch {
		if t.fault != nil {
			continue
		}
		project := t.row.Project
		objects[project] = append(objects[project], t.item.object(w.version, t.vector))
		puts[project] = append(puts[project], t)
	}
	for _, project := range slices.Sorted(maps.Keys(puts)) {
		for _, class := range classes {
			results, err := w.client.Put(ctx, class, project, objects[project])
			if err != nil {
				return err
			}
			for i, fault := range results {
				puts[project][i].fault = cmp.Or(puts[project][i].fault, fault)
			}
		}
	}
	return nil
}

// embed sets the vector of each item, or its fault.
func (w *Writer) embed(ctx context.Context, batch []*work) error {
	var sound []*work
	var texts []string
	for _, t := range batch {
		if t.fault != nil || t.vector != nil {
			continue
		}
		text := t.item.Text()
		if text == "" {
			t.fault, t.permanent = errors.New("item has no text"), true
			continue
		}
		sound, texts = append(sound, t), append(texts, text)
	}
	vectors, faults, err := embedAll(ctx, w.embedder, texts)
	if err != nil {
		return err
	}
	for i, t := range sound {
		t.vector, t.fault, t.permanent = vectors[i], faults[i], faults[i] != nil
	}
	return nil
}

// errNoItem is the fault of a requested item that does not exist, or no longer exists.
var errNoItem = errors.New("no such item")

// load reads the items of the rows.
func (w *Writer) load(ctx context.Context, rows []Row) ([]*work, error) {
	type group struct{ kind, project string }
	ids := map[group][]string{}
	for _, r := range rows {
		g := group{r.Kind, r.Project}
		ids[g] = append(ids[g], r.ID)
	}
	found := map[group]map[string]Item{}
	for g := range ids {
		source, ok := w.sources[g.kind]
		if !ok {
			continue
		}
		items, err := source.Load(ctx, g.project, ids[g])
		if err != nil {
			return nil, err
		}
		found[g] = items
	}
	out := make([]*work, len(rows))
	for i, r := range rows {
		out[i] = &work{row: r}
		item, ok := found[group{r.Kind, r.Project}][r.ID]
		switch {
		case w.sources[r.Kind] == nil:
			out[i].fault = fmt.Errorf("no source of kind %q", r.Kind)
		case !ok:
			out[i].fault = errNoItem
		default:
			out[i].item = item
		}
	}
	return out, nil
}

// record appends the outcomes of the batch, with events for each build, and projects them. It returns the resulting
// rows by job id.
func (w *Writer) record(ctx context.Context, batch []*work) (map[string]Row, error) {
	byBuild := map[string][]*work{}
	for _, t := range batch {
		byBuild[t.row.BuildID] = append(byBuild[t.row.BuildID], t)
	}
	var events []schema.Event
	for _, build := range slices.Sorted(maps.Keys(byBuild)) {
		made, err := w.outcomes(byBuild[build], build)
		if err != nil {
			return nil, err
		}
		events = append(events, made...)
	}
	return w.append(ctx, events)
}

// outcomes returns the events with the outcomes of the items that the build requested.
func (w *Writer) outcomes(batch []*work, build string) ([]schema.Event, error) {
	done := schema.VectorIndexedPayload{Collection: w.collection}
	failed := schema.VectorFailedPayload{Collection: w.collection}
	var doneStates, failedStates []string
	for _, t := range batch {
		if t.fault == nil {
			hash := t.item.ContentHash()
			done.Items = append(done.Items, schema.IndexedVector{
				VectorItem: t.row.VectorItem, Project: t.row.Project, EnqueuedAt: t.row.CreatedAt, ContentHash: hash,
			})
			doneStates = append(append(doneStates, t.row.state()...), hash)
			continue
		}
		attempt := t.row.Attempts
		if !t.outage {
			attempt++
		}
		failed.Items = append(failed.Items, schema.FailedVector{
			VectorItem: t.row.VectorItem, Project: t.row.Project, EnqueuedAt: t.row.CreatedAt, Urgency: t.row.Urgency, Attempt: attempt,
			Error: shorten(t.fault.Error()), Permanent: t.permanent || attempt >= w.opts.MaxAttempts,
		})
		failedStates = append(failedStates, t.row.state()...)
	}
	var events []schema.Event
	add := func(payload any, key string) error {
		event, err := w.event(payload, build, key)
		events = append(events, event)
		return err
	}
	var err error
	if len(done.Items) > 0 {
		err = add(done, schema.VectorIndexedKey(w.collection, doneStates))
	}
	if len(failed.Items) > 0 {
		err = errors.Join(err, add(failed, schema.VectorFailedKey(w.collection, failedStates)))
	}
	return events, err
}

// append appends events to the collection's stream and projects them. It returns the rows of the stored events, by job
// id.
func (w *Writer) append(ctx context.Context, events []schema.Event) (map[string]Row, error) {
	appended, err := w.log.Append(ctx, w.stream(), events)
	if err != nil {
		return nil, fmt.Errorf("record vectors: %w", err)
	}
	changed := map[string]Row{}
	for _, event := range appended.Events {
		rows, err := w.projector.rows(event)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			changed[row.JobID()] = row
		}
	}
	w.recent.put(changed)
	w.recent.move(w.log.Head(w.stream()))
	return changed, w.project(ctx)
}

func (w *Writer) event(payload any, build, key string) (schema.Event, error) {
	return schema.NewEvent(payload, schema.Event{
		TS: w.opts.Now().UTC().Truncate(time.Microsecond), Actor: w.opts.Actor,
		Sensitivity: schema.SensitivityNormal, BuildID: build, DedupeKey: key,
	})
}

// shorten turns an error text into valid UTF-8 of at most maxReason bytes.
func shorten(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxReason)], "")
}
