package clickhouse

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse/cluster"
)

// Bulk is a connection that keeps the rows which are inserted, until they are flushed in blocks as large as they
// come. Projectors insert a few rows for each stream, and most streams are short.
type Bulk struct {
	driver.Conn
	mu   sync.Mutex
	rows map[string][][]any
}

// PrepareBatch implements [driver.Conn].
func (c *Bulk) PrepareBatch(_ context.Context, query string, _ ...driver.PrepareBatchOption) (driver.Batch, error) {
	return &bulkBatch{conn: c, query: query}, nil
}

// Drop discards the rows that were not flushed.
func (c *Bulk) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = nil
}

// Flush inserts the rows into the tables, in their order. Rows of another table are an error.
func (c *Bulk) Flush(ctx context.Context, tables iter.Seq[string]) error {
	c.mu.Lock()
	rows := c.rows
	c.rows = nil
	c.mu.Unlock()
	for table := range tables {
		for query, block := range rows {
			if !insertsInto(query, table) {
				continue
			}
			add := func(b driver.Batch, i int) error { return b.Append(block[i]...) }
			if err := InsertBlock(SyncInsert(ctx), c.Conn, query, len(block), add); err != nil {
				return fmt.Errorf("insert into %s: %w", table, err)
			}
			delete(rows, query)
		}
	}
	for query := range rows {
		return fmt.Errorf("no table is named for the rows of %q", query)
	}
	return nil
}

// insertsInto reports whether the statement inserts into the table.
func insertsInto(query, table string) bool {
	words := strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune(" \n\t(", r) })
	return len(words) > 2 && words[2] == table
}

// bulkBatch is a batch of a [Bulk]. Projectors insert row by row: the other methods of a batch are not there.
type bulkBatch struct {
	driver.Batch
	conn  *Bulk
	query string
	rows  [][]any
}

// Append implements [driver.Batch].
func (b *bulkBatch) Append(v ...any) error {
	b.rows = append(b.rows, slices.Clone(v))
	return nil
}

// Send implements [driver.Batch].
func (b *bulkBatch) Send() error {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	if b.conn.rows == nil {
		b.conn.rows = map[string][][]any{}
	}
	b.conn.rows[b.query] = append(b.conn.rows[b.query], b.rows...)
	b.rows = nil
	return nil
}

// Close implements [driver.Batch].
func (b *bulkBatch) Close() error { return nil }

// NewBulk returns a connection that keeps its rows.
func NewBulk(conn driver.Conn) *Bulk { return &Bulk{Conn: conn} }

// Target is that of the connection.
func (c *Bulk) Target() cluster.Target { return ClusterOf(c.Conn) }

// UsageDays is that of the connection.
func (c *Bulk) UsageDays() int { return UsageDays(c.Conn) }
