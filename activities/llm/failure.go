package llm

import (
	"errors"
	"time"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// FailureType returns the type of the application error that the error becomes.
func (e *Error) FailureType() string {
	switch e.Kind {
	case KindAuth, KindQuota, KindInvalidRequest:
		return schema.ErrorModelRefused
	case KindRateLimit:
		return schema.ErrorModelRateLimited
	case KindUnavailable:
		return schema.ErrorModelUnavailable
	case KindTooLong:
		return schema.ErrorModelTooLong
	case KindBlocked:
		return schema.ErrorModelBlocked
	case KindTruncated:
		return schema.ErrorModelCut
	case KindMalformed:
		return schema.ErrorModelMalformed
	default:
		return schema.ErrorModelRejected
	}
}

// Uncertain reports whether the provider broke its protocol. If another kind of server answers, it always does.
func (e *Error) Uncertain() bool { return e.Kind == KindMalformed || e.Kind == KindEmpty }

// maxWait is the longest pause that a provider may ask for. With it, all attempts of a call fit into the hour that its
// workflow waits.
const maxWait = 5 * time.Minute

// RetryDelay returns how long the provider asked to wait, but at most maxWait, or 0 if it did not say.
func (e *Error) RetryDelay() time.Duration { return min(e.RetryAfter, maxWait) }

// impatient returns the error of a call so that it ends the call if the provider asks for a longer pause than maxWait:
// the attempts within it would all fail, and a build that waits for them holds up others. The failure is one that
// passes, and its message says when.
func impatient(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Retryable() && e.RetryAfter > maxWait {
		return boundary.Invalid(e.FailureType(), err)
	}
	return err
}
