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

// work is a class of activities: where they run, how long they may take, and how they are tried again.
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
	// storeWork is for activities that read and write the event log. They are quick, and retried for an hour,
	// so that a server may be restarted meanwhile.
	storeWork = work{schema.QueueMain, 10 * time.Minute, time.Hour, time.Second, 30 * time.Second, 120}.options
	// listWork is for an activity that looks through very much, such as all files of a directory. An attempt goes on
	// where the one before broke off: one that takes long loses some minutes, one that is stuck in a file is ended.
	listWork = work{schema.QueueMain, 30 * time.Minute, 24 * time.Hour, time.Second, 30 * time.Second, 120}.options
	// filesWork is for the files of a memory, whose root may be full or away. The writer of the memory waits for it, so
	// it gives up soon: the writer comes back to it later.
	filesWork = work{schema.QueueMain, 2 * time.Minute, 2 * time.Minute, time.Second, 10 * time.Second, 3}.options
	// modelWork is for one call of a model. Attempts cost money, so there are few of them, and a model that is slow may take its
	// time: the worker gives one up that sends nothing (see llm.Config).
	modelWork = work{schema.QueueModel, time.Hour, 3 * time.Hour, 2 * time.Second, 2 * time.Minute, 8}.options
	// notifyWork is for calls of servers that are not ours, which may be away for a day.
	notifyWork = work{schema.QueueMain, time.Minute, notifyTime, time.Second, 10 * time.Minute, 200}.options
	// vectorWork is for activities that embed and write to the vector store, or wait for that.
	vectorWork = work{schema.QueueVector, 30 * time.Minute, 2 * time.Hour, time.Second, time.Minute, 120}.options
	// submitFiles is for files that their writer writes in the end, if the place for them is away. It is waited for
	// twice, each time for as long as the writer tries at most.
	submitFiles = work{schema.QueueMain, 3 * time.Minute, 5 * time.Minute, time.Second, 30 * time.Second, 2}.options
)

// call runs an activity and returns its result. The context holds its options.
func call[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	err = workflow.ExecuteActivity(ctx, activity, in).Get(ctx, &out)
	return out, err
}

// readSource runs an activity that reads a source. One that is made to may end the worker that reads it, and the next one. The
// end of a worker shows as a heartbeat that does not come. After that the workflow tries again and not the server: its history
// counts such attempts, and the last one refuses the source. The context holds the activity's options.
func readSource[In, Out any](ctx workflow.Context, source string, activity func(context.Context, In) (Out, error), in In) (out Out, err error) {
	for range transcript.MaxKills {
		var killed bool
		if out, killed, err = callOnce(ctx, activity, in); !killed {
			return out, err
		}
	}
	message := fmt.Sprintf("%d workers died while they read %s: see how much memory they have, split the source or leave it out", transcript.MaxKills, source)
	return out, temporal.NewNonRetryableApplicationError(message, schema.ErrorSourceKills, err)
}

// callOnce is [call] for an activity that is not tried again once its worker has died: it reports whether that is so.
func callOnce[In, Out any](ctx workflow.Context, activity func(context.Context, In) (Out, error), in In) (out Out, killed bool, err error) {
	policy := *workflow.GetActivityOptions(ctx).RetryPolicy
	policy.NonRetryableErrorTypes = []string{"TemporalTimeout:Heartbeat"}
	out, err = call(workflow.WithRetryPolicy(ctx, policy), activity, in)
	var late *temporal.TimeoutError
	return out, errors.As(err, &late) && late.TimeoutType() == enums.TIMEOUT_TYPE_HEARTBEAT, err
}

// quickly runs an activity as part of the workflow task, which costs one event instead of six and no way to the server
// and back. It is for bookkeeping that is short and idempotent. What does not succeed soon is run again as [call] runs
// it, so that the UI shows it and it is tried for as long as its options say. The context holds these options.
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

// localTime is how long an activity may hold up a workflow task: less than the time after which the worker would have
// to ask the server for more.
const localTime = 6 * time.Second

// local are the options of an activity in a workflow task.
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

// isFinal reports whether the error of an activity says that trying again is of no use.
func isFinal(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.NonRetryable()
}
