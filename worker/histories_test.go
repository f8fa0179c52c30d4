package main_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
	"axiommind/worker/runner"
)

func (b *bench) checkHistories(t *testing.T, check runner.HistoryCheck) (string, error) {
	t.Helper()
	if check.Limit == 0 {
		check.Limit = runner.DefaultHistoryLimit
	}
	var out strings.Builder
	err := check.Run(t.Context(), b.cfg, quiet, &out)
	return out.String(), err
}

// awaitVisible waits until Temporal lists the workflow as one that runs or not.
func (b *bench) awaitVisible(t *testing.T, check runner.HistoryCheck, what string, listed bool) {
	t.Helper()
	eventually(t, func() bool {
		out, _ := b.checkHistories(t, check)
		return strings.Contains(out, what) == listed
	}, what)
}

// A check before a deploy lists the runs of a namespace that the new worker could not take over: here one of the same
// type whose code did something else, and one of an unknown type.
func TestCheckHistories(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	b := m.use(newBench(t))
	m.get(true)
	m.hold()
	// Workflows alone, for its activities belong to the other worker.
	planted := sdkworker.New(b.Temporal, schema.QueueMain, sdkworker.Options{LocalActivityWorkerOnly: true})
	other := func(ctx workflow.Context) error {
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return err
		}
		return workflow.Sleep(ctx, time.Hour)
	}
	planted.RegisterWorkflowWithOptions(other, workflow.RegisterOptions{Name: schema.WorkflowDreamNight})
	planted.RegisterWorkflowWithOptions(other, workflow.RegisterOptions{Name: "former_workflow"})
	require.NoError(t, planted.Start())
	for id, name := range map[string]string{"night '1' %2F": schema.WorkflowDreamNight, "former": "former_workflow"} {
		run, err := b.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: schema.QueueMain}, name)
		require.NoError(t, err)
		eventually(t, func() bool {
			d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), id, run.GetRunID())
			return err == nil && d.GetWorkflowExecutionInfo().GetHistoryLength() > 8
		}, "the first timer has fired")
	}
	planted.Stop()
	b.cfg.Timing.Idle = time.Hour // The writers run until the end, however long all of it takes.
	b.start(t)
	in := b.input("open", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", "I prefer tea."), said(2, "user", "TODO: write it up.")))
	run, err := b.submit(t.Context(), in)
	require.NoError(t, err)
	eventually(t, func() bool { return m.calls() > 0 })
	b.awaitVisible(t, runner.HistoryCheck{}, in.Key().WorkflowID(), true)

	out, err := b.checkHistories(t, runner.HistoryCheck{})
	require.ErrorIs(t, err, runner.ErrNotReplayed)
	require.Regexp(t, `2 of [34] histories do not replay`, err.Error(), "the writer of messages may have begun")
	require.Regexp(t, `(?m)^dream_night +night '1' %2F +\S+ +Running +\d+ +no: \[TMPRL1100\]`, out)
	require.Regexp(t, `(?m)^former_workflow +former .* no: this worker has no workflow "former_workflow"`, out)
	require.Regexp(t, `(?m)^process_session +\S+ +\S+ +Running +\d+ +yes$`, out)

	m.release()
	require.NoError(t, run.Get(t.Context(), nil))
	for _, id := range []string{"night '1' %2F", "former"} {
		require.NoError(t, b.Temporal.TerminateWorkflow(t.Context(), id, "", "test"))
	}
	b.awaitVisible(t, runner.HistoryCheck{}, "process_session", false)
	b.awaitVisible(t, runner.HistoryCheck{}, "dream_night", false)
	out, err = b.checkHistories(t, runner.HistoryCheck{})
	require.NoError(t, err, out)
	require.NotContains(t, out, "process_session")
	require.Contains(t, out, "memory_writer", "it still waits for more to do")
	out, err = b.checkHistories(t, runner.HistoryCheck{Closed: true})
	require.ErrorIs(t, err, runner.ErrNotReplayed, "what has ended is read too")
	require.Regexp(t, `(?m)^process_session +\S+ +\S+ +Completed +\d+ +yes$`, out)

	b.process(t, b.input("second", in.URI))
	b.awaitVisible(t, runner.HistoryCheck{Closed: true}, "second", true)
	out, _ = b.checkHistories(t, runner.HistoryCheck{Closed: true, Limit: 1})
	require.Regexp(t, `; [1-9]\d* not read: raise --limit\n$`, out)
	require.Equal(t, 1, strings.Count(out, "\nprocess_session"))
	_, err = b.checkHistories(t, runner.HistoryCheck{Limit: -1})
	require.ErrorContains(t, err, "--limit -1: want 1 or more")
}
