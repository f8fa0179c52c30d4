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

// A worker that receives a stop signal finishes its work, and takes nothing new. Work that does not end in time is
// handed over, so that another worker takes it at once. A second signal ends it at once.
func testGracefulStop(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	m.get(true)
	b.cfg.StopTimeout = patience
	patient := buildWorker(t, b)
	hasty := patient
	hasty.cfg.StopTimeout = 6 * time.Second
	dir := t.TempDir()
	// begin starts a session, for which a worker asks the model and waits for its answer.
	begin := func(name string) (id string) {
		m.hold()
		calls := m.calls()
		run, err := b.submit(t.Context(), b.input(name, write(t, filepath.Join(dir, name+".jsonl"), said(1, "user", "I prefer tea over "+name+"."), said(2, "user", "TODO: write about "+name+"."))))
		require.NoError(t, err)
		eventually(t, func() bool { return m.calls() > calls })
		return run.GetID()
	}
	end := func(id string) {
		var result schema.ProcessSessionResult
		require.NoError(t, b.Temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), &result))
		require.Equal(t, schema.BuildSuccess, result.Status)
	}
	launch := func(p program) *running {
		w := p.launch(t)
		t.Cleanup(w.kill)
		return w
	}

	w := launch(patient)
	first := begin("ends in time")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	time.AfterFunc(500*time.Millisecond, m.release) // The worker has seen the signal, or soon will.
	require.NoError(t, w.wait(), "exit code 0")

	w = launch(hasty)
	end(first)
	require.EqualValues(t, 1, b.attempts(t, first)["ExtractWindow"], "the answer was not lost")
	second := begin("does not end in time")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, w.wait(), "exit code 0")
	d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), second, "")
	require.NoError(t, err)
	require.Len(t, d.GetPendingActivities(), 1)
	require.Equal(t, schema.ErrorWorkerStopped, d.GetPendingActivities()[0].GetLastFailure().GetApplicationFailureInfo().GetType())
	m.release()

	w = launch(patient)
	end(second)
	require.EqualValues(t, 2, b.attempts(t, second)["ExtractWindow"])
	begin("is killed")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	// The second one counts once the first one has been seen.
	ended := make(chan error, 1)
	go func() { ended <- w.wait() }()
	var exit *exec.ExitError
	eventually(t, func() bool {
		select {
		case err := <-ended:
			require.ErrorAs(t, err, &exit)
			return true
		default:
			_ = w.cmd.Process.Signal(syscall.SIGTERM)
			return false
		}
	}, "the second signal ends it long before its stop timeout")
	m.release()
}

// stop stops the worker, waits until it has ended, and returns how long that took. A handover is no error in its log.
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

// A worker that is stopped in the middle of an import ends as soon as its own work has. Calls that wait for a writer
// are handed over at once, and the import goes on with the next worker.
func stopDuringImport(t *testing.T, sessions int) {
	t.Helper()
	b := newBench(t)
	b.cfg.StopTimeout = 4 * time.Minute // Far more than a handover takes on a busy machine.
	worker := buildWorker(t, b)
	w := worker.launch(t)
	t.Cleanup(w.kill)
	in := b.importing(t, directoryOf(t, sessions))
	run, err := b.startBatch(t.Context(), in.WorkflowID(), in)
	require.NoError(t, err)
	eventually(t, func() bool { return len(b.buildsOf(t)) > sessions/4 })
	took := w.stop(t)
	t.Logf("the worker took %s to stop", took.Round(time.Millisecond))
	require.Less(t, took, b.cfg.StopTimeout/2)
	t.Cleanup(worker.start(t))
	var result schema.BatchResult
	require.NoError(t, run.Get(t.Context(), &result))
	require.Equal(t, sessions, result.Ended())
	require.Equal(t, map[schema.BuildStatus]int{schema.BuildSuccess: sessions}, result.Statuses,
		column(t, b.ClickHouse, "SELECT concat(status, error, counts_json) FROM build_runs WHERE status != 'success'"))
	t.Logf("survived: stop in an import of %d sessions", sessions)
}
