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

// Doubtful is true where the provider answered, and not with what its protocol promises: a server that
// is none of its kind does so for ever.
func (e *Error) Doubtful() bool { return e.Kind == KindMalformed || e.Kind == KindEmpty }

// RetryDelay is how long the provider asked to wait, 0 when it did not say.
func (e *Error) RetryDelay() time.Duration { return e.RetryAfter }
