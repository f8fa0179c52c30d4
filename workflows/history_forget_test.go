package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/erase"
	"axiommind/schema"
)

// The activities of erasures.

func (r *rooms) BeginErasure(ctx context.Context, in erase.Input) (erase.Begun, error) {
	return called(ctx, r, "BeginErasure", in, func() (erase.Begun, error) { return erase.Begun{Wait: 10 * time.Millisecond}, nil })
}

func (r *rooms) LockStreams(ctx context.Context, in erase.Input) (erase.Begun, error) {
	return called(ctx, r, "LockStreams", in, func() (erase.Begun, error) { return erase.Begun{Wait: 10 * time.Millisecond}, nil })
}

func (r *rooms) EraseLog(ctx context.Context, in erase.Input) (erase.Erased, error) {
	return called(ctx, r, "EraseLog", in, func() (erase.Erased, error) {
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
	return called(ctx, r, "EraseExecutions", in, func() (erase.ExecutionsErased, error) { return erase.ExecutionsErased{Executions: 2}, nil })
}

func (r *rooms) PurgeParts(ctx context.Context, in erase.PurgeInput) error {
	_, err := called(ctx, r, "PurgeParts", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) FindErased(ctx context.Context, in erase.Input) (erase.Found, error) {
	return called(ctx, r, "FindErased", in, func() (erase.Found, error) {
		return erase.Found{Elsewhere: []schema.Leftover{{Store: "clickhouse", Place: "events s at 1"}}}, nil
	})
}

func (r *rooms) EndErasure(ctx context.Context, in erase.EndInput) error {
	_, err := called(ctx, r, "EndErasure", in, func() (any, error) { return nil, nil })
	return err
}

func forgetInput() schema.ForgetInput {
	return schema.ForgetInput{ErasureScope: schema.ErasureScope{User: "ann"}, By: "bob"}
}

// forgetPaths are the ways through an erasure.
func forgetPaths() []path {
	out := []path{
		{name: "forget", start: startForgetAs(schema.ForgetWorkflowID, forgetInput())},
		{name: "forget_child", start: startForgetAs("by-hand", forgetInput())},
		{name: "forget_verify", start: startForgetAs(schema.ForgetWorkflowID, func() schema.ForgetInput {
			in := forgetInput()
			in.ID, in.Verify = "erasure-1", true
			return in
		}())},
	}
	for _, step := range []string{"BeginErasure", "EraseLog", "FindErased"} {
		out = append(out, path{
			name: "forget_failed_" + step, start: startForgetAs(schema.ForgetWorkflowID, forgetInput()), rooms: failingIn(step), fails: step + " can't",
		})
	}
	return out
}

func startForgetAs(id string, in schema.ForgetInput) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain}, schema.WorkflowForget, in)
		require.NoError(t, err)
		return run
	}
}
