package build

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
)

// Column is a column by which builds can be filtered.
type Column string

// Columns of builds.
const (
	ColumnBuild   Column = "build_id"
	ColumnProject Column = "project"
	ColumnUser    Column = "user"
	ColumnAgent   Column = "agent"
	ColumnSession Column = "session_id"
	// ColumnExtractor contains PROVIDER/MODEL.
	ColumnExtractor Column = "extractor_model"
)

// Value is a value of a column that some builds have.
type Value struct {
	Text string
	// Session, Project and Started belong to the latest of these builds.
	Session, Project string
	Started          time.Time
}

// Values returns the values of the column in the builds that pass the filter, if they begin with the prefix. The
// value of the latest build comes first. The filter's Limit bounds their number.
func Values(ctx context.Context, conn driver.Conn, column Column, prefix string, f Filter) ([]Value, error) {
	where, args, err := f.where()
	if err != nil {
		return nil, err
	}
	where, args = append(where, fmt.Sprintf("startsWith(%s, ?)", column)), append(args, prefix)
	var out []Value
	err = clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, v *Value) error {
		return rows.Scan(&v.Text, &v.Session, &v.Project, &v.Started)
	}), fmt.Sprintf(`SELECT toString(%s) AS text, argMax(session_id, started_at), argMax(toString(project), started_at), max(started_at) AS started
		FROM build_runs WHERE %s GROUP BY text HAVING text != '' ORDER BY started DESC, text LIMIT %d OFFSET %d`,
		column, strings.Join(where, " AND "), f.Limit, f.Offset), args...)
	if err != nil {
		return nil, fmt.Errorf("read the %s of builds: %w", column, err)
	}
	return out, nil
}
