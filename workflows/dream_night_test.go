package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/workflows"
	"axiommind/workflows/workflowtest"
)

// sleepers replaces deep_dream and counts the concurrent dreams.
type sleepers struct {
	inputs       []schema.DeepDreamInput
	now, most    int
	began, ended int
	// dream returns the outcome of a dream, which takes a minute.
	dream func(in schema.DeepDreamInput) (schema.DeepDreamResult, error)
}

func (s *sleepers) run(ctx workflow.Context, in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
	s.inputs = append(s.inputs, in)
	s.began++
	s.now++
	s.most = max(s.most, s.now)
	err := workflow.Sleep(ctx, time.Minute)
	s.now--
	if err != nil {
		return schema.DeepDreamResult{}, err
	}
	s.ended++
	return s.dream(in)
}

func committed(schema.DeepDreamInput) (schema.DeepDreamResult, error) {
	return schema.DeepDreamResult{Status: schema.DreamCommitted, Usage: schema.Usage{Calls: 1, InputTokens: 10}}, nil
}

func nightEnvironment(r *rooms, s *sleepers) *testsuite.TestWorkflowEnvironment {
	env := workflowtest.New()
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "night", TaskQueue: schema.QueueMain})
	env.SetStartTime(time.Date(2026, 6, 8, 4, 0, 0, 0, time.UTC))
	env.RegisterWorkflowWithOptions(workflows.DreamNight, workflow.RegisterOptions{Name: schema.WorkflowDreamNight})
	env.RegisterWorkflowWithOptions(s.run, workflow.RegisterOptions{Name: schema.WorkflowDeepDream})
	env.RegisterActivity(r)
	return env
}

func memoriesOf(n int) (page tier.Found) {
	for i := range n {
		page.Memories = append(page.Memories, tier.Memory{User: fmt.Sprintf("사용자/%d", i), Agent: "a"})
	}
	return page
}

// night runs a night to its end.
func night(t *testing.T, r *rooms, s *sleepers, in schema.DreamNightInput) (result schema.DreamNightResult, err error) {
	t.Helper()
	env := nightEnvironment(r, s)
	env.ExecuteWorkflow(schema.WorkflowDreamNight, in)
	require.True(t, env.IsWorkflowCompleted())
	if err := env.GetWorkflowError(); err != nil {
		return result, err
	}
	require.NoError(t, env.GetWorkflowResult(&result))
	return result, nil
}

// The requested number of memories is dreamt of at a time, each once and for the date of the night.
func TestDreamNightAtOnce(t *testing.T) {
	t.Parallel()
	for given, want := range map[int]int{0: 4, 1: 1, 7: 7, 64: 50} {
		r, s := newRooms(), &sleepers{dream: committed}
		r.found = []tier.Found{memoriesOf(50)}
		result, err := night(t, r, s, schema.DreamNightInput{AtOnce: given, LookbackDays: 3, Force: true})
		require.NoError(t, err)
		require.Equal(t, want, s.most)
		require.Equal(t, schema.DreamNightResult{
			Date: "2026-06-08", Memories: 50, Committed: 50, Usage: schema.Usage{Calls: 50, InputTokens: 500},
		}, result)
		unique := map[string]bool{}
		for _, in := range s.inputs {
			unique[in.User] = true
			require.Equal(t, schema.DeepDreamInput{User: in.User, Agent: "a", Date: "2026-06-08", LookbackDays: 3, Force: true}, in)
		}
		require.Len(t, unique, 50)
	}
}

// The date of the night comes from the input, or from the schedule, or from the start of the run.
func TestDreamNightDate(t *testing.T) {
	t.Parallel()
	scheduled := time.Date(2026, 6, 5, 3, 30, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		in        schema.DreamNightInput
		scheduled bool
		want      string
	}{
		"given":     {schema.DreamNightInput{Date: "2026-02-28"}, true, "2026-02-28"},
		"scheduled": {schema.DreamNightInput{}, true, "2026-06-05"},
		"begun":     {schema.DreamNightInput{}, false, "2026-06-08"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := newRooms(), &sleepers{dream: committed}
			r.found = []tier.Found{memoriesOf(1)}
			env := nightEnvironment(r, s)
			if tt.scheduled {
				require.NoError(t, env.SetTypedSearchAttributesOnStart(temporal.NewSearchAttributes(
					temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime").ValueSet(scheduled))))
			}
			env.ExecuteWorkflow(schema.WorkflowDreamNight, tt.in)
			require.NoError(t, env.GetWorkflowError())
			require.Equal(t, tt.want, s.inputs[0].Date)
			in := inputsOf[tier.FindInput](r, "FindMemories")[0]
			require.Equal(t, time.Date(2026, 6, 8, 4, 0, 0, 0, time.UTC), in.Now)
			require.Equal(t, tt.in.Date, in.Date)
		})
	}
}

// One failure stops no other dream. The first failures are reported, with their reasons.
func TestDreamNightFailures(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), &sleepers{}
	r.found = []tier.Found{memoriesOf(60)}
	s.dream = func(in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
		var n int
		_, err := fmt.Sscanf(in.User, "사용자/%d", &n)
		switch {
		case err != nil:
			return schema.DeepDreamResult{}, err
		case n%2 == 0:
			return schema.DeepDreamResult{}, temporal.NewNonRetryableApplicationError(strings.Repeat("멈춤", 1000), schema.ErrorModelRefused, nil)
		case n == 1:
			return schema.DeepDreamResult{Status: schema.DreamIsRefused, Reason: "truncated"}, nil
		case n == 3:
			return schema.DeepDreamResult{Status: schema.DreamUnchanged}, nil
		case n == 5:
			return schema.DeepDreamResult{Status: schema.DreamSkipped, Reason: "nothing new"}, nil
		}
		return committed(in)
	}
	result, err := night(t, r, s, schema.DreamNightInput{})
	require.NoError(t, err)
	require.Equal(t, 60, s.began)
	require.Len(t, result.Failures, 20)
	require.Contains(t, result.Failures, schema.DreamFailure{User: "사용자/1", Agent: "a", Reason: "truncated"})
	long := slices.IndexFunc(result.Failures, func(f schema.DreamFailure) bool { return strings.HasPrefix(f.Reason, "멈춤멈춤") })
	require.GreaterOrEqual(t, long, 0)
	require.Less(t, len(result.Failures[long].Reason), 410)
	require.True(t, utf8.ValidString(result.Failures[long].Reason))
	result.Failures = nil
	require.Equal(t, schema.DreamNightResult{
		Date: "2026-06-08", Memories: 60, Committed: 27, Unchanged: 1, Refused: 1, Skipped: 1, Failed: 30,
		Usage: schema.Usage{Calls: 27, InputTokens: 270},
	}, result)
	require.Equal(t, "night of 2026-06-08: 60 memories, 27 with a new version, 1 unchanged, 1 skipped, 1 refused, 30 failed", result.Line())
}

// A memory that another workflow is dreaming of is skipped, and the night reports it.
func TestDreamNightAlreadyRunning(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), &sleepers{}
	s.dream = func(in schema.DeepDreamInput) (schema.DeepDreamResult, error) {
		if in.User == "사용자/2" {
			return schema.DeepDreamResult{}, &temporal.ChildWorkflowExecutionAlreadyStartedError{}
		}
		return committed(in)
	}
	r.found = []tier.Found{memoriesOf(4)}
	result, err := night(t, r, s, schema.DreamNightInput{})
	require.NoError(t, err)
	require.Equal(t, []int{4, 3, 1, 1, 0}, []int{result.Memories, result.Committed, result.Skipped, result.Running, result.Failed})
	require.Contains(t, result.Line(), "1 skipped, 1 of them being dreamt of already")
}

// Every page is a run of its own, which keeps the counts, the date and the request.
func TestDreamNightContinues(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), &sleepers{dream: committed}
	r.found = []tier.Found{memoriesOf(5), memoriesOf(3)}
	in := schema.DreamNightInput{AtOnce: 2, LookbackDays: 9, Force: true}
	_, err := night(t, r, s, in)
	var continued *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &continued)
	require.Equal(t, schema.WorkflowDreamNight, continued.WorkflowType.Name)
	require.Equal(t, 5, s.ended, "all dreams of the page have ended")
	next := decoded[schema.DreamNightInput](t, continued.Input)
	require.Equal(t, schema.DreamNightInput{
		Date: "2026-06-08", AtOnce: 2, LookbackDays: 9, Force: true, After: "1",
		Done: schema.DreamNightResult{Date: "2026-06-08", Memories: 5, Committed: 5, Usage: schema.Usage{Calls: 5, InputTokens: 50}},
	}, next)
	result, err := night(t, r, s, next)
	require.NoError(t, err)
	require.Equal(t, 8, result.Memories)
	require.Equal(t, 8, result.Committed)
	require.Equal(t, 8, result.Usage.Calls)
	require.Equal(t, tier.FindInput{At: inputsOf[tier.FindInput](r, "FindMemories")[1].At, Now: inputsOf[tier.FindInput](r, "FindMemories")[1].Now,
		Date: "2026-06-08", LookbackDays: 9, Force: true, After: "1"}, inputsOf[tier.FindInput](r, "FindMemories")[1])
}

func decoded[T any](t *testing.T, payloads *commonpb.Payloads) (v T) {
	t.Helper()
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(payloads, &v))
	return v
}

// A cancelled night starts no more dreams, and cancels none.
func TestDreamNightCancelled(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), &sleepers{dream: committed}
	r.found = []tier.Found{memoriesOf(50)}
	env := nightEnvironment(r, s)
	env.RegisterDelayedCallback(env.CancelWorkflow, 90*time.Second)
	env.ExecuteWorkflow(schema.WorkflowDreamNight, schema.DreamNightInput{AtOnce: 5})
	require.True(t, env.IsWorkflowCompleted())
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), env.GetWorkflowError())
	require.Equal(t, 10, s.began)
	require.GreaterOrEqual(t, s.ended, 5)
}

func TestDreamNightRefuses(t *testing.T) {
	t.Parallel()
	for says, in := range map[string]schema.DreamNightInput{
		"at_once 65: want 1 to 64":              {AtOnce: 65},
		"at_once -1: want 1 to 64":              {AtOnce: -1},
		"lookback_days 3661: want 0 to 3660":    {LookbackDays: 3661},
		"lookback_days -1: want 0 to 3660":      {LookbackDays: -1},
		`date "7.6.2026": want a day like 2006`: {Date: "7.6.2026"},
	} {
		r := newRooms()
		_, err := night(t, r, &sleepers{}, in)
		requireInvalid(t, err, says)
		require.Empty(t, r.order())
	}
}

// A night whose memories cannot be found fails with the reason.
func TestDreamNightFails(t *testing.T) {
	t.Parallel()
	_, err := night(t, newRooms().failing("FindMemories", schema.ErrorStoreRejected), &sleepers{}, schema.DreamNightInput{})
	var failed *temporal.ApplicationError
	require.True(t, errors.As(err, &failed))
	require.Equal(t, schema.ErrorStoreRejected, failed.Type())
	require.Equal(t, "find memories: FindMemories can't", failed.Message())
}

// The night shows its progress while it runs.
func TestDreamNightTells(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), &sleepers{dream: func(schema.DeepDreamInput) (schema.DeepDreamResult, error) {
		return schema.DeepDreamResult{Status: schema.DreamIsRefused, Reason: "truncated"}, nil
	}}
	r.found = []tier.Found{memoriesOf(2)}
	env := nightEnvironment(r, s)
	var told string
	env.RegisterDelayedCallback(func() {
		value, err := env.QueryWorkflow("__temporal_workflow_metadata")
		require.NoError(t, err)
		var raw converter.RawValue
		require.NoError(t, value.Get(&raw))
		told = string(raw.Payload().GetData())
	}, 70*time.Second)
	env.ExecuteWorkflow(schema.WorkflowDreamNight, schema.DreamNightInput{AtOnce: 1})
	require.NoError(t, env.GetWorkflowError())
	require.Contains(t, told, "night of 2026-06-08: 1 memory, 0 with a new version, 0 unchanged, 1 refused")
	require.Contains(t, told, "truncated")
}

// startNight starts a night.
func startNight(in schema.DreamNightInput) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "night", TaskQueue: schema.QueueMain}, schema.WorkflowDreamNight, in)
		require.NoError(t, err)
		return run
	}
}
