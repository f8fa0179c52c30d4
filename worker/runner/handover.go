package runner

import (
	"context"
	"time"

	"go.temporal.io/sdk/interceptor"

	"axiommind/activities/boundary"
)

// maxHandover is the part of the stop timeout reserved for handing unfinished activities back to the server.
const maxHandover = 3 * time.Second

func handoverTime(stopTimeout time.Duration) time.Duration { return min(maxHandover, stopTimeout/4) }

// handover has a worker that stops hand over the activities that do not end in time.
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
func (i *handoverActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (out any, err error) {
	ctx, handOver := boundary.HandOver(ctx, i.after)
	defer func() { err = handOver(err) }()
	return i.Next.ExecuteActivity(ctx, in)
}
