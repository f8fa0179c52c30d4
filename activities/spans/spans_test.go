package spans

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
)

// The id of a trace that is not sent leads nowhere, so neither errors nor logs name it.
func TestOnlySentTracesAreNamed(t *testing.T) {
	t.Parallel()
	of := trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}
	for flags, want := range map[trace.TraceFlags]string{0: "", trace.FlagsSampled: of.TraceID.String()} {
		of.TraceFlags = flags
		ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(of))
		require.Equal(t, want, TraceID(ctx))
		var said strings.Builder
		slog.New(Logged(slog.NewTextHandler(&said, nil))).InfoContext(ctx, "m")
		require.Equal(t, want != "", strings.Contains(said.String(), "trace_id="), said.String())
	}
}
