package workflows_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// Whatever the items are, and however often a run continues as new: each item has one outcome, no session runs twice at
// a time, items of one session run in order, and no more run at a time than allowed.
func TestSessionBatchProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfN(rapid.SampledFrom(numbered(12)), 0, 60).Draw(rt, "sessions")
		minutes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 1, 1, 3, 25, 200}), 12, 12).Draw(rt, "minutes")
		busy := rapid.SliceOfN(rapid.IntRange(0, 3), 12, 12).Draw(rt, "busy")
		refused := rapid.SliceOfN(rapid.IntRange(0, 9), len(ids), len(ids)).Draw(rt, "refused")
		r, s := newRooms(), newSessionsRun()
		r.batch = batchRoom{items: itemsOf(ids...), pageSize: rapid.IntRange(1, 9).Draw(rt, "page")}
		for i := range r.batch.items {
			if refused[i] == 0 {
				r.batch.items[i].Refused = "no"
			}
		}
		s.takes = func(id string) time.Duration {
			return time.Duration(minutes[slices.Index(numbered(12), id)]) * time.Minute
		}
		s.ends = func(id string, n int) (schema.ProcessSessionResult, error) {
			if n <= busy[slices.Index(numbered(12), id)] {
				return schema.ProcessSessionResult{}, &temporal.ChildWorkflowExecutionAlreadyStartedError{}
			}
			result, err := succeeded(id, n)
			result.BuildID = fmt.Sprintf("%06d", n)
			return result, err
		}
		in := importInput()
		in.AtOnce = rapid.IntRange(1, 5).Draw(rt, "at once")
		var result schema.BatchResult
		for {
			var err error
			after := time.Duration(rapid.IntRange(1, 60).Draw(rt, "long after")) * time.Minute
			result, err = runBatch(t, r, s, in, func(env *testsuite.TestWorkflowEnvironment) {
				env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, after)
			})
			var continued *workflow.ContinueAsNewError
			if !errors.As(err, &continued) {
				require.NoError(t, err)
				break
			}
			in = decoded[schema.ImportSessionsInput](t, continued.Input)
		}
		got := requireReported(t, r)
		require.Equal(t, len(ids), result.Ended())
		require.LessOrEqual(t, s.most, 2*in.AtOnce)
		last := map[string]string{}
		for i, id := range ids {
			if refused[i] > 0 {
				require.Greater(t, got[i].BuildID, last[id], "items of one session run in order")
				last[id] = got[i].BuildID
			}
		}
	})
}
