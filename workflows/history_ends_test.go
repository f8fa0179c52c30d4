package workflows_test

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/tier"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/workflows"
)

// operated is a workflow with the activity at which an operator acts on it.
type operated struct {
	workflow string
	start    starter
	rooms    func(r *rooms)
	activity string
	// fails are the activities whose failure ends the run, except those that have paths of their own.
	fails []string
	// serial is set for a writer. Its updates fail and the run continues.
	serial *serialWriter
}

func everyWorkflow() []operated {
	pages := func(r *rooms) { r.found = []tier.Found{memoriesOf(2)} }
	batch := func(r *rooms) { r.batch = batchRoom{items: itemsOf("s1", "s2", "s3"), pageSize: 10} }
	return []operated{
		{workflow: schema.WorkflowImportSessions, start: startBatch(schema.ImportSessionsInput{URI: "file:///sessions", AtOnce: 1}), rooms: batch,
			activity: "ListSessions", fails: []string{"NextItems"}},
		{workflow: schema.WorkflowRetryBuilds, start: startBatch(schema.RetryBuildsInput{Failed: true, AtOnce: 1}), rooms: batch,
			activity: "ListRetries", fails: []string{"NextItems", "ReportOutcomes"}},
		{workflow: schema.WorkflowBackfillSessions, start: startBatch(schema.BackfillSessionsInput{AtOnce: 1}), rooms: batch,
			activity: "ListBackfill", fails: []string{"NextItems", "ReportOutcomes"}},
		{workflow: schema.WorkflowRebuild, start: startRebuild(schema.RebuildInput{}), activity: "FillShadow",
			fails: []string{"PrepareRebuild", "FillShadow", "CatchUpShadow", "SwitchShadow", "CompareShadow", "FinishRebuild"}},
		{workflow: schema.WorkflowForget, start: startForgetAs(schema.ForgetWorkflowID, forgetInput()), activity: "EraseLog", fails: []string{
			"BeginErasure", "LockStreams", "EraseLog", "EraseFiles", "UnlockStreams", "ResumeWriters", "EraseExecutions", "PurgeParts", "FindErased", "EndErasure"}},
		{workflow: schema.WorkflowProcessSession, activity: "AlignSession"},
		{workflow: schema.WorkflowRealignSession, start: startRealign(sessionInput().Key().WorkflowID()), activity: "MaterializeEntries",
			fails: []string{"RealignSession", "CheckEntries", "ProjectSession"}},
		{workflow: schema.WorkflowDeepDream, start: startDream(""), activity: "GatherDream", fails: []string{"GatherDream", "PlanDream", "SubmitDream"}},
		{workflow: schema.WorkflowDreamNight, start: startNight(schema.DreamNightInput{}), activity: "FindMemories", rooms: pages, fails: []string{"FindMemories"}},
		{workflow: schema.WorkflowNotifySummary, start: startNotify("agent 7"), activity: "SendWebhook", fails: []string{"SendWebhook"}},
		{workflow: schema.WorkflowProjectTasks, start: startSerial(projectTasks), activity: "ResolveTasks", serial: &projectTasks},
		{workflow: schema.WorkflowMemoryWriter, start: startSerial(memoryWriter), activity: "UpdateMemory", serial: &memoryWriter},
		{workflow: schema.WorkflowGraduation, start: startSerial(graduation), activity: "RunGraduationCommand", serial: &graduation},
		{workflow: schema.WorkflowVectorWriter, start: startReconcile, activity: "ReconcileCollection", serial: &vectorWriter},
	}
}

// like returns the rooms of the workflow with a change.
func (w operated) like(change func(r *rooms)) func() *rooms {
	return with(func(r *rooms) {
		if w.rooms != nil {
			w.rooms(r)
		}
		change(r)
	})
}

// operatorPaths returns paths for each workflow: an attempt fails, an operator cancels or resets it, and each of its
// activities fails permanently.
func operatorPaths() (out []path) {
	for _, w := range everyWorkflow() {
		out = append(out,
			path{name: w.workflow + "_retried", start: w.start, rooms: w.like(func(r *rooms) { r.before = failsFirst(r, w.activity) })},
			path{name: w.workflow + "_reset", start: w.start, rooms: w.like(func(*rooms) {}), then: resetInTheMiddle})
		for _, name := range w.fails {
			out = append(out, path{name: w.workflow + "_failed_" + name, start: w.start, rooms: w.like(func(r *rooms) {
				r.failing(name, schema.ErrorInternal)
			}), fails: name + " can't"})
		}
		switch {
		case w.serial != nil:
			// A writer is cancelled while it waits for more.
			out = append(out,
				path{name: w.workflow + "_cancelled", start: w.start, fails: "canceled", during: cancel},
				path{name: w.workflow + "_update_failed", start: startRefused(*w.serial), rooms: failingIn(w.activity)})
		case w.workflow == schema.WorkflowProcessSession, w.workflow == schema.WorkflowImportSessions:
			// They are cancelled in a path of their own.
		default:
			out = append(out, path{
				name: w.workflow + "_cancelled", start: w.start, fails: "canceled", during: cancelIn(w.activity),
				rooms: w.like(func(r *rooms) { r.before = waitIn(w.activity) }),
			})
		}
	}
	dry := func(in *schema.DeepDreamInput) { in.DryRun = true }
	out = append(out, path{name: "deep_dream_failed_CommitDream", start: startDream("", dry), rooms: failingIn("CommitDream"), fails: "CommitDream can't"})
	return append(out, continuedPaths()...)
}

func cancel(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun) {
	require.NoError(t, c.CancelWorkflow(ctx, run.GetID(), ""))
}

// startRefused starts the writer of a stream and sends it two updates that fail.
func startRefused(w serialWriter) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: w.id, TaskQueue: schema.QueueMain}, w.workflow, w.in)
		require.NoError(t, err)
		for _, id := range []string{"s1", "s2"} {
			handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
				WorkflowID: run.GetID(), UpdateName: w.update, UpdateID: id, Args: []any{w.arg(id)}, WaitForStage: client.WorkflowUpdateStageCompleted,
			})
			require.NoError(t, err)
			require.ErrorContains(t, handle.Get(ctx, nil), "can't")
		}
		return run
	}
}

// continuedPaths returns runs whose server reports a long history after a few events, and the runs that follow one.
func continuedPaths() []path {
	const ended = enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
	holds, releases := duringAnother("AlignSession", ended)
	holdsRealign, releasesRealign := duringAnother("AlignSession", ended)
	holdsRebuild, releasesRebuild := duringAnother("FillShadow", ended)
	holdsForget, releasesForget := duringAnother("EraseLog", ended)
	more := with(func(r *rooms) { r.pending = slices.Repeat([]vector.Result{{Indexed: 1, More: true}}, 8) })
	batch := with(func(r *rooms) { r.batch = batchRoom{items: itemsOf("s1", "s2", "s3"), pageSize: 10} })
	backlogOf := func(n int) func() *rooms { return with(func(r *rooms) { r.dream.gathered = backlog(n) }) }
	night := with(func(r *rooms) { r.found = []tier.Found{memoriesOf(2), memoriesOf(1)} })
	return []path{
		{name: "process_session_continued", long: true, rooms: with(func(r *rooms) { r.before = holds }), start: startBeside(startAs("by-hand")), during: releases},
		{name: "realign_session_continued", long: true, rooms: with(func(r *rooms) { r.before = holdsRealign }), start: startBeside(startRealign("by-hand")), during: releasesRealign},
		{name: "rebuild_continued", long: true, rooms: with(func(r *rooms) { r.before = holdsRebuild }), start: startRebuildBeside, during: releasesRebuild},
		{name: "forget_continued", long: true, rooms: with(func(r *rooms) { r.before = holdsForget }), start: startForgetBeside, during: releasesForget},
		{name: "project_tasks_continued", long: true, start: startSerial(projectTasks)},
		{name: "memory_writer_continued", long: true, start: startSerial(memoryWriter)},
		{name: "graduation_continued", long: true, start: startSerial(graduation)},
		{name: "vector_writer_continued", long: true, start: startVectorWriter, rooms: more},
		{name: "deep_dream_continued", long: true, start: startDream(""), rooms: backlogOf(3)},
		{name: "deep_dream_next", long: true, last: true, start: startDream(""), rooms: backlogOf(3)},
		{name: "import_sessions_hands_over", long: true, start: startBatch(schema.ImportSessionsInput{URI: "file:///sessions", AtOnce: 1}), rooms: batch},
		{name: "retry_builds_hands_over", long: true, start: startBatch(schema.RetryBuildsInput{Failed: true, AtOnce: 1}), rooms: batch},
		{name: "backfill_sessions_hands_over", long: true, start: startBatch(schema.BackfillSessionsInput{AtOnce: 1}), rooms: batch},
		{name: "dream_night_next", last: true, start: startNight(schema.DreamNightInput{}), rooms: night},
	}
}

// failsFirst makes the first attempt of the activity fail as if a server were unavailable.
func failsFirst(r *rooms, name string) func(context.Context, string) {
	return func(ctx context.Context, called string) {
		if called != name {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.fail, name)
		if activity.GetInfo(ctx).Attempt == 1 {
			r.fail[name] = temporal.NewApplicationError("connection refused", schema.ErrorStoreUnavailable)
		}
	}
}

// resetInTheMiddle resets an ended run to a workflow task in its middle, and returns the id of the run that follows.
func resetInTheMiddle(ctx context.Context, t *testing.T, c client.Client, namespace string, run *common.WorkflowExecution) string {
	var tasks []int64
	it := c.GetWorkflowHistory(ctx, run.GetWorkflowId(), run.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		require.NoError(t, err)
		if event.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks = append(tasks, event.GetEventId())
		}
	}
	reset, err := c.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: namespace, RequestId: uuid.NewString(), Reason: "try again", WorkflowExecution: run,
		WorkflowTaskFinishEventId: tasks[len(tasks)/2],
	})
	require.NoError(t, err)
	require.NoError(t, c.GetWorkflow(ctx, run.GetWorkflowId(), reset.GetRunId()).Get(ctx, nil))
	return reset.GetRunId()
}

// Kinds of paths through a workflow.
const (
	kindSuccess, kindFailed, kindCancelled    = "success", "failed", "cancelled"
	kindRetried, kindContinued, kindWereReset = "retried", "continued as new", "reset"
)

// neverRecorded contains, by workflow and kind of path, the reason why there is none.
var neverRecorded = map[string]map[string]string{
	schema.WorkflowNotifySummary: {kindContinued: "it has two activities"},
	schema.WorkflowProjectTasks:  {kindFailed: "the failure of an update is that of its sender: the writer goes on"},
	schema.WorkflowMemoryWriter:  {kindFailed: "the failure of an update is that of its sender, and files are tried again: the writer goes on"},
	schema.WorkflowGraduation:    {kindFailed: "the failure of an update is that of its sender, and a pass is tried again: the writer goes on"},
}

// For each workflow there is a history of every kind of path, and one in which each of its activities fails.
func TestEveryKindOfPathIsRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(historyFile("*"))
	require.NoError(t, err)
	kinds, called, failed := map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]map[string]bool{}
	known := registry{}
	workflows.Register(known)
	for name := range known {
		kinds[name], called[name], failed[name] = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	for _, file := range files {
		h := readHistory(t, strings.TrimSuffix(filepath.Base(file), ".json"))
		name := h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()
		require.NotNil(t, kinds[name], "%s is of the workflow %q, which is not registered", file, name)
		kindsOf(h, kinds[name])
		activitiesOf(t, h, called[name], failed[name])
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, kind := range []string{kindSuccess, kindFailed, kindCancelled, kindRetried, kindContinued, kindWereReset} {
			reason := neverRecorded[name][kind]
			require.False(t, kinds[name][kind] && reason != "", "%s: %s is recorded, though %s", name, kind, reason)
			require.True(t, kinds[name][kind] || reason != "", "no history of %s is of the kind %q: add a path to history_test.go, or a reason to neverRecorded", name, kind)
		}
		for activity := range called[name] {
			require.True(t, failed[name][activity], "in no history of %s does %s fail", name, activity)
		}
	}
}

// kindsOf adds the kinds of the history.
func kindsOf(h *history.History, kinds map[string]bool) {
	switch h.Events[len(h.Events)-1].GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
		kinds[kindSuccess] = true
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		kinds[kindFailed] = true
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
		kinds[kindCancelled] = true
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		kinds[kindContinued] = true
	default:
	}
	for _, e := range h.Events {
		if e.GetActivityTaskStartedEventAttributes().GetAttempt() > 1 {
			kinds[kindRetried] = true
		}
		if e.GetWorkflowTaskFailedEventAttributes().GetCause() == enums.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW {
			kinds[kindWereReset] = true
		}
	}
}

// activitiesOf adds the activities of the history, and those that failed permanently. An activity within a workflow
// task is a marker.
func activitiesOf(t *testing.T, h *history.History, called, failed map[string]bool) {
	t.Helper()
	names := map[int64]string{}
	for _, e := range h.Events {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			names[e.GetEventId()] = a.GetActivityType().GetName()
			called[a.GetActivityType().GetName()] = true
		}
		if a := e.GetActivityTaskFailedEventAttributes(); a != nil {
			failed[names[a.GetScheduledEventId()]] = true
		}
		marker := e.GetMarkerRecordedEventAttributes()
		if marker.GetMarkerName() != "LocalActivity" {
			continue
		}
		var local struct{ ActivityType string }
		require.NoError(t, json.Unmarshal(marker.GetDetails()["data"].GetPayloads()[0].GetData(), &local))
		called[local.ActivityType] = true
		if marker.GetFailure() != nil {
			failed[local.ActivityType] = true
		}
	}
}
