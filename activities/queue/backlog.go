package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Backlog counts the pending contexts of all queues.
type Backlog struct {
	Pending int
	// Oldest is when the oldest of them was stored. It is zero if none is pending.
	Oldest time.Time
}

// ReadBacklog counts the contexts, in one query. The last context_processed event of a stream has the position up to which nothing is
// pending. Of the events up to it the query reads no payload.
func ReadBacklog(ctx context.Context, conn clickhouse.Conn) (b Backlog, err error) {
	var pending uint64
	err = clickhouse.Query(ctx, conn, func(rows driver.Rows) error { return rows.Scan(&pending, &b.Oldest) }, `
		WITH after AS (
			SELECT e.stream AS stream, e.seq AS seq FROM events_raw AS e LEFT JOIN (
				SELECT stream, max(JSONExtractUInt(payload_json, 'since')) AS since FROM events_raw WHERE (stream, seq) IN (
					SELECT stream, max(seq) FROM events_raw WHERE startsWith(stream, $1) AND event_type = $3 GROUP BY stream
				) GROUP BY stream
			) AS s ON e.stream = s.stream
			WHERE startsWith(e.stream, $1) AND e.event_type IN ($2, $3) AND e.seq > s.since
		)
		SELECT uniqExact(q.stream, q.seq), min(q.recorded_at) FROM (
			SELECT stream, seq, project, session_id, recorded_at FROM events_raw
			WHERE (stream, seq) IN after AND event_type = $2 AND JSONExtractString(payload_json, 'refused') = ''
		) AS q LEFT JOIN (
			SELECT stream, project, session_id, max(JSONExtractUInt(payload_json, 'to')) AS ended FROM events_raw
			WHERE (stream, seq) IN after AND event_type = $3 GROUP BY stream, project, session_id
		) AS p ON q.stream = p.stream AND q.project = p.project AND q.session_id = p.session_id
		WHERE q.seq > p.ended`,
		schema.QueuePrefix, schema.ContextEnqueued, schema.ContextProcessed)
	if err != nil {
		return Backlog{}, fmt.Errorf("count pending contexts: %w", err)
	}
	if b.Pending = int(pending); pending == 0 {
		b.Oldest = time.Time{}
	}
	return b, nil
}
