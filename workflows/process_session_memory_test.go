package workflows_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/build"
	"axiommind/activities/tier"
	"axiommind/schema"
)

// The model's summaries go to the memory's writer by key, in the order of the messages, and their usage is counted.
func TestProcessSessionSummarizes(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.ingested.Messages = 30
	r.summaries = 3
	r.summarize = func(in tier.SummarizeInput) (tier.SummarizedWindow, error) {
		return tier.SummarizedWindow{
			SummaryWindow: in.Window, Model: "m/1", Key: fmt.Sprint("key-", in.Window.First), Usage: schema.Usage{Calls: 1, OutputTokens: 5},
		}, nil
	}
	in := sessionInput()
	in.Flush = schema.FlushTrim
	result, err := process(t, r, in)
	require.NoError(t, err)
	require.Equal(t, 1+3, result.Usage.Calls)
	require.EqualValues(t, 10+3*5, result.Usage.OutputTokens)
	require.Equal(t, result.Usage, inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished.Usage)
	submitted := inputsOf[tier.FlushRequest](r, "SubmitMemory")
	require.Len(t, submitted, 1)
	require.Equal(t, schema.FlushTrim, submitted[0].Flush)
	require.Equal(t, 30, submitted[0].Messages)
	require.Equal(t, r.opened.BuildID, submitted[0].BuildID)
	require.False(t, submitted[0].At.IsZero())
	var keys []string
	for _, w := range submitted[0].Windows {
		keys = append(keys, w.Key)
	}
	require.Equal(t, []string{"key-0", "key-10", "key-20"}, keys)
}

// A session with more windows than fit into a plan is flushed in parts, and states its facts once.
func TestProcessSessionFlushesInParts(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.ingested.Messages = 50
	r.summaries, r.summariesAtOnce = 5, 2
	_, err := process(t, r, sessionInput())
	require.NoError(t, err)
	submitted := inputsOf[tier.FlushRequest](r, "SubmitMemory")
	require.Len(t, submitted, 3)
	for i, want := range []struct {
		messages, windows int
		facts             bool
	}{{20, 2, true}, {40, 2, false}, {50, 1, false}} {
		require.Equal(t, want.messages, submitted[i].Messages)
		require.Len(t, submitted[i].Windows, want.windows)
		require.Equal(t, want.facts, submitted[i].Facts)
	}
}

// A local model is not asked separately.
func TestProcessSessionSummarizesOffline(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.summaries = 0
	_, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.NotContains(t, r.order(), "SummarizeSession")
	require.Empty(t, inputsOf[tier.FlushRequest](r, "SubmitMemory")[0].Windows)
}

// A missing summary never fails the build: its messages are flushed without it. Only a model that can't be asked at all
// fails the build, as for an extraction.
func TestProcessSessionRefusedSummary(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.summarize = func(tier.SummarizeInput) (tier.SummarizedWindow, error) {
		return tier.SummarizedWindow{}, temporal.NewNonRetryableApplicationError("m: empty", schema.ErrorModelRejected, nil)
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, []tier.SummarizedWindow{{SummaryWindow: tier.SummaryWindow{First: 0, Last: 9}, Refused: "m: empty"}},
		inputsOf[tier.FlushRequest](r, "SubmitMemory")[0].Windows)

	r = newRooms().failing("SummarizeSession", schema.ErrorModelRefused)
	_, err = process(t, r, sessionInput())
	requireFailure(t, err, schema.StepMemory, "SummarizeSession", schema.ErrorModelRefused)
	require.NotContains(t, r.order(), "SubmitMemory")
}

// The model's answers about the facts of the memory go to its writer by key, in the order of the questions, and their
// usage is counted. The following steps get the head after the event that the plan stored.
func TestProcessSessionReviewsFacts(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.reviewed, r.reviewGroups = 2, 2
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, 1+4, result.Usage.Calls)
	require.EqualValues(t, 10+4*3, result.Usage.OutputTokens)
	asked := inputsOf[tier.ReviewInput](r, "ReviewFacts")
	require.Len(t, asked, 4)
	for _, in := range asked {
		require.Equal(t, "shown", in.Shown)
		require.Equal(t, at(10), in.Head)
	}
	submitted := inputsOf[tier.FlushRequest](r, "SubmitMemory")[0]
	require.Equal(t, at(10), submitted.Head)
	require.Equal(t, "shown", submitted.Review.Shown)
	var keys []string
	for _, x := range submitted.Review.Answers {
		keys = append(keys, x.Key)
	}
	require.Equal(t, []string{"review-0-0", "review-0-1", "review-10-0", "review-10-1"}, keys)
	require.Equal(t, at(10), inputsOf[build.CloseInput](r, "CloseBuild")[0].Build.Head)
	require.Equal(t, r.opened.BuildID, inputsOf[tier.SummaryInput](r, "PlanSummary")[0].BuildID)
}

// A question without an answer removes nothing and never fails the build. Only a model that can't be asked at all does.
func TestProcessSessionRefusedReview(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.reviewed = 1
	r.review = func(tier.ReviewInput) (tier.ReviewAnswer, error) {
		return tier.ReviewAnswer{}, temporal.NewNonRetryableApplicationError("m: empty", schema.ErrorModelRejected, nil)
	}
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, &tier.Reviewed{Shown: "shown", Answers: []tier.ReviewAnswer{{
		ReviewQuestion: tier.ReviewQuestion{SummaryWindow: tier.SummaryWindow{First: 0, Last: 9}}, Refused: "m: empty",
	}}}, inputsOf[tier.FlushRequest](r, "SubmitMemory")[0].Review)

	r = newRooms().failing("ReviewFacts", schema.ErrorModelRefused)
	r.reviewed = 1
	_, err = process(t, r, sessionInput())
	requireFailure(t, err, schema.StepMemory, "ReviewFacts", schema.ErrorModelRefused)
	require.NotContains(t, r.order(), "SubmitMemory")
	closed := inputsOf[build.CloseInput](r, "CloseBuild")[0]
	require.Equal(t, at(10), closed.Build.Head, "the event of the plan is there all the same")
	require.Equal(t, 1, closed.Finished.Usage.Calls)
}

// Without facts, or with a local model, there are no questions about facts.
func TestProcessSessionReviewsNothing(t *testing.T) {
	t.Parallel()
	r := newRooms()
	_, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.NotContains(t, r.order(), "ReviewFacts")
	require.Nil(t, inputsOf[tier.FlushRequest](r, "SubmitMemory")[0].Review)
}

// The largest possible review fits into the payloads together with the largest summary.
func TestProcessSessionLargestReview(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.summaries, r.reviewed, r.reviewGroups = 64, 16, 4
	usage := schema.Usage{Calls: 1, InputTokens: 1 << 40, OutputTokens: 1 << 40, ThoughtTokens: 1 << 40, CostUSD: 0.123456789}
	key := schema.HashText("")
	r.summarize = func(in tier.SummarizeInput) (tier.SummarizedWindow, error) {
		return tier.SummarizedWindow{SummaryWindow: in.Window, Model: "openai/a-model-of-some-name", Key: key, Usage: usage}, nil
	}
	r.review = func(in tier.ReviewInput) (tier.ReviewAnswer, error) {
		return tier.ReviewAnswer{ReviewQuestion: in.Question, Key: key, Usage: usage}, nil
	}
	_, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Len(t, inputsOf[tier.FlushRequest](r, "SubmitMemory")[0].Review.Answers, 64)
	require.Less(t, r.largest, 64<<10)
}

// A session without entries is flushed, too, and a failure of that fails the build.
func TestProcessSessionEmptyFailsInMemory(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("SubmitMemory", schema.ErrorStoreRejected)
	r.windows = 0
	_, err := process(t, r, sessionInput())
	requireFailure(t, err, schema.StepMemory, "SubmitMemory", schema.ErrorStoreRejected)
	require.Equal(t, schema.BuildFailed, inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished.Status)
}

// A summary is sent if there is one and a receiver is set: the worker's webhook, or the workflow of the input.
func TestProcessSessionNotifies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		result tier.SessionResult
		notify string
		calls  []string
	}{
		"nobody":            {tier.SessionResult{Flushed: "e1"}, "", nil},
		"webhook":           {tier.SessionResult{Flushed: "e1", Notify: true}, "", []string{"SendWebhook"}},
		"workflow":          {tier.SessionResult{Flushed: "e1"}, "agent 7", []string{"SendWebhook", "SignalSummary"}},
		"nothing to record": {tier.SessionResult{}, "agent 7", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.remembered = tt.result
			in := sessionInput()
			in.Notify = tt.notify
			_, err := process(t, r, in)
			require.NoError(t, err)
			for _, call := range []string{"SendWebhook", "SignalSummary"} {
				sent := inputsOf[schema.NotifySummaryInput](r, call)
				if count(tt.calls, call) == 0 {
					require.Empty(t, sent)
					continue
				}
				require.Equal(t, []schema.NotifySummaryInput{{User: "u", EventID: "e1", Workflow: tt.notify}}, sent)
			}
		})
	}
}

func notifySummary(t *testing.T, r *rooms, in schema.NotifySummaryInput) error {
	t.Helper()
	env := newEnvironment(r, in.WorkflowID())
	env.ExecuteWorkflow(schema.WorkflowNotifySummary, in)
	require.True(t, env.IsWorkflowCompleted())
	return env.GetWorkflowError()
}

// An unreachable receiver does not keep the other one from getting the summary, and the workflow's error contains the
// reason.
func TestNotifySummary(t *testing.T) {
	t.Parallel()
	in := schema.NotifySummaryInput{User: "u", EventID: "e1", Workflow: "w"}
	for _, failing := range []string{"SendWebhook", "SignalSummary"} {
		r := newRooms().failing(failing, schema.ErrorNotifyRefused)
		err := notifySummary(t, r, in)
		var application *temporal.ApplicationError
		require.ErrorAs(t, err, &application)
		require.Equal(t, schema.ErrorNotifyRefused, application.Type())
		require.Equal(t, failing+" can't", application.Message())
		require.Len(t, inputsOf[schema.NotifySummaryInput](r, "SendWebhook"), 1)
		require.Len(t, inputsOf[schema.NotifySummaryInput](r, "SignalSummary"), 1)
	}
	r := newRooms()
	in.Workflow = ""
	require.NoError(t, notifySummary(t, r, in))
	require.Empty(t, inputsOf[schema.NotifySummaryInput](r, "SignalSummary"))
}

func TestNotifySummaryRefusesInput(t *testing.T) {
	t.Parallel()
	for _, in := range []schema.NotifySummaryInput{{User: "u"}, {User: "u", EventID: "e", Workflow: "작업"}} {
		var application *temporal.ApplicationError
		require.True(t, errors.As(notifySummary(t, newRooms(), in), &application))
		require.Equal(t, schema.ErrorInvalidInput, application.Type())
	}
}

// A receiver may be unavailable for most of a day.
func TestNotifySummaryWaits(t *testing.T) {
	t.Parallel()
	r := newRooms()
	in := schema.NotifySummaryInput{User: "u", EventID: "e1"}
	env := newEnvironment(r, in.WorkflowID())
	r.fail["SendWebhook"] = temporal.NewApplicationError("webhook at h answered 503", schema.ErrorNotifyUnavailable)
	began := env.Now()
	env.ExecuteWorkflow(schema.WorkflowNotifySummary, in)
	require.ErrorContains(t, env.GetWorkflowError(), "webhook at h answered 503")
	require.Greater(t, env.Now().Sub(began).Hours(), 23.0)
	require.Greater(t, count(r.order(), "SendWebhook"), 100)
}
