package border_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/border"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// Each error becomes one application error of its own type, not wrapped in anything: Temporal looks
// at the outermost alone.
func TestReturn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err         error
		failureType string
		retryable   bool
		delay       time.Duration
	}{
		{errors.New("who knows"), schema.ErrorInternal, true, 0},
		{border.Invalid(schema.ErrorUnknownFormat, errors.New("no format")), schema.ErrorUnknownFormat, false, 0},
		{fmt.Errorf("read: %w", border.Invalid(schema.ErrorUnknownFormat, errors.New("not yours"))), schema.ErrorUnknownFormat, false, 0},
		{&eventlog.InvalidError{Index: 2, Field: "payload", Reason: "is no JSON"}, schema.ErrorStoreRejected, false, 0},
		{fmt.Errorf("append: %w", eventlog.ErrSchema), schema.ErrorStoreRejected, false, 0},
		{fmt.Errorf("append: %w", eventlog.ErrCorrupt), schema.ErrorCorruptLog, false, 0},
		{fmt.Errorf("append: %w", eventlog.ErrConcurrentWriter), schema.ErrorConcurrentWriter, true, 0},
		{fmt.Errorf("append: %w", io.ErrUnexpectedEOF), schema.ErrorStoreUnavailable, true, 0},
		{&llm.Error{Kind: llm.KindAuth}, schema.ErrorModelRefused, false, 0},
		{&llm.Error{Kind: llm.KindQuota}, schema.ErrorModelRefused, false, 0},
		{fmt.Errorf("ask: %w", &llm.Error{Kind: llm.KindRateLimit, RetryAfter: time.Minute}), schema.ErrorModelRateLimited, true, time.Minute},
		{&llm.Error{Kind: llm.KindUnavailable}, schema.ErrorModelUnavailable, true, 0},
		{&llm.Error{Kind: llm.KindMalformed}, schema.ErrorModelRejected, true, 0},
		{&llm.Error{Kind: llm.KindBlocked}, schema.ErrorModelRejected, false, 0},
	} {
		application, ok := border.Return(tt.err).(*temporal.ApplicationError) //nolint:errorlint // the outermost counts
		require.True(t, ok, "%v", tt.err)
		require.Equal(t, tt.failureType, application.Type(), "%v", tt.err)
		require.Equal(t, tt.retryable, !application.NonRetryable(), "%v", tt.err)
		require.Equal(t, tt.err.Error(), application.Message())
		require.Equal(t, tt.delay, application.NextRetryDelay())
	}
}

func TestReturnPassesOn(t *testing.T) {
	t.Parallel()
	require.NoError(t, border.Return(nil))
	given := temporal.NewNonRetryableApplicationError("no", schema.ErrorInvalidInput, nil)
	require.Same(t, given, border.Return(fmt.Errorf("wrapped: %w", given)))
	for _, err := range []error{
		context.Canceled, fmt.Errorf("read: %w", context.Canceled), fmt.Errorf("read: %w", temporal.NewCanceledError()),
	} {
		_, ok := border.Return(err).(*temporal.CanceledError) //nolint:errorlint // the outermost counts
		require.True(t, ok, "%v", err)
	}
	require.ErrorIs(t, border.Invalid(schema.ErrorInvalidInput, io.EOF), io.EOF)
}

// What leaves an activity in the end has the type and is tried as often as it should be.
func TestReturnThroughActivity(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(func(context.Context) error {
		return border.Return(fmt.Errorf("ask: %w", &llm.Error{Provider: "gemini", Kind: llm.KindAuth, Message: "GEMINI_API_KEY is not set"}))
	}, activity.RegisterOptions{Name: "ask"})
	_, err := env.ExecuteActivity("ask")
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, schema.ErrorModelRefused, application.Type())
	require.True(t, application.NonRetryable())
	require.Equal(t, "ask: gemini: auth: GEMINI_API_KEY is not set", application.Message())
}

// The first beat comes at once, and none is under way when stop returns.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	beats := make(chan struct{}, 1000)
	env.SetOnActivityHeartbeatListener(func(*activity.Info, converter.EncodedValues) { beats <- struct{}{} })
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		stop := border.Heartbeat(ctx, time.Millisecond)
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
