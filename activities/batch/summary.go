package batch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Summary is a batch as the log has it so far: an import of a directory, a retry or a backfill of many sessions.
type Summary struct {
	Batch string `json:"batch"`
	// Listed is true once all sessions are listed. Until then Items grows.
	Listed     bool `json:"listed"`
	Items      int  `json:"items"`
	PassedOver int  `json:"passed_over"`
	// Ended counts the sessions with an outcome, and Failed those of them that failed.
	Ended  int       `json:"ended"`
	Failed int       `json:"failed"`
	Began  time.Time `json:"began"`
	Latest time.Time `json:"latest"`
}

// Done reports whether each session has an outcome.
func (s Summary) Done() bool { return s.Listed && s.Ended >= s.Items }

// Summaries returns the latest batches, the last begun first.
func Summaries(ctx context.Context, conn clickhouse.Conn, limit, offset int) ([]Summary, error) {
	var out []Summary
	err := clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, s *Summary) error {
		var n [4]uint64
		var stream string
		err := rows.Scan(&stream, &s.Listed, &n[0], &n[1], &n[2], &n[3], &s.Began, &s.Latest)
		s.Batch = strings.TrimPrefix(stream, schema.BatchPrefix)
		s.Items, s.PassedOver, s.Ended, s.Failed = int(n[0]), int(n[1]), int(n[2]), int(n[3])
		return err
	}), `SELECT stream, max(JSONExtractBool(payload_json, 'last')), sum(JSONLength(payload_json, 'items')) AS items,
			sum(JSONLength(payload_json, 'passed_over')), any(outcomes.ended), any(outcomes.failed), min(ts) AS began, max(greatest(ts, outcomes.latest))
		FROM events LEFT JOIN (
			SELECT stream, count() AS ended, countIf(status = ?) AS failed, max(at) AS latest
			FROM (
				SELECT stream, outcome.1 AS item, argMax(outcome.2, seq) AS status, max(ts) AS at
				FROM events ARRAY JOIN JSONExtract(payload_json, 'outcomes', 'Array(Tuple(index UInt64, status String))') AS outcome
				WHERE startsWith(stream, ?) AND event_type = ? GROUP BY stream, item
			) GROUP BY stream
		) AS outcomes USING (stream)
		WHERE startsWith(stream, ?) AND event_type = ?
		GROUP BY stream ORDER BY began DESC, stream LIMIT ? OFFSET ?`,
		string(schema.BuildFailed), schema.BatchPrefix, schema.BatchReported, schema.BatchPrefix, schema.BatchListed, limit, offset)
	if err != nil {
		return nil, fmt.Errorf("read batches: %w", err)
	}
	return out, nil
}
