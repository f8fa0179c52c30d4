package eventlog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// bulkConn is a connection that keeps the rows which are inserted, until they are flushed in blocks as large as they
// come. Projectors insert a few rows for each stream, and most streams are short.
type bulkConn struct {
	driver.Conn
	mu   sync.Mutex
	rows map[string][][]any
}

// PrepareBatch implements [driver.Conn].
func (c *bulkConn) PrepareBatch(_ context.Context, query string, _ ...driver.PrepareBatchOption) (driver.Batch, error) {
	return &bulkBatch{conn: c, query: query}, nil
}

// drop discards the rows that were not flushed.
func (c *bulkConn) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = nil
}

// flush inserts the rows into the projector's tables. The first table comes last, because it records the applied
// events.
func (c *bulkConn) flush(ctx context.Context, p Projector) error {
	c.mu.Lock()
	rows := c.rows
	c.rows = nil
	c.mu.Unlock()
	for _, t := range slices.Backward(p.Tables()) {
		for query, block := range rows {
			if !insertsInto(query, t.Name) {
				continue
			}
			add := func(b driver.Batch, i int) error { return b.Append(block[i]...) }
			if err := InsertBlock(withSyncInsert(ctx), c.Conn, query, len(block), add); err != nil {
				return fmt.Errorf("insert into %s: %w", t.Name, err)
			}
			delete(rows, query)
		}
	}
	for query := range rows {
		return fmt.Errorf("projection %q does not name the table of %q", p.Name(), query)
	}
	return nil
}

// insertsInto reports whether the statement inserts into the table.
func insertsInto(query, table string) bool {
	words := strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune(" \n\t(", r) })
	return len(words) > 2 && words[2] == table
}

// bulkBatch is a batch of a [bulkConn]. Projectors insert row by row: the other methods of a batch are not there.
type bulkBatch struct {
	driver.Batch
	conn  *bulkConn
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
