package vector

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

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

// writerRank lies above the rank of every request to index an item: what the writer did to it is
// newer than the request, and one more request for the same item changes nothing.
const writerRank = uint64(1) << 32

// Enqueue tells which items an event asks to be indexed.
type Enqueue func(schema.Event) ([]Request, error)

// Request asks for an item to be indexed.
type Request struct{ Kind, ID, Project string }

// OutboxProjector writes the rows of vector_outbox for one embedding version. The requests of an
// item must all stand in one stream.
type OutboxProjector struct {
	conn    driver.Conn
	version string
	enqueue map[string]Enqueue
}

// NewOutboxProjector returns the projector for the embedding version. Entries are enqueued when
// they are made; more tells, by event type, what else is.
func NewOutboxProjector(conn driver.Conn, version string, more map[string]Enqueue) *OutboxProjector {
	p := &OutboxProjector{conn: conn, version: version, enqueue: map[string]Enqueue{
		schema.EntryMaterialized: enqueueEntry,
	}}
	for eventType, enqueue := range more {
		p.enqueue[eventType] = enqueue
	}
	return p
}

func enqueueEntry(event schema.Event) ([]Request, error) {
	var e schema.Entry
	if err := json.Unmarshal(event.Payload, &e); err != nil {
		return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
	}
	return []Request{{Kind: schema.ItemEntry, ID: e.ID, Project: e.Project}}, nil
}

// Name is that of the projector's offsets. It holds the embedding version: a new version reads the
// log from its beginning, and so enqueues what there is.
func (p *OutboxProjector) Name() string { return "vector_outbox/" + p.version }

// Types are those of the events that ask for items and those that tell what became of them.
func (p *OutboxProjector) Types() []string {
	types := []string{schema.VectorIndexed, schema.VectorFailed, schema.VectorDrifted}
	for eventType := range p.enqueue {
		types = append(types, eventType)
	}
	return types
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

// Reset drops the rows of the projector's embedding version.
func (p *OutboxProjector) Reset(ctx context.Context) error {
	err := p.conn.Exec(ctx, "DELETE FROM vector_outbox_raw WHERE embedding_version = ?", p.version)
	if err != nil {
		return fmt.Errorf("drop vector outbox: %w", err)
	}
	return nil
}

// rows returns the rows an event makes. It depends on the event and the embedding version alone.
func (p *OutboxProjector) rows(event schema.Event) ([]Row, error) {
	if event.Seq >= writerRank {
		return nil, fmt.Errorf("rank event %q: seq %d is out of range", event.ID, event.Seq)
	}
	if enqueue, ok := p.enqueue[event.Type]; ok {
		requests, err := enqueue(event)
		if err != nil {
			return nil, err
		}
		rows := make([]Row, 0, len(requests))
		for _, r := range requests {
			rows = append(rows, Row{
				VectorItem: schema.VectorItem{Kind: r.Kind, ID: r.ID, EmbeddingVersion: p.version},
				Project:    r.Project, Status: schema.OutboxPending,
				CreatedAt: event.TS, UpdatedAt: event.TS, Rank: event.Seq,
			})
		}
		return rows, nil
	}
	rows, err := outcomeRows(event)
	if err != nil {
		return nil, fmt.Errorf("decode event %q: %w", event.ID, err)
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
	var rows []Row
	switch event.Type {
	case schema.VectorIndexed:
		var payload schema.VectorIndexedPayload
		if err := json.Unmarshal(event.Payload, &payload); err != nil {
			return nil, err
		}
		for _, i := range payload.Items {
			rows = append(rows, Row{
				VectorItem: i.VectorItem, Project: i.Project, Status: schema.OutboxDone,
				ContentHash: i.ContentHash, CreatedAt: i.EnqueuedAt,
			})
		}
	case schema.VectorFailed:
		var payload schema.VectorFailedPayload
		if err := json.Unmarshal(event.Payload, &payload); err != nil {
			return nil, err
		}
		for _, i := range payload.Items {
			rows = append(rows, Row{
				VectorItem: i.VectorItem, Project: i.Project, Status: schema.OutboxFailed, Error: i.Error,
				Attempts: i.Attempt, Permanent: i.Permanent, CreatedAt: i.EnqueuedAt,
			})
		}
	case schema.VectorDrifted:
		var payload schema.VectorDriftedPayload
		if err := json.Unmarshal(event.Payload, &payload); err != nil {
			return nil, err
		}
		for _, i := range payload.Items {
			rows = append(rows, Row{
				VectorItem: i.VectorItem, Project: i.Project, Status: schema.OutboxPending, Error: i.Reason,
				CreatedAt: i.EnqueuedAt,
			})
		}
	default:
		return nil, fmt.Errorf("unknown type %q", event.Type)
	}
	return rows, nil
}
