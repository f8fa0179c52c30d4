package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"

	"axiommind/schema"
)

// attempts returns how often the activities of a run were begun in all that have ended, by type.
func (b *bench) attempts(t *testing.T, id string) map[string]int32 {
	t.Helper()
	out, names := map[string]int32{}, map[int64]string{}
	it := b.Temporal.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		if a := event.GetActivityTaskScheduledEventAttributes(); a != nil {
			names[event.GetEventId()] = a.GetActivityType().GetName()
		}
		if a := event.GetActivityTaskStartedEventAttributes(); a != nil {
			out[names[a.GetScheduledEventId()]] = a.GetAttempt()
		}
	}
	return out
}

// A worker that is told to stop lets what it does end, and takes nothing new. What does not end in time it hands over,
// so that another worker takes it at once. A second signal ends it at once.
func TestGracefulStop(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a worker five times")
	}
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	m.get(true)
	b.cfg.StopTimeout = 4 * time.Second
	worker := buildWorker(t, b)
	dir := t.TempDir()
	// begin starts a session and a worker, which asks the model and waits for its answer.
	begin := func(name string) (id string, w *running) {
		w = worker.launch(t)
		t.Cleanup(w.kill)
		m.hold()
		calls := m.calls()
		run, err := b.submit(t.Context(), b.input(name, write(t, filepath.Join(dir, name+".jsonl"), said(1, "user", "I prefer tea over "+name+"."), said(2, "user", "TODO: write about "+name+"."))))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return m.calls() > calls }, time.Minute, 10*time.Millisecond)
		return run.GetID(), w
	}
	// end waits for the session, with a worker that lives.
	end := func(id string) {
		w := worker.launch(t)
		defer w.kill()
		var result schema.ProcessSessionResult
		require.NoError(t, b.Temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), &result))
		require.Equal(t, schema.BuildSuccess, result.Status)
	}

	id, w := begin("ends in time")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	time.AfterFunc(time.Second, m.release)
	began := time.Now()
	require.NoError(t, w.wait(), "exit code 0")
	require.Less(t, time.Since(began), b.cfg.StopTimeout+2*time.Second)
	end(id)
	require.EqualValues(t, 1, b.attempts(t, id)["ExtractWindow"], "the answer was not lost")

	id, w = begin("does not end in time")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	began = time.Now()
	require.NoError(t, w.wait(), "exit code 0")
	require.Less(t, time.Since(began), b.cfg.StopTimeout+2*time.Second)
	d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	require.Len(t, d.GetPendingActivities(), 1)
	require.Equal(t, schema.ErrorWorkerStopped, d.GetPendingActivities()[0].GetLastFailure().GetApplicationFailureInfo().GetType())
	m.release()
	began = time.Now()
	end(id)
	require.Less(t, time.Since(began), 20*time.Second, "no worker waited for heartbeats that were missing")
	require.EqualValues(t, 2, b.attempts(t, id)["ExtractWindow"])

	_, w = begin("is killed")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	// The second one counts once the first one has been seen.
	began = time.Now()
	go func() {
		for i := 0; i < 20 && w.cmd.Process.Signal(syscall.SIGTERM) == nil; i++ {
			time.Sleep(20 * time.Millisecond)
		}
	}()
	var exit *exec.ExitError
	require.ErrorAs(t, w.wait(), &exit)
	require.Less(t, time.Since(began), 2*time.Second)
	m.release()
}

// stop tells the worker to stop, waits until it has ended, and returns how long that took. A handover is no error in its
// log.
func (r *running) stop(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	require.NoError(t, r.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, r.wait(), "exit code 0")
	took := time.Since(began)
	for _, line := range r.log {
		if strings.Contains(line, "level=ERROR") {
			require.NotContains(t, line, "was stopped")
		}
	}
	return took
}

// A worker that is told to stop in the middle of an import ends as soon as its own work has: what waits for a writer is
// handed over at once, and the import goes on with the next worker.
func TestStopDuringImport(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a worker twice and imports many sessions")
	}
	t.Parallel()
	const sessions = 40
	b := newBench(t)
	b.cfg.StopTimeout = 24 * time.Second
	worker := buildWorker(t, b)
	w := worker.launch(t)
	t.Cleanup(w.kill)
	in := b.importing(t, directoryOf(t, sessions))
	run, err := b.startBatch(t.Context(), in.WorkflowID(), in)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(b.buildsOf(t)) > sessions/4 }, time.Minute, 10*time.Millisecond)
	took := w.stop(t)
	t.Logf("the worker took %s to stop", took.Round(time.Millisecond))
	require.Less(t, took, b.cfg.StopTimeout/2)
	t.Cleanup(worker.start(t))
	var result schema.BatchResult
	require.NoError(t, run.Get(t.Context(), &result))
	require.Equal(t, sessions, result.Ended())
	require.Equal(t, map[schema.BuildStatus]int{schema.BuildSuccess: sessions}, result.Statuses,
		column(t, b.ClickHouse, "SELECT concat(status, error, counts_json) FROM build_runs WHERE status != 'success'"))
}
