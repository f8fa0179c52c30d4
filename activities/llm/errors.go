package llm

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classifies the failure of a provider call.
type Kind string

// Kinds of [Error].
const (
	// KindAuth: the key is missing or was rejected. The message names the environment variable.
	KindAuth Kind = "auth"
	// KindQuota: the account has no credit left. Waiting does not help.
	KindQuota Kind = "quota"
	// KindRateLimit: too many requests or tokens for now. See Error.RetryAfter.
	KindRateLimit Kind = "rate_limit"
	// KindUnavailable: the provider can't be reached or has an internal error.
	KindUnavailable Kind = "unavailable"
	// KindInvalidRequest: the provider rejected the request, for example because of an unknown model.
	KindInvalidRequest Kind = "invalid_request"
	// KindTooLong: the request is longer than the model can read.
	KindTooLong Kind = "too_long"
	// KindBlocked: a safety filter stopped the prompt or the answer.
	KindBlocked Kind = "blocked"
	// KindTruncated: the token limit was reached before any text was generated.
	KindTruncated Kind = "truncated"
	// KindEmpty: the model finished without text, or with thoughts only.
	KindEmpty Kind = "empty"
	// KindMalformed: the body does not follow the provider's protocol.
	KindMalformed Kind = "malformed"
)

// Error is the failure of a provider call.
type Error struct {
	Provider string
	Kind     Kind
	// Status is the HTTP status, or 0 if there was no response.
	Status int
	// Code is the provider's own code, such as RESOURCE_EXHAUSTED or insufficient_quota.
	Code    string
	Message string
	// RetryAfter is how long the provider asks to wait, or 0 if it does not say.
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

// Unwrap returns the underlying network error, if any.
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

// OfInput reports whether the failure is that of the text which the model was asked about. It is the same whenever the
// model is asked, and another for a part of the text.
func (e *Error) OfInput() bool {
	switch e.Kind {
	case KindTooLong, KindBlocked, KindTruncated:
		return true
	default:
		return false
	}
}

// KindOf returns the kind of the [Error] that err wraps, or "" if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
