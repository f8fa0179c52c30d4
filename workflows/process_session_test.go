package workflows_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/build"
	"axiommind/activities/llm"
	"axiommind/activities/transcript"
	"axiommind/schema"
	"axiommind/workflows"
	"axiommind/workflows/workflowtest"
)

// maxPayload is a limit above every payload of a workflow, whatever the session's size.
const maxPayload = 64 << 10

// sessionSteps are the steps of process_session with the activities that each calls, in order. Of parallel steps the
// one whose activity is first by name comes first.
var sessionSteps = []struct {
	name       string
	activities []string
}{
	{schema.StepOpenBuild, []string{"OpenBuild"}},
	{schema.StepIngest, []string{"IngestSession"}},
	{schema.StepExtract, []string{"PlanWindows", "ExtractWindow", "RecordExtraction"}},
	{schema.StepAlign, []string{"AlignSession"}},
	{schema.StepMaterialize, []string{"MaterializeEntries"}},
	{schema.StepCheck, []string{"CheckEntries"}},
	{schema.StepMemory, []string{"PlanSummary", "SummarizeSession", "SubmitMemory"}},
	{schema.StepTasks, []string{"SubmitTasks"}},
	{schema.StepProject, []string{"ProjectSession", wakes}},
	{schema.StepIndex, []string{"IndexSession"}},
	{schema.StepCloseBuild, []string{"CloseBuild"}},
}

// wakes is the activity whose failure is no failure of its step.
const wakes = "WakeGraduation"

// steps are the activities of a session with new content, in order.
var steps = func() (names []string) {
	for _, s := range sessionSteps {
		names = append(names, s.activities...)
	}
	return names
}()

func sessionInput() schema.ProcessSessionInput {
	return schema.ProcessSessionInput{URI: "file:///sessions/s1.jsonl", Project: "p", User: "u", SessionID: "s1"}
}

func newEnvironment(r *rooms, workflowID string) *testsuite.TestWorkflowEnvironment {
	env := workflowtest.New()
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflowID, TaskQueue: schema.QueueMain})
	workflows.Register(env)
	env.RegisterActivity(r)
	return env
}

// process runs the session to its end in the test environment.
func process(t *testing.T, r *rooms, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
	t.Helper()
	env := newEnvironment(r, sessionInput().Key().WorkflowID())
	env.ExecuteWorkflow(schema.WorkflowProcessSession, in)
	require.True(t, env.IsWorkflowCompleted())
	var result schema.ProcessSessionResult
	if err := env.GetWorkflowError(); err != nil {
		return result, err
	}
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Less(t, r.largest, maxPayload)
	return result, nil
}

func TestProcessSession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(r *rooms)
		order  []string
		status schema.BuildStatus
		counts schema.BuildCounts
	}{
		{
			name: "success", change: func(*rooms) {}, order: steps, status: schema.BuildSuccess,
			counts: schema.BuildCounts{Messages: 2, NewMessages: 2, Windows: 1, Entries: 1, NewEntries: 1, AlignedEntries: 1, ProvenEntries: 1, GainedEntries: 2, TaskNotes: 1, Facts: 1, CandidateEntries: 1, VerifiedEntries: 1, PromotedEntries: 1, Indexed: 1},
		},
		{
			name: "unchanged", change: func(r *rooms) { r.ingested = transcript.IngestResult{Unchanged: true, Messages: 2} },
			order: steps[:2], status: schema.BuildUnchanged, counts: schema.BuildCounts{Messages: 2},
		},
		{
			name:   "empty: no window",
			change: func(r *rooms) { r.windows, r.ingested = 0, transcript.IngestResult{SkippedLines: 3} },
			order:  []string{"OpenBuild", "IngestSession", "PlanWindows", "CloseBuild"}, status: schema.BuildEmpty,
			counts: schema.BuildCounts{SkippedLines: 3},
		},
		{
			name:   "empty: messages that only the daily record takes",
			change: func(r *rooms) { r.windows = 0 },
			order:  []string{"OpenBuild", "IngestSession", "PlanWindows", "PlanSummary", "SummarizeSession", "SubmitMemory", "CloseBuild"}, status: schema.BuildEmpty,
			counts: schema.BuildCounts{Messages: 2, NewMessages: 2},
		},
		{
			name:   "empty: nothing worth remembering",
			change: func(r *rooms) { r.record = llm.RecordResult{Rejected: 2} },
			order:  append(slices.Clone(steps[:5]), "PlanSummary", "SummarizeSession", "SubmitMemory", "CloseBuild"), status: schema.BuildEmpty,
			counts: schema.BuildCounts{Messages: 2, NewMessages: 2, Windows: 1, Rejected: 2},
		},
		{
			name:   "a later build adds nothing and keeps what there is",
			change: func(r *rooms) { r.opened.First, r.record = false, llm.RecordResult{} },
			order:  steps, status: schema.BuildSuccess,
			counts: schema.BuildCounts{Messages: 2, NewMessages: 2, Windows: 1, Entries: 1, NewEntries: 1, AlignedEntries: 1, ProvenEntries: 1, GainedEntries: 2, TaskNotes: 1, Facts: 1, CandidateEntries: 1, VerifiedEntries: 1, PromotedEntries: 1, Indexed: 1},
		},
		{
			name:   "partial: a truncated answer",
			change: func(r *rooms) { r.record.Truncated = 1 },
			order:  slices.Insert(slices.Clone(steps), 5, "PlanWindows"), status: schema.BuildPartial,
			counts: schema.BuildCounts{Messages: 2, NewMessages: 2, Windows: 1, Quarantined: 1, Entries: 1, NewEntries: 1, AlignedEntries: 1, ProvenEntries: 1, GainedEntries: 2, TaskNotes: 1, Facts: 1, CandidateEntries: 1, VerifiedEntries: 1, PromotedEntries: 1, Indexed: 1},
		},
		{
			name: "taken up: what the build recorded before it broke off counts",
			change: func(r *rooms) {
				r.opened.First = false
				r.recordedBefore = llm.RecordResult{Windows: 2, Entries: 3, Rejected: 1, Quarantined: 1, Truncated: 1, Usage: schema.Usage{Calls: 4}}
			},
			order: steps, status: schema.BuildPartial,
			counts: schema.BuildCounts{Messages: 2, NewMessages: 2, Windows: 3, Quarantined: 2, Rejected: 1, Entries: 1, NewEntries: 1, AlignedEntries: 1, ProvenEntries: 1, GainedEntries: 2, TaskNotes: 1, Facts: 1, CandidateEntries: 1, VerifiedEntries: 1, PromotedEntries: 1, Indexed: 1},
		},
		{
			name:   "partial: a vector failed",
			change: func(r *rooms) { r.indexed.Indexed, r.indexed.Failed = 0, 1 },
			order:  steps, status: schema.BuildPartial,
			counts: schema.BuildCounts{Messages: 2, NewMessages: 2, Windows: 1, Entries: 1, NewEntries: 1, AlignedEntries: 1, ProvenEntries: 1, GainedEntries: 2, TaskNotes: 1, Facts: 1, CandidateEntries: 1, VerifiedEntries: 1, PromotedEntries: 1, IndexFailed: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			tt.change(r)
			result, err := process(t, r, sessionInput())
			require.NoError(t, err)
			require.Equal(t, tt.order, r.order())
			require.Equal(t, tt.status, result.Status)
			require.Equal(t, tt.counts, result.Counts)
			require.Equal(t, r.opened.BuildID, result.BuildID)
			if closed := inputsOf[build.CloseInput](r, "CloseBuild"); tt.status == schema.BuildUnchanged {
				require.Empty(t, closed)
			} else {
				require.Len(t, closed, 1)
				require.Equal(t, tt.status, closed[0].Finished.Status)
				require.Equal(t, tt.counts, closed[0].Finished.Counts)
				require.Equal(t, sessionInput(), closed[0].Input)
				require.Equal(t, r.recordedBefore.Usage.Calls+r.windows, result.Usage.Calls)
			}
			for _, plan := range inputsOf[llm.PlanInput](r, "PlanWindows") {
				require.Equal(t, r.opened.BuildID, plan.BuildID)
			}
		})
	}
}

// A failure in any step ends the build as failed, with the step and the reason, and ends the
// workflow with an error of the activity's own type.
func TestProcessSessionFailure(t *testing.T) {
	t.Parallel()
	for _, step := range sessionSteps {
		if step.name == schema.StepOpenBuild || step.name == schema.StepCloseBuild {
			continue // See TestProcessSessionFailureOutsideOfBuild.
		}
		for _, activity := range step.activities {
			if activity == wakes {
				continue // See TestProcessSessionWakesGraduation.
			}
			t.Run(activity, func(t *testing.T) {
				t.Parallel()
				requireFailedIn(t, step.name, activity)
			})
		}
	}
}

func requireFailedIn(t *testing.T, step, activity string) {
	t.Helper()
	r := newRooms().failing(activity, schema.ErrorStoreRejected)
	_, err := process(t, r, sessionInput())
	requireFailure(t, err, step, activity, schema.ErrorStoreRejected)
	tries := map[string]int{"PlanWindows": 2} // The ingest tries it, and is not to blame.
	require.Equal(t, cmp.Or(tries[activity], 1), count(r.order(), activity), "tried again")

	closed := inputsOf[build.CloseInput](r, "CloseBuild")
	require.Len(t, closed, 1)
	f := closed[0].Finished
	require.Equal(t, schema.BuildFailed, f.Status)
	require.Equal(t, step, f.FailedStep)
	require.Equal(t, activity+" can't", f.Error)
	require.Equal(t, schema.ErrorStoreRejected, f.ErrorType)
	for _, m := range f.Metrics {
		require.Equal(t, m.Step != step, m.Success, m.Step)
		if m.Step == step {
			require.Equal(t, f.Error, m.Error)
		}
	}
}

// A failure after the answers of a model leaves them in the build's record: they cost money, and the next build finds them.
func TestProcessSessionFailureAfterAnswers(t *testing.T) {
	t.Parallel()
	for activity, windows := range map[string]int{"AlignSession": 3, "CheckEntries": 3, "RecordExtraction": 0} {
		r := newRooms().failing(activity, schema.ErrorStoreRejected)
		r.windows = 3
		_, err := process(t, r, sessionInput())
		require.Error(t, err)
		f := inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished
		require.Equal(t, 3, f.Usage.Calls, activity)
		require.Equal(t, schema.BuildCounts{Messages: 2, NewMessages: 2, Windows: windows}, f.Counts, activity)
		ran := map[string]int{}
		for _, m := range f.Metrics {
			ran[m.Step]++
			require.GreaterOrEqual(t, m.LatencyMS, 0.0)
		}
		for step, n := range ran {
			require.Equal(t, 1, n, step)
		}
		require.Equal(t, 1, ran[schema.StepExtract])
		require.Equal(t, f.FailedStep, f.Metrics[len(f.Metrics)-1].Step)
	}
}

func requireFailure(t *testing.T, err error, step, activity, failureType string) {
	t.Helper()
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, failureType, application.Type())
	require.Equal(t, step+": "+activity+" can't", application.Message())
	require.True(t, application.NonRetryable())
}

func count(names []string, name string) int {
	n := 0
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

// A build that could not be opened or closed can't record the failure, so the workflow's error reports it.
func TestProcessSessionFailureOutsideOfBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ activity, step string }{
		{"OpenBuild", schema.StepOpenBuild},
		{"CloseBuild", schema.StepCloseBuild},
	} {
		t.Run(tt.activity, func(t *testing.T) {
			t.Parallel()
			r := newRooms().failing(tt.activity, schema.ErrorStoreRejected)
			_, err := process(t, r, sessionInput())
			requireFailure(t, err, tt.step, tt.activity, schema.ErrorStoreRejected)
			require.Equal(t, 1, count(r.order(), tt.activity))
		})
	}
}

// If the failure can't be recorded either, the workflow still reports the first one.
func TestProcessSessionFailureUnrecorded(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("AlignSession", schema.ErrorCorruptLog).failing("CloseBuild", schema.ErrorStoreRejected)
	_, err := process(t, r, sessionInput())
	requireFailure(t, err, schema.StepAlign, "AlignSession", schema.ErrorCorruptLog)
}

func TestProcessSessionRefusesInput(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(in *schema.ProcessSessionInput)
		reason string
	}{
		"no session":              {func(in *schema.ProcessSessionInput) { in.URI = "" }, "give uri or messages"},
		"two sources":             {func(in *schema.ProcessSessionInput) { in.Messages = []schema.InlineMessage{{}} }, "not both"},
		"control character":       {func(in *schema.ProcessSessionInput) { in.Project = "a\nb" }, `project "a\nb" holds a control character`},
		"long name":               {func(in *schema.ProcessSessionInput) { in.User = strings.Repeat("u", 201) }, "has 201 bytes, more than 200"},
		"unknown flush":           {func(in *schema.ProcessSessionInput) { in.Flush = "whim" }, `flush "whim": want one of`},
		"workflow to notify":      {func(in *schema.ProcessSessionInput) { in.Notify = "작업" }, "notify: the workflow id \"작업\" holds something else than printable ASCII"},
		"long workflow to notify": {func(in *schema.ProcessSessionInput) { in.Notify = strings.Repeat("w", 1001) }, "has 1001 bytes, more than 1000"},
		"long messages": {func(in *schema.ProcessSessionInput) {
			in.URI, in.Messages = "", []schema.InlineMessage{{Role: "user", Content: strings.Repeat("x", schema.MaxInlineBytes+1)}}
		}, "messages hold 262145 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, in := newRooms(), sessionInput()
			tt.change(&in)
			_, err := process(t, r, in)
			var application *temporal.ApplicationError
			require.ErrorAs(t, err, &application)
			require.Equal(t, schema.ErrorInvalidInput, application.Type())
			require.ErrorContains(t, err, tt.reason)
			require.Empty(t, r.order())
		})
	}
}

// The store may be unavailable for a while. The step is retried, and the build ends as usual.
func TestProcessSessionWaitsForStore(t *testing.T) {
	t.Parallel()
	r := newRooms()
	var once sync.Once
	r.fail["IngestSession"] = temporal.NewApplicationError("connection refused", schema.ErrorStoreUnavailable)
	r.before = func(_ context.Context, name string) {
		if name != "IngestSession" {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.inputs[name]) == 3 {
			once.Do(func() { delete(r.fail, name) })
		}
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, 4, count(r.order(), "IngestSession"))
}

// A build that is cancelled in any step is recorded as failed there, and the workflow ends as cancelled.
func TestProcessSessionCancel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ activity, step string }{
		{"IngestSession", schema.StepIngest},
		{"ExtractWindow", schema.StepExtract},
		{"IndexSession", schema.StepIndex},
	} {
		t.Run(tt.activity, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.windows = 6
			env := newEnvironment(r, sessionInput().Key().WorkflowID())
			var once sync.Once
			r.before = func(ctx context.Context, name string) {
				if name == tt.activity {
					once.Do(env.CancelWorkflow)
					<-ctx.Done()
				}
			}
			env.ExecuteWorkflow(schema.WorkflowProcessSession, sessionInput())
			require.True(t, env.IsWorkflowCompleted())
			var cancelled *temporal.CanceledError
			require.ErrorAs(t, env.GetWorkflowError(), &cancelled)
			closed := inputsOf[build.CloseInput](r, "CloseBuild")
			require.Len(t, closed, 1)
			require.Equal(t, schema.BuildFailed, closed[0].Finished.Status)
			require.Equal(t, tt.step, closed[0].Finished.FailedStep)
			require.Equal(t, "cancelled", closed[0].Finished.Error)
			require.Equal(t, schema.ErrorCancelled, closed[0].Finished.ErrorType)
		})
	}
}

// Started under another id, as from the Temporal UI, the session runs as the child with its own id.
func TestProcessSessionChild(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"s1", ""} {
		t.Run("session "+given, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			env := newEnvironment(r, "started-by-hand")
			in := sessionInput()
			in.SessionID, in.Project, in.User = given, "", ""
			env.ExecuteWorkflow(schema.WorkflowProcessSession, in)
			require.NoError(t, env.GetWorkflowError())
			var result schema.ProcessSessionResult
			require.NoError(t, env.GetWorkflowResult(&result))
			require.Equal(t, schema.BuildSuccess, result.Status)
			require.Equal(t, "s1", result.SessionID)
			want := steps
			if given == "" {
				want = append([]string{"IdentifySession"}, steps...)
			}
			require.Equal(t, want, r.order())
			opened := inputsOf[build.OpenInput](r, "OpenBuild")[0]
			require.Equal(t, schema.Scope{Project: workflows.DefaultProject, User: workflows.DefaultUser}, opened.Scope)
		})
	}
}

func TestProcessSessionProgress(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.windows = 3
	env := newEnvironment(r, sessionInput().Key().WorkflowID())
	seen := map[string]schema.Progress{}
	var mu sync.Mutex
	ask := func() schema.Progress {
		value, err := env.QueryWorkflow(schema.QueryProgress)
		require.NoError(t, err)
		var p schema.Progress
		require.NoError(t, value.Get(&p))
		return p
	}
	env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		mu.Lock()
		defer mu.Unlock()
		seen[info.ActivityType.Name] = ask()
	})
	env.ExecuteWorkflow(schema.WorkflowProcessSession, sessionInput())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, schema.StepIngest, seen["IngestSession"].Step)
	require.Equal(t, schema.BuildRunning, seen["IngestSession"].Status)
	require.Equal(t, 3, seen["DeriveEntries"].WindowsDone)
	require.Equal(t, 3, seen["DeriveEntries"].WindowsTotal)
	require.Equal(t, r.opened.BuildID, seen["IndexSession"].BuildID)
	require.Equal(t, 1, seen["IndexSession"].Counts.Entries)
	end := ask()
	require.Equal(t, schema.BuildSuccess, end.Status)
	require.Empty(t, end.Step)
}
