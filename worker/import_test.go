package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"axiommind/activities/batch"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// importing is the input of an import of the directory.
func (b *bench) importing(t testing.TB, dir string) schema.ImportSessionsInput {
	t.Helper()
	uri, err := transcript.FileURI(dir)
	require.NoError(t, err)
	return schema.ImportSessionsInput{URI: uri, Project: b.project, User: "u"}
}

// startBatch starts a batch under the id, or finds the run that has it.
func (b *bench) startBatch(ctx context.Context, id string, in schema.BatchInput) (client.WorkflowRun, error) {
	run, err := b.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: schema.QueueMain, WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, in.Workflow(), in)
	var already *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &already) {
		return b.Temporal.GetWorkflow(ctx, id, ""), nil
	}
	return run, err
}

// importAll imports the directory and returns the result.
func (b *bench) importAll(t testing.TB, in schema.ImportSessionsInput) (result schema.BatchResult) {
	t.Helper()
	run, err := b.startBatch(t.Context(), in.WorkflowID(), in)
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), &result))
	return result
}

// ofSession makes lines those of the session with the id.
func ofSession(id, lines string) string {
	return strings.ReplaceAll(lines, `"sessionId":"c"`, fmt.Sprintf(`"sessionId":%q`, id))
}

// directoryOf writes n files, each of a session of its own.
func directoryOf(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		part := filepath.Join(dir, fmt.Sprint(i%7))
		require.NoError(t, os.MkdirAll(part, 0o700))
		write(t, filepath.Join(part, fmt.Sprintf("세션 '%d'.jsonl", i)), ofSession(fmt.Sprintf("세션 %d", i), said(1, "user", decision)),
			ofSession(fmt.Sprintf("세션 %d", i), said(2, "user", fmt.Sprintf("I prefer tea number %d. TODO: write page %d.", i, i))))
	}
	return dir
}

// builds returns the ids of the builds of the project.
func (b *bench) buildsOf(t testing.TB) []string {
	t.Helper()
	return column(t, b.ClickHouse, "SELECT build_id FROM build_runs WHERE project = ?", b.project)
}

// The same import, started by many at once and under several ids, processes each session once.
func TestI1ImportAtOnce(t *testing.T) {
	t.Parallel()
	importAtOnce(t, 3, 4)
}

func importAtOnce(t *testing.T, sessions, starters int) {
	t.Helper()
	b := newBench(t)
	b.start(t)
	in := b.importing(t, directoryOf(t, sessions))
	in.AtOnce = 3
	type end struct {
		result schema.BatchResult
		err    error
	}
	ends := make(chan end, starters)
	for i := range cap(ends) {
		id := in.WorkflowID()
		if i%2 == 1 {
			id = fmt.Sprintf("by hand %d", i)
		}
		go func() {
			var e end
			run, err := b.startBatch(t.Context(), id, in)
			if e.err = err; err == nil {
				e.err = run.Get(t.Context(), &e.result)
			}
			ends <- e
		}()
	}
	batches := map[string]schema.BatchResult{}
	for range cap(ends) {
		e := <-ends
		require.NoError(t, e.err)
		require.Equal(t, sessions, e.result.Ended())
		batches[e.result.Batch] = e.result
	}
	require.Len(t, batches, 1+starters/2)
	succeeded := 0
	for id, result := range batches {
		succeeded += result.Statuses[schema.BuildSuccess]
		require.Zero(t, result.Statuses[schema.BuildFailed])
		report, err := batch.Read(t.Context(), b.Log.Store, id)
		require.NoError(t, err)
		require.Len(t, report.Outcomes, sessions)
	}
	require.Equal(t, sessions, succeeded)
	require.Len(t, b.buildsOf(t), sessions)
	t.Logf("survived: an import of %d sessions started %d times at once", sessions, starters)
}

// killedDuringImport kills a worker that lists the sessions, and others once so many of them have ended.
func killedDuringImport(t *testing.T, sessions int, ends ...int) {
	t.Helper()
	dir := directoryOf(t, sessions)
	calm, killed := newBench(t), newBench(t)
	killed.project = calm.project // Ids are made of it.
	calm.start(t)
	want := calm.importAll(t, calm.importing(t, dir))

	worker := buildWorker(t, killed)
	in := killed.importing(t, dir)
	kill := worker.start(t)
	run, err := killed.startBatch(t.Context(), in.WorkflowID(), in)
	require.NoError(t, err)
	awaitScheduled(t.Context(), t, killed.Temporal, run, "ListSessions")
	kill()
	for _, ended := range ends {
		kill = worker.start(t)
		awaitEnded(t, killed.Temporal, run, ended)
		kill()
	}
	t.Cleanup(worker.start(t))
	var got schema.BatchResult
	require.NoError(t, run.Get(t.Context(), &got))
	require.Equal(t, map[schema.BuildStatus]int{schema.BuildSuccess: sessions}, want.Statuses)
	require.Equal(t, want.Statuses, got.Statuses)
	require.Equal(t, sessions, got.Ended())
	report, err := batch.Read(t.Context(), killed.Log.Store, got.Batch)
	require.NoError(t, err)
	require.Len(t, report.Items, sessions)
	require.Len(t, report.Outcomes, sessions)
	calm.awaitIndexed(t)
	killed.awaitIndexed(t)
	wants, gots := calm.lasting(t), killed.lasting(t)
	for name := range wants {
		require.Equal(t, withoutBatches(wants[name]), withoutBatches(gots[name]), name)
	}
	t.Log("survived: worker killed while it listed an import")
	for _, ended := range ends {
		t.Logf("survived: worker killed after %d sessions of an import", ended)
	}
}

// withoutBatches leaves out the events of batches: their ids are made of when they began.
func withoutBatches(rows []string) (out []string) {
	for _, row := range rows {
		if !strings.Contains(row, "batch_") {
			out = append(out, row)
		}
	}
	return out
}

// awaitEnded waits until so many sessions of the batch have ended.
func awaitEnded(t *testing.T, c client.Client, run client.WorkflowRun, n int) {
	t.Helper()
	it := c.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() && n > 0 {
		event, err := it.Next()
		require.NoError(t, err)
		if event.GetEventType() == enums.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED {
			n--
		}
	}
	require.Zero(t, n, "the batch has ended")
}

// importSessions is the variable that says how many sessions BenchmarkImport imports.
const importSessions = "IMPORT_SESSIONS"

// BenchmarkImport imports sessions of 10 messages, 400 unless IMPORT_SESSIONS says how many, and compares that with
// sessions that are started one by one, eight at a time in both: half of these before, and half after the import.
//
//	IMPORT_SESSIONS=5000 go test ./worker -run '^$' -bench Import -benchtime 1x -timeout 2h
func BenchmarkImport(b *testing.B) {
	n := 400
	if text := os.Getenv(importSessions); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	beside := min((n+1)/2, 500) // Direct runs before and after show the machine's pace.
	j := newJourney(b, newBench(b))
	j.run(b, 16, 8) // The first sessions make caches and parts.
	for b.Loop() {
		dir := j.copies(b, n)
		var direct, imported pace
		direct.add(j.measure(b, func() int { return j.run(b, beside, 8) }))
		var result schema.BatchResult
		in := j.importing(b, dir)
		imported.add(j.measure(b, func() int { result = j.importAll(b, in); return n }))
		direct.add(j.measure(b, func() int { return j.run(b, beside, 8) }))
		require.Equal(b, n, result.Statuses[schema.BuildSuccess]+result.Statuses[schema.BuildEmpty], "%v", result.Statuses)
		b.ReportMetric(imported.rate(), "imported/s")
		b.ReportMetric(direct.rate(), "direct/s")
		b.ReportMetric(100*imported.rate()/direct.rate(), "%-of-direct")
		b.ReportMetric(float64(j.batchEvents(b, in.WorkflowID()))/float64(n), "events/session")
		names := []string{"clickhouse", "temporal", "test"}
		for i, ms := range imported.cpuOf(names...)[:len(names)] {
			b.ReportMetric(ms-direct.cpuOf(names...)[i], names[i]+"-more-ms")
		}
	}
}

// copies writes n files with conversations.
func (j *journey) copies(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		data, err := os.ReadFile(strings.TrimPrefix(j.uris[i%len(j.uris)], "file://"))
		require.NoError(t, err)
		text := ofSession(fmt.Sprintf("imported-%d", i), string(data))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.jsonl", i)), []byte(text), 0o600))
	}
	return dir
}

// batchEvents counts the events in the histories of the batch's runs.
func (b *bench) batchEvents(t testing.TB, id string) int {
	t.Helper()
	n := 0
	for run := ""; ; {
		it := b.Temporal.GetWorkflowHistory(t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		before := ""
		for it.HasNext() {
			event, err := it.Next()
			require.NoError(t, err)
			n++
			if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
				before = started.GetContinuedExecutionRunId()
			}
		}
		if before == "" {
			return n
		}
		run = before
	}
}
