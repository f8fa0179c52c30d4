package workflows_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/activities/transcript"
	"axiommind/activities/vector"
	"axiommind/schema"
)

func retryInput(id string) schema.ProcessSessionInput {
	return schema.ProcessSessionInput{Project: "p", User: "u", SessionID: "s1", Retry: id}
}

// resuming makes the build continue another one at the step, if nothing has changed.
func (r *rooms) resuming(step string, counts schema.BuildCounts) *rooms {
	r.opened.First = false
	r.opened.Resumable = &schema.ResumableBuild{ResumedBuild: schema.ResumedBuild{BuildID: "failed", Step: step}, SHA256: "h", Counts: counts}
	r.ingested.Resumed = true
	r.ingested.NewMessages = 0
	return r
}

// A build continues at the failed step. Earlier steps are neither run nor in the metrics, but their counts are kept.
func TestRetryResumesAtStep(t *testing.T) {
	t.Parallel()
	extracted := schema.BuildCounts{Windows: 7, Rejected: 2}
	made := extracted
	made.Entries, made.NewEntries, made.AlignedEntries, made.ProvenEntries, made.GainedEntries = 5, 4, 3, 2, 1
	withNotes := made
	withNotes.TaskNotes, withNotes.Facts = 2, 1
	checked := withNotes
	checked.CandidateEntries, checked.VerifiedEntries, checked.PromotedEntries = 3, 2, 1
	indexed := checked
	indexed.Indexed = 5
	memory := []string{"PlanSummary", "SummarizeSession", "SubmitMemory"}
	rest := []string{"WakeGraduation", "IndexSession", "CloseBuild"} // The ingest has projected the stream.
	for name, tt := range map[string]struct {
		step   string
		before schema.BuildCounts
		calls  []string
		steps  []string
	}{
		"extract": {schema.StepExtract, schema.BuildCounts{}, steps[2:], []string{"extract", "align", "materialize", "check", "resolve_tasks", "update_memory", "project", "index"}},
		// One activity does these steps and extract.
		"align":       {schema.StepAlign, extracted, steps[2:], []string{"extract", "align", "materialize", "check", "resolve_tasks", "update_memory", "project", "index"}},
		"materialize": {schema.StepMaterialize, extracted, steps[2:], []string{"extract", "align", "materialize", "check", "resolve_tasks", "update_memory", "project", "index"}},
		"check":       {schema.StepCheck, extracted, steps[2:], []string{"extract", "align", "materialize", "check", "resolve_tasks", "update_memory", "project", "index"}},
		// The parallel step may have failed, too.
		"tasks":   {schema.StepTasks, checked, append(append(slices.Clone(memory), "SubmitTasks"), rest...), []string{"resolve_tasks", "update_memory", "project", "index"}},
		"memory":  {schema.StepMemory, checked, append(slices.Clone(memory), rest...), []string{"update_memory", "project", "index"}},
		"project": {schema.StepProject, checked, rest, []string{"project", "index"}},
		"index":   {schema.StepIndex, checked, rest[1:], []string{"index"}},
		"close":   {schema.StepCloseBuild, indexed, rest[2:], nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms().resuming(tt.step, tt.before)
			result, err := process(t, r, sessionInput())
			require.NoError(t, err)
			require.Equal(t, append([]string{"OpenBuild", "IngestSession"}, tt.calls...), r.order())
			closed := inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished
			var ran []string
			for _, m := range closed.Metrics {
				ran = append(ran, m.Step)
			}
			require.ElementsMatch(t, append([]string{"open_build", "ingest"}, tt.steps...), ran)
			require.Equal(t, schema.BuildSuccess, result.Status)
			require.Equal(t, closed.Counts, result.Counts)
			require.Equal(t, 2, result.Counts.Messages)
			if tt.before.Entries > 0 {
				want := tt.before
				want.Messages = 2
				if want.Indexed == 0 {
					want.Indexed = 1
				}
				require.Equal(t, want, result.Counts)
			}
			if tt.before == extracted {
				require.Equal(t, 8, result.Counts.Windows)
				require.Equal(t, 1, result.Counts.Entries)
			}
		})
	}
}

// If the source has changed, the build begins at the start.
func TestRetryOfChangedSourceStartsAnew(t *testing.T) {
	t.Parallel()
	r := newRooms().resuming(schema.StepIndex, schema.BuildCounts{Entries: 100})
	r.ingested.Resumed = false
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, steps, r.order())
	require.Equal(t, 1, result.Counts.Entries)
}

// A resumed build fails like any other, and a session without memories is still empty.
func TestRetryFailsAgain(t *testing.T) {
	t.Parallel()
	for step, activity := range map[string]string{
		schema.StepAlign: "AlignSession", schema.StepMemory: "SubmitMemory", schema.StepTasks: "SubmitTasks", schema.StepIndex: "IndexSession",
	} {
		r := newRooms().resuming(step, schema.BuildCounts{Entries: 1, TaskNotes: 1}).failing(activity, schema.ErrorVectorRejected)
		_, err := process(t, r, retryInput("failed"))
		requireFailure(t, err, step, activity, schema.ErrorVectorRejected)
		closed := inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished
		require.Equal(t, schema.ErrorVectorRejected, closed.ErrorType)
		require.Equal(t, schema.FailureSetup, schema.ClassOf(closed.ErrorType))
	}
	r := newRooms().resuming(schema.StepMemory, schema.BuildCounts{})
	r.indexed = vector.SessionResult{}
	result, err := process(t, r, retryInput("failed"))
	require.NoError(t, err)
	require.Equal(t, schema.BuildEmpty, result.Status)
}

// The workflow continues with the input of the build that it retries.
func TestRetryTakesInputOfBuild(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.remembered.Notify = false
	took := schema.ProcessSessionInput{
		URI: "file:///세션/it's \"1\".jsonl", Grant: "g", Format: "messages", Project: "p", User: "u", SessionID: "s1",
		Date: "2026-01-02", Flush: schema.FlushReasons()[1], Notify: "agent 7", IncludeTools: true,
	}
	r.opened.Retried = &took
	_, err := process(t, r, retryInput("b1"))
	require.NoError(t, err)
	require.Equal(t, build.OpenInput{SessionKey: sessionInput().Key(), Retry: "b1"}, inputsOf[build.OpenInput](r, "OpenBuild")[0])
	want := took
	want.Retry = "b1"
	ingest := inputsOf[transcript.IngestInput](r, "IngestSession")[0]
	require.Equal(t, want, ingest.Session)
	require.Nil(t, ingest.Build.Retried, "the payload holds it once")
	require.Equal(t, want, inputsOf[build.CloseInput](r, "CloseBuild")[0].Input)
	require.True(t, inputsOf[vector.IndexRequest](r, "IndexSession")[0].Again)
	require.Equal(t, []schema.NotifySummaryInput{{User: "u", EventID: "flushed", Workflow: "agent 7"}},
		inputsOf[schema.NotifySummaryInput](r, "SignalSummary"))

	r = newRooms()
	forced := retryInput("b1")
	forced.AskGivenUp, took.AskGivenUp = true, true
	r.opened.Retried = &took
	_, err = process(t, r, forced)
	require.NoError(t, err)
	require.True(t, inputsOf[build.OpenInput](r, "OpenBuild")[0].AskGivenUp)
	require.True(t, inputsOf[llm.PlanInput](r, "PlanWindows")[0].AskGivenUp)

	r = newRooms()
	_, err = process(t, r, sessionInput())
	require.NoError(t, err)
	require.False(t, inputsOf[vector.IndexRequest](r, "IndexSession")[0].Again)

	r = newRooms()
	in := schema.ProcessSessionInput{Project: "p", User: "u", SessionID: "s1", FromLog: true, IncludeTools: true}
	_, err = process(t, r, in)
	require.NoError(t, err)
	require.Equal(t, build.OpenInput{SessionKey: in.Key(), FromLog: true, IncludeTools: true}, inputsOf[build.OpenInput](r, "OpenBuild")[0])
	require.Equal(t, in, inputsOf[transcript.IngestInput](r, "IngestSession")[0].Session)
}

// Inline messages go to two activities at most: to ingest, and to the end of a build that failed before they were in
// the log.
func TestRetryKeepsInlineMessages(t *testing.T) {
	t.Parallel()
	in := sessionInput()
	in.URI, in.Messages = "", []schema.InlineMessage{{Role: "user", Content: "결정: \"x\"\n"}}
	for activity, keeps := range map[string]bool{"IngestSession": true, "PlanWindows": false, "IndexSession": false} {
		r := newRooms().failing(activity, schema.ErrorStoreRejected)
		_, err := process(t, r, in)
		require.Error(t, err)
		closed := inputsOf[build.CloseInput](r, "CloseBuild")[0]
		want := in
		if !keeps {
			want.Messages = nil
		}
		require.Equal(t, want, closed.Input, activity)
	}
	r := newRooms()
	_, err := process(t, r, in)
	require.NoError(t, err)
	require.Nil(t, inputsOf[build.CloseInput](r, "CloseBuild")[0].Input.Messages)
	require.Equal(t, in, inputsOf[transcript.IngestInput](r, "IngestSession")[0].Session)
}

func TestRetryRefusesInput(t *testing.T) {
	t.Parallel()
	messages := []schema.InlineMessage{{Role: "user"}}
	for name, tt := range map[string]struct {
		change func(in *schema.ProcessSessionInput)
		reason string
	}{
		"retry with uri":         {func(in *schema.ProcessSessionInput) { in.Retry, in.URI = "b", "file:///x" }, `retry takes the input of build "b": give no more`},
		"retry with messages":    {func(in *schema.ProcessSessionInput) { in.Retry, in.Messages = "b", messages }, "retry takes the input"},
		"retry with no messages": {func(in *schema.ProcessSessionInput) { in.Retry, in.Messages = "b", messages[:0] }, "retry takes the input"},
		"retry with from_log":    {func(in *schema.ProcessSessionInput) { in.Retry, in.FromLog = "b", true }, "retry takes the input"},
		"retry with date":        {func(in *schema.ProcessSessionInput) { in.Retry, in.Date = "b", "2026-01-01" }, "retry takes the input"},
		"retry with grant":       {func(in *schema.ProcessSessionInput) { in.Retry, in.Grant = "b", "g" }, "retry takes the input"},
		"retry with tools":       {func(in *schema.ProcessSessionInput) { in.Retry, in.IncludeTools = "b", true }, "retry takes the input"},
		"retry with flush":       {func(in *schema.ProcessSessionInput) { in.Retry, in.Flush = "b", schema.FlushReasons()[1] }, "retry takes the input"},
		"retry with notify":      {func(in *schema.ProcessSessionInput) { in.Retry, in.Notify = "b", "w" }, "retry takes the input"},
		"retry with format":      {func(in *schema.ProcessSessionInput) { in.Retry, in.Format = "b", "messages" }, "retry takes the input"},
		"retry without session":  {func(in *schema.ProcessSessionInput) { in.Retry, in.SessionID = "b", "" }, "give session_id"},
		"given up alone":         {func(in *schema.ProcessSessionInput) { in.AskGivenUp, in.URI = true, "file:///x" }, "ask_given_up is for a build that is tried again"},
		"log with uri":           {func(in *schema.ProcessSessionInput) { in.FromLog, in.URI = true, "file:///x" }, "from_log reads no source"},
		"log with messages":      {func(in *schema.ProcessSessionInput) { in.FromLog, in.Messages = true, messages[:0] }, "from_log reads no source"},
		"log with format":        {func(in *schema.ProcessSessionInput) { in.FromLog, in.Format = true, "messages" }, "from_log reads no source"},
		"log with date":          {func(in *schema.ProcessSessionInput) { in.FromLog, in.Date = true, "2026-01-01" }, "from_log reads no source"},
		"log without session":    {func(in *schema.ProcessSessionInput) { in.FromLog, in.SessionID = true, "" }, "give session_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, in := newRooms(), retryInput("")
			tt.change(&in)
			_, err := process(t, r, in)
			var application *temporal.ApplicationError
			require.ErrorAs(t, err, &application)
			require.Equal(t, schema.ErrorInvalidInput, application.Type())
			require.True(t, strings.HasPrefix(application.Message(), tt.reason), application.Message())
			require.Empty(t, r.order())
		})
	}
}

// A refused retry returns an error, and no build records it.
func TestRetryRefusedByBuild(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("OpenBuild", schema.ErrorInvalidInput)
	r.opened = build.Opened{}
	_, err := process(t, r, retryInput("b1"))
	requireFailure(t, err, schema.StepOpenBuild, "OpenBuild", schema.ErrorInvalidInput)
	require.Equal(t, []string{"OpenBuild"}, r.order())
}

// retryPaths are the paths of builds that retry or continue others.
func retryPaths() []path {
	out := []path{
		{name: "process_session_retry", start: startSession(retryInput("failed")), rooms: with(func(r *rooms) {
			in := sessionInput()
			r.opened.Retried = &in
		})},
		{name: "process_session_retry_refused", start: startSession(retryInput("failed")), rooms: failingIn("OpenBuild"), fails: "OpenBuild can't"},
		{name: "process_session_from_log", start: startSession(schema.ProcessSessionInput{Project: "p", User: "u", SessionID: "s1", FromLog: true})},
	}
	before := schema.BuildCounts{Windows: 1, Entries: 1, TaskNotes: 1, Facts: 1}
	for _, step := range []string{
		schema.StepAlign, schema.StepMaterialize, schema.StepCheck, schema.StepTasks, schema.StepMemory, schema.StepProject, schema.StepIndex,
		schema.StepCloseBuild,
	} {
		out = append(out, path{name: "process_session_resumed_" + step, rooms: func() *rooms { return newRooms().resuming(step, before) }})
	}
	return append(out, path{
		name: "process_session_resumed_failed", fails: "index: IndexSession can't",
		rooms: func() *rooms {
			return newRooms().resuming(schema.StepMemory, before).failing("IndexSession", schema.ErrorInternal)
		},
	})
}

// startSession starts process_session with the input under the session's id.
func startSession(in schema.ProcessSessionInput) starter {
	return func(ctx context.Context, t *testing.T, c client.Client) client.WorkflowRun {
		t.Helper()
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: in.Key().WorkflowID(), TaskQueue: schema.QueueMain, WorkflowExecutionErrorWhenAlreadyStarted: true,
		}, schema.WorkflowProcessSession, in)
		require.NoError(t, err)
		return run
	}
}
