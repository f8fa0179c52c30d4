package llm

import (
	"time"

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
	default:
		return schema.ErrorModelRejected
	}
}

// Uncertain reports whether the provider broke its protocol. If another kind of server answers, it always does.
func (e *Error) Uncertain() bool { return e.Kind == KindMalformed || e.Kind == KindEmpty }

// RetryDelay returns how long the provider asked to wait, or 0 if it did not say.
func (e *Error) RetryDelay() time.Duration { return e.RetryAfter }
