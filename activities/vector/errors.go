package vector

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/weaviate/weaviate-go-client/v4/weaviate/fault"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// ErrCollection is returned if a collection with the name exists but has settings other than ours.
var ErrCollection = errors.New("collection has other settings")

// Error is the failure of a Weaviate call.
type Error struct {
	// Host is the server's address, and Op the operation.
	Host, Op string
	// Status is the HTTP status, or 0 if there was no response.
	Status  int
	Message string
	cause   error
}

// Error returns "op on weaviate at host (status): message".
func (e *Error) Error() string {
	status := ""
	if e.Status > 0 {
		status = fmt.Sprintf(" (status %d)", e.Status)
	}
	return fmt.Sprintf("%s on weaviate at %q%s: %s", e.Op, e.Host, status, e.Message)
}

// Unwrap returns the underlying error, if any.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool {
	switch {
	case errors.Is(e.cause, ErrCollection), clickhouse.Untrusted(e.cause):
		return false
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict, e.Status == http.StatusTooManyRequests:
		return true
	default:
		return e.Status < 400 || e.Status >= 500
	}
}

// Unauthorized reports whether the server refuses the API key.
func Unauthorized(err error) bool {
	status := statusOf(err)
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// FailureType returns the type of the application error that the error becomes.
func (e *Error) FailureType() string {
	if e.Retryable() {
		return schema.ErrorVectorUnavailable
	}
	return schema.ErrorVectorRejected
}

// Uncertain reports whether Weaviate's response was not of the expected form.
func (e *Error) Uncertain() bool { return e.Status == 0 && e.cause == nil }

func (c *Client) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s on weaviate at %q: %w", op, c.host, err)
	}
	out := &Error{Host: c.host, Op: op, Message: err.Error(), cause: err}
	// The client nests its own errors but does not implement Unwrap.
	for {
		var answer *fault.WeaviateClientError
		if !errors.As(err, &answer) {
			return out
		}
		if answer.IsUnexpectedStatusCode {
			out.Status, out.Message = answer.StatusCode, answer.Msg
		}
		if answer.DerivedFromError == nil {
			return out
		}
		err = answer.DerivedFromError
		out.cause, out.Message = err, err.Error()
	}
}

func (c *Client) reject(op string, status int, format string, args ...any) error {
	return &Error{Host: c.host, Op: op, Status: status, Message: fmt.Sprintf(format, args...)}
}

func statusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}
