package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/batch"
	"axiommind/schema"
	"axiommind/workflows"
	"axiommind/workflows/workflowtest"
)

// sessionsRun replaces process_session. It notes the sessions and how many run at a time.
type sessionsRun struct {
	// takes returns how long a session takes. If it is nil, that is a minute.
	takes func(id string) time.Duration
	// ends returns the outcome of the nth run of a session.
	ends func(id string, n int) (schema.ProcessSessionResult, error)

	now, most int
	running   map[string]int
	// clash is a session that ran twice at a time.
	clash  string
	runs   map[string]int
	began  []string
	starts []time.Time
}

func newSessionsRun() *sessionsRun {
	return &sessionsRun{running: map[string]int{}, runs: map[string]int{}, ends: succeeded}
}

func succeeded(id string, _ int) (schema.ProcessSessionResult, error) {
	return schema.ProcessSessionResult{
		SessionID: id, BuildID: "build of " + id, Status: schema.BuildSuccess, Counts: schema.BuildCounts{Entries: 2}, Usage: schema.Usage{Calls: 1},
	}, nil
}

func (s *sessionsRun) run(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
	if id := workflow.GetInfo(ctx).WorkflowExecution.ID; id != in.Key().WorkflowID() {
		return schema.ProcessSessionResult{}, fmt.Errorf("session %q runs as %q", in.SessionID, id)
	}
	id := in.SessionID
	s.runs[id]++
	n := s.runs[id]
	if s.running[id]++; s.running[id] > 1 {
		s.clash = id
	}
	s.began, s.starts = append(s.began, id), append(s.starts, workflow.Now(ctx))
	s.now++
	s.most = max(s.most, s.now)
	takes := time.Minute
	if s.takes != nil {
		takes = s.takes(id)
	}
	err := workflow.Sleep(ctx, takes)
	s.now--
	s.running[id]--
	if err != nil {
		return schema.ProcessSessionResult{}, err
	}
	return s.ends(id, n)
}

func batchEnvironment(r *rooms, s *sessionsRun) *testsuite.TestWorkflowEnvironment {
	env := workflowtest.New()
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "가져오기", TaskQueue: schema.QueueMain})
	env.SetStartTime(time.Date(2026, 6, 8, 4, 0, 0, 0, time.UTC))
	env.RegisterWorkflowWithOptions(workflows.ImportSessions, workflow.RegisterOptions{Name: schema.WorkflowImportSessions})
	env.RegisterWorkflowWithOptions(workflows.RetryBuilds, workflow.RegisterOptions{Name: schema.WorkflowRetryBuilds})
	env.RegisterWorkflowWithOptions(workflows.BackfillSessions, workflow.RegisterOptions{Name: schema.WorkflowBackfillSessions})
	env.RegisterWorkflowWithOptions(s.run, workflow.RegisterOptions{Name: schema.WorkflowProcessSession})
	env.RegisterActivity(r)
	return env
}

func importInput() schema.ImportSessionsInput {
	return schema.ImportSessionsInput{URI: "file:///대화"}
}

// runBatch runs an import to its end.
func runBatch(t *testing.T, r *rooms, s *sessionsRun, in schema.ImportSessionsInput, with ...func(*testsuite.TestWorkflowEnvironment)) (result schema.BatchResult, err error) {
	t.Helper()
	env := batchEnvironment(r, s)
	for _, w := range with {
		w(env)
	}
	env.ExecuteWorkflow(schema.WorkflowImportSessions, in)
	require.True(t, env.IsWorkflowCompleted())
	require.Empty(t, s.clash, "two runs of one session at a time")
	require.Less(t, r.largest, 48<<10)
	if err := env.GetWorkflowError(); err != nil {
		return result, err
	}
	require.NoError(t, env.GetWorkflowResult(&result))
	return result, nil
}

// requireReported requires one outcome in the log for each item.
func requireReported(t *testing.T, r *rooms) map[int]schema.BatchOutcome {
	t.Helper()
	out := map[int]schema.BatchOutcome{}
	for _, o := range r.batch.reported {
		require.NotContains(t, out, o.Index)
		out[o.Index] = o
	}
	require.Len(t, out, len(r.batch.items))
	return out
}

// The requested number of sessions runs at a time, each once, and the window slides: a session that ends makes room for
// the next.
func TestSessionBatchWindow(t *testing.T) {
	t.Parallel()
	for given, want := range map[int]int{0: 8, 1: 1, 5: 5, 64: 64} {
		r, s := newRooms(), newSessionsRun()
		r.batch = batchRoom{items: itemsOf(numbered(100)...), pageSize: 30, passedOver: 3}
		s.takes = func(id string) time.Duration { return time.Duration(len(id)%3+1) * time.Second }
		in := importInput()
		in.AtOnce = given
		result, err := runBatch(t, r, s, in)
		require.NoError(t, err)
		require.Equal(t, want, s.most)
		require.ElementsMatch(t, numbered(100), s.began)
		require.Equal(t, schema.BatchResult{
			Batch: result.Batch, Items: 100, PassedOver: 3, Statuses: map[schema.BuildStatus]int{schema.BuildSuccess: 100},
			Counts: schema.BuildCounts{Entries: 200}, Usage: schema.Usage{Calls: 100},
		}, result)
		require.Equal(t, "build of 세션/7", requireReported(t, r)[7].BuildID)
		reports := inputsOf[batch.ReportInput](r, "ReportOutcomes")
		require.Less(t, len(reports), 30, "outcomes are recorded in groups")
		require.Equal(t, at(1), reports[0].Head)
		require.Equal(t, at(2), reports[1].Head, "each request is told where the stream ends")
		list := inputsOf[batch.ListInput[schema.ImportSessionsInput]](r, "ListSessions")
		require.Len(t, list, 1)
		require.Equal(t, result.Batch, list[0].Batch)
		require.Equal(t, []string{"default", "default"}, []string{list[0].By.Project, list[0].By.User})
	}
}

// A long session frees its slot after ten minutes, up to the number of slots. The batch waits for it.
func TestSessionBatchSlowSessions(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf(numbered(30)...), pageSize: 30}
	slow := func(id string) bool { return id == "세션/0" || id == "세션/1" || id == "세션/2" }
	ended, before := 0, 0
	s.takes = func(id string) time.Duration {
		if slow(id) {
			return 5 * time.Hour
		}
		return time.Minute
	}
	s.ends = func(id string, n int) (schema.ProcessSessionResult, error) {
		switch {
		case !slow(id):
			ended++
		case before == 0:
			before = ended
		}
		return succeeded(id, n)
	}
	in := importInput()
	in.AtOnce = 2
	result, err := runBatch(t, r, s, in)
	require.NoError(t, err)
	require.Equal(t, 4, s.most)
	require.Equal(t, 27, before, "what comes after the first slow ones is done long before they are")
	require.Equal(t, 30, result.Ended())
	requireReported(t, r)
	// Two sessions use the slots for ten minutes. The third one uses one of them from then on.
	require.Equal(t, 10*time.Minute, s.starts[2].Sub(s.starts[0]))
}

// The outcome of one item does not affect the others. A refused item has an outcome without a session.
func TestSessionBatchOutcomes(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf("refused", "bad key", "fails", "없음", "good", "long reason"), pageSize: 10}
	r.batch.items[0].Refused, r.batch.items[0].RefusedType = "permission denied", schema.ErrorSourceUnreadable
	r.batch.items[1].Input.SessionID = "a\x00b"
	s.ends = func(id string, n int) (schema.ProcessSessionResult, error) {
		switch id {
		case "fails":
			return schema.ProcessSessionResult{}, temporal.NewNonRetryableApplicationError("extract: no key", schema.ErrorModelRefused, nil)
		case "없음":
			return schema.ProcessSessionResult{}, temporal.NewCanceledError()
		case "long reason":
			return schema.ProcessSessionResult{}, temporal.NewNonRetryableApplicationError(strings.Repeat("멈춤", 1000), schema.ErrorInternal, nil)
		}
		return succeeded(id, n)
	}
	result, err := runBatch(t, r, s, importInput())
	require.NoError(t, err)
	require.Equal(t, map[schema.BuildStatus]int{schema.BuildFailed: 5, schema.BuildSuccess: 1}, result.Statuses)
	require.ElementsMatch(t, []string{"fails", "없음", "good", "long reason"}, s.began)
	got := requireReported(t, r)
	require.Equal(t, schema.BatchOutcome{Index: 0, SessionID: "refused", Status: schema.BuildFailed, Error: "permission denied", ErrorType: schema.ErrorSourceUnreadable}, got[0])
	require.Equal(t, schema.ErrorInvalidInput, got[1].ErrorType)
	require.Contains(t, got[1].Error, "holds a control character")
	require.Equal(t, schema.BatchOutcome{Index: 2, SessionID: "fails", Status: schema.BuildFailed, Error: "extract: no key", ErrorType: schema.ErrorModelRefused}, got[2])
	require.Equal(t, schema.ErrorCancelled, got[3].ErrorType)
	require.Less(t, len(got[5].Error), 410)
}

// Two items of one session run one after the other and in order. The others do not wait for that.
func TestSessionBatchSameSession(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf("a", "a", "b", "a", "c", "d"), pageSize: 10}
	s.takes = func(id string) time.Duration {
		if id == "a" {
			return time.Hour
		}
		return time.Minute
	}
	s.ends = func(id string, n int) (schema.ProcessSessionResult, error) {
		result, err := succeeded(id, n)
		result.BuildID = fmt.Sprintf("%s run %d", id, n)
		return result, err
	}
	in := importInput()
	in.AtOnce = 2
	_, err := runBatch(t, r, s, in)
	require.NoError(t, err)
	require.Len(t, s.began, 6)
	require.ElementsMatch(t, []string{"a", "b"}, s.began[:2], "these two begin together")
	require.Equal(t, []string{"c", "d", "a", "a"}, s.began[2:])
	got := requireReported(t, r)
	require.Equal(t, []string{"a run 1", "a run 2", "a run 3"}, []string{got[0].BuildID, got[1].BuildID, got[3].BuildID})
}

// A session that another run is processing is waited for, and blocks nothing meanwhile.
func TestSessionBatchBusySession(t *testing.T) {
	t.Parallel()
	for _, noWait := range []bool{false, true} {
		r, s := newRooms(), newSessionsRun()
		r.batch = batchRoom{items: itemsOf("busy", "busy", "b", "c"), pageSize: 10}
		s.takes = func(id string) time.Duration {
			if id == "busy" {
				return 0
			}
			return time.Second
		}
		s.ends = func(id string, n int) (schema.ProcessSessionResult, error) {
			if id == "busy" && n < 6 {
				return schema.ProcessSessionResult{}, &temporal.ChildWorkflowExecutionAlreadyStartedError{}
			}
			return succeeded(id, n)
		}
		in := importInput()
		in.AtOnce, in.NoWait = 1, noWait
		result, err := runBatch(t, r, s, in)
		require.NoError(t, err)
		requireReported(t, r)
		if noWait {
			require.Equal(t, map[schema.BuildStatus]int{schema.BatchBusy: 2, schema.BuildSuccess: 2}, result.Statuses)
			continue
		}
		require.Equal(t, map[schema.BuildStatus]int{schema.BuildSuccess: 4}, result.Statuses)
		require.Less(t, slices.Index(s.began, "c"), 6)
		require.Equal(t, 7, s.runs["busy"])
	}
}

// A run with a long history waits for the running sessions, and passes the rest to the next run.
func TestSessionBatchContinues(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf(append(numbered(50), "세션/3")...), pageSize: 10, passedOver: 1}
	in := importInput()
	in.AtOnce, in.Grant = 4, "granted"
	_, err := runBatch(t, r, s, in, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, 150*time.Second)
	})
	var continued *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &continued)
	require.Equal(t, schema.WorkflowImportSessions, continued.WorkflowType.Name)
	require.Len(t, s.began, 12)
	require.Zero(t, s.now, "all that ran have ended")
	next := decoded[schema.ImportSessionsInput](t, continued.Input)
	require.Equal(t, "granted", next.Grant)
	require.Equal(t, 12, next.Continued.Result.Ended())
	require.Less(t, len(continued.Input.Payloads[0].Data), 2000)
	first := next.Continued.Batch

	result, err := runBatch(t, r, s, next)
	require.NoError(t, err)
	require.Equal(t, first, result.Batch)
	require.Equal(t, map[schema.BuildStatus]int{schema.BuildSuccess: 51}, result.Statuses)
	require.Equal(t, 102, result.Counts.Entries)
	requireReported(t, r)
	require.Len(t, inputsOf[batch.ListInput[schema.ImportSessionsInput]](r, "ListSessions"), 1)
}

// A long session does not block the others, even if the history has become long. In the end it is left running, and the
// next run waits for it.
func TestSessionBatchContinuesBesideSlowSession(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf(numbered(60)...), pageSize: 7}
	s.takes = func(id string) time.Duration {
		if id == "세션/0" && s.runs[id] == 1 {
			return 40 * time.Hour
		}
		return time.Minute
	}
	in := importInput()
	in.AtOnce = 1
	_, err := runBatch(t, r, s, in, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, 5*time.Minute)
		env.RegisterDelayedCallback(func() { env.SetCurrentHistoryLength(30_000) }, 30*time.Minute)
	})
	var continued *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &continued)
	state := decoded[schema.ImportSessionsInput](t, continued.Input).Continued
	require.Equal(t, 0, state.Left[0])
	require.InDelta(t, 20, state.Result.Ended(), 2)
	*s = *newSessionsRun()
	result, err := runBatch(t, r, s, decoded[schema.ImportSessionsInput](t, continued.Input))
	require.NoError(t, err)
	require.Equal(t, 60, result.Ended())
	require.Equal(t, "세션/0", s.began[0])
	requireReported(t, r)
}

// A cancelled batch starts no more sessions. The running ones continue, and their outcomes are recorded.
func TestSessionBatchCancelled(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf(numbered(50)...), pageSize: 50}
	in := importInput()
	in.AtOnce = 5
	_, err := runBatch(t, r, s, in, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(env.CancelWorkflow, 90*time.Second)
	})
	require.True(t, temporal.IsCanceledError(err), err)
	require.Len(t, s.began, 10)
	require.Len(t, r.batch.reported, 10)
	for _, o := range r.batch.reported {
		require.Equal(t, schema.BuildSuccess, o.Status)
	}
}

// No more sessions are started in any minute than allowed.
func TestSessionBatchPerMinute(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf(numbered(40)...), pageSize: 50}
	s.takes = func(string) time.Duration { return time.Second }
	env := batchEnvironment(r, s)
	env.ExecuteWorkflow(schema.WorkflowBackfillSessions, schema.BackfillSessionsInput{PerMinute: 7, Project: "p"})
	require.NoError(t, env.GetWorkflowError())
	require.Len(t, s.starts, 40)
	for i := 7; i < len(s.starts); i++ {
		require.GreaterOrEqual(t, s.starts[i].Sub(s.starts[i-7]), time.Minute-time.Microsecond)
	}
	require.Less(t, s.starts[39].Sub(s.starts[0]), 6*time.Minute)
}

// The id of a batch is derived from its input and its start, so a run that was reset finds the same stream.
func TestSessionBatchIDs(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	id := func(in schema.ImportSessionsInput, start time.Time) string {
		r := newRooms()
		result, err := runBatch(t, r, newSessionsRun(), in, func(env *testsuite.TestWorkflowEnvironment) { env.SetStartTime(start) })
		require.NoError(t, err)
		ids[result.Batch] = true
		return result.Batch
	}
	start := time.Date(2026, 6, 8, 4, 0, 0, 0, time.UTC)
	require.Equal(t, id(importInput(), start), id(importInput(), start))
	id(importInput(), start.Add(time.Millisecond))
	other := importInput()
	other.Format = "text"
	id(other, start)
	require.Len(t, ids, 3)
}

func TestSessionBatchRefuses(t *testing.T) {
	t.Parallel()
	for says, in := range map[string]schema.ImportSessionsInput{
		"uri is empty":                {},
		"at_once 65: want 1 to 64":    {URI: "/x", AtOnce: 65},
		"at_once -1: want 1 to 64":    {URI: "/x", AtOnce: -1},
		`flush "whim": want one of`:   {URI: "/x", Flush: "whim"},
		"printable ASCII":             {URI: "/x", Notify: "작업"},
		"holds a control character":   {URI: "/x", Project: "a\nb"},
		"continued is the state":      {URI: "/x", Continued: &schema.BatchState{}},
		"make a workflow id of":       {URI: "/x", Project: strings.Repeat("가", 60), User: strings.Repeat("나", 60)},
		"user \"xxxxxxxxxxxxxxxxxxxx": {URI: "/x", User: strings.Repeat("x", 201)},
	} {
		r := newRooms()
		_, err := runBatch(t, r, newSessionsRun(), in)
		requireInvalid(t, err, says)
		require.Empty(t, r.order())
	}
}

// A batch fails with the reason if its list cannot be made or its outcomes cannot be recorded.
func TestSessionBatchFails(t *testing.T) {
	t.Parallel()
	for activity, says := range map[string]string{
		"ListSessions": "list: ListSessions can't", "NextItems": "read items: NextItems can't", "ReportOutcomes": "record outcomes: ReportOutcomes can't",
	} {
		r, s := newRooms().failing(activity, schema.ErrorStoreRejected), newSessionsRun()
		r.batch = batchRoom{items: itemsOf(numbered(3)...), pageSize: 50}
		_, err := runBatch(t, r, s, importInput())
		var failed *temporal.ApplicationError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, schema.ErrorStoreRejected, failed.Type())
		require.Equal(t, says, failed.Message())
	}
}

// A batch shows its progress while it runs.
func TestSessionBatchTells(t *testing.T) {
	t.Parallel()
	r, s := newRooms(), newSessionsRun()
	r.batch = batchRoom{items: itemsOf(numbered(6)...), pageSize: 50, passedOver: 2}
	in := importInput()
	in.AtOnce = 2
	var progress schema.BatchProgress
	var told string
	var recorded int
	_, err := runBatch(t, r, s, in, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() {
			value, err := env.QueryWorkflow(schema.QueryProgress)
			require.NoError(t, err)
			require.NoError(t, value.Get(&progress))
			value, err = env.QueryWorkflow("__temporal_workflow_metadata")
			require.NoError(t, err)
			var raw converter.RawValue
			require.NoError(t, value.Get(&raw))
			told = string(raw.Payload().GetData())
			recorded = len(r.batch.reported)
		}, 75*time.Second)
	})
	require.NoError(t, err)
	require.Equal(t, []int{2, 6, 2}, []int{progress.Done, progress.Items, progress.PassedOver})
	require.ElementsMatch(t, []string{"세션/2", "세션/3"}, progress.Running)
	require.Contains(t, told, "2 of 6 sessions, 2 success; 2 passed over")
	require.Equal(t, 2, recorded, "what has ended is recorded within ten seconds")
}
