package vector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/projection"
	"axiommind/schema"
)

// Row is one row of vector_outbox: an item that should be in the vector store.
type Row struct {
	schema.VectorItem
	Project string
	Status  schema.OutboxStatus
	// Error is the reason why the last attempt failed, or why a row that was done is pending again.
	Error string
	// Attempts counts the failures of the item itself since the row last became pending. It is 0 in a row that failed
	// because of an outage: such a row is due at once, however often it is tried.
	Attempts    int
	Permanent   bool
	ContentHash string
	// BuildID is the build that requested the item, or the run that requested it again.
	BuildID string
	// CreatedAt is the time at which the item was requested, and UpdatedAt that of the last change of status.
	CreatedAt, UpdatedAt time.Time
	// Urgency orders the rows that can be processed now, the highest first. Drifted items have the highest, since
	// searches found them before.
	Urgency int64
	// Rank orders the rows of one item. The row with the highest rank is the current one. It is computed from the
	// event alone, so that the order in which streams are read does not matter.
	Rank uint64
}

// state returns the item's job id and the row's rank, for the dedupe keys of events about the row. An item that is
// requested again has a row with another rank.
func (r Row) state() []string { return []string{r.JobID(), strconv.FormatUint(r.Rank, 10)} }

// writerRank is greater than the rank of every request to index an item. So the writer's outcome for the item is newer
// than the request, and another request for it changes nothing.
const writerRank = uint64(1) << 32

// requested maps an event type to the function that returns the items that such an event requests.
type requested map[string]func(schema.Event) ([]Item, error)

// entryRequests are for the index of entries and task titles, messageRequests for that of messages.
var (
	entryRequests = requested{
		schema.EntryMaterialized: func(event schema.Event) ([]Item, error) {
			p, err := schema.Decode[schema.EntryMaterializedPayload](event)
			return []Item{EntryItem(p.Entry)}, err
		},
		schema.TaskCreated:      titleItems,
		schema.TaskTitleChanged: titleItems,
		schema.FactCreated:      factItems,
		schema.FactUpdated:      factItems,
	}
	messageRequests = requested{schema.SessionIngested: messageItems}
)

// OutboxProjector writes the rows of vector_outbox for one index. All requests for an item must be in one stream.
type OutboxProjector struct {
	conn     driver.Conn
	version  string
	requests requested
	// written counts the rows to write since the projector's only [Enqueuer] asked.
	written atomic.Int64
}

// NewOutboxProjector returns the projector for the index: see [schema.Indexes].
func NewOutboxProjector(conn driver.Conn, version string) *OutboxProjector {
	p := &OutboxProjector{conn: conn, version: version, requests: entryRequests}
	if _, messages := schema.SplitIndex(version); messages {
		p.requests = messageRequests
	}
	return p
}

// Name returns the key of the projector's offsets. It contains the version of the index: for a new one the log is read
// from the beginning, so that all its items are enqueued.
func (p *OutboxProjector) Name() string { return OutboxPrefix + p.version }

// OutboxPrefix is the prefix of the names of outbox projectors.
const OutboxPrefix = "vector_outbox/"

// Types returns the types of the events that request items and of those that record the outcome.
func (p *OutboxProjector) Types() []string {
	return append([]string{schema.VectorIndexed, schema.VectorFailed, schema.VectorDrifted}, p.requestTypes()...)
}

// requestTypes returns the types of the events that request items.
func (p *OutboxProjector) requestTypes() []string { return slices.Sorted(maps.Keys(p.requests)) }

// StreamPrefix returns "": requests are in the streams of sessions and projects, and outcomes in the stream of the
// collection.
func (*OutboxProjector) StreamPrefix() string { return "" }

// OneOf implements [projection.Partial]: outcomes are only in the stream of the projector's collection.
func (p *OutboxProjector) OneOf() (prefix, stream string) {
	return schema.VectorPrefix, schema.VectorStream(schema.VectorCollection(p.version))
}

// Apply writes the rows of the events.
func (p *OutboxProjector) Apply(ctx context.Context, events []schema.Event) error {
	var rows []Row
	for _, event := range events {
		made, err := p.rows(event)
		if err != nil {
			return err
		}
		rows = append(rows, made...)
	}
	p.written.Add(int64(len(rows)))
	return writeRows(ctx, p.conn, rows)
}

// Version is increased whenever the content of the rows changes.
func (*OutboxProjector) Version() uint32 { return 4 }

// Tables returns the rows of the projector's index.
func (p *OutboxProjector) Tables() []projection.Table {
	return []projection.Table{{Name: "vector_outbox_raw", Column: "embedding_version", Value: p.version}}
}

// rows returns the rows that follow from an event. They depend only on the event and the index.
func (p *OutboxProjector) rows(event schema.Event) ([]Row, error) {
	if event.Seq >= writerRank {
		return nil, fmt.Errorf("rank event %q: seq %d is out of range", event.ID, event.Seq)
	}
	if p.requests[event.Type] != nil {
		requests, err := p.read(event)
		rows := make([]Row, len(requests))
		for i, r := range requests {
			rows[i] = r.row
		}
		return rows, err
	}
	rows, err := outcomeRows(event)
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for _, r := range rows {
		if r.EmbeddingVersion == p.version {
			r.BuildID, r.UpdatedAt, r.Rank = event.BuildID, event.TS, writerRank|event.Seq
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// request is an item that an event requests.
type request struct {
	item Item
	// row is the item's row for the event.
	row Row
	// fresh is true if the request is so new that no worker can have processed it.
	fresh bool
	// again is true to retry a failed item now.
	again bool
}

// read returns the requests of an event of one of the requestTypes.
func (p *OutboxProjector) read(event schema.Event) ([]request, error) {
	items, err := p.requests[event.Type](event)
	if err != nil {
		return nil, err
	}
	out := make([]request, len(items))
	for i, item := range items {
		out[i] = request{item: item, row: Row{
			VectorItem: schema.VectorItem{Kind: item.Kind, ID: item.ID, EmbeddingVersion: p.version},
			Project:    item.Project, Status: schema.OutboxPending, BuildID: event.BuildID,
			CreatedAt: event.TS, UpdatedAt: event.TS, Urgency: item.urgency(), Rank: event.Seq,
		}}
	}
	return out, nil
}

// outcomeRows returns the rows that follow from an event in a collection's stream, without their ranks.
func outcomeRows(event schema.Event) ([]Row, error) {
	payload, err := schema.DecodePayload(event)
	if err != nil {
		return nil, err
	}
	var rows []Row
	switch p := payload.(type) {
	case schema.VectorIndexedPayload:
		for _, i := range p.Items {
			rows = append(rows, Row{
				VectorItem: i.VectorItem, Project: i.Project, Status: schema.OutboxDone,
				ContentHash: i.ContentHash, CreatedAt: i.EnqueuedAt,
			})
		}
	case schema.VectorFailedPayload:
		for _, i := range p.Items {
			rows = append(rows, Row{
				VectorItem: i.VectorItem, Project: i.Project, Status: schema.OutboxFailed, Error: i.Error,
				Attempts: i.Attempt, Permanent: i.Permanent, CreatedAt: i.EnqueuedAt, Urgency: i.Urgency,
			})
		}
	case schema.VectorDriftedPayload:
		for _, i := range p.Items {
			rows = append(rows, Row{
				VectorItem: i.VectorItem, Project: i.Project, Status: schema.OutboxPending, Error: i.Reason,
				CreatedAt: i.EnqueuedAt, Urgency: repairsFirst,
			})
		}
	default:
		return nil, fmt.Errorf("read event %q: a %s event is not about vectors", event.ID, event.Type)
	}
	return rows, nil
}
