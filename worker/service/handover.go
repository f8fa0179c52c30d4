package service

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
)

// errStopping is the cause of the end of an activity's context when the worker stops.
var errStopping = errors.New("the worker stops")

// maxHandover is how much of the stop timeout is left to tell the server of activities that did not end in time.
const maxHandover = 3 * time.Second

func handoverTime(stopTimeout time.Duration) time.Duration { return min(maxHandover, stopTimeout/4) }

// handover has a worker that stops hand over the activities that do not end in time: it cancels them, and reports them
// as failed in a way that has the server give them to another worker at once. What the SDK would report, a
// cancellation, would end the workflow; without any report the server would wait for the missing heartbeats.
type handover struct {
	interceptor.WorkerInterceptorBase
	// after is how long after the stop activities may go on.
	after time.Duration
}

// InterceptActivity implements [interceptor.WorkerInterceptor].
func (h *handover) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &handoverActivity{after: h.after}
	i.Next = next
	return i
}

type handoverActivity struct {
	interceptor.ActivityInboundInterceptorBase
	after time.Duration
}

// ExecuteActivity implements [interceptor.ActivityInboundInterceptor].
func (i *handoverActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-done:
			return
		case <-activity.GetWorkerStopChannel(ctx):
		}
		select {
		case <-done:
		case <-time.After(i.after):
			cancel(errStopping)
		}
	}()
	out, err := i.Next.ExecuteActivity(ctx, in)
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		return nil, temporal.NewApplicationError("the worker was stopped before the activity ended", schema.ErrorWorkerStopped)
	}
	return out, err
}
