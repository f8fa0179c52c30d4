package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/tier"
	"axiommind/schema"
)

// A worker that is killed when a version of core memory is in the log and not yet in MEMORY.md, and restarted, leaves
// files that match the log (I2).
func testI2KilledBetweenCommitAndFile(t *testing.T) {
	t.Parallel()
	const tries = 6
	b := newBench(t)
	worker := buildWorker(t, b)
	kill := worker.start(t)
	var runs []client.WorkflowRun
	between := 0
	for i := 0; i < tries && between == 0; i++ {
		if i > 0 {
			kill = worker.start(t)
		}
		in := schema.DeepDreamInput{User: fmt.Sprint("user-", i), Date: "2026-06-07"}
		b.flush(t, in, "- We ship on Friday.\n- Ann likes tea.")
		run, err := b.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: in.WorkflowID(), TaskQueue: schema.QueueMain, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		}, schema.WorkflowDeepDream, in)
		require.NoError(t, err)
		runs = append(runs, run)
		b.awaitEvent(t, in.Writer().Stream(), schema.CoreCommitted)
		kill()
		if _, err := os.Stat(b.memoryFile(in.User, "MEMORY.md")); errors.Is(err, fs.ErrNotExist) {
			between++
		}
	}
	require.Positive(t, between, "no worker was killed before it wrote the file")
	began := time.Now()
	t.Cleanup(worker.start(t))
	for i, run := range runs {
		var result schema.DeepDreamResult
		require.NoError(t, run.Get(t.Context(), &result), run.GetID())
		require.Equal(t, schema.DreamCommitted, result.Status)
		require.Empty(t, result.Files)
		user := fmt.Sprint("user-", i)
		b.requireMemoryFiles(t, user)
		require.Equal(t, []string{schema.ContextFlushed, schema.CoreCommitted, schema.DreamFinished},
			column(t, b.ClickHouse, "SELECT event_type FROM events WHERE stream = ? ORDER BY seq", schema.MemoryStream(user, "")),
			"one dream is one version, and no file was taken for an edit")
	}
	t.Log("survived: worker killed between the commit of a memory and its file")
	t.Logf("%d workers killed, %d before they wrote the file; all dreams ended %.0f s after the last start", len(runs), between, time.Since(began).Seconds())
}

// flush records a summary for the day of the dream.
func (b *bench) flush(t *testing.T, in schema.DeepDreamInput, text string) {
	t.Helper()
	session := schema.SessionKey{Scope: schema.Scope{Project: b.project, User: in.User}, SessionID: "s"}
	event, err := schema.NewEvent(schema.ContextFlushedPayload{
		SessionKey: session, Date: in.Date, Clock: "14:30", Last: 1, Summarizer: "openai/m", Text: text,
	}, schema.Event{TS: time.Now().UTC(), Actor: "test", DedupeKey: schema.ContextFlushedKey(session, 0, 1)})
	require.NoError(t, err)
	_, err = b.Log.Append(t.Context(), in.Writer().Stream(), []schema.Event{event})
	require.NoError(t, err)
}

// awaitEvent waits until the log holds an event of the type, and no longer.
func (b *bench) awaitEvent(t *testing.T, stream, eventType string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		if len(column(t, b.ClickHouse, "SELECT event_id FROM events_raw WHERE stream = ? AND event_type = ?", stream, eventType)) > 0 {
			return
		}
	}
	t.Fatalf("no %s in %s", eventType, stream)
}

// memoryFile is the path of a file of a user's memory.
func (b *bench) memoryFile(user, name string) string {
	return filepath.Join(b.cfg.MemoryRoot, "memory", "users", user, filepath.FromSlash(name))
}

// requireMemoryFiles checks that the user's files equal the projection.
func (b *bench) requireMemoryFiles(t *testing.T, user string) {
	t.Helper()
	tables := tier.NewTables(b.ClickHouse)
	core, err := tables.Current(t.Context(), user, "")
	require.NoError(t, err)
	want := map[string]string{"MEMORY.md": core.Text}
	for kind, dir := range map[schema.RecordKind]string{schema.RecordDaily: "", schema.RecordDiary: "dreams/"} {
		records, err := tables.Records(t.Context(), user, "", kind)
		require.NoError(t, err)
		text, ok := tier.RenderRecord(records)
		require.True(t, ok)
		want[dir+records[0].Date+".md"] = text
	}
	for name, text := range want {
		have, err := os.ReadFile(b.memoryFile(user, name))
		require.NoError(t, err)
		require.Equal(t, text, string(have), name)
	}
}
