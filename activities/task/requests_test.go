package task_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// headed is a log that knows the head of a stream, as if a workflow had passed the head to it.
type headed struct {
	*projection.Store
	conn driver.Conn
	// heads has the last appended positions, by stream.
	heads sync.Map
}

func (h *headed) AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error) {
	appended, err := h.Store.AppendAll(ctx, stream, events)
	for _, e := range appended.Events {
		if last, ok := h.heads.Load(stream); !ok || last.(uint64) < e.Seq {
			h.heads.Store(stream, e.Seq)
		}
	}
	return appended, err
}

func (h *headed) Head(stream string) schema.StreamHead {
	if last, ok := h.heads.Load(stream); ok {
		return schema.StreamHead{Known: true, Seq: last.(uint64)}
	}
	head := schema.StreamHead{Known: true}
	row := h.conn.QueryRow(context.Background(), "SELECT max(seq) FROM events_raw WHERE stream = ?", stream)
	if row.Scan(&head.Seq) != nil {
		return schema.StreamHead{}
	}
	return head
}

// requests counts the requests over a connection.
type requests struct {
	driver.Conn
	queries, inserts atomic.Int64
}

func (r *requests) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	r.queries.Add(1)
	return r.Conn.Query(ctx, query, args...)
}

func (r *requests) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	r.inserts.Add(1)
	return r.Conn.PrepareBatch(ctx, query, opts...)
}

// TestRequestsOfABatch: several sessions need three queries and four inserts in total, and the rows are those of a
// rebuild.
func TestRequestsOfABatch(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	conn := &requests{Conn: b.conn}
	writer := task.NewWriter(&headed{Store: b.log, conn: b.conn}, conn, task.Rules{})
	b.apply(t, "p", b.report("p", "Sign the contract", schema.TaskInProgress), b.report("p", "Ship the release", schema.TaskBlocked, "Sign the contract", "VPN"),
		b.report("p", "Review PROJ-7", schema.TaskBlocked, "PROJ-7"), b.report("p", "Fix the login page", schema.TaskInProgress))
	many := func(n int) (batches []task.Batch) {
		for i := range n {
			batches = append(batches, task.Batch{Project: "p", SessionID: fmt.Sprint("s", i), Entries: []schema.Entry{
				b.report("p", fmt.Sprintf("Write chapter number %d of the manual", i), schema.TaskBlocked, fmt.Sprintf("draft %d of %d", i, n)),
				b.report("p", "Fix the login page", schema.TaskInProgress, "waiting for the VPN"),
			}})
		}
		return batches
	}
	one := func(e schema.Entry) []task.Batch {
		return []task.Batch{{Project: "p", SessionID: "one", Entries: []schema.Entry{e}}}
	}
	var last []task.Batch
	for _, tt := range []struct {
		name             string
		batches          []task.Batch
		queries, inserts int64
	}{
		{"known", one(b.report("p", "Fix the login page", schema.TaskPending)), 2, 3},
		{"known and blocked", one(b.report("p", "Fix the login page", schema.TaskBlocked, "waiting for the keys")), 3, 4},
		{"in other spelling", one(b.report("p", "Fix the log-in page", schema.TaskInProgress)), 3, 4},
		{"new", one(b.report("p", "Write the manual", schema.TaskBlocked, "the first draft")), 3, 4},
		// One more query for the other blockers of the waiting tasks.
		{"what waits for it is lifted", one(b.report("p", "Sign the contract", schema.TaskDone)), 4, 3},
		{"eight sessions", many(8), 3, 4},
		{"again", many(0), 1, 0},
	} {
		conn.queries.Store(0)
		conn.inserts.Store(0)
		if len(tt.batches) == 0 {
			tt.batches = last
		}
		out, err := writer.Apply(t.Context(), tt.batches)
		require.NoError(t, err)
		require.Nil(t, out[0].Failed)
		require.Equal(t, tt.inserts > 0, out[0].Result.Events > 0)
		require.LessOrEqual(t, conn.queries.Load(), tt.queries, tt.name)
		require.LessOrEqual(t, conn.inserts.Load(), tt.inserts, tt.name)
		last = tt.batches
	}
	rows := b.rows(t)
	_, err := stacktest.Rebuild(t.Context(), b.conn, task.NewProjector(b.conn))
	require.NoError(t, err)
	require.Equal(t, rows, b.rows(t))
}
