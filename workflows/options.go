package workflows

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/schema"
)

// heartbeatTimeout is how long a worker may be silent before its activity is retried on another one.
const heartbeatTimeout = 30 * time.Second

// storeWork is for activities that read and write the event log. They are quick, and retried for an hour,
// so that a server may be restarted meanwhile.
func storeWork(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              schema.QueueMain,
		StartToCloseTimeout:    10 * time.Minute,
		ScheduleToCloseTimeout: time.Hour,
		HeartbeatTimeout:       heartbeatTimeout,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: 120,
		},
	})
}

// modelWork is for one call of a model. Attempts cost money, so there are few of them.
func modelWork(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              schema.QueueModel,
		StartToCloseTimeout:    5 * time.Minute,
		ScheduleToCloseTimeout: time.Hour,
		HeartbeatTimeout:       heartbeatTimeout,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 2 * time.Second, BackoffCoefficient: 2, MaximumInterval: 2 * time.Minute, MaximumAttempts: 8,
		},
	})
}

// vectorWork is for activities that embed and write to the vector store, or wait for that.
func vectorWork(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              schema.QueueVector,
		StartToCloseTimeout:    30 * time.Minute,
		ScheduleToCloseTimeout: 2 * time.Hour,
		HeartbeatTimeout:       heartbeatTimeout,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 120,
		},
	})
}

// call runs an activity and returns its result. The context holds its options.
func call[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	err = workflow.ExecuteActivity(ctx, activity, in).Get(ctx, &out)
	return out, err
}

// do runs an activity that has no result. The context holds its options.
func do[In any](ctx workflow.Context, activity func(context.Context, In) error, in In) error {
	return workflow.ExecuteActivity(ctx, activity, in).Get(ctx, nil)
}
