package build

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
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
	NewEntries int `json:"new_entries"`
	// Reached counts the memories that rose to a stage on the day.
	Reached map[schema.Stage]int `json:"reached,omitempty"`
	Usage   schema.Usage         `json:"usage"`
	// MedianSeconds and P95Seconds are how long the finished builds took.
	MedianSeconds float64 `json:"median_seconds"`
	P95Seconds    float64 `json:"p95_seconds"`
	// Queued counts the parts of sessions that queues processed on the day. MedianWait and MaxWait are how long they had waited,
	// in seconds.
	Queued     int     `json:"queued"`
	MedianWait float64 `json:"median_wait"`
	MaxWait    float64 `json:"max_wait"`
}

// Days sums up the builds that pass the filter, the waits and the stages of their scope by day, the earliest first. Days on which
// nothing happened are missing. Of the filter, Status, Class, SessionID, Limit and Offset are not used.
func Days(ctx context.Context, conn driver.Conn, f Filter) ([]Day, error) {
	where, args, err := Filter{Project: f.Project, User: f.User, Agent: f.Agent, All: f.All, Since: f.Since}.where()
	if err != nil {
		return nil, err
	}
	days := &daySums{of: map[string]*Day{}}
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() error { return days.builds(ctx, conn, strings.Join(where, " AND "), args) })
	reads.Go(func() error { return days.waits(ctx, conn, f) })
	reads.Go(func() error { return days.stages(ctx, conn, f) })
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	out := make([]Day, 0, len(days.of))
	for _, date := range slices.Sorted(maps.Keys(days.of)) {
		out = append(out, *days.of[date])
	}
	return out, nil
}

// daySums collects the sums of days.
type daySums struct {
	mu sync.Mutex
	of map[string]*Day
}

// set lets fill change the day of the date.
func (s *daySums) set(date string, fill func(*Day)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[date] == nil {
		s.of[date] = &Day{Date: date}
	}
	fill(s.of[date])
}

func (s *daySums) builds(ctx context.Context, conn driver.Conn, where string, args []any) error {
	err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var n [7]uint64
		var read Day
		u := &read.Usage
		err := rows.Scan(&read.Date, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &u.InputTokens, &u.OutputTokens, &u.ThoughtTokens, &u.CostUSD,
			&read.MedianSeconds, &read.P95Seconds)
		for i, into := range []*int{&read.Success, &read.Partial, &read.Empty, &read.Failed, &read.Unfinished, &read.NewEntries, &u.Calls} {
			*into = int(n[i])
		}
		s.set(read.Date, func(d *Day) {
			read.Reached, read.Queued, read.MedianWait, read.MaxWait = d.Reached, d.Queued, d.MedianWait, d.MaxWait
			*d = read
		})
		return err
	}, `SELECT toString(toDate(started_at)) AS date, countIf(status = 'success'), countIf(status = 'partial'), countIf(status = 'empty'),
			countIf(status = 'failed'), countIf(status = 'running'),
			sum(JSONExtractUInt(counts_json, 'new_entries')), sum(JSONExtractUInt(usage_json, 'calls')),
			sum(JSONExtractInt(usage_json, 'input_tokens')), sum(JSONExtractInt(usage_json, 'output_tokens')),
			sum(JSONExtractInt(usage_json, 'thought_tokens')), sum(JSONExtractFloat(usage_json, 'cost_usd')),
			ifNotFinite(quantileExactIf(0.5)(took, isNotNull(finished_at)), 0), ifNotFinite(quantileExactIf(0.95)(took, isNotNull(finished_at)), 0)
		FROM (SELECT *, dateDiff('microsecond', started_at, ifNull(finished_at, started_at)) / 1e6 AS took FROM build_runs WHERE `+
		where+`) GROUP BY date`, args...)
	if err != nil {
		return fmt.Errorf("read the builds of days: %w", err)
	}
	return nil
}

// stages reads how many memories rose to each stage.
func (s *daySums) stages(ctx context.Context, conn driver.Conn, f Filter) error {
	err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var date, stage string
		var n uint64
		err := rows.Scan(&date, &stage, &n)
		s.set(date, func(d *Day) {
			if d.Reached == nil {
				d.Reached = map[schema.Stage]int{}
			}
			d.Reached[schema.Stage(stage)] = int(n)
		})
		return err
	}, `SELECT toString(toDate(ts)) AS date, to_stage, uniqExact(entry_id) FROM promotions_raw
		WHERE NOT demotes AND ? IN ('', project) AND ? IN ('', user) AND ? IN ('', agent) AND ts >= `+sqlTime+` GROUP BY date, to_stage`,
		f.Project, f.User, f.Agent, max(f.Since.UnixMicro(), 0))
	if err != nil {
		return fmt.Errorf("read the stages of days: %w", err)
	}
	return nil
}

// waits reads how long queued parts of sessions waited. A part is processed by the first outcome of its session at or after it.
func (s *daySums) waits(ctx context.Context, conn driver.Conn, f Filter) error {
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
	err := clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var date string
		var n uint64
		var median, most float64
		err := rows.Scan(&date, &n, &median, &most)
		s.set(date, func(d *Day) { d.Queued, d.MedianWait, d.MaxWait = int(n), median, most })
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
