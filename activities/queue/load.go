package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/table"
	"axiommind/schema"
)

// Bounds of what one page holds, so that it is a small payload.
const (
	maxPageThreads   = 100
	maxPagePositions = 3000
)

// LoadInput asks for what waits.
type LoadInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// Since is a position in the queue's stream up to which nothing waits, as far as the caller knows.
	Since uint64 `json:"since,omitempty"`
	// After is the position after which the page begins.
	After uint64 `json:"after,omitempty"`
}

// LoadResult is a page of what waits, in the order in which it came.
type LoadResult struct {
	// Threads are the sessions with contexts in the page. One may be in the next page, too, with others.
	Threads []schema.QueuedThread `json:"threads"`
	// After is where the next page begins, and More is true if there is one.
	After uint64 `json:"after"`
	More  bool   `json:"more,omitempty"`
	// Since is the position up to which nothing waits.
	Since uint64 `json:"since"`
	// Debounce is that of the last context.
	Debounce time.Duration `json:"debounce,omitempty"`
	// Head is the head of the queue's stream.
	Head schema.StreamHead `json:"head"`
}

// LoadQueue returns what waits in the queue, page by page.
func (a *Activities) LoadQueue(ctx context.Context, in LoadInput) (LoadResult, error) {
	return boundary.Run(ctx, in, a.load)
}

func (a *Activities) load(ctx context.Context, in LoadInput) (LoadResult, error) {
	stream := schema.QueueStream(in.User, in.Agent)
	head, err := a.log.Load(ctx, stream)
	if err != nil {
		return LoadResult{}, err
	}
	if in.Since == 0 {
		if in.Since, err = a.since(ctx, stream); err != nil {
			return LoadResult{}, err
		}
	}
	rows, err := a.rows(ctx, stream, in.Since)
	if err != nil {
		return LoadResult{}, err
	}
	result := pageOf(rows, in)
	result.Head = head
	return result, nil
}

// since returns the position up to which nothing waits, as the last event says that knows it.
func (a *Activities) since(ctx context.Context, stream string) (since uint64, err error) {
	err = table.Query(ctx, a.conn, func(rows driver.Rows) error { return rows.Scan(&since) },
		`SELECT JSONExtractUInt(payload_json, 'since') FROM events_raw WHERE stream = ? AND event_type = ? ORDER BY seq DESC LIMIT 1`,
		stream, schema.ContextProcessed)
	if err != nil {
		return 0, fmt.Errorf("read the last end of %q: %w", stream, err)
	}
	return since, nil
}

// row is what the order of a queue depends on, of one of its events.
type row struct {
	seq             uint64
	project, thread string
	at              time.Time
	// to is set for the end of contexts, the others for a context.
	ended, refused                 bool
	to                             uint64
	now, correction, reinforcement bool
	tools                          bool
	flush                          schema.FlushReason
	statement                      *schema.Statement
	debounce, maxWait              time.Duration
}

func (a *Activities) rows(ctx context.Context, stream string, since uint64) ([]row, error) {
	var out []row
	err := table.Query(ctx, a.conn, func(rows driver.Rows) error {
		var r row
		var kind, statement, flush string
		var flags [5]bool
		var debounce, maxWait int64
		err := rows.Scan(&r.seq, &kind, &r.project, &r.thread, &r.at, &r.to, &flags[0], &flags[1], &flags[2], &flags[3],
			&flags[4], &flush, &statement, &debounce, &maxWait)
		if err != nil {
			return err
		}
		r.at, r.ended = r.at.UTC(), kind == schema.ContextProcessed
		r.refused, r.now, r.correction, r.reinforcement = flags[0], flags[1], flags[2], flags[3]
		r.tools, r.flush = flags[4], schema.FlushReason(flush)
		r.debounce, r.maxWait = time.Duration(debounce), time.Duration(maxWait)
		if statement != "" {
			if err := json.Unmarshal([]byte(statement), &r.statement); err != nil {
				return fmt.Errorf("statement at %d: %w", r.seq, err)
			}
		}
		out = append(out, r)
		return nil
	}, `SELECT seq, event_type, project, session_id, ts, JSONExtractUInt(payload_json, 'to'),
			JSONHas(payload_json, 'refused') AS refused, JSONExtractBool(payload_json, 'now') AS now,
			JSONExtractBool(payload_json, 'correction') AS correction, JSONExtractBool(payload_json, 'reinforcement') AS reinforcement,
			JSONExtractBool(payload_json, 'include_tools') AS tools, JSONExtractString(payload_json, 'flush') AS flush,
			JSONExtractRaw(payload_json, 'statement'), JSONExtractInt(payload_json, 'debounce'), JSONExtractInt(payload_json, 'max_wait')
		FROM events WHERE stream = ? AND seq > ? ORDER BY seq`, stream, since)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", stream, err)
	}
	return out, nil
}

// key names a thread of a queue.
type key struct{ project, thread string }

// pageOf returns the page of what waits after the events.
func pageOf(rows []row, in LoadInput) LoadResult {
	done := map[key]uint64{}
	for _, r := range rows {
		if r.ended {
			done[key{r.project, r.thread}] = max(done[key{r.project, r.thread}], r.to)
		}
	}
	result := LoadResult{Threads: []schema.QueuedThread{}, Since: in.Since}
	places, positions, first := map[key]int{}, 0, true
	for _, r := range rows {
		k := key{r.project, r.thread}
		if r.ended || r.refused || r.seq <= done[k] {
			if first {
				result.Since = r.seq
			}
			continue
		}
		first = false
		result.Debounce = r.debounce
		if r.seq <= in.After || result.More {
			continue
		}
		at, listed := places[k]
		if !listed {
			if len(result.Threads) == maxPageThreads {
				result.More = true
				continue
			}
			at = len(result.Threads)
			places[k] = at
			result.Threads = append(result.Threads, schema.QueuedThread{Project: r.project, Thread: r.thread})
		}
		if positions++; positions > maxPagePositions {
			result.More = true
			continue
		}
		Add(&result.Threads[at], schema.QueuedContext{
			Now: r.now, Correction: r.correction, Reinforcement: r.reinforcement, Statement: r.statement,
			IncludeTools: r.tools, Flush: r.flush, Debounce: r.debounce, MaxWait: r.maxWait,
		}, r.seq, r.at)
		result.After = r.seq
	}
	return result
}

// Add adds a context that the queue took at the time to the thread: the flags add up, and the thread is due when the first
// of its contexts is.
func Add(t *schema.QueuedThread, c schema.QueuedContext, position uint64, at time.Time) {
	_, maxWait := c.Waits()
	if due := at.Add(maxWait); t.Due.IsZero() || due.Before(t.Due) {
		t.Due = due
	}
	if t.FirstAt.IsZero() {
		t.FirstAt = at
	}
	t.LastAt = at
	t.Positions = append(t.Positions, position)
	t.Contexts++
	t.Now, t.Correction, t.Reinforcement = t.Now || c.Now, t.Correction || c.Correction, t.Reinforcement || c.Reinforcement
	t.IncludeTools, t.Flush = t.IncludeTools || c.IncludeTools, cmp.Or(c.Flush, t.Flush)
	if c.Statement != nil {
		t.Statement = c.Statement
	}
}
