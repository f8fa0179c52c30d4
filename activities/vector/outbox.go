package vector

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Row is one row of vector_outbox: an item that is to stand in the vector store.
type Row struct {
	schema.VectorItem
	Project string
	Status  schema.OutboxStatus
	// Error is why the last attempt failed, or why a row that was done is pending again.
	Error string
	// Attempts counts the failures since the row was last pending.
	Attempts    int
	Permanent   bool
	ContentHash string
	// CreatedAt is when the item was asked for, UpdatedAt when its status became what it is.
	CreatedAt, UpdatedAt time.Time
	// Rank orders the statuses of one item: the row of the highest is what the item is. It is
	// computed from the event alone, so that the order in which streams are read never matters.
	Rank uint64
}

// state names the row as it stands, for the key of what is done to it: an item that is asked for again has a row
// of another rank.
func (r Row) state() []string { return []string{r.JobID(), strconv.FormatUint(r.Rank, 10)} }

// writerRank lies above the rank of every request to index an item: what the writer did to it is
// newer than the request, and one more request for the same item changes nothing.
const writerRank = uint64(1) << 32

// requests gives, by the type of an event, the item that such an event asks to be indexed.
var requests = map[string]func(schema.Event) (Item, error){
	schema.EntryMaterialized: func(event schema.Event) (Item, error) {
		p, err := schema.Decode[schema.EntryMaterializedPayload](event)
		return EntryItem(p.Entry), err
	},
	schema.TaskCreated:      titleItem,
	schema.TaskTitleChanged: titleItem,
}

// OutboxProjector writes the rows of vector_outbox for one embedding version. The requests of an
// item must all stand in one stream.
type OutboxProjector struct {
	conn    driver.Conn
	version string
}

// NewOutboxProjector returns the projector for the embedding version.
func NewOutboxProjector(conn driver.Conn, version string) *OutboxProjector {
	return &OutboxProjector{conn, version}
}

// Name is that of the projector's offsets. It holds the embedding version: a new version reads the
// log from its beginning, and so enqueues what there is.
func (p *OutboxProjector) Name() string { return OutboxPrefix + p.version }

// OutboxPrefix is what the names of outbox projectors begin with.
const OutboxPrefix = "vector_outbox/"

// Types are those of the events that ask for items and those that tell what became of them.
func (*OutboxProjector) Types() []string {
	return append([]string{schema.VectorIndexed, schema.VectorFailed, schema.VectorDrifted}, slices.Sorted(maps.Keys(requests))...)
}

// StreamPrefix is empty: requests stand in the streams of sessions and projects, and what became of
// them in that of the collection.
func (*OutboxProjector) StreamPrefix() string { return "" }

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
	return writeRows(ctx, p.conn, rows)
}

// Version counts the changes of what the rows say.
func (*OutboxProjector) Version() uint32 { return 1 }

// Tables are the rows of the projector's embedding version.
func (p *OutboxProjector) Tables() []eventlog.Table {
	return []eventlog.Table{{Name: "vector_outbox_raw", Column: "embedding_version", Value: p.version}}
}

// rows returns the rows an event makes. It depends on the event and the embedding version alone.
func (p *OutboxProjector) rows(event schema.Event) ([]Row, error) {
	if event.Seq >= writerRank {
		return nil, fmt.Errorf("rank event %q: seq %d is out of range", event.ID, event.Seq)
	}
	if request, ok := requests[event.Type]; ok {
		item, err := request(event)
		if err != nil {
			return nil, err
		}
		return []Row{{
			VectorItem: schema.VectorItem{Kind: item.Kind, ID: item.ID, EmbeddingVersion: p.version},
			Project:    item.Project, Status: schema.OutboxPending,
			CreatedAt: event.TS, UpdatedAt: event.TS, Rank: event.Seq,
		}}, nil
	}
	rows, err := outcomeRows(event)
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for _, r := range rows {
		if r.EmbeddingVersion == p.version {
			r.UpdatedAt, r.Rank = event.TS, writerRank|event.Seq
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// outcomeRows returns the rows of an event of a collection's stream, without their ranks.
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
				Attempts: i.Attempt, Permanent: i.Permanent, CreatedAt: i.EnqueuedAt,
			})
		}
	case schema.VectorDriftedPayload:
		for _, i := range p.Items {
			rows = append(rows, Row{
				VectorItem: i.VectorItem, Project: i.Project, Status: schema.OutboxPending, Error: i.Reason,
				CreatedAt: i.EnqueuedAt,
			})
		}
	default:
		return nil, fmt.Errorf("read event %q: a %s event tells nothing of vectors", event.ID, event.Type)
	}
	return rows, nil
}
