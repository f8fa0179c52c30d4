package build

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/table"
	"axiommind/schema"
)

// Day sums up the builds that started on a day, in UTC.
type Day struct {
	Date string `json:"date"`
	// Success, Partial, Empty and Failed count the builds by outcome, and Unfinished those without one.
	Success    int `json:"success"`
	Partial    int `json:"partial"`
	Empty      int `json:"empty"`
	Failed     int `json:"failed"`
	Unfinished int `json:"unfinished"`
	// NewEntries counts the memories that the builds made.
	NewEntries int          `json:"new_entries"`
	Usage      schema.Usage `json:"usage"`
	// MedianSeconds and P95Seconds are how long the finished builds took.
	MedianSeconds float64 `json:"median_seconds"`
	P95Seconds    float64 `json:"p95_seconds"`
	// Queued counts the parts of sessions that queues processed on the day. MedianWait and MaxWait are how long they had waited,
	// in seconds.
	Queued     int     `json:"queued"`
	MedianWait float64 `json:"median_wait"`
	MaxWait    float64 `json:"max_wait"`
}

// Days sums up the builds that pass the filter by day, the earliest first. Days without a build and without a wait are
// missing. Of the filter, Status, Class, SessionID, Limit and Offset are not used.
func Days(ctx context.Context, conn driver.Conn, f Filter) ([]Day, error) {
	where, args, err := Filter{Project: f.Project, User: f.User, Agent: f.Agent, All: f.All, Since: f.Since}.where()
	if err != nil {
		return nil, err
	}
	var days []Day
	err = table.Query(ctx, conn, table.Rows(&days, func(rows driver.Rows, d *Day) error {
		var n [7]uint64
		u := &d.Usage
		err := rows.Scan(&d.Date, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &u.InputTokens, &u.OutputTokens, &u.ThoughtTokens, &u.CostUSD,
			&d.MedianSeconds, &d.P95Seconds)
		for i, into := range []*int{&d.Success, &d.Partial, &d.Empty, &d.Failed, &d.Unfinished, &d.NewEntries, &u.Calls} {
			*into = int(n[i])
		}
		return err
	}), `SELECT toString(toDate(started_at)) AS date, countIf(status = 'success'), countIf(status = 'partial'), countIf(status = 'empty'),
			countIf(status = 'failed'), countIf(status = 'running'),
			sum(JSONExtractUInt(counts_json, 'new_entries')), sum(JSONExtractUInt(usage_json, 'calls')),
			sum(JSONExtractInt(usage_json, 'input_tokens')), sum(JSONExtractInt(usage_json, 'output_tokens')),
			sum(JSONExtractInt(usage_json, 'thought_tokens')), sum(JSONExtractFloat(usage_json, 'cost_usd')),
			ifNotFinite(quantileExactIf(0.5)(took, isNotNull(finished_at)), 0), ifNotFinite(quantileExactIf(0.95)(took, isNotNull(finished_at)), 0)
		FROM (SELECT *, dateDiff('microsecond', started_at, ifNull(finished_at, started_at)) / 1e6 AS took FROM build_runs WHERE `+
		strings.Join(where, " AND ")+`) GROUP BY date`, args...)
	if err != nil {
		return nil, fmt.Errorf("read the builds of days: %w", err)
	}
	if err := addWaits(ctx, conn, f, &days); err != nil {
		return nil, err
	}
	slices.SortFunc(days, func(a, b Day) int { return cmp.Compare(a.Date, b.Date) })
	return days, nil
}

// addWaits reads how long queued parts of sessions waited. A part is processed by the first outcome of its session at or after it.
func addWaits(ctx context.Context, conn driver.Conn, f Filter, days *[]Day) error {
	streams, in := schema.QueuePrefix, "startsWith(stream, ?)"
	if f.User != "" {
		streams = schema.QueueStream(f.User, f.Agent) // It ends with a slash where the agent is empty.
	}
	switch {
	case f.Agent != "" && f.User != "":
		in = "stream = ?"
	case f.Agent != "":
		streams, in = strings.TrimPrefix(schema.QueueStream("", f.Agent), schema.QueuePrefix), "startsWith(stream, 'queue/') AND endsWith(stream, ?)"
	}
	queued := `SELECT stream, project, session_id, ts, %s AS position FROM events
		WHERE ` + in + ` AND event_type = ? AND (? = '' OR project = ?)`
	err := table.Query(ctx, conn, func(rows driver.Rows) error {
		var date string
		var n uint64
		var median, most float64
		err := rows.Scan(&date, &n, &median, &most)
		at := slices.IndexFunc(*days, func(d Day) bool { return d.Date == date })
		if at < 0 {
			at, *days = len(*days), append(*days, Day{Date: date})
		}
		d := &(*days)[at]
		d.Queued, d.MedianWait, d.MaxWait = int(n), median, most
		return err
	}, `SELECT date, count(), quantileExact(0.5)(waited), max(waited) FROM (SELECT toString(toDate(p.ts)) AS date,
			dateDiff('microsecond', e.ts, p.ts) / 1e6 AS waited
		FROM (`+fmt.Sprintf(queued, "seq")+`) AS e
		ASOF JOIN (`+fmt.Sprintf(queued, "JSONExtractUInt(payload_json, 'to')")+`) AS p
		ON e.stream = p.stream AND e.project = p.project AND e.session_id = p.session_id AND e.position <= p.position
		WHERE p.ts >= `+sqlTime+`) GROUP BY date`,
		streams, schema.ContextEnqueued, f.Project, f.Project, streams, schema.ContextProcessed, f.Project, f.Project, max(f.Since.UnixMicro(), 0))
	if err != nil {
		return fmt.Errorf("read the waits of days: %w", err)
	}
	return nil
}
