package build

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// SessionRow is a session in a list.
type SessionRow struct {
	schema.SessionKey
	eventlog.Total
	// Builds counts the session's builds. Status and BuildID are those of the latest one, and At is the time of its
	// start. The status may be [StatusInterrupted] where the filter looks for it.
	Builds  int                `json:"builds"`
	Status  schema.BuildStatus `json:"status"`
	BuildID string             `json:"build_id"`
	At      time.Time          `json:"at"`
}

// Sessions returns the sessions whose builds pass the filter, the last processed first. The filter's Limit and Offset
// count sessions, and its status is that of their latest build.
func Sessions(ctx context.Context, conn driver.Conn, log *eventlog.Store, f Filter) ([]SessionRow, error) {
	if _, err := f.findInterrupted(ctx, conn); err != nil {
		return nil, err
	}
	status, ofStatus := f.whereStatus()
	f.Status = ""
	where, args, err := f.where()
	if err != nil {
		return nil, err
	}
	var out []SessionRow
	var streams []string
	err = clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var r SessionRow
		var builds uint64
		err := rows.Scan(&r.Project, &r.User, &r.Agent, &r.SessionID, &builds, (*string)(&r.Status), &r.BuildID, &r.At)
		if r.Builds, r.At = int(builds), r.At.UTC(); slices.Contains(f.interrupted, r.BuildID) {
			r.Status = StatusInterrupted
		}
		out, streams = append(out, r), append(streams, r.Stream())
		return err
	}, fmt.Sprintf(`SELECT project, user, agent, session_id, builds, status, build_id, last FROM (
			SELECT project, user, agent, session_id, count() AS builds, argMax(b.status, ordinal) AS status, argMax(b.build_id, ordinal) AS build_id,
			       max(started_at) AS last
			FROM build_runs AS b WHERE %s GROUP BY project, user, agent, session_id)
		WHERE %s ORDER BY last DESC, project, user, agent, session_id LIMIT %d OFFSET %d`,
		strings.Join(where, " AND "), status, f.Limit, f.Offset), append(args, ofStatus...)...)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	totals, err := log.Totals(ctx, streams)
	for i, stream := range streams {
		out[i].Total = totals[stream]
	}
	return out, err
}
