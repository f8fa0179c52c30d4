package service

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
)

// Values that ClickHouse quotes from a row do not get into the log of a worker.
func TestLogQuotesNoRow(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{ReplaceAttr: LogReadable}))
	err := fmt.Errorf("save: %w", &clickhouse.Exception{Code: 6, Message: "Cannot parse string 'open sesame' as UInt64. (CANNOT_PARSE_TEXT)"})
	logger.With("before", err).WithGroup("g").Warn("projections are not checked", "reason", err, "tries", 3)
	require.NotContains(t, logs.String(), "sesame")
	require.Contains(t, logs.String(), "g.reason=\"save: code: 6, message: (CANNOT_PARSE_TEXT)")
	require.Contains(t, logs.String(), "tries=3")
}
