package stacktest

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
)

// Rebuild empties the projector's tables and applies all events again, while no one else projects. Tests compare the
// result with an incremental projection. At most one set of options is given.
func Rebuild(ctx context.Context, conn driver.Conn, p projection.Projector, opts ...eventlog.Options) (projection.Progress, error) {
	if err := Empty(ctx, conn, p); err != nil {
		return projection.Progress{}, err
	}
	return projection.New(conn, append(opts, eventlog.Options{})[0]).ProjectAll(ctx, p)
}

// Empty empties the projector's tables, and makes stores that are opened after it apply all events again. The tables
// begin a new generation, whereas open stores save later offsets under the previous one.
func Empty(ctx context.Context, conn driver.Conn, p projection.Projector) error {
	for _, t := range p.Tables() {
		var err error
		if t.Column == "" {
			err = conn.Exec(ctx, "TRUNCATE TABLE "+t.Name)
		} else {
			err = conn.Exec(ctx, "DELETE FROM "+t.Name+" WHERE "+t.Column+" = ?", t.Value)
		}
		if err != nil {
			return err
		}
	}
	return conn.Exec(ctx, `INSERT INTO projection_offsets_raw
		(projector_name, stream, last_seq, last_ts, last_event_id, generation, version)
		SELECT ?, '', 1, toDateTime64(0, 6, 'UTC'), '', max(generation) + 1, toUInt32(?) FROM projection_offsets_raw WHERE projector_name = ?`,
		p.Name(), p.Version(), p.Name())
}
