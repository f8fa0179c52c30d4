package llm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
)

// I2: the cost of a call is reported by the attempt that follows a broken one, but not by a reader of an older answer.
func TestI2UsageOfABrokenAttempt(t *testing.T) {
	t.Parallel()
	scheduled := time.Date(2026, 11, 1, 2, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		attempt  int32
		answered time.Duration
		paid     bool
	}{
		{1, time.Second, false}, // Another run asked the same at that time.
		{2, time.Second, true},
		{2, 0, true},
		{3, -time.Second, false},
	} {
		got := paidByAttempt(activity.Info{Attempt: c.attempt, ScheduledTime: scheduled}, scheduled.Add(c.answered))
		require.Equal(t, c.paid, got, c)
	}
}
