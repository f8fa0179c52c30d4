package main_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/vector"
	"axiommind/schema"
)

// rebuildVectorsWhileSessionsWait processes some sessions before and others during the rebuild.
func rebuildVectorsWhileSessionsWait(t *testing.T, before, during int) {
	t.Helper()
	// The tests share a Weaviate, and those with the default embedder a collection: this one has its own.
	b := newRemoteBench(t, newEmbeddingServer(t, 0))
	b.cfg.Timing.Vectors = 30 * time.Second // Sessions end within it, which is the last thing that a rebuild waits for.
	b.start(t)
	session := func(i int) schema.ProcessSessionInput {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("s%d.jsonl", i))
		return b.input(fmt.Sprint("session ", i), write(t, path, said(1, "user", fmt.Sprintf("We decided to use store number %d for vectors.", i))))
	}
	for i := range before {
		b.process(t, session(i))
	}
	b.awaitIndexed(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	collection := schema.VectorCollection(b.Embedder.Version())
	ended := make(chan error, 1)
	var result vector.RebuildResult
	go func() {
		in := vector.RebuildInput{Collection: collection, Verify: true}
		ended <- boundary.Update{Name: schema.UpdateRebuild, ID: "rebuild", Arg: in}.Send(ctx, b.Temporal, &result)
	}()
	for i := range during {
		b.process(t, session(before+i))
	}
	select {
	case err := <-ended:
		t.Fatalf("the sessions waited for the end: %v", err)
	default:
	}
	require.NoError(t, <-ended)
	require.True(t, result.Switched)
	require.Zero(t, result.Differences(), "%v", result.Examples)
	b.awaitIndexed(t)
	var report vector.Report
	in := vector.ReconcileInput{Collection: collection}
	require.NoError(t, boundary.Update{Name: schema.UpdateReconcile, ID: "after", Arg: in}.Send(ctx, b.Temporal, &report))
	require.Zero(t, report.Repaired())
	require.Equal(t, len(column(t, b.ClickHouse, "SELECT job_id FROM vector_outbox WHERE item_kind != 'message'")), report.Outbox.Done)
	t.Log("survived: sessions during a rebuild of their collection")
}
