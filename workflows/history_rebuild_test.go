package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/schema"
)

// rebuildPaths are the paths through a rebuild.
func rebuildPaths() []path {
	return []path{
		{name: "rebuild", start: startRebuild(schema.RebuildInput{}), rooms: with(func(r *rooms) {
			r.rebuild = rebuildRoom{slices: 2, late: []int{9000, 1}}
		})},
		{name: "rebuild_child", start: startRebuildAs("by-hand", schema.RebuildInput{})},
		{name: "rebuild_dry_run", start: startRebuild(schema.RebuildInput{DryRun: true})},
		{name: "rebuild_vectors", start: startRebuild(schema.RebuildInput{Collections: true})},
		{name: "rebuild_not_recorded", start: startRebuild(schema.RebuildInput{}), rooms: failingIn("RecordRebuild")},
		{name: "rebuild_failed_RebuildVectors", start: startRebuild(schema.RebuildInput{Collections: true}), rooms: failingIn("RebuildVectors"),
			fails: "RebuildVectors can't"},
	}
}

func startRebuild(in schema.RebuildInput) starter {
	return startRebuildAs(schema.RebuildWorkflowID, in)
}

func startRebuildAs(id string, in schema.RebuildInput) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain}, schema.WorkflowRebuild, in)
		require.NoError(t, err)
		return run
	}
}

// startRebuildBeside starts a rebuild, and another one under an id of its own.
func startRebuildBeside(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	startRebuild(schema.RebuildInput{})(ctx, t, c)
	return startRebuildAs("by-hand", schema.RebuildInput{})(ctx, t, c)
}
