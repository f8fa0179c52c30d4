package stacktest

import (
	"context"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Meter is a connection to ClickHouse that counts the bytes of payloads read through it: of values scanned into a
// slice of bytes.
type Meter struct {
	driver.Conn
	bytes atomic.Int64
}

// Query implements [driver.Conn].
func (m *Meter) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	rows, err := m.Conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return &meteredRows{rows, m}, nil
}

// Take returns the bytes read since it was called last.
func (m *Meter) Take() int64 { return m.bytes.Swap(0) }

type meteredRows struct {
	driver.Rows
	meter *Meter
}

func (r *meteredRows) Scan(dest ...any) error {
	err := r.Rows.Scan(dest...)
	for _, d := range dest {
		if payload, ok := d.(*[]byte); ok {
			r.meter.bytes.Add(int64(len(*payload)))
		}
	}
	return err
}
