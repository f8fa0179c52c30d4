package workflows_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// A session with a passing failure is retried, and blocks no other one.
func TestQueueTriesAgain(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	failures := 0
	b.session = func(_ workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		if in.SessionID != "t1" || failures == 3 {
			return schema.ProcessSessionResult{}, nil
		}
		failures++
		return schema.ProcessSessionResult{}, temporal.NewApplicationError("the model is away", schema.ErrorModelUnavailable)
	}
	b.enqueue(0, b.context("t1", "a"))
	b.enqueue(0, b.context("t2", "b"))
	b.state(t, time.Minute, func(s schema.QueueState) {
		require.Equal(t, "t1", s.Pending[0].Thread)
		require.Equal(t, 1, s.Again[0].Attempts)
		require.Equal(t, "success", string(s.Last.Status))
	})
	require.NoError(t, b.execute())
	require.Equal(t, []string{"t1", "t2", "t1", "t1", "t1"}, b.threads())
	require.Greater(t, b.starts[2].at-b.starts[0].at, time.Minute-time.Second)
	require.Empty(t, b.room.waiting())
}

func TestQueueGivesUp(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.session = func(_ workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		return schema.ProcessSessionResult{}, modelAway(in)
	}
	b.enqueue(0, b.context("t1", "a"))
	// Contexts that arrive meanwhile bring no retry forward.
	for i := range 30 {
		b.enqueue(time.Duration(i+1)*40*time.Second, b.context("t1", fmt.Sprint(i)))
	}
	require.NoError(t, b.execute())
	require.Greater(t, b.starts[7].at, time.Hour)
	require.Empty(t, b.room.waiting())
	require.Equal(t, schema.BuildFailed, b.room.ends[0].Status)
	require.Equal(t, "the model is away", b.room.ends[0].Error)
}

// modelAway is the failure of a session that has stored its contexts.
func modelAway(in schema.ProcessSessionInput) error {
	return temporal.NewApplicationErrorWithOptions("the model is away", schema.ErrorModelUnavailable, temporal.ApplicationErrorOptions{
		Details: []any{schema.QueuedRead{To: in.Queued[len(in.Queued)-1]}},
	})
}

// Contexts that a session was not given or has not read are not given up with it.
func TestQueueGivesUpWhatWasReadAlone(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	var got []uint64
	b.session = func(_ workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		if slices.Contains(in.Queued, 7) {
			return schema.ProcessSessionResult{}, temporal.NewNonRetryableApplicationError("no such file", schema.ErrorSourceUnreadable, nil)
		}
		got = append(got, in.Queued...)
		if slices.Contains(in.Queued, 590) {
			return schema.ProcessSessionResult{}, temporal.NewApplicationErrorWithOptions("blocked", schema.ErrorModelBlocked, temporal.ApplicationErrorOptions{
				NonRetryable: true, Details: []any{schema.QueuedRead{To: in.Queued[len(in.Queued)-1]}},
			})
		}
		return schema.ProcessSessionResult{}, nil
	}
	for i := range 600 {
		b.enqueue(0, b.context("t1", fmt.Sprint(i)))
	}
	require.NoError(t, b.execute())
	require.Empty(t, b.room.waiting())
	var want []uint64
	for i := range uint64(600) {
		if i+1 != 7 {
			want = append(want, i+1)
		}
	}
	require.Equal(t, want, got, "all but the one at fault, each once and in order")
	require.Less(t, len(b.starts), 30)
}

// Contexts that were never read wait for a server for as long as that takes.
func TestQueueWaitsForTheLog(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	failures := 0
	b.session = func(workflow.Context, schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		if failures++; failures > 30 {
			return schema.ProcessSessionResult{}, nil
		}
		kind := schema.ErrorStoreUnavailable
		if failures%2 == 0 {
			kind = schema.ErrorStoreRejected
		}
		return schema.ProcessSessionResult{}, temporal.NewNonRetryableApplicationError("no", kind, nil)
	}
	b.enqueue(0, b.context("t1", "a"))
	require.NoError(t, b.execute())
	require.Len(t, b.starts, 31)
	require.Empty(t, b.room.waiting())
	require.Empty(t, b.room.ends[0].Error)
}

// A session that is cancelled each time is given up in the end.
func TestQueueGivesUpWhatIsCancelled(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.session = func(workflow.Context, schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		return schema.ProcessSessionResult{}, temporal.NewCanceledError()
	}
	b.enqueue(0, b.context("t1", "a"))
	b.enqueue(0, b.context("t1", "b"))
	require.NoError(t, b.execute())
	require.Len(t, b.starts, 8)
	require.Empty(t, b.room.waiting())
	require.Equal(t, schema.ErrorCancelled, b.room.ends[0].ErrorType)
}

// A session that takes hours blocks the user's next ones for one time slot only. Its end is recorded without another
// start.
func TestQueueDoesNotWaitForSlowSessions(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	slept := false
	b.session = func(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		if in.SessionID == "slow" && !slept {
			slept = true
			return schema.ProcessSessionResult{}, workflow.Sleep(ctx, 5*time.Hour)
		}
		return schema.ProcessSessionResult{}, nil
	}
	b.enqueue(0, b.context("slow", "a"))
	b.enqueue(time.Second, b.context("next", "b"))
	b.enqueue(2*time.Hour, b.context("late", "c"))
	require.NoError(t, b.execute())
	at := map[string]time.Duration{}
	for _, s := range b.starts {
		if _, known := at[s.thread]; !known {
			at[s.thread] = s.at
		}
	}
	require.Greater(t, at["next"], at["slow"]+9*time.Minute, "it gives each session its slot first")
	require.Less(t, at["next"], at["slow"]+11*time.Minute)
	require.Less(t, at["late"], 3*time.Hour)
	require.Equal(t, []string{"slow", "next", "late"}, b.threads())
	require.Empty(t, b.room.waiting())
	require.Len(t, b.room.ends, 3)
}

// A slow session that fails or is cancelled counts and backs off like any other.
func TestQueueCountsSlowSessionsThatFail(t *testing.T) {
	t.Parallel()
	for kind, failure := range map[string]func(schema.ProcessSessionInput) error{
		schema.ErrorModelUnavailable: modelAway,
		schema.ErrorCancelled:        func(schema.ProcessSessionInput) error { return temporal.NewCanceledError() },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newQueueBench(&queueRoom{}, annQueue)
			b.session = func(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
				if in.SessionID != "slow" {
					return schema.ProcessSessionResult{}, nil
				}
				if err := workflow.Sleep(ctx, time.Hour); err != nil {
					return schema.ProcessSessionResult{}, err
				}
				return schema.ProcessSessionResult{}, failure(in)
			}
			b.enqueue(0, b.context("slow", "a"))
			for i := range 240 { // Others arrive as long as it is tried.
				b.enqueue(time.Duration(5*i+2)*time.Minute, b.context("other", fmt.Sprint(i)))
			}
			shown := 0
			b.state(t, 50*time.Minute, func(s schema.QueueState) {
				require.Equal(t, "slow", s.Running[0].Thread)
				require.Zero(t, s.Threads)
				require.Zero(t, s.NextAt)
				shown++
			})
			b.state(t, time.Hour+time.Minute, func(s schema.QueueState) {
				require.Equal(t, 1, s.Again[0].Attempts)
				require.Equal(t, kind, s.Last.ErrorType)
				require.Empty(t, s.Running)
				shown++
			})
			require.NoError(t, b.execute())
			require.Equal(t, 2, shown)
			var starts []time.Duration
			for _, s := range b.starts {
				if s.thread == "slow" {
					starts = append(starts, s.at)
				}
			}
			require.Len(t, starts, 8)
			for i, at := range starts[1:] {
				require.GreaterOrEqual(t, at-starts[i], time.Hour+time.Duration(min(1<<i, 60))*time.Minute)
			}
			last := slices.IndexFunc(b.room.ends, func(e schema.ContextProcessedPayload) bool { return e.Thread == "slow" })
			require.Equal(t, kind, b.room.ends[last].ErrorType)
			require.Empty(t, b.room.waiting())
		})
	}
}

// A session in back-off is retried when a slow one has used up its slot. Later contexts of the slow one wait for its
// end.
func TestQueueTriesAgainWhileASlowSessionRuns(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	failed, alone := false, true
	b.session = func(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		if in.SessionID == "again" && !failed {
			failed = true
			return schema.ProcessSessionResult{}, modelAway(in)
		}
		if in.SessionID == "slow" && len(in.Queued) == 1 && in.Queued[0] == 2 {
			return schema.ProcessSessionResult{}, workflow.Sleep(ctx, time.Hour)
		}
		return schema.ProcessSessionResult{}, nil
	}
	b.enqueue(0, b.context("again", "a"))
	b.enqueue(0, b.context("slow", "b"))
	b.enqueue(2*time.Minute, b.context("slow", "c"))
	b.state(t, 20*time.Minute, func(s schema.QueueState) { alone = len(s.Running) == 1 && s.Running[0].Thread == "slow" })
	require.NoError(t, b.execute())
	require.True(t, alone)
	require.Equal(t, []string{"again", "slow", "again", "slow"}, b.threads())
	require.GreaterOrEqual(t, b.starts[3].at, b.starts[1].at+time.Hour)
	require.Empty(t, b.room.waiting())
}

// Sessions without a successor in the queue cost no timer.
func TestQueueStartsNoTimerForOneSession(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.session = func(ctx workflow.Context, _ schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		return schema.ProcessSessionResult{}, workflow.Sleep(ctx, 5*time.Hour)
	}
	timers := 0
	b.SetOnTimerScheduledListener(func(_ string, d time.Duration) {
		if d > 9*time.Minute && d <= 10*time.Minute {
			timers++
		}
	})
	b.enqueue(0, b.context("slow", "a"))
	b.enqueue(time.Hour, b.context("slow", "b"))
	require.NoError(t, b.execute())
	require.Zero(t, timers)
	require.Len(t, b.room.ends, 2)
}
