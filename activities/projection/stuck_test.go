package projection_test

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
)

// stuck is a connection to a server that does not answer.
type stuck struct {
	driver.Conn
	asked chan struct{}
}

func (c *stuck) Query(ctx context.Context, _ string, _ ...any) (driver.Rows, error) {
	c.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestWaitsNoLongerThanItMay: who waits for another's request to a server that does not answer leaves with its own
// context.
func TestWaitsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	conn := &stuck{asked: make(chan struct{}, 10)}
	s := projection.New(conn, eventlog.Options{})
	project := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := s.Project(ctx, &tally{}, "a")
			done <- err
		}()
		return done
	}
	first, end := context.WithCancel(t.Context())
	asking := project(first)
	<-conn.asked
	gone, leave := context.WithCancel(t.Context())
	leave()
	select {
	case err := <-project(gone):
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(20 * time.Second):
		require.Fail(t, "it waits for the other one")
	}
	end()
	require.ErrorIs(t, <-asking, context.Canceled)
}
