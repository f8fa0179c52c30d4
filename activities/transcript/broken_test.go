package transcript

import (
	"context"
	"net"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// A source that can't be read to its end is refused at once. The same error from a store would be tried
// again for an hour.
func TestBrokenSourceIsFinal(t *testing.T) {
	t.Parallel()
	for _, broken := range []error{syscall.EIO, syscall.ECONNRESET, net.ErrClosed} {
		_, _, err := readFrom(t.Context(), iotest.ErrReader(broken), format.Options{Name: "세션.jsonl"})
		application, ok := boundary.Return(t.Context(), err).(*temporal.ApplicationError) //nolint:errorlint // the outermost counts
		require.True(t, ok, "%v", err)
		require.True(t, application.NonRetryable(), "%v", err)
		require.Equal(t, schema.ErrorSourceUnreadable, application.Type(), "%v", err)
	}
	_, _, err := readFrom(t.Context(), iotest.ErrReader(context.Canceled), format.Options{Name: "s.jsonl"})
	require.True(t, temporal.IsCanceledError(boundary.Return(t.Context(), err)), "%v", err)
}
