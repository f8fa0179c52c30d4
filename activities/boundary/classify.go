package boundary

import (
	"context"
	"errors"

	"go.temporal.io/api/serviceerror"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// retry is how an activity is retried after an error.
type retry int

const (
	// permanent: the next attempt would fail the same way, so there is none.
	permanent retry = iota
	// uncertain: the error may be permanent or transient. There are at most maxUncertainAttempts.
	uncertain
	// transient: a server is down, overloaded or busy. It is retried for as long as the retry policy allows.
	transient
)

// class is how an error is treated.
type class struct {
	failureType string
	retry       retry
}

// classify is the one place where errors of stores and of Temporal get their type. Errors of rooms are
// [Failure]s: they carry theirs.
func classify(err error) class {
	var failure Failure
	switch {
	case errors.As(err, &failure):
		return classOf(failure)
	case errors.Is(err, eventlog.ErrInvalid), errors.Is(err, clickhouse.ErrSchema), errors.Is(err, projection.ErrShadowGone), clickhouse.Refused(err):
		return class{schema.ErrorStoreRejected, permanent}
	case errors.Is(err, clickhouse.ErrNoScope):
		return class{schema.ErrorInvalidInput, permanent}
	case errors.Is(err, eventlog.ErrCorrupt):
		return class{schema.ErrorCorruptLog, permanent}
	case errors.Is(err, eventlog.ErrConcurrentWriter):
		return class{schema.ErrorConcurrentWriter, transient}
	case isService(err):
		return classOfService(err)
	case errors.Is(err, context.DeadlineExceeded), clickhouse.Retryable(err):
		return class{schema.ErrorStoreUnavailable, transient}
	default:
		return class{schema.ErrorInternal, uncertain}
	}
}

func classOf(f Failure) class {
	u, ok := f.(uncertainFailure)
	switch {
	case !f.Retryable():
		return class{f.FailureType(), permanent}
	case ok && u.Uncertain():
		return class{f.FailureType(), uncertain}
	default:
		return class{f.FailureType(), transient}
	}
}

func isService(err error) bool {
	var service serviceerror.ServiceError
	return errors.As(err, &service)
}

// classOfService classifies an error of the Temporal server. A namespace that it does not find exists all the same,
// because this worker belongs to it: servers report this under load or while they start.
func classOfService(err error) class {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	var exhausted *serviceerror.ResourceExhausted
	var aborted *serviceerror.Aborted
	var gone *serviceerror.NotFound
	var argument *serviceerror.InvalidArgument
	var denied *serviceerror.PermissionDenied
	var namespace *serviceerror.NamespaceNotFound
	var unimplemented *serviceerror.Unimplemented
	var failed *serviceerror.WorkflowNotReady
	switch {
	case errors.As(err, &unavailable), errors.As(err, &late), errors.As(err, &exhausted), errors.As(err, &aborted),
		errors.As(err, &gone), errors.As(err, &failed), errors.As(err, &namespace):
		return class{schema.ErrorTemporalUnavailable, transient}
	case errors.As(err, &argument), errors.As(err, &denied), errors.As(err, &unimplemented):
		return class{schema.ErrorTemporalRefused, permanent}
	default:
		return class{schema.ErrorTemporalUnavailable, uncertain}
	}
}
