// Package boundary is where an activity's error becomes a Temporal failure, once. Temporal looks at
// the outermost error alone: a wrapped application error loses its type and becomes retryable.
package boundary

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/eventlog"
)

// Failure is an error that knows how Temporal should treat it. The rooms' error types implement it.
type Failure interface {
	error
	// FailureType is one of the schema.Error constants.
	FailureType() string
	Retryable() bool
}

// doubter is a Failure that is retryable, though nobody knows whether another attempt can succeed.
type doubter interface{ Doubtful() bool }

// delayer is a Failure that knows when to try again.
type delayer interface{ RetryDelay() time.Duration }

// Invalid is an error that no retry mends, of the given type.
func Invalid(failureType string, err error) error { return &permanent{failureType, err} }

type permanent struct {
	failureType string
	error
}

func (p *permanent) FailureType() string { return p.failureType }
func (p *permanent) Retryable() bool     { return false }
func (p *permanent) Unwrap() error       { return p.error }

// maxDoubtful is how many attempts are made where nobody knows whether the next one can succeed: about a
// minute and a half with the retry policies of the workflows.
const maxDoubtful = 8

// Return turns err into what an activity returns: nil, a cancellation as it is, or an application
// error whose message is err's. What is refused is final. An error of no known type is tried again,
// maxDoubtful times at most: it must not hold up the writer of a stream for as long as an outage may.
func Return(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var cancelled *temporal.CanceledError
	var application *temporal.ApplicationError
	switch {
	case errors.As(err, &cancelled):
		return cancelled
	case errors.As(err, &application):
		return application
	case errors.Is(err, context.Canceled):
		return temporal.NewCanceledError(err.Error())
	}
	c := classify(err)
	message := eventlog.Readable(err).Error()
	if c.retry == afew && attempt(ctx) >= maxDoubtful {
		c.retry = never
		message += fmt.Sprintf(" (given up after %d attempts)", attempt(ctx))
	}
	options := temporal.ApplicationErrorOptions{NonRetryable: c.retry == never}
	var delay delayer
	if errors.As(err, &delay) {
		options.NextRetryDelay = delay.RetryDelay()
	}
	return temporal.NewApplicationErrorWithOptions(message, c.failureType, options)
}

// attempt is the number of the activity's attempt, from 1.
func attempt(ctx context.Context) int32 {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return activity.GetInfo(ctx).Attempt
}

// HeartbeatInterval is well under the timeout that workflows set.
const HeartbeatInterval = 10 * time.Second

// Run is a long activity: it does the work on the input, beats meanwhile, and returns its error as an
// activity does.
func Run[In, Out any](ctx context.Context, in In, work func(context.Context, In) (Out, error)) (out Out, err error) {
	stop := Heartbeat(ctx, HeartbeatInterval)
	defer stop()
	defer func() {
		if r := recover(); r != nil { // What the SDK makes of a panic is tried again for as long as an outage.
			activity.GetLogger(ctx).Error("activity panicked", "panic", r, "stack", string(debug.Stack()))
			err = Return(ctx, fmt.Errorf("panic: %v", r))
		}
	}()
	out, err = work(ctx, in)
	return out, Return(ctx, err)
}

// AttemptID names the update that this attempt of an activity sends for a build. Another attempt is another
// update: the outcome of the one before may have been a failure that is mended by now. What an update
// does is keyed by what it is about.
func AttemptID(ctx context.Context, buildID string) string {
	return buildID + "/" + strconv.Itoa(int(activity.GetInfo(ctx).Attempt))
}

// Heartbeat beats at once and then every interval, until the returned function is called; that
// function waits for the last beat.
func Heartbeat(ctx context.Context, interval time.Duration) (stop func()) {
	done, finished := make(chan struct{}), make(chan struct{})
	activity.RecordHeartbeat(ctx)
	go func() {
		defer close(finished)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() {
		close(done)
		<-finished
	}
}
