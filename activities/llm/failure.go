package llm

import (
	"time"

	"axiommind/schema"
)

// FailureType is the type under which an activity returns the error.
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

// Uncertain reports whether the provider broke its protocol: a server of another kind always does.
func (e *Error) Uncertain() bool { return e.Kind == KindMalformed || e.Kind == KindEmpty }

// RetryDelay is how long the provider asked to wait, 0 when it did not say.
func (e *Error) RetryDelay() time.Duration { return e.RetryAfter }
