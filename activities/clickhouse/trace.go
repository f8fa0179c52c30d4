package clickhouse

import (
	"context"
	"regexp"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"axiommind/activities/spans"
)

// tracedConn has a span for each statement, below that of its context. A span names the operation and the first table, and never
// has the statement: it may contain words of users.
type tracedConn struct{ driver.Conn }

var (
	operation = regexp.MustCompile(`^[\s(]*([A-Za-z]+)`)
	table     = regexp.MustCompile(`(?i)\b(?:from|into|table(?:\s+if\s+\w+(?:\s+\w+)?)?|view(?:\s+if\s+\w+(?:\s+\w+)?)?|update)\s+([A-Za-z_][\w.]*)`)
)

func (c tracedConn) span(ctx context.Context, statement string) (context.Context, trace.Span) {
	if !spans.On(ctx) {
		return ctx, trace.SpanFromContext(context.Background())
	}
	does, on := "statement", ""
	if found := operation.FindStringSubmatch(statement); found != nil {
		does = strings.ToUpper(found[1])
	}
	if found := table.FindStringSubmatch(statement); found != nil {
		on = found[1]
	}
	return spans.Start(ctx, strings.TrimSpace(does+" "+on), attribute.String("db.system.name", "clickhouse"),
		attribute.String("db.operation.name", does), attribute.String("db.collection.name", on))
}

// Query implements [driver.Conn]. Its span ends when the rows are closed.
func (c tracedConn) Query(ctx context.Context, statement string, args ...any) (driver.Rows, error) {
	ctx, s := c.span(ctx, statement)
	rows, err := c.Conn.Query(ctx, statement, args...)
	if err != nil || !s.IsRecording() {
		spans.End(s, err)
		return rows, err
	}
	return &tracedRows{rows, s}, nil
}

// tracedRows ends the span of a query.
type tracedRows struct {
	driver.Rows
	span trace.Span
}

// Close implements [driver.Rows].
func (r *tracedRows) Close() error {
	err := r.Rows.Close()
	spans.End(r.span, err)
	return err
}

// QueryRow implements [driver.Conn].
func (c tracedConn) QueryRow(ctx context.Context, statement string, args ...any) driver.Row {
	ctx, s := c.span(ctx, statement)
	row := c.Conn.QueryRow(ctx, statement, args...)
	spans.End(s, row.Err())
	return row
}

// Select implements [driver.Conn].
func (c tracedConn) Select(ctx context.Context, into any, statement string, args ...any) error {
	ctx, s := c.span(ctx, statement)
	err := c.Conn.Select(ctx, into, statement, args...)
	spans.End(s, err)
	return err
}

// Exec implements [driver.Conn].
func (c tracedConn) Exec(ctx context.Context, statement string, args ...any) error {
	ctx, s := c.span(ctx, statement)
	err := c.Conn.Exec(ctx, statement, args...)
	spans.End(s, err)
	return err
}

// PrepareBatch implements [driver.Conn]. Its span ends when the batch is sent or given up.
func (c tracedConn) PrepareBatch(ctx context.Context, statement string, options ...driver.PrepareBatchOption) (driver.Batch, error) {
	ctx, s := c.span(ctx, statement)
	batch, err := c.Conn.PrepareBatch(ctx, statement, options...)
	if err != nil || !s.IsRecording() {
		spans.End(s, err)
		return batch, err
	}
	return &tracedBatch{batch, s}, nil
}

// tracedBatch ends the span of an insert.
type tracedBatch struct {
	driver.Batch
	span trace.Span
}

// Send implements [driver.Batch].
func (b *tracedBatch) Send() error {
	err := b.Batch.Send()
	spans.End(b.span, err)
	return err
}

// Close implements [driver.Batch]. A span that has ended ignores it.
func (b *tracedBatch) Close() error {
	err := b.Batch.Close()
	spans.End(b.span, err)
	return err
}
