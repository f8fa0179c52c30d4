package main_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/schema"
	"axiommind/worker/runner"
)

// saidLog keeps the log of a worker.
type saidLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *saidLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *saidLog) await(t *testing.T, what string) {
	t.Helper()
	eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(l.text.String(), what)
	}, what)
}

// startVersion runs a worker of the build until the test ends.
func (b *bench) startVersion(t *testing.T, buildID string) *saidLog {
	t.Helper()
	cfg, log := b.cfg, &saidLog{}
	cfg.Deployment, cfg.BuildID = "axiommind-"+b.project, buildID
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx, cfg, slog.New(slog.NewTextHandler(log, nil)), nil) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	log.await(t, "worker is ready")
	return log
}

// setCurrent makes the build the current version. The server learns of the three task queues of a worker one by one.
func (b *bench) setCurrent(t *testing.T, buildID string) {
	t.Helper()
	deployment := b.Temporal.WorkerDeploymentClient().GetHandle("axiommind-" + b.project)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		d, err := deployment.DescribeVersion(t.Context(), client.WorkerDeploymentDescribeVersionOptions{BuildID: buildID})
		require.NoError(c, err)
		require.GreaterOrEqual(c, len(d.Info.TaskQueuesInfos), 4, "three queues of activities, and one of workflows")
		_, err = deployment.SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: buildID})
		require.NoError(c, err)
	}, patience, 200*time.Millisecond)
}

// versionOf returns the build that got the run's workflow tasks, and the versioning behavior of the run.
func (b *bench) versionOf(t *testing.T, id string) (build string, behavior enums.VersioningBehavior) {
	t.Helper()
	d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	info := d.GetWorkflowExecutionInfo().GetVersioningInfo()
	return info.GetDeploymentVersion().GetBuildId(), info.GetBehavior()
}

// A new build of the worker takes over new sessions and the writers once it is made the current version. A session under
// way ends on the build that it began on.
func testTwoBuildsOfTheWorker(t *testing.T) {
	t.Parallel()
	const old, young = "v1.0+é", "2026/07'x"
	m := newModel(t)
	b := m.use(newBench(t))
	m.get(true)
	dir := t.TempDir()
	session := func(name string) schema.ProcessSessionInput {
		return b.input(name, write(t, filepath.Join(dir, name+".jsonl"), said(1, "user", "I prefer tea over "+name+"."), said(2, "user", "TODO: write about "+name+".")))
	}
	log := b.startVersion(t, old)
	log.await(t, "this version is not the current one: it gets no new work")
	waits, err := b.submit(t.Context(), session("first"))
	require.NoError(t, err)
	b.setCurrent(t, old)
	log.await(t, "this version is the current one")
	require.NoError(t, waits.Get(t.Context(), nil), "a session that waited for a current version goes on with it")
	build, behavior := b.versionOf(t, waits.GetID())
	require.Equal(t, old, build)
	require.Equal(t, enums.VERSIONING_BEHAVIOR_PINNED, behavior)

	m.hold()
	underWay, err := b.submit(t.Context(), session("second"))
	require.NoError(t, err)
	eventually(t, func() bool { return m.calls() > 1 }, "the model is asked")
	second := b.startVersion(t, young)
	second.await(t, `set-current-version --deployment-name axiommind-`+b.project)
	b.setCurrent(t, young)
	second.await(t, "this version is the current one")
	log.await(t, "it gets no new work, only that of sessions begun on it\" deployment=axiommind-"+b.project+" build_id="+old+" current="+young)
	m.release()
	require.NoError(t, underWay.Get(t.Context(), nil))
	build, _ = b.versionOf(t, underWay.GetID())
	require.Equal(t, old, build, "the session under way ended on the build it began on")

	fresh, err := b.submit(t.Context(), session("third"))
	require.NoError(t, err)
	var result schema.ProcessSessionResult
	require.NoError(t, fresh.Get(t.Context(), &result))
	require.Equal(t, schema.BuildSuccess, result.Status)
	build, _ = b.versionOf(t, fresh.GetID())
	require.Equal(t, young, build)
	for _, writer := range []schema.WriterInput{schema.ProjectTasksInput{Project: b.project}, schema.MemoryWriterInput{User: "u"}} {
		build, behavior = b.versionOf(t, schema.WorkflowID(writer.Stream()))
		require.Equal(t, young, build, "the writer that both builds' sessions use has moved on")
		require.Equal(t, enums.VERSIONING_BEHAVIOR_AUTO_UPGRADE, behavior)
	}
}
