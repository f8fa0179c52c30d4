package workflows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"axiommind/activities/evidence"
	"axiommind/activities/llm"
	"axiommind/activities/tier"
	"axiommind/activities/transcript"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stack"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/workflows"
)

var record = flag.Bool("record", false, "record the histories again on a Temporal server")

func TestMain(m *testing.M) { stacktest.Main(m) }

func historyFile(name string) string { return filepath.Join("testdata", "histories", name+".json") }

// starter starts a workflow.
type starter func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun

// path is one path through a workflow.
type path struct {
	name string
	// rooms are the activities. If it is nil, these are newRooms.
	rooms func() *rooms
	// start starts the workflow. If it is nil, that is processSession.
	start starter
	// during happens while the workflow runs.
	during func(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun)
	// fails is part of the error that the workflow ends with.
	fails string
	// then acts on the ended run, and returns the id of the run whose history is kept.
	then func(ctx context.Context, t *testing.T, c client.Client, namespace string, run *common.WorkflowExecution) string
	// last keeps the history of the last run instead of the first, if runs continue as new.
	last bool
	// long makes the server report a long history after a few events.
	long bool
}

func paths() []path {
	holds, releases := duringAnother("AlignSession", enums.EVENT_TYPE_TIMER_STARTED)
	holdsRealign, releasesRealign := duringAnother("AlignSession", enums.EVENT_TYPE_TIMER_STARTED)
	out := []path{
		{name: "process_session_success"},
		{name: "process_session_unchanged", rooms: with(func(r *rooms) { r.ingested = transcript.IngestResult{Unchanged: true, Messages: 2} })},
		{name: "process_session_empty", rooms: with(func(r *rooms) { r.windows = 0 })},
		{name: "process_session_windows", rooms: with(func(r *rooms) { r.windows = 6 })},
		{name: "process_session_no_writers", rooms: with(func(r *rooms) { r.materialized.TaskNotes, r.materialized.Facts = 0, 0 })},
		{name: "process_session_local_model", rooms: with(func(r *rooms) { r.windows, r.recordedBefore = 0, llm.RecordResult{Windows: 2, Entries: 1} })},
		{name: "process_session_bookkeeping_waits", rooms: with(func(r *rooms) { r.before = awayWithinTask(r, "ProjectSession") })},
		{name: "process_session_partial", rooms: with(func(r *rooms) {
			r.answer = func(in llm.ExtractInput) (llm.ExtractResult, error) {
				return llm.ExtractResult{Key: "key" + in.RepairOf, Unreadable: "no JSON"}, nil
			}
		})},
		{name: "process_session_flushed_in_parts", rooms: with(func(r *rooms) { r.summaries, r.summariesAtOnce = 6, 5 })},
		{name: "process_session_summary_refused", rooms: with(func(r *rooms) {
			r.fail["SummarizeSession"] = temporal.NewNonRetryableApplicationError("m: empty", schema.ErrorModelRejected, nil)
		})},
		{name: "process_session_summary_offline", rooms: with(func(r *rooms) { r.summaries = 0 })},
		{name: "process_session_reviews_facts", rooms: with(func(r *rooms) { r.reviewed, r.reviewGroups = 3, 2 })},
		{name: "process_session_review_refused", rooms: with(func(r *rooms) {
			r.reviewed = 1
			r.fail["ReviewFacts"] = temporal.NewNonRetryableApplicationError("m: empty", schema.ErrorModelRejected, nil)
		})},
		{name: "process_session_failed_ReviewFacts", rooms: with(func(r *rooms) {
			r.reviewed = 1
			r.failing("ReviewFacts", schema.ErrorInternal)
		}), fails: "update_memory: ReviewFacts can't"},
		{name: "process_session_notifies", rooms: with(func(r *rooms) { r.remembered.Notify = true })},
		{name: "process_session_no_messages", rooms: with(func(r *rooms) { r.windows, r.ingested = 0, transcript.IngestResult{SkippedLines: 3} })},
		{name: "process_session_child", start: startAs("by-hand")},
		{name: "process_session_waits", rooms: with(func(r *rooms) { r.before = holds }), start: startBeside(startAs("by-hand")), during: releases},
		{name: "process_session_cancelled", rooms: with(func(r *rooms) { r.before = waitIn("AlignSession") }), during: cancelIn("DeriveEntries"), fails: "canceled"},
		{name: "realign_session", start: startRealign(sessionInput().Key().WorkflowID())},
		{name: "realign_session_nothing", start: startRealign(sessionInput().Key().WorkflowID()), rooms: with(func(r *rooms) { r.realigned = evidence.RealignResult{} })},
		{name: "realign_session_child", start: startRealign("by-hand")},
		{name: "realign_session_waits", rooms: with(func(r *rooms) { r.before = holdsRealign }), start: startBeside(startRealign("by-hand")), during: releasesRealign},
		{name: "realign_session_failed", start: startRealign(sessionInput().Key().WorkflowID()), rooms: failingIn("MaterializeEntries"), fails: "materialize: MaterializeEntries can't"},
		{name: "realign_session_untold", start: startRealign(sessionInput().Key().WorkflowID()), rooms: failingIn(wakes)},
		{name: "vector_writer_idle", start: startVectorWriter, rooms: with(func(r *rooms) { r.pending = []vector.Result{{Indexed: 1, More: true}, {Indexed: 1}} })},
		{name: "vector_writer_messages", start: startMessageWriter, rooms: with(func(r *rooms) { r.pending = []vector.Result{{Indexed: 1, More: true}, {Indexed: 1}} })},
		{name: "vector_writer_retry", start: startVectorWriter, rooms: with(func(r *rooms) { r.pending = []vector.Result{{Failed: 1, NextRetry: time.Now()}} })},
		{name: "vector_writer_failed", start: startVectorWriter, rooms: failingIn("IndexPending"), fails: "IndexPending can't"},
		{name: "vector_writer_reconcile", start: startReconcile},
		{name: "vector_writer_rebuild", start: startRebuildVectors},
		{name: "vector_writer_rebuild_refused", rooms: failingIn("RebuildCollection"),
			start: startRefused(vectorWriter.taking(schema.UpdateRebuild, vector.RebuildInput{Collection: collection}))},
		{name: "vector_writer_session_refused", rooms: failingIn("IndexSessions"), start: startRefused(vectorWriter.taking(schema.UpdateSession,
			vector.IndexRequest{SessionKey: sessionInput().Key(), BuildID: "b", EmbeddingVersion: "hash"}))},
		{name: "vector_writer_rebuild_failed", start: startRebuildVectors, rooms: failingIn("IndexPending"), fails: "IndexPending can't"},
		{name: "notify_summary", start: startNotify("")},
		{name: "notify_summary_signal", start: startNotify("agent 7")},
		{name: "notify_summary_failed", start: startNotify("agent 7"), rooms: failingIn("SignalSummary"), fails: "SignalSummary can't"},
		{name: "project_tasks", start: startSerial(projectTasks)},
		{name: "memory_writer", start: startSerial(memoryWriter)},
		{name: "memory_writer_files_due", start: startSerial(memoryWriter), rooms: with(func(r *rooms) { r.remembered.FilesDue = time.Unix(0, 0) })},
		{name: "memory_writer_files_fail", start: startSerial(memoryWriter), rooms: failsOnce("SyncFiles")},
		{name: "dream_night", start: startNight(schema.DreamNightInput{AtOnce: 2}), rooms: with(func(r *rooms) { r.found = []tier.Found{memoriesOf(3)} })},
		{name: "dream_night_failure", start: startNight(schema.DreamNightInput{}), rooms: with(func(r *rooms) {
			r.found = []tier.Found{memoriesOf(2)}
			r.failing("GatherDream", schema.ErrorStoreRejected)
		})},
		{name: "dream_night_continued", start: startNight(schema.DreamNightInput{}), rooms: with(func(r *rooms) {
			r.found = []tier.Found{memoriesOf(2), memoriesOf(1)}
		})},
	}
	for _, more := range [][]path{dreamPaths(), operatorPaths(), batchPaths(), retryPaths(), rebuildPaths(), graduationPaths(), queuePaths(), forgetPaths()} {
		out = append(out, more...)
	}
	for _, step := range sessionSteps {
		for _, activity := range step.activities {
			p := path{name: "process_session_failed_" + activity, rooms: failingIn(activity)}
			if activity != wakes {
				p.fails = step.name + ": " + activity + " can't"
			}
			out = append(out, p)
		}
	}
	return out
}

// awayWithinTask makes the activity fail within the workflow task, as if its store were unavailable.
func awayWithinTask(r *rooms, name string) func(context.Context, string) {
	return func(ctx context.Context, called string) {
		if called != name {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.fail, name)
		if activity.GetInfo(ctx).IsLocalActivity {
			r.fail[name] = temporal.NewApplicationError("connection refused", schema.ErrorStoreUnavailable)
		}
	}
}

// duringAnother blocks a run in the activity, and releases it once the concurrent run has reached the event.
func duringAnother(activity string, event enums.EventType) (holds func(context.Context, string), releases func(context.Context, *testing.T, client.Client, client.WorkflowRun)) {
	release := make(chan struct{})
	holds = func(_ context.Context, name string) {
		if name == activity {
			<-release
		}
	}
	releases = func(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun) {
		defer close(release)
		require.Eventually(t, func() bool { return hasEvent(ctx, t, c, run, event) }, time.Minute, 20*time.Millisecond)
	}
	return holds, releases
}

func with(change func(r *rooms)) func() *rooms {
	return func() *rooms {
		r := newRooms()
		change(r)
		return r
	}
}

func failingIn(activity string) func() *rooms {
	return func() *rooms { return newRooms().failing(activity, schema.ErrorInternal) }
}

// failsOnce makes the first call of the activity fail permanently.
func failsOnce(name string) func() *rooms { return failsOften(name, 1) }

// failsOften makes the first calls of the activity fail permanently.
func failsOften(name string, times int) func() *rooms {
	return with(func(r *rooms) {
		r.before = func(_ context.Context, called string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if called != name {
				return
			}
			delete(r.fail, name)
			if len(r.inputs[name]) < times {
				r.fail[name] = temporal.NewNonRetryableApplicationError(name+" can't", schema.ErrorFilesRefused, nil)
			}
		}
	})
}

func waitIn(activity string) func(context.Context, string) {
	return func(ctx context.Context, name string) {
		if name == activity {
			<-ctx.Done()
		}
	}
}

func cancelIn(activity string) func(context.Context, *testing.T, client.Client, client.WorkflowRun) {
	return func(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun) {
		require.Eventually(t, func() bool {
			d, err := c.DescribeWorkflowExecution(ctx, run.GetID(), run.GetRunID())
			require.NoError(t, err)
			return len(d.GetPendingActivities()) == 1 && d.GetPendingActivities()[0].GetActivityType().GetName() == activity
		}, time.Minute, 20*time.Millisecond)
		require.NoError(t, c.CancelWorkflow(ctx, run.GetID(), run.GetRunID()))
	}
}

func hasEvent(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun, kind enums.EventType) bool {
	t.Helper()
	it := c.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		if event.GetEventType() == kind {
			return true
		}
	}
	return false
}

// TestRecordHistories runs every path on a server, each in a namespace of its own, and keeps its
// history. It takes a few minutes, because writers end only after an idle minute, so many paths run in parallel. Some
// paths alone are recorded in seconds:
//
//	go test ./workflows -run TestRecordHistories -record -parallel 40
//	go test ./workflows -run TestRecordHistories/paths/realign -record
func TestRecordHistories(t *testing.T) {
	if !*record {
		t.Skip("histories are recorded only with -record")
	}
	// A sticky queue is named after the machine.
	worker.SetStickyWorkflowCacheSize(0)
	address := stacktest.Temporal(t)
	hasty, err := stack.Start(t.Context(), stack.Options{
		Dir: t.TempDir(), Temporal: true, Ephemeral: true, DynamicConfig: map[string]string{"limit.historyCount.suggestContinueAsNew": "15"},
	})
	require.NoError(t, err)
	defer hasty.Stop()
	known := paths()
	old, err := filepath.Glob(historyFile("*"))
	require.NoError(t, err)
	for _, file := range old {
		if !slices.ContainsFunc(known, func(p path) bool { return historyFile(p.name) == file }) {
			require.NoError(t, os.Remove(file))
		}
	}
	t.Run("paths", func(t *testing.T) {
		for _, p := range known {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				if p.long {
					recordPath(t.Context(), t, hasty.Addresses().Temporal, p)
					return
				}
				recordPath(t.Context(), t, address, p)
			})
		}
	})
}

func recordPath(ctx context.Context, t *testing.T, address string, p path) {
	stacktest.RegisterNamespace(t, address, p.name)
	c, err := client.Dial(client.Options{
		HostPort: address, Namespace: p.name, Identity: "recorder", Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	defer c.Close()
	r, start := newRooms(), startAs(sessionInput().Key().WorkflowID())
	if p.rooms != nil {
		r = p.rooms()
	}
	if p.start != nil {
		start = p.start
	}
	for _, queue := range []string{schema.QueueMain, schema.QueueModel, schema.QueueVector, schema.QueueErase} {
		w := worker.New(c, queue, worker.Options{Identity: "recorder", DisableWorkflowWorker: queue != schema.QueueMain})
		if queue == schema.QueueMain {
			workflows.Register(w)
		}
		w.RegisterActivity(r)
		require.NoError(t, w.Start())
		defer w.Stop()
	}
	run := start(ctx, t, c)
	kept := &common.WorkflowExecution{WorkflowId: run.GetID(), RunId: run.GetRunID()}
	if p.during != nil {
		p.during(ctx, t, c, run)
	}
	if err := run.Get(ctx, nil); p.fails == "" {
		require.NoError(t, err)
	} else {
		require.ErrorContains(t, err, p.fails)
	}
	if p.last {
		kept.RunId = "" // The server takes the last one.
	}
	if p.then != nil {
		kept.RunId = p.then(ctx, t, c, p.name, kept)
	}
	saveHistory(ctx, t, c, kept, p.name)
}

func saveHistory(ctx context.Context, t *testing.T, c client.Client, run *common.WorkflowExecution, name string) {
	t.Helper()
	var data bytes.Buffer
	separator := "{\"events\":[\n"
	it := c.GetWorkflowHistory(ctx, run.GetWorkflowId(), run.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		line, err := protojson.Marshal(event)
		require.NoError(t, err)
		data.WriteString(separator)
		require.NoError(t, json.Compact(&data, line)) // Protojson puts spaces in at random.
		separator = ",\n"
	}
	data.WriteString("\n]}\n")
	require.NoError(t, os.MkdirAll(filepath.Dir(historyFile(name)), 0o755))
	require.NoError(t, os.WriteFile(historyFile(name), data.Bytes(), 0o644))
}

func readHistory(t *testing.T, name string) *history.History {
	t.Helper()
	data, err := os.ReadFile(historyFile(name))
	require.NoError(t, err)
	h := &history.History{}
	require.NoError(t, protojson.Unmarshal(data, h))
	return h
}

func replay(h *history.History) error {
	r := worker.NewWorkflowReplayer()
	workflows.Register(r)
	started := h.Events[0].GetWorkflowExecutionStartedEventAttributes()
	return r.ReplayWorkflowHistoryWithOptions(slog.New(slog.DiscardHandler), h, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: started.GetWorkflowId(), RunID: started.GetOriginalExecutionRunId()},
	})
}

// TestI11Replay replays every recorded history on today's code.
func TestI11Replay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(historyFile("*"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		names[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, replay(readHistory(t, name)))
		})
	}
	for _, p := range paths() {
		require.True(t, names[p.name], "no history of %s: record it with -record", p.name)
	}
}

// A workflow that deviates from a history must fail its replay. Otherwise TestI11Replay would prove nothing.
func TestI11ReplaySeesChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(h *history.History){
		"another activity": func(h *history.History) {
			eventOf(t, h, enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED).GetActivityTaskScheduledEventAttributes().ActivityType.Name = "Other"
		},
		"another outcome": func(h *history.History) {
			for _, e := range h.Events {
				if a := e.GetActivityTaskCompletedEventAttributes(); a.GetResult() != nil && bytes.Contains(a.Result.Payloads[0].Data, []byte("unchanged")) {
					a.Result.Payloads[0].Data = []byte(`{"unchanged":true}`)
				}
			}
		},
	} {
		h := readHistory(t, "process_session_success")
		change(h)
		require.ErrorContains(t, replay(h), "TMPRL1100", name)
	}
}

func eventOf(t *testing.T, h *history.History, kind enums.EventType) *history.HistoryEvent {
	t.Helper()
	for _, e := range h.Events {
		if e.EventType == kind {
			return e
		}
	}
	t.Fatalf("no event %s", kind)
	return nil
}

// Histories are public, so they contain nothing about the machine that recorded them. None is large, and no payload
// comes near the limit.
func TestHistoriesAreClean(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	require.NoError(t, err)
	dir, err := os.Getwd()
	require.NoError(t, err)
	for _, p := range paths() {
		data, err := os.ReadFile(historyFile(p.name))
		require.NoError(t, err)
		require.Less(t, len(data), 64<<10, p.name)
		for _, secret := range []string{host, dir, "@"} {
			require.NotContains(t, string(data), secret, p.name)
		}
	}
}
