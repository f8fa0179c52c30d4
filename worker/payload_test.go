package main_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"axiommind/activities/queue/door"
	"axiommind/schema"
	"axiommind/worker/payload"
	"axiommind/worker/runner"
	"axiommind/worker/service"
)

// keyed gives the bench a key, and a client that uses it.
func (b *bench) keyed(t *testing.T) {
	t.Helper()
	b.cfg.PayloadKeyFile = filepath.Join(t.TempDir(), "payload.keys")
	require.NoError(t, os.WriteFile(b.cfg.PayloadKeyFile, payload.NewFile("k1"), 0o600))
	c, err := service.ConnectTemporal(t.Context(), b.cfg, quiet)
	require.NoError(t, err)
	b.Temporal.Close()
	b.Temporal = c
}

// I9 for Temporal's storage: with a key, the histories and memos of its namespace contain no word of a session, no
// reason of a failure and no file's name. The raw bytes are read, by a client without keys.
func TestI9NothingIsReadableInTemporal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.keyed(t)
	b.start(t)
	dir := filepath.Join(t.TempDir(), "velvetfolder")
	require.NoError(t, os.Mkdir(dir, 0o700))
	in := b.input("sealed", write(t, filepath.Join(dir, "s.jsonl"), said(1, "user", decision), said(2, "user", "I prefer marmalade over honey.")))
	require.Equal(t, schema.BuildSuccess, b.process(t, in).Status)
	require.NotEmpty(t, b.requireProven(t, "sealed"))

	missing := b.input("missing", "file://"+filepath.ToSlash(filepath.Join(dir, "absentium.jsonl")))
	_, err := b.try(t.Context(), missing)
	require.ErrorContains(t, err, "absentium", "whoever has the key reads the reason")

	q := schema.QueuedContext{
		ID: "q1", Scope: schema.Scope{Project: b.project, User: "queued"}, Thread: "t", At: time.Now().UTC(), Now: true,
		Messages: []schema.InlineMessage{{Role: "user", Content: "We decided to use Weaviate for the zanzibar index."}},
	}
	require.NoError(t, door.Send(t.Context(), b.Temporal, q))
	eventually(t, func() bool {
		return len(column(t, b.ClickHouse, "SELECT build_id FROM build_runs WHERE session_id LIKE '%t' AND status = 'success'")) > 0
	})
	b.awaitGraduated(t.Context(), t)

	raw, err := client.DialContext(t.Context(), client.Options{HostPort: b.cfg.TemporalAddress, Namespace: b.cfg.TemporalNamespace, Logger: quiet})
	require.NoError(t, err)
	defer raw.Close()
	types, events, size := map[string]bool{}, map[enums.EventType]bool{}, 0
	for _, m := range stored(t.Context(), t, raw, b.cfg.TemporalNamespace, types, events) {
		wire, err := proto.Marshal(m)
		require.NoError(t, err)
		size += len(wire)
		text := strings.ToLower(string(wire))
		for _, secret := range []string{"clickhouse", "event log", "marmalade", "honey", "velvetfolder", "absentium", "zanzibar", "json/plain"} {
			require.NotContains(t, text, secret, "%v", m)
		}
	}
	for _, name := range []string{
		schema.WorkflowProcessSession, schema.WorkflowMemoryQueue, schema.WorkflowVectorWriter, schema.WorkflowMemoryWriter, schema.WorkflowGraduation,
	} {
		require.True(t, types[name], "%s of %v was looked at", name, types)
	}
	for _, kind := range []enums.EventType{
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
		enums.EVENT_TYPE_MARKER_RECORDED, enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enums.EVENT_TYPE_ACTIVITY_TASK_FAILED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
	} {
		require.True(t, events[kind], "%s was looked at", kind)
	}
	t.Logf("%d bytes of %d types of events", size, len(events))

	// The check of a new version replays the histories that it can decrypt.
	var out strings.Builder
	check := runner.HistoryCheck{Limit: 50, Closed: true}
	require.NoError(t, check.Run(t.Context(), b.cfg, quiet, &out), out.String())
	require.Contains(t, out.String(), " 0 do not replay")
}

// stored returns Temporal's record of each workflow of the namespace: its description and its events.
func stored(ctx context.Context, t *testing.T, c client.Client, namespace string, types map[string]bool, events map[enums.EventType]bool) (all []proto.Message) {
	t.Helper()
	list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1000})
	require.NoError(t, err)
	for _, run := range list.GetExecutions() {
		types[run.GetType().GetName()] = true
		d, err := c.DescribeWorkflowExecution(ctx, run.GetExecution().GetWorkflowId(), run.GetExecution().GetRunId())
		require.NoError(t, err)
		run.SearchAttributes, d.GetWorkflowExecutionInfo().SearchAttributes = nil, nil // They hold names.
		all = append(all, run, d)
		it := c.GetWorkflowHistory(ctx, run.GetExecution().GetWorkflowId(), run.GetExecution().GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for it.HasNext() {
			event, err := it.Next()
			require.NoError(t, err)
			events[event.GetEventType()] = true
			all = append(all, event)
		}
	}
	return all
}

// A worker without the key of a session does not fail it: the session waits for a worker that has it.
func testWorkerWithoutTheKeyFailsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	keyless := b.cfg
	b.keyed(t)
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- runner.Run(ctx, keyless, quiet, func() { close(ready) }) }()
	<-ready
	run, err := b.submit(t.Context(), b.input("waits", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision))))
	require.NoError(t, err)
	eventually(t, func() bool {
		d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), run.GetID(), run.GetRunID())
		require.NoError(t, err)
		require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, d.GetWorkflowExecutionInfo().GetStatus())
		return d.GetPendingWorkflowTask().GetAttempt() > 1
	})
	stop()
	require.NoError(t, <-done)
	b.start(t)
	var result schema.ProcessSessionResult
	require.NoError(t, run.Get(t.Context(), &result))
	require.Equal(t, schema.BuildSuccess, result.Status)
}
