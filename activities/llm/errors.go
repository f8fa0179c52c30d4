package llm

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classifies what went wrong with a call of a provider.
type Kind string

// Kinds of [Error].
const (
	// KindAuth: the key is missing or was refused. The message names the variable.
	KindAuth Kind = "auth"
	// KindQuota: the account has no credit left. Waiting does not help.
	KindQuota Kind = "quota"
	// KindRateLimit: too many requests or tokens for now. See Error.RetryAfter.
	KindRateLimit Kind = "rate_limit"
	// KindUnavailable: the provider can't be reached or failed.
	KindUnavailable Kind = "unavailable"
	// KindInvalidRequest: the provider refused the request, such as an unknown model.
	KindInvalidRequest Kind = "invalid_request"
	// KindBlocked: a safety filter stopped the prompt or the answer.
	KindBlocked Kind = "blocked"
	// KindTruncated: the token limit was reached before any text.
	KindTruncated Kind = "truncated"
	// KindEmpty: the model finished with no text, or with thoughts only.
	KindEmpty Kind = "empty"
	// KindMalformed: the body is not what the provider's protocol promises.
	KindMalformed Kind = "malformed"
)

// Error is a failed call of a provider.
type Error struct {
	Provider string
	Kind     Kind
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Code is the provider's own code, such as RESOURCE_EXHAUSTED or insufficient_quota.
	Code    string
	Message string
	// RetryAfter is how long the provider asks to wait, 0 when it does not say.
	RetryAfter time.Duration
	cause      error
}

// Error returns "provider: kind (status code): message".
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Provider, strings.ReplaceAll(string(e.Kind), "_", " "))
	var detail []string
	if e.Status != 0 {
		detail = append(detail, fmt.Sprintf("status %d", e.Status))
	}
	if e.Code != "" {
		detail = append(detail, e.Code)
	}
	if e.RetryAfter > 0 {
		detail = append(detail, "retry after "+e.RetryAfter.String())
	}
	if len(detail) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(detail, ", "))
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	return b.String()
}

// Unwrap returns the network error underneath, if any.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case KindRateLimit, KindUnavailable, KindEmpty, KindMalformed:
		return true
	default:
		return false
	}
}

// KindOf returns the kind of the [Error] in err, "" when there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
