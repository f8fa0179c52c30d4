package build

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
)

// StepFilter selects steps by the time of their start and, if Project is set, by project. Dreams and rebuilds have none.
type StepFilter struct {
	Project string
	Since   time.Time
}

// StepSummary is how long the runs of a step took, in milliseconds.
type StepSummary struct {
	Step     string    `json:"step"`
	Runs     uint64    `json:"runs"`
	Failed   uint64    `json:"failed"`
	MedianMS float64   `json:"median_ms"`
	P95MS    float64   `json:"p95_ms"`
	TotalMS  float64   `json:"total_ms"`
	Last     time.Time `json:"last"`
}

// Steps summarizes the steps of builds, dreams, passes of graduation and rebuilds, in the order of the time that they took.
func Steps(ctx context.Context, conn driver.Conn, f StepFilter) ([]StepSummary, error) {
	out := []StepSummary{}
	err := clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, s *StepSummary) error {
		return rows.Scan(&s.Step, &s.Runs, &s.Failed, &s.MedianMS, &s.P95MS, &s.TotalMS, &s.Last)
	}), `SELECT stage, count(), countIf(NOT success), quantileExact(0.5)(latency_ms), quantileExact(0.95)(latency_ms),
			sum(latency_ms) AS total, max(ts)
		FROM pipeline_metrics WHERE (? = '' OR project = ?) AND ts >= fromUnixTimestamp64Micro(?)
		GROUP BY stage ORDER BY total DESC, stage`, f.Project, f.Project, max(f.Since.UnixMicro(), 0))
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	return out, nil
}
