package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// A worker that ends is started again, and says why and when it is there again, until it is told to
// stop.
func TestWorkerIsStartedAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	runs, readies := 0, 0
	var said []string
	keepWorking(ctx, func(ctx context.Context, polls func()) error {
		if runs++; runs == 1 {
			return errors.New("namespace default is not found")
		}
		polls()
		if runs == 4 {
			cancel()
			return ctx.Err()
		}
		return errors.New("connection lost")
	}, func() { readies++ }, func(what string) { said = append(said, what) })
	require.Equal(t, 4, runs)
	require.Equal(t, 1, readies)
	require.Equal(t, []string{
		"it ended: namespace default is not found; starting it again",
		"it ended: connection lost; starting it again", "is up again",
		"it ended: connection lost; starting it again", "is up again",
	}, said)
}
