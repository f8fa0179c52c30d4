package batch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/activities/text"
	"axiommind/schema"
)

const actor = "pipeline"

// Bounds of a list.
const (
	// maxPageBytes bounds the JSON of the items of a page, and of those that a workflow gets at once. A single item may be
	// larger, up to maxItemBytes: Temporal's payloads should stay below 64 KiB.
	maxPageBytes = 44 << 10
	maxItemBytes = 60 << 10
	// maxPageTime bounds the work that an attempt loses that is ended: see listWork in package workflows.
	maxPageTime = 5 * time.Minute
	// maxReason bounds a reason, and maxName a name.
	maxReason = 1000
	maxName   = 4096
)

// ListInput is the input of an activity that lists the items of a batch. By selects them.
type ListInput[In any] struct {
	Batch string    `json:"batch"`
	At    time.Time `json:"at"`
	By    In        `json:"by"`
	// Killed is how many workers have died while they listed the batch.
	Killed int `json:"killed,omitempty"`
}

// Listed is the result of such an activity.
type Listed struct {
	Items      int               `json:"items"`
	PassedOver int               `json:"passed_over"`
	Head       schema.StreamHead `json:"head,omitzero"`
}

// Lister appends the items of a batch to its stream and keeps one page of them in memory. An attempt that follows a
// broken-off one continues at its [Lister.Cursor].
type Lister struct {
	log    *eventlog.Store
	page   schema.BatchListedPayload
	size   int
	at     time.Time
	listed Listed
	// began is when the page got its first item, and pageTime how long it may stay open.
	began    time.Time
	pageTime time.Duration
	// done is true once the last page is stored.
	done bool
}

// List returns the lister of the batch.
func List(ctx context.Context, log *eventlog.Store, batch string, at time.Time) (*Lister, error) {
	l := &Lister{log: log, at: at, pageTime: maxPageTime, page: schema.BatchListedPayload{Batch: batch}}
	for e, err := range log.Stream(ctx, l.stream(), eventlog.StreamOptions{Types: []string{schema.BatchListed}}) {
		if err != nil {
			return nil, fmt.Errorf("read the list of batch %q: %w", batch, err)
		}
		p, err := schema.Decode[schema.BatchListedPayload](e)
		if err != nil {
			return nil, err
		}
		l.stored(p)
	}
	return l, nil
}

func (l *Lister) stream() string { return schema.BatchStream(l.page.Batch) }

// stored notes that the page is in the log, and begins the next one.
func (l *Lister) stored(p schema.BatchListedPayload) {
	l.listed.Items += len(p.Items)
	l.listed.PassedOver += len(p.PassedOver)
	l.done = p.Last
	l.page, l.size = schema.BatchListedPayload{Batch: p.Batch, Page: p.Page + 1, Cursor: p.Cursor}, 0
}

// Done reports whether an earlier attempt has listed everything.
func (l *Lister) Done() bool { return l.done }

// Cursor is the cursor of the last page that an earlier attempt has appended. It is empty at the beginning.
func (l *Lister) Cursor() string { return l.page.Cursor }

// Add adds an item, whose Index is set here. The cursor says where to go on after it. An item that is too large for a
// payload is refused, so that it does not stop the others. Once the list is done, nothing is added.
func (l *Lister) Add(ctx context.Context, item schema.BatchItem, cursor string) error {
	if l.done {
		return nil
	}
	item.Index = l.listed.Items + len(l.page.Items)
	item.Name, item.Refused = shorten(item.Name, maxName), shorten(item.Refused, maxReason)
	n, err := sizeOf(item)
	if err == nil && n > maxItemBytes {
		item = refuseLarge(item, n)
		n, err = sizeOf(item)
	}
	if err != nil {
		return err
	}
	if err := l.room(ctx, n); err != nil || l.done {
		return err
	}
	l.page.Items, l.page.Cursor = append(l.page.Items, item), cursor
	return nil
}

// refuseLarge refuses an item of n bytes. The returned item keeps only the names that identify it, shortened.
func refuseLarge(item schema.BatchItem, n int) schema.BatchItem {
	if item.Refused == "" {
		item.Refused, item.RefusedType = fmt.Sprintf("its input has %d bytes, more than %d", n, maxItemBytes), schema.ErrorInvalidInput
	}
	in := item.Input
	item.Input = schema.ProcessSessionInput{
		Project: shorten(in.Project, schema.MaxNameBytes), User: shorten(in.User, schema.MaxNameBytes),
		Agent: shorten(in.Agent, schema.MaxNameBytes), SessionID: shorten(in.SessionID, schema.MaxNameBytes),
	}
	return item
}

// PassOver adds an item that the batch leaves out, with the reason.
func (l *Lister) PassOver(ctx context.Context, p schema.PassedOver, cursor string) error {
	if l.done {
		return nil
	}
	p.Name, p.Reason = shorten(p.Name, maxName), shorten(p.Reason, maxReason)
	if err := l.room(ctx, len(p.Name)+len(p.Reason)+len(p.Class)); err != nil || l.done {
		return err
	}
	l.page.PassedOver, l.page.Cursor = append(l.page.PassedOver, p), cursor
	return nil
}

// Flush appends the items added so far, so that another attempt continues after them.
func (l *Lister) Flush(ctx context.Context) error {
	if l.size == 0 || l.done {
		return nil
	}
	return l.append(ctx)
}

// room makes room for n bytes: a page that is full, or has been open for long, is appended.
func (l *Lister) room(ctx context.Context, n int) error {
	if l.size > 0 && (l.size+n > maxPageBytes || time.Since(l.began) >= l.pageTime) {
		if err := l.append(ctx); err != nil {
			return err
		}
	}
	if l.size == 0 {
		l.began = time.Now()
	}
	l.size += n
	return nil
}

// Close appends the last page.
func (l *Lister) Close(ctx context.Context) (Listed, error) {
	if !l.done {
		l.page.Last = true
		if err := l.append(ctx); err != nil {
			return Listed{}, err
		}
	}
	l.listed.Head = l.log.Head(l.stream())
	return l.listed, nil
}

// append appends the page. Another attempt that was taken for dead may have appended a page with its number: then this
// one begins again from there.
func (l *Lister) append(ctx context.Context) error {
	e, err := schema.NewEvent(l.page, schema.Event{TS: l.at, Actor: actor, DedupeKey: schema.BatchListedKey(l.page.Batch, l.page.Page)})
	if err != nil {
		return err
	}
	// The stream has no other writer.
	ctx = eventlog.WithHead(ctx, l.stream(), l.log.Head(l.stream()))
	appended, err := l.log.Append(ctx, l.stream(), []schema.Event{e})
	if err != nil {
		return fmt.Errorf("append page %d of batch %q: %w", l.page.Page, l.page.Batch, err)
	}
	if len(appended.Differing) > 0 {
		return fmt.Errorf("append page %d of batch %q, which another attempt has written: %w", l.page.Page, l.page.Batch, eventlog.ErrConcurrentWriter)
	}
	l.stored(l.page)
	return nil
}

// shorten makes text valid UTF-8 and cuts it.
func shorten(s string, most int) string { return text.Clip(strings.ToValidUTF8(s, "\uFFFD"), most) }
