package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
)

// noted records the inserts through it, and refuses those into one table.
type noted struct {
	driver.Conn
	mu     sync.Mutex
	blocks []string
	refuse string
}

func (c *noted) PrepareBatch(_ context.Context, query string, _ ...driver.PrepareBatchOption) (driver.Batch, error) {
	return &notedBatch{conn: c, into: strings.TrimPrefix(query, "INSERT INTO ")}, nil
}

type notedBatch struct {
	driver.Batch
	conn *noted
	into string
	rows int
}

func (b *notedBatch) Append(...any) error { b.rows++; return nil }
func (b *notedBatch) Close() error        { return nil }
func (b *notedBatch) Send() error {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	if b.into == b.conn.refuse {
		return errors.New("no room")
	}
	b.conn.blocks = append(b.conn.blocks, fmt.Sprint(b.into, " ", b.rows))
	return nil
}

// Rows of many series are one block for each table, in the order of the series.
func TestGather(t *testing.T) {
	t.Parallel()
	conn := &noted{}
	ctx, rows := clickhouse.Gather(t.Context())
	insert := func(into string, n int) {
		require.NoError(t, clickhouse.Insert(ctx, conn, into, make([][]any, n)))
	}
	for _, series := range [][4]int{{1, 0, 1, 0}, {1, 1, 1, 0}, {0, 0, 1, 1}, {0, 1, 1, 1}} {
		rows.Begin()
		for i, into := range []string{"a", "b", "c", "d"} {
			insert(into, series[i])
		}
		insert("none", 0)
	}
	require.Empty(t, conn.blocks)
	require.NoError(t, rows.Write(t.Context()))
	require.Equal(t, []string{"a 2", "b 2", "c 4", "d 2"}, conn.blocks)
	require.NoError(t, rows.Write(t.Context()))
	require.Len(t, conn.blocks, 4, "written once")

	// A table comes after one that a later series puts late.
	conn.blocks = nil
	for _, n := range [][4]int{{0, 0, 1, 1}, {1, 1, 1, 0}} {
		rows.Begin()
		for i, into := range []string{"skipped", "profile", "cleared", "facts"} {
			insert(into, n[i])
		}
	}
	require.NoError(t, rows.Write(t.Context()))
	require.Equal(t, []string{"skipped 1", "profile 1", "cleared 2", "facts 1"}, conn.blocks)

	// What comes after a table that refuses its rows is not written.
	conn.blocks, conn.refuse = nil, "b"
	rows.Begin()
	for _, into := range []string{"a", "b", "c"} {
		insert(into, 1)
	}
	require.ErrorContains(t, rows.Write(t.Context()), "no room")
	require.Equal(t, []string{"a 1"}, conn.blocks)
}

// A series may insert from several goroutines, and comes to its last table after they have.
func TestGatherAtOnce(t *testing.T) {
	t.Parallel()
	conn := &noted{}
	ctx, rows := clickhouse.Gather(t.Context())
	for range 20 {
		rows.Begin()
		var inserts sync.WaitGroup
		for _, into := range []string{"a", "b", "c"} {
			inserts.Go(func() { _ = clickhouse.Insert(ctx, conn, into, make([][]any, 1)) })
		}
		inserts.Wait()
		require.NoError(t, clickhouse.Insert(ctx, conn, "last", make([][]any, 1)))
	}
	require.NoError(t, rows.Write(t.Context()))
	require.Len(t, conn.blocks, 4)
	require.Equal(t, "last 20", conn.blocks[3])
}
