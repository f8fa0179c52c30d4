package workflows_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/erase"
	"axiommind/schema"
)

// The activities of erasures.

func (r *rooms) BeginErasure(ctx context.Context, in erase.Input) (erase.BeginResult, error) {
	return called(ctx, r, "BeginErasure", in, func() (erase.BeginResult, error) { return erase.BeginResult{Wait: 10 * time.Millisecond}, nil })
}

func (r *rooms) LockStreams(ctx context.Context, in erase.Input) (erase.BeginResult, error) {
	return called(ctx, r, "LockStreams", in, func() (erase.BeginResult, error) { return erase.BeginResult{Wait: 10 * time.Millisecond}, nil })
}

func (r *rooms) EraseLog(ctx context.Context, in erase.Input) (erase.Erased, error) {
	return called(ctx, r, "EraseLog", in, func() (erase.Erased, error) {
		if r.late > 0 {
			r.late--
			return erase.Erased{Wait: 10 * time.Millisecond}, nil
		}
		return erase.Erased{Counts: schema.ErasureCounts{Sessions: 1, Deleted: 9}, At: time.Unix(100, 0).UTC()}, nil
	})
}

func (r *rooms) EraseFiles(ctx context.Context, in erase.Input) (erase.FilesErased, error) {
	return called(ctx, r, "EraseFiles", in, func() (erase.FilesErased, error) {
		return erase.FilesErased{Files: 3, At: time.Unix(200, 0).UTC()}, nil
	})
}

func (r *rooms) UnlockStreams(ctx context.Context, in erase.Input) error {
	_, err := called(ctx, r, "UnlockStreams", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) ResumeWriters(ctx context.Context, in erase.Input) error {
	_, err := called(ctx, r, "ResumeWriters", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) EraseExecutions(ctx context.Context, in erase.Input) (erase.ExecutionsErased, error) {
	return called(ctx, r, "EraseExecutions", in, func() (erase.ExecutionsErased, error) {
		return erase.ExecutionsErased{Executions: 2, Left: leftExecutions}, nil
	})
}

func (r *rooms) PurgeParts(ctx context.Context, in erase.PurgeInput) error {
	_, err := called(ctx, r, "PurgeParts", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) FindErased(ctx context.Context, in erase.FindInput) (erase.Found, error) {
	return called(ctx, r, "FindErased", in, func() (erase.Found, error) {
		return erase.Found{Elsewhere: []schema.Leftover{{Store: "clickhouse", Place: "events s at 1"}}}, nil
	})
}

func (r *rooms) EndErasure(ctx context.Context, in erase.EndInput) error {
	_, err := called(ctx, r, "EndErasure", in, func() (any, error) { return nil, nil })
	return err
}

// leftExecutions are the executions that Temporal has not deleted in time.
var leftExecutions = []erase.Execution{{WorkflowID: "session/p/ann//s", RunID: "run"}}

func forgetInput() schema.ForgetInput {
	return schema.ForgetInput{ErasureScope: schema.ErasureScope{User: "ann"}, By: "bob"}
}

// forgetPaths are the paths through an erasure.
func forgetPaths() []path {
	verify := forgetInput()
	verify.ID, verify.Verify = "erasure-1", true
	return []path{
		{name: "forget", start: startForgetAs(schema.ForgetWorkflowID, forgetInput())},
		{name: "forget_late", rooms: with(func(r *rooms) { r.late = 1 }), start: startForgetAs(schema.ForgetWorkflowID, forgetInput())},
		{name: "forget_child", start: startForgetAs("by-hand", forgetInput())},
		{name: "forget_verify", start: startForgetAs(schema.ForgetWorkflowID, verify)},
	}
}

// startForgetBeside starts an erasure, and another one under an id of its own.
func startForgetBeside(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	startForgetAs(schema.ForgetWorkflowID, forgetInput())(ctx, t, c)
	return startForgetAs("by-hand", forgetInput())(ctx, t, c)
}

func startForgetAs(id string, in schema.ForgetInput) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain}, schema.WorkflowForget, in)
		require.NoError(t, err)
		return run
	}
}

// Streams are unlocked before the vectors are rebuilt, which may take long, and the stores are searched after that.
func TestForgetUnlocksBeforeVectors(t *testing.T) {
	t.Parallel()
	r := newRooms()
	purged := make(chan struct{})
	var late, made, early atomic.Bool
	r.before = func(_ context.Context, name string) {
		switch name {
		case "PurgeParts":
			close(purged)
		case "RebuildVectors":
			select {
			case <-purged:
			case <-time.After(10 * time.Second):
				late.Store(true)
			}
			time.Sleep(100 * time.Millisecond) // A search that does not wait for it would be done by then.
			made.Store(true)
		case "FindErased":
			early.Store(!made.Load())
		}
	}
	env := newEnvironment(r, schema.ForgetWorkflowID)
	env.ExecuteWorkflow(schema.WorkflowForget, forgetInput())
	require.NoError(t, env.GetWorkflowError())
	require.False(t, late.Load(), "the streams waited for the vectors")
	require.False(t, early.Load(), "the search did not wait for the vectors")
}

// Whichever step fails, the end is recorded, and streams are unlocked unless tables still contain erased content.
// Before the tombstone there is nothing to end.
func TestForgetEnds(t *testing.T) {
	t.Parallel()
	steps := []string{
		"BeginErasure", "LockStreams", "EraseLog", "PrepareRebuild", "EraseFiles", "UnlockStreams", "ResumeWriters", "EraseExecutions",
		"PurgeParts", "RebuildVectors", "FindErased",
	}
	for i, step := range append([]string{""}, steps...) {
		r := newRooms()
		r.late = 1
		if step != "" {
			r.failing(step, schema.ErrorStoreRejected)
		}
		env := newEnvironment(r, schema.ForgetWorkflowID)
		env.ExecuteWorkflow(schema.WorkflowForget, forgetInput())
		require.True(t, env.IsWorkflowCompleted())
		ends := inputsOf[erase.EndInput](r, "EndErasure")
		switch {
		case step == "":
			require.NoError(t, env.GetWorkflowError())
			var result schema.ForgetResult
			require.NoError(t, env.GetWorkflowResult(&result))
			require.NotEmpty(t, result.ID)
			require.Len(t, inputsOf[erase.Input](r, "EraseLog"), 2, "a stream was written late")
			want := schema.ForgetResult{
				ID: result.ID, ErasureCounts: schema.ErasureCounts{Sessions: 1, Deleted: 9}, Executions: 2, Files: 3, Vectors: 5,
				Elsewhere: []schema.Leftover{{Store: "clickhouse", Place: "events s at 1"}},
			}
			require.Equal(t, want, result)
			require.Equal(t, schema.ErasureFinishedPayload{
				ErasureID: result.ID, Counts: want.ErasureCounts, Executions: 2, Files: 3, Vectors: 5,
			}, ends[0].Finished)
			require.Equal(t, leftExecutions, inputsOf[erase.FindInput](r, "FindErased")[0].Executions)
			purged := inputsOf[erase.PurgeInput](r, "PurgeParts")[0]
			require.Equal(t, []int64{100, 200}, []int64{purged.Log.Unix(), purged.Files.Unix()})
			require.Less(t, r.largest, 64<<10)
		case i == 1:
			require.ErrorContains(t, env.GetWorkflowError(), step+" can't")
			require.Empty(t, ends)
		default:
			require.ErrorContains(t, env.GetWorkflowError(), step+" can't")
			require.Contains(t, ends[0].Finished.Failed, "it broke off at the step: ")
			unlocked := len(inputsOf[erase.Input](r, "UnlockStreams")) > 0
			require.Equal(t, step != "EraseLog" && step != "PrepareRebuild", unlocked, step)
		}
	}
}
