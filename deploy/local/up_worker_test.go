package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// A worker that ends is started again and says why, until it is told to stop.
func TestWorkerIsStartedAgain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	var said []string
	keepWorking(ctx, func(ctx context.Context) error {
		if runs++; runs == 2 {
			cancel()
			return ctx.Err()
		}
		return errors.New("namespace default is not found")
	}, func(what string) { said = append(said, what) })
	require.Equal(t, 2, runs)
	require.Equal(t, []string{"it ended: namespace default is not found; starting it again"}, said)
}
