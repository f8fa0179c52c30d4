package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// Backlog counts the pending contexts of all queues.
type Backlog struct {
	Pending int
	// Oldest is when the oldest of them was stored. It is zero if none is pending.
	Oldest time.Time
}

// ReadBacklog counts the contexts, in one query. It reads the payloads of pending ones only.
func ReadBacklog(ctx context.Context, conn table.Conn) (b Backlog, err error) {
	var pending uint64
	err = table.Query(ctx, conn, func(rows driver.Rows) error { return rows.Scan(&pending, &b.Oldest) }, `
		SELECT count(), min(recorded_at) FROM events_raw
		WHERE (stream, seq) IN (
			SELECT q.stream, q.seq FROM (
				SELECT stream, seq, project, session_id FROM events_raw WHERE startsWith(stream, ?) AND event_type = ?
			) AS q LEFT JOIN (
				SELECT stream, project, session_id, max(JSONExtractUInt(payload_json, 'to')) AS ended FROM events_raw
				WHERE startsWith(stream, ?) AND event_type = ? GROUP BY stream, project, session_id
			) AS p ON q.stream = p.stream AND q.project = p.project AND q.session_id = p.session_id
			WHERE q.seq > p.ended
		) AND JSONExtractString(payload_json, 'refused') = ''`,
		schema.QueuePrefix, schema.ContextEnqueued, schema.QueuePrefix, schema.ContextProcessed)
	if err != nil {
		return Backlog{}, fmt.Errorf("count pending contexts: %w", err)
	}
	if b.Pending = int(pending); pending == 0 {
		b.Oldest = time.Time{}
	}
	return b, nil
}
