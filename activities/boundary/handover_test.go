package boundary_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// stopped runs the work in an activity whose worker is told to stop meanwhile, and returns its error and its log.
func stopped(t *testing.T, work func(context.Context) error) (string, error) {
	t.Helper()
	var log bytes.Buffer
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(slog.New(slog.NewTextHandler(&log, nil)))
	env := suite.NewTestActivityEnvironment()
	stop := make(chan struct{})
	env.SetWorkerStopChannel(stop)
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		close(stop)
		return work(ctx)
	}, activity.RegisterOptions{Name: "work"})
	_, err := env.ExecuteActivity("work")
	return log.String(), err
}

func untilDone(ctx context.Context, _ string) (none struct{}, err error) {
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case <-time.After(time.Minute):
		return none, errors.New("its context did not end")
	}
}

// An activity that waits for a writer is handed over as soon as its worker stops, which is no error in the log. It is
// logged once, also if its worker would have ended it in the same moment.
func TestHandoverOfWhatWaits(t *testing.T) {
	t.Parallel()
	writer := schema.MemoryWriterInput{User: "사용자/\"1\"", Agent: "a%"}
	waits := func(ctx context.Context) error {
		_, err := boundary.Run(boundary.WaitsFor(ctx, writer), "", untilDone)
		return err
	}
	for name, work := range map[string]func(context.Context) error{
		"alone": waits,
		"within another": func(ctx context.Context) error {
			ctx, handOver := boundary.HandOver(ctx, 0)
			return handOver(waits(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, err := stopped(t, work)
			var application *temporal.ApplicationError
			require.ErrorAs(t, err, &application)
			require.Equal(t, schema.ErrorWorkerStopped, application.Type())
			require.False(t, application.NonRetryable())
			require.Equal(t, temporal.ApplicationErrorCategoryBenign, application.Category())
			require.Contains(t, log, `level=INFO msg="the activity is handed over`)
			require.NotContains(t, log, "level=ERROR")
		})
	}
}

// The work of an activity goes on while its worker stops, and its own outcome stays.
func TestHandoverLeavesWorkAlone(t *testing.T) {
	t.Parallel()
	log, err := stopped(t, func(ctx context.Context) error {
		ctx, handOver := boundary.HandOver(ctx, time.Hour)
		_, err := boundary.Run(ctx, "", func(ctx context.Context, _ string) (none struct{}, err error) {
			<-activity.GetWorkerStopChannel(ctx)
			return none, ctx.Err()
		})
		return handOver(err)
	})
	require.NoError(t, err)
	require.NotContains(t, log, "handed over")

	_, err = stopped(t, func(ctx context.Context) error {
		ctx, handOver := boundary.HandOver(ctx, 0)
		<-ctx.Done()
		return handOver(nil)
	})
	require.NoError(t, err, "it was done all the same")

	_, err = stopped(t, func(ctx context.Context) error {
		_, handOver := boundary.HandOver(ctx, time.Hour)
		return handOver(errors.New("its own"))
	})
	require.ErrorContains(t, err, "its own")
}
