package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
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
			if err := insertBlock(ctx, c.Conn, query, block); err != nil {
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

func insertBlock(ctx context.Context, conn driver.Conn, query string, rows [][]any) error {
	batch, err := conn.PrepareBatch(withSyncInsert(ctx), query)
	if err != nil {
		return err
	}
	defer func() { _ = batch.Close() }()
	for _, row := range rows {
		if err := batch.Append(row...); err != nil {
			return err
		}
	}
	return batch.Send()
}

// bulkBatch is a batch of a [bulkConn].
type bulkBatch struct {
	conn  *bulkConn
	query string
	rows  [][]any
	sent  bool
}

func (b *bulkBatch) Append(v ...any) error {
	b.rows = append(b.rows, slices.Clone(v))
	return nil
}

func (b *bulkBatch) Send() error {
	b.conn.mu.Lock()
	defer b.conn.mu.Unlock()
	if b.conn.rows == nil {
		b.conn.rows = map[string][][]any{}
	}
	b.conn.rows[b.query] = append(b.conn.rows[b.query], b.rows...)
	b.rows, b.sent = nil, true
	return nil
}

var errBulk = errors.New("rows that are inserted in bulk are given row by row")

func (b *bulkBatch) Abort() error                  { b.rows = nil; return nil }
func (b *bulkBatch) Close() error                  { return b.Abort() }
func (b *bulkBatch) AppendStruct(any) error        { return errBulk }
func (b *bulkBatch) Column(int) driver.BatchColumn { return bulkColumn{} }
func (b *bulkBatch) Columns() []column.Interface   { return nil }
func (b *bulkBatch) Flush() error                  { return nil }
func (b *bulkBatch) IsSent() bool                  { return b.sent }
func (b *bulkBatch) Rows() int                     { return len(b.rows) }

type bulkColumn struct{}

func (bulkColumn) Append(any) error    { return errBulk }
func (bulkColumn) AppendRow(any) error { return errBulk }
