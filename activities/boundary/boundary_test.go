package boundary_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/boundary"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/schema"
)

func TestReturnPassesOn(t *testing.T) {
	t.Parallel()
	require.NoError(t, boundary.Return(t.Context(), nil))
	given := temporal.NewNonRetryableApplicationError("no", schema.ErrorInvalidInput, nil)
	require.Same(t, given, boundary.Return(t.Context(), fmt.Errorf("wrapped: %w", given)))
	for _, err := range []error{
		context.Canceled, fmt.Errorf("read: %w", context.Canceled), fmt.Errorf("read: %w", temporal.NewCanceledError()),
	} {
		_, ok := boundary.Return(t.Context(), err).(*temporal.CanceledError) //nolint:errorlint // the outermost counts
		require.True(t, ok, "%v", err)
	}
	require.ErrorIs(t, boundary.Invalid(schema.ErrorInvalidInput, io.EOF), io.EOF)
}

// The error of an activity has the right type and number of attempts.
func TestReturnThroughActivity(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		return boundary.Return(ctx, fmt.Errorf("ask: %w", &llm.Error{Provider: "gemini", Kind: llm.KindAuth, Message: "GEMINI_API_KEY is not set"}))
	}, activity.RegisterOptions{Name: "ask"})
	_, err := env.ExecuteActivity("ask")
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, schema.ErrorModelRefused, application.Type())
	require.True(t, application.NonRetryable())
	require.Equal(t, "ask: gemini: auth: GEMINI_API_KEY is not set", application.Message())
}

// An unknown error is tried a few times and no more; an outage for as long as the policy allows.
func TestReturnGivesUpDoubts(t *testing.T) {
	t.Parallel()
	const allowed = 20
	for name, tt := range map[string]struct {
		err      error
		attempts int
		final    string
	}{
		"unknown":   {errors.New("who knows"), 8, "who knows (given up after 8 attempts)"},
		"panic":     {nil, 8, "panic: poison (given up after 8 attempts)"},
		"malformed": {&llm.Error{Provider: "openai", Kind: llm.KindMalformed}, 8, "openai: malformed (given up after 8 attempts)"},
		"away":      {io.ErrUnexpectedEOF, allowed, "unexpected EOF"},
		"refused":   {fact.ErrDuplicate, 1, "duplicate fact"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(slog.New(slog.DiscardHandler))
			env := suite.NewTestWorkflowEnvironment()
			attempts := 0
			env.RegisterActivityWithOptions(func(ctx context.Context) error {
				attempts++
				_, err := boundary.Run(ctx, "", func(context.Context, string) (string, error) {
					if tt.err == nil {
						panic("poison")
					}
					return "", tt.err
				})
				return err
			}, activity.RegisterOptions{Name: "work"})
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
					StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: allowed},
				})
				return workflow.ExecuteActivity(ctx, "work").Get(ctx, nil)
			})
			var application *temporal.ApplicationError
			require.ErrorAs(t, env.GetWorkflowError(), &application)
			require.Equal(t, tt.final, application.Message())
			require.Equal(t, tt.attempts, attempts)
		})
	}
}

// The first beat comes at once, and none is under way when stop returns.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	beats := make(chan struct{}, 1000)
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats <- struct{}{} })
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		stop := boundary.Heartbeat(ctx, time.Millisecond)
		select {
		case <-beats:
		case <-time.After(time.Minute):
			return errors.New("no heartbeat")
		}
		stop()
		return nil
	}, activity.RegisterOptions{Name: "work"})
	_, err := env.ExecuteActivity("work")
	require.NoError(t, err)
}

// The heartbeats of an activity name the workflow that does its work, from the first one on: later ones
// reach the server much later.
func TestHeartbeatSaysWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	beats := make(chan schema.Heartbeat, 1000)
	env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var says schema.Heartbeat
		if details.HasValues() && details.Get(&says) != nil {
			return
		}
		beats <- says
	})
	writer := schema.MemoryWriterInput{User: "사용자/\"1\"", Agent: "a%"}
	env.RegisterActivityWithOptions(func(ctx context.Context) (string, error) {
		return boundary.Run(boundary.WaitsFor(ctx, writer), "", func(context.Context, string) (string, error) {
			select {
			case says := <-beats:
				return says.WaitsFor, nil
			case <-time.After(time.Minute):
				return "", errors.New("no heartbeat")
			}
		})
	}, activity.RegisterOptions{Name: "work"})
	value, err := env.ExecuteActivity("work")
	require.NoError(t, err)
	var said string
	require.NoError(t, value.Get(&said))
	require.Equal(t, schema.WorkflowID(writer.Stream()), said)
}
