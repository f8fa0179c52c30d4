package stack_test

import (
	"testing"
	"time"

	"axiommind/deploy/local/stack"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whenever servers die, no two starts are closer than a second, and no minute has more than five.
func TestPace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var pace stack.Pace
		var starts []time.Time
		now := time.Unix(1_700_000_000, 0)
		for _, lived := range rapid.SliceOfN(rapid.Int64Range(0, int64(20*time.Second)), 1, 60).Draw(t, "lived") {
			now = now.Add(pace.Wait(now))
			pace.Started(now)
			starts = append(starts, now)
			if n := len(starts); n > 1 {
				require.GreaterOrEqual(t, now.Sub(starts[n-2]), stack.RestartInterval)
			}
			if n := len(starts); n > stack.RestartsPerMinute {
				require.GreaterOrEqual(t, now.Sub(starts[n-1-stack.RestartsPerMinute]), stack.RestartWindow)
			}
			now = now.Add(time.Duration(lived))
		}
	})
}

// A server that dies rarely is started again at once.
func TestPaceLetsTheFirstThrough(t *testing.T) {
	t.Parallel()
	var pace stack.Pace
	now := time.Unix(1_700_000_000, 0)
	require.Zero(t, pace.Wait(now))
	pace.Started(now)
	require.Equal(t, stack.RestartInterval, pace.Wait(now))
	require.Zero(t, pace.Wait(now.Add(stack.RestartInterval)))
}
