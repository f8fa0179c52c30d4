package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/transcript"
	"axiommind/schema"
)

// work is a class of activities: where they run, how long they may take, and how they are retried.
type work struct {
	queue string
	// attempt is how long one attempt may take, total all of them.
	attempt, total time.Duration
	// first and longest bound the pause between attempts, which doubles.
	first, longest time.Duration
	attempts       int32
}

// options returns the context for one activity, which people see under the summary.
func (w work) options(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              w.queue,
		StartToCloseTimeout:    w.attempt,
		ScheduleToCloseTimeout: w.total,
		HeartbeatTimeout:       timingOf(ctx).Heartbeat,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: w.first, BackoffCoefficient: 2, MaximumInterval: w.longest, MaximumAttempts: w.attempts,
		},
	})
}

var (
	// storeWork is for activities that read and write the event log. They are short, and are retried for an hour, so
	// that a server can be restarted meanwhile.
	storeWork = work{schema.QueueMain, 10 * time.Minute, time.Hour, time.Second, 30 * time.Second, 120}.options
	// listWork is for an activity that searches a lot, such as all files of a directory. An attempt continues where the
	// previous one stopped. A long one loses some minutes, and one that is stuck in a file times out.
	listWork = work{schema.QueueMain, 30 * time.Minute, 24 * time.Hour, time.Second, 30 * time.Second, 120}.options
	// filesWork is for the files of a memory, whose root may be full or unavailable. It gives up soon, because the
	// writer of the memory waits for it and retries it later.
	filesWork = work{schema.QueueMain, 2 * time.Minute, 2 * time.Minute, time.Second, 10 * time.Second, 3}.options
	// modelWork is for one call of a model. Attempts cost money, so there are few of them, and a slow model gets much
	// time. The worker gives up a call that sends nothing (see llm.Config).
	modelWork = work{schema.QueueModel, time.Hour, 3 * time.Hour, 2 * time.Second, 2 * time.Minute, 8}.options
	// notifyWork is for calls of other people's servers, which may be unavailable for a day.
	notifyWork = work{schema.QueueMain, time.Minute, notifyTime, time.Second, 10 * time.Minute, 200}.options
	// vectorWork is for activities that embed and write to the vector store, or wait for one that does.
	vectorWork = work{schema.QueueVector, 30 * time.Minute, 2 * time.Hour, time.Second, time.Minute, 120}.options
	// submitFiles is for a request to write files. If their root is unavailable, their writer writes them later. There
	// are two attempts, each as long as the writer's own tries.
	submitFiles = work{schema.QueueMain, 3 * time.Minute, 5 * time.Minute, time.Second, 30 * time.Second, 2}.options
)

// call runs an activity and returns its result. The context contains its options.
func call[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	err = workflow.ExecuteActivity(ctx, activity, in).Get(ctx, &out)
	return out, err
}

// readSource runs an activity that reads a source. A malicious source may kill each worker that reads it, which shows
// as a missing heartbeat. The workflow then retries instead of the server, so that its history counts these attempts.
// After the last one the source is refused. The context contains the activity's options, and the function in returns
// the input of an attempt.
func readSource[In, Out any](ctx workflow.Context, source string, activity func(context.Context, In) (Out, error), in func(killed bool) In) (out Out, err error) {
	for n := range transcript.MaxKills {
		var killed bool
		if out, killed, err = callOnce(ctx, activity, in(n > 0)); !killed {
			return out, err
		}
	}
	message := fmt.Sprintf("%d workers died while they read %s: see how much memory they have, split the source or leave it out", transcript.MaxKills, source)
	return out, temporal.NewNonRetryableApplicationError(message, schema.ErrorSourceKills, err)
}

// callOnce is [call] for an activity that is not retried once its worker has died. killed reports whether it has.
func callOnce[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, killed bool, err error) {
	policy := *workflow.GetActivityOptions(ctx).RetryPolicy
	policy.NonRetryableErrorTypes = []string{"TemporalTimeout:Heartbeat"}
	out, err = call(workflow.WithRetryPolicy(ctx, policy), activity, in)
	var late *temporal.TimeoutError
	return out, errors.As(err, &late) && late.TimeoutType() == enums.TIMEOUT_TYPE_HEARTBEAT, err
}

// quickly runs an activity as part of the workflow task, which costs one event instead of six and no round trip to the
// server. It is for short and idempotent bookkeeping. If it does not succeed soon, it is run again by [call], so that
// the UI shows it and its options limit the retries. The context contains these options.
func quickly[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	err = workflow.ExecuteLocalActivity(local(ctx), activity, in).Get(ctx, &out)
	if err == nil || ctx.Err() != nil || isFinal(err) {
		return out, err
	}
	return call(ctx, activity, in)
}

// doQuickly is [quickly] for an activity that has no result.
func doQuickly[In any](ctx workflow.Context, activity func(context.Context, In) error, in In) error {
	err := workflow.ExecuteLocalActivity(local(ctx), activity, in).Get(ctx, nil)
	if err == nil || ctx.Err() != nil || isFinal(err) {
		return err
	}
	return workflow.ExecuteActivity(ctx, activity, in).Get(ctx, nil)
}

// localTime is how long an activity may block a workflow task. It is less than the time after which the worker would
// have to ask the server for an extension.
const localTime = 6 * time.Second

// local returns the context with the options of an activity in a workflow task.
func local(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: localTime,
		StartToCloseTimeout:    localTime,
		Summary:                workflow.GetActivityOptions(ctx).Summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumAttempts: 3,
		},
	})
}

// isFinal reports whether the error of an activity is non-retryable.
func isFinal(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.NonRetryable()
}
