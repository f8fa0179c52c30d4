package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Bounds of one page, so that it is a small payload.
const (
	maxPageThreads   = 100
	maxPagePositions = 3000
	// rowsAtOnce is how many contexts are read at once.
	rowsAtOnce = 4000
)

// LoadInput asks for the pending contexts.
type LoadInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// Since is a position in the queue's stream up to which nothing is pending, as far as the caller knows.
	Since uint64 `json:"since,omitempty"`
	// After is the position after which the page begins.
	After uint64 `json:"after,omitempty"`
}

// LoadResult is a page of pending contexts, in the order in which they came.
type LoadResult struct {
	// Threads are the sessions with contexts in the page. One may be in the next page, too, with others.
	Threads []schema.QueuedThread `json:"threads"`
	// After is where the next page begins, and More is true if there is one.
	After uint64 `json:"after"`
	More  bool   `json:"more,omitempty"`
	// Since is the position up to which nothing is pending.
	Since uint64 `json:"since"`
	// Debounce is that of the last context in the page.
	Debounce time.Duration `json:"debounce,omitempty"`
	// Head is the head of the queue's stream.
	Head schema.StreamHead `json:"head"`
}

// LoadQueue returns the pending contexts of the queue, page by page.
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
	ends, err := a.ends(ctx, stream, in.Since)
	if err != nil {
		return LoadResult{}, err
	}
	return pageOf(in, ends, head, rowsAtOnce, func(after uint64, most int) ([]row, error) { return a.rows(ctx, stream, after, most) })
}

// since returns the position up to which nothing is pending, by the last context_processed event.
func (a *Activities) since(ctx context.Context, stream string) (since uint64, err error) {
	err = clickhouse.Query(ctx, a.conn, func(rows driver.Rows) error { return rows.Scan(&since) },
		`SELECT JSONExtractUInt(payload_json, 'since') FROM events_raw WHERE stream = ? AND event_type = ? ORDER BY seq DESC LIMIT 1`,
		stream, schema.ContextProcessed)
	if err != nil {
		return 0, fmt.Errorf("read the last end of %q: %w", stream, err)
	}
	return since, nil
}

// row holds the fields of a context that decide its place in the queue.
type row struct {
	seq                            uint64
	project, thread                string
	at                             time.Time
	refused                        bool
	now, correction, reinforcement bool
	tools                          bool
	flush                          schema.FlushReason
	statement                      *schema.Statement
	debounce, maxWait              time.Duration
}

// ends returns the position up to which the contexts of each thread were processed, from the events after since.
func (a *Activities) ends(ctx context.Context, stream string, since uint64) (map[key]uint64, error) {
	out := map[key]uint64{}
	err := clickhouse.Query(ctx, a.conn, clickhouse.Map(out, func(rows driver.Rows, k *key, to *uint64) error { return rows.Scan(&k.project, &k.thread, to) }),
		`SELECT project, session_id, max(JSONExtractUInt(payload_json, 'to')) FROM events_raw
		WHERE stream = ? AND seq > ? AND event_type = ? GROUP BY project, session_id`, stream, since, schema.ContextProcessed)
	if err != nil {
		return nil, fmt.Errorf("read the ends of %q: %w", stream, err)
	}
	return out, nil
}

// rows returns up to so many contexts after the position, in order.
func (a *Activities) rows(ctx context.Context, stream string, after uint64, most int) ([]row, error) {
	var out []row
	err := clickhouse.Query(ctx, a.conn, clickhouse.Rows(&out, func(rows driver.Rows, r *row) error {
		var statement, flush string
		var flags [5]bool
		var debounce, maxWait int64
		err := rows.Scan(&r.seq, &r.project, &r.thread, &r.at, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4], &flush,
			&statement, &debounce, &maxWait)
		if err != nil {
			return err
		}
		r.at = r.at.UTC()
		r.refused, r.now, r.correction, r.reinforcement = flags[0], flags[1], flags[2], flags[3]
		r.tools, r.flush = flags[4], schema.FlushReason(flush)
		r.debounce, r.maxWait = time.Duration(debounce), time.Duration(maxWait)
		if statement != "" {
			if err := json.Unmarshal([]byte(statement), &r.statement); err != nil {
				return fmt.Errorf("statement at %d: %w", r.seq, err)
			}
		}
		return nil
	}), `SELECT seq, project, session_id, ts,
			JSONHas(payload_json, 'refused') AS refused, JSONExtractBool(payload_json, 'now') AS now,
			JSONExtractBool(payload_json, 'correction') AS correction, JSONExtractBool(payload_json, 'reinforcement') AS reinforcement,
			JSONExtractBool(payload_json, 'include_tools') AS tools, JSONExtractString(payload_json, 'flush') AS flush,
			JSONExtractRaw(payload_json, 'statement'), JSONExtractInt(payload_json, 'debounce'), JSONExtractInt(payload_json, 'max_wait')
		FROM events WHERE stream = ? AND seq > ? AND event_type = ? ORDER BY seq LIMIT ?`, stream, after, schema.ContextEnqueued, most)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", stream, err)
	}
	return out, nil
}

// key names a thread of a queue.
type key struct{ project, thread string }

// pageOf returns a page of pending contexts. It reads the contexts after the page's beginning, most at a time, and no
// others.
func pageOf(
	in LoadInput, ends map[key]uint64, head schema.StreamHead, most int, read func(after uint64, most int) ([]row, error),
) (LoadResult, error) {
	p := page{ends: ends, places: map[key]int{}, LoadResult: LoadResult{Threads: []schema.QueuedThread{}, Since: in.Since, After: in.After, Head: head}}
	for at, first := max(in.After, in.Since), in.After <= in.Since; ; {
		rows, err := read(at, most)
		if err != nil {
			return LoadResult{}, err
		}
		for _, r := range rows {
			waits := !r.refused && r.seq > ends[key{r.project, r.thread}]
			if waits && !p.add(r) {
				p.More = true
				return p.LoadResult, nil
			}
			if first = first && !waits; first {
				p.Since = r.seq
			}
			at = r.seq
		}
		if len(rows) < most {
			if first {
				p.Since = max(p.Since, head.Seq) // Nothing is pending.
			}
			return p.LoadResult, nil
		}
	}
}

// page is a page in the making.
type page struct {
	LoadResult
	ends      map[key]uint64
	places    map[key]int
	positions int
}

// add adds a context that waits. It returns false if the page is full.
func (p *page) add(r row) bool {
	k := key{r.project, r.thread}
	at, listed := p.places[k]
	if p.positions == maxPagePositions || !listed && len(p.Threads) == maxPageThreads {
		return false
	}
	if !listed {
		at = len(p.Threads)
		p.places[k] = at
		p.Threads = append(p.Threads, schema.QueuedThread{Project: r.project, Thread: r.thread})
	}
	p.positions++
	Add(&p.Threads[at], schema.QueuedContext{
		Now: r.now, Correction: r.correction, Reinforcement: r.reinforcement, Statement: r.statement,
		IncludeTools: r.tools, Flush: r.flush, Debounce: r.debounce, MaxWait: r.maxWait,
	}, r.seq, r.at)
	p.After, p.Debounce = r.seq, r.debounce
	return true
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
