package boundary

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// errStopping is the cause of the end of an activity's context when its worker stops.
var errStopping = errors.New("the worker stops")

// HandOver lets an activity go on for a while after its worker was told to stop, and then ends the returned
// context. The returned function turns the activity's error into the one to report. If the stop caused the
// failure, the server gives the activity to another worker at once. The SDK would report a cancellation, which
// would end the workflow. Without any report the server would wait for the missing heartbeats.
func HandOver(ctx context.Context, after time.Duration) (context.Context, func(error) error) {
	within, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-activity.GetWorkerStopChannel(ctx):
		}
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C:
			cancel(errStopping)
		}
	}()
	return within, func(err error) error {
		stopped := errors.Is(context.Cause(within), errStopping)
		close(ended)
		cancel(nil)
		if err == nil || !stopped || isHandover(err) {
			return err
		}
		activity.GetLogger(ctx).Info("the activity is handed over: the worker stops", "reason", err)
		// The SDK logs errors of this category for debugging only.
		return temporal.NewApplicationErrorWithOptions("the worker was stopped before the activity ended", schema.ErrorWorkerStopped,
			temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})
	}
}

func isHandover(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.Type() == schema.ErrorWorkerStopped
}
