// Package boundary connects activities to Temporal: it turns an activity's error into a Temporal failure, once, sends
// heartbeats, and sends updates to writers. Temporal looks only at the outermost error: a wrapped application error
// loses its type and becomes retryable.
package boundary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Failure is an error that knows how Temporal should treat it. The rooms' error types implement it.
type Failure interface {
	error
	// FailureType is one of the schema.Error constants.
	FailureType() string
	Retryable() bool
}

// uncertainFailure is a retryable Failure that may be permanent all the same.
type uncertainFailure interface{ Uncertain() bool }

// delayedFailure is a Failure that knows when to try again.
type delayedFailure interface{ RetryDelay() time.Duration }

// Invalid returns an error of the given type that is never retried.
func Invalid(failureType string, err error) error { return &invalidError{failureType, err} }

type invalidError struct {
	failureType string
	error
}

func (e *invalidError) FailureType() string { return e.failureType }
func (e *invalidError) Retryable() bool     { return false }
func (e *invalidError) Unwrap() error       { return e.error }

// maxUncertainAttempts bounds the attempts after an error that may be permanent: about a minute and a half
// with the retry policies of the workflows.
const maxUncertainAttempts = 8

// Return turns err into the error of an activity: nil, a cancellation, or an application error with err's message. A
// permanent error is not retried. An error of no known type may be permanent: it gets at most maxUncertainAttempts, so
// that it does not block the writer of a stream for as long as an outage may.
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
		message := err.Error()
		redact.Strings(&message)
		return temporal.NewCanceledError(message)
	}
	c := classify(err)
	message := clickhouse.Readable(err).Error()
	redact.Strings(&message) // An error may quote its input.
	if c.retry == uncertain && attempt(ctx) >= maxUncertainAttempts {
		c.retry = permanent
		message += fmt.Sprintf(" (given up after %d attempts)", attempt(ctx))
	}
	options := temporal.ApplicationErrorOptions{NonRetryable: c.retry == permanent}
	var delay delayedFailure
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

// HeartbeatInterval is the time between two heartbeats of an activity with the heartbeat timeout. A cancellation reaches
// an activity with one of its heartbeats.
func HeartbeatInterval(timeout time.Duration) time.Duration { return timeout / 6 }

// noTimeout takes the place of the heartbeat timeout of an activity that has none.
const noTimeout = 30 * time.Second

// Run runs an activity: it does the work on the input, sends heartbeats meanwhile, and returns the error through
// [Return]. A panic is an error of no known type. An activity that waits for a writer, see [WaitsFor], is handed over as
// soon as its worker stops. Outside of an activity, Run only does the work.
func Run[In, Out any](ctx context.Context, in In, work func(context.Context, In) (Out, error)) (out Out, err error) {
	if r, is := any(in).(Redactor); is { // It may have been sent by hand.
		if redacted, is := r.Redacted().(In); is {
			in = redacted
		}
	}
	if !activity.IsActivity(ctx) {
		return work(ctx, in)
	}
	stop := Heartbeat(ctx, HeartbeatInterval(cmp.Or(activity.GetInfo(ctx).HeartbeatTimeout, noTimeout)))
	defer stop()
	if waits(ctx) {
		within, handOver := HandOver(ctx, 0)
		ctx = within
		defer func() { err = handOver(err) }()
	}
	ctx = eventlog.OfRun(ctx, activity.GetInfo(ctx).WorkflowExecution.RunID)
	if attempt(ctx) > 1 {
		ctx = eventlog.WithRetry(ctx)
	}
	err = Recovered(ctx, func() (err error) {
		out, err = work(ctx, in)
		return err
	})
	return out, Return(ctx, err)
}

// Recovered does the work of an activity, or of a part of it. A panic becomes an error of no known type, because the SDK
// would retry it for as long as an outage. Outside of an activity, Recovered only does the work.
func Recovered(ctx context.Context, work func() error) (err error) {
	if !activity.IsActivity(ctx) {
		return work()
	}
	defer func() {
		if r := recover(); r != nil {
			message := fmt.Sprint(r)
			redact.Strings(&message)
			activity.GetLogger(ctx).Error("activity panicked", "panic", message, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %s", message)
		}
	}()
	return work()
}

type heartbeatKey struct{}

// WaitsFor makes the heartbeats of an activity name the writer that does its work, so that observers know where to look
// next. A worker that stops does not wait for it, because another one may serve the writer. Pass the returned context to
// [Run].
func WaitsFor(ctx context.Context, writer schema.WriterInput) context.Context {
	return context.WithValue(ctx, heartbeatKey{}, schema.Heartbeat{WaitsFor: schema.WorkflowID(writer.Stream())})
}

func waits(ctx context.Context) bool {
	says, ok := ctx.Value(heartbeatKey{}).(schema.Heartbeat)
	return ok && says.WaitsFor != ""
}

// Heartbeat sends a heartbeat at once and then every interval, until the returned function is called; that
// function waits for the last one to be sent.
func Heartbeat(ctx context.Context, interval time.Duration) (stop func()) {
	var details []any
	if says, ok := ctx.Value(heartbeatKey{}).(schema.Heartbeat); ok {
		details = []any{says}
	}
	done, finished := make(chan struct{}), make(chan struct{})
	activity.RecordHeartbeat(ctx, details...)
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
				activity.RecordHeartbeat(ctx, details...)
			}
		}
	}()
	return func() {
		close(done)
		<-finished
	}
}
