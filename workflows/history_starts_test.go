package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/vector"
	"axiommind/schema"
)

func startAs(id string) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain},
			schema.WorkflowProcessSession, sessionInput())
		require.NoError(t, err)
		return run
	}
}

func startRealign(id string) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain},
			schema.WorkflowRealignSession, sessionInput().Key())
		require.NoError(t, err)
		return run
	}
}

func startNotify(receiver string) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		in := schema.NotifySummaryInput{User: "u", EventID: "flushed", Workflow: receiver}
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: in.WorkflowID(), TaskQueue: schema.QueueMain},
			schema.WorkflowNotifySummary, in)
		require.NoError(t, err)
		return run
	}
}

// startBeside starts a workflow for a session that is being processed.
func startBeside(start starter) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		startAs(sessionInput().Key().WorkflowID())(ctx, t, c)
		return start(ctx, t, c)
	}
}

func startVectorWriter(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	return startWriterOf(ctx, t, c, collection)
}

func startMessageWriter(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	return startWriterOf(ctx, t, c, messageCollection)
}

func startWriterOf(ctx context.Context, t *testing.T, c client.Client, collection string) client.WorkflowRun {
	options := client.StartWorkflowOptions{ID: schema.WorkflowID(schema.VectorStream(collection)), TaskQueue: schema.QueueMain}
	run, err := c.SignalWithStartWorkflow(ctx, options.ID, schema.SignalWake, nil, options,
		schema.WorkflowVectorWriter, schema.VectorWriterInput{Collection: collection})
	require.NoError(t, err)
	return run
}

func startReconcile(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	run := startVectorWriter(ctx, t, c)
	sendUpdate(ctx, t, c, run, schema.UpdateReconcile, "reconcile", vector.ReconcileInput{Collection: collection})
	return run
}

// startRebuildVectors rebuilds the collection while a session waits for its vectors.
func startRebuildVectors(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
	run := startVectorWriter(ctx, t, c)
	handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: run.GetID(), UpdateName: schema.UpdateRebuild, UpdateID: "rebuild", WaitForStage: client.WorkflowUpdateStageAccepted,
		Args: []any{vector.RebuildInput{Collection: collection, Verify: true}},
	})
	require.NoError(t, err)
	sendUpdate(ctx, t, c, run, schema.UpdateSession, "session", vector.IndexRequest{
		SessionKey: sessionInput().Key(), BuildID: "b", EmbeddingVersion: "hash",
	})
	require.NoError(t, handle.Get(ctx, nil))
	return run
}

// startSerial starts the writer of a stream and sends it two updates.
func startSerial(w serialWriter) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: w.id, TaskQueue: schema.QueueMain}, w.workflow, w.in)
		require.NoError(t, err)
		for _, id := range []string{"s1", "s2"} {
			sendUpdate(ctx, t, c, run, w.update, id, w.arg(id))
		}
		return run
	}
}

func sendUpdate(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun, name, id string, args ...any) {
	handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: run.GetID(), UpdateName: name, UpdateID: id, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	require.NoError(t, handle.Get(ctx, nil))
}
