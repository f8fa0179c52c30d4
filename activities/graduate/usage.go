package graduate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// Retrieved is a request that returned entries of a project.
type Retrieved struct {
	schema.Scope
	// RequestID identifies the request. A repeated request counts once.
	RequestID string
	By        schema.Retrieval
	EntryIDs  []string
	At        time.Time
	// Actor sent the request.
	Actor string
}

// maxRetrieved bounds the entries of one event.
const maxRetrieved = 1000

// RecordRetrieved appends requests to the log, and brings the table of usage up to date with their streams. A request that
// returned no entry is not recorded. The requests of a writer, such as a process, are in one stream of each project, so that
// they are recorded together.
func RecordRetrieved(ctx context.Context, log *projection.Store, conn driver.Conn, writer string, requests ...Retrieved) error {
	streams := map[string][]schema.Event{}
	for _, r := range requests {
		ids := slices.Compact(slices.Sorted(slices.Values(r.EntryIDs)))
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
		if len(ids) == 0 {
			continue
		}
		if r.RequestID == "" || r.Project == "" || r.By == "" {
			return errors.New("record retrieved entries: a request id, a project and the kind of retrieval are needed")
		}
		event, err := schema.NewEvent(
			schema.EntriesRetrievedPayload{Scope: r.Scope, RequestID: r.RequestID, By: r.By, EntryIDs: ids[:min(len(ids), maxRetrieved)]},
			schema.Event{
				TS: r.At, Actor: r.Actor, Project: r.Project, DedupeKey: schema.EntriesRetrievedKey(r.Project, r.RequestID),
			})
		if err != nil {
			return err
		}
		stream := schema.UsageStream(r.Project, writer)
		streams[stream] = append(streams[stream], event)
	}
	if len(streams) == 0 {
		return nil
	}
	for _, stream := range slices.Sorted(maps.Keys(streams)) {
		if err := recordIn(ctx, log, conn, stream, streams[stream]); err != nil {
			return err
		}
	}
	return log.SaveOffsets(ctx)
}

func recordIn(ctx context.Context, log *projection.Store, conn driver.Conn, stream string, events []schema.Event) error {
	// If another process writes the stream meanwhile, the log retries the append.
	ctx, err := log.AsWriter(ctx, stream, schema.StreamHead{})
	if err != nil {
		return err
	}
	if _, err := log.Append(ctx, stream, events); err != nil {
		return err
	}
	_, err = log.Project(ctx, NewUsageProjector(conn), stream)
	return err
}

// UsageProjector writes a row for each entry that a request returned.
type UsageProjector struct{ conn driver.Conn }

// NewUsageProjector returns the projector over the connection.
func NewUsageProjector(conn driver.Conn) *UsageProjector { return &UsageProjector{conn: conn} }

// Name is the name of the projector's offsets.
func (*UsageProjector) Name() string { return "usage" }

// Types are the types of the events that record retrievals.
func (*UsageProjector) Types() []string { return []string{schema.EntriesRetrieved} }

// StreamPrefix is the prefix of the streams of usage.
func (*UsageProjector) StreamPrefix() string { return schema.UsagePrefix }

// Version is increased whenever the content of the rows changes.
func (*UsageProjector) Version() uint32 { return 1 }

// Tables returns the table of usage. Rows that are about to be forgotten are in no comparison: the server removes them at a time
// of its choice.
func (*UsageProjector) Tables() []projection.Table {
	return []projection.Table{{Name: "usage_raw", Hidden: clickhouse.HiddenUsage}}
}

// Apply writes a row for each entry of each event.
func (p *UsageProjector) Apply(ctx context.Context, events []schema.Event) error {
	var rows [][]any
	for _, event := range events {
		// The project comes from the stream, which no payload can override.
		project, err := schema.ParseUsageStream(event.Stream)
		if err != nil {
			return fmt.Errorf("read event %q: %w", event.ID, err)
		}
		r, err := schema.Decode[schema.EntriesRetrievedPayload](event)
		if err != nil {
			return err
		}
		for _, id := range r.EntryIDs {
			rows = append(rows, []any{project, id, event.Stream, event.Seq, event.TS, string(r.By), event.Seq})
		}
	}
	return clickhouse.Insert(ctx, p.conn, "usage_raw (project, entry_id, stream, seq, ts, means, version)", rows)
}
