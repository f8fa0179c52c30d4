package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"axiommind/activities/text"
)

// maxMessage limits how much of a provider's message is kept, in bytes.
const maxMessage = 600

// providerError is the error object of Gemini, OpenAI and most compatible servers.
type providerError struct {
	Code    json.RawMessage `json:"code"`
	Status  string          `json:"status"`
	Type    string          `json:"type"`
	Message string          `json:"message"`
	Details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	} `json:"details"`
}

// errorFromBody classifies an error response by its status, and by its body if the status is not enough.
func errorFromBody(provider string, status int, body []byte) *Error {
	e := &Error{Provider: provider, Status: status, Kind: kindOfStatus(status)}
	pe, ok := readProviderError(body)
	if !ok {
		pe.Message = string(body)
	}
	e.Message = head([]byte(pe.Message))
	e.Code = pe.code()
	for _, d := range pe.Details {
		if d.Reason == "API_KEY_INVALID" || d.Reason == "API_KEY_EXPIRED" {
			e.Kind, e.Code = KindAuth, d.Reason
		}
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil && delay > 0 {
			e.RetryAfter = delay
		}
	}
	for _, code := range []string{pe.Type, e.Code} {
		if kind, known := kindsOfCodes[code]; known {
			e.Kind = kind
		}
	}
	if e.mayBeTooLong() && tooLong.MatchString(pe.Message) {
		e.Kind = KindTooLong
	}
	return e
}

// kindsOfCodes are codes and types of errors that say more than the status, which some servers get wrong.
var kindsOfCodes = map[string]Kind{
	"invalid_api_key":            KindAuth,
	"UNAUTHENTICATED":            KindAuth,
	"PERMISSION_DENIED":          KindAuth,
	"authentication_error":       KindAuth,
	"permission_error":           KindAuth,
	"insufficient_quota":         KindQuota,
	"billing_hard_limit_reached": KindQuota,
	"RESOURCE_EXHAUSTED":         KindRateLimit,
	"rate_limit_exceeded":        KindRateLimit,
	"rate_limit_error":           KindRateLimit,
	"overloaded_error":           KindUnavailable,
	"model_not_found":            KindInvalidRequest,
	"content_filter":             KindBlocked,
	"content_policy_violation":   KindBlocked,
	"context_length_exceeded":    KindTooLong,
	"context_window_exceeded":    KindTooLong,
	"exceed_context_size_error":  KindTooLong,
	"string_above_max_length":    KindTooLong,
	"request_too_large":          KindTooLong,
}

// tooLong is how servers say that a request is longer than the model can read: they agree on no code.
var tooLong = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`maximum context length`, `max(imum)? (model|sequence) length`, `context (length|size|window) (is )?(exceeded|of only)`,
	`exceeds?( the)?( available| model'?s?| maximum)* context`, `exceeds the maximum number of tokens`,
	`larger than the (model'?s? )?context`, `(prompt|input|request|message)s? (is|are|was|were) too (long|large)`, `too large for model`,
	`inputs?\W{1,2}(tokens|length).{0,60}(must be <|exceeds)`, `inputs\W{1,2}must have less than`,
	`reduce the length of the (messages|prompt|input)`, `request (payload size|too large)`,
}, "|"))

// mayBeTooLong reports whether the server refuses the request itself.
func (e *Error) mayBeTooLong() bool {
	switch e.Kind {
	case KindInvalidRequest, KindUnavailable:
		return e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusInternalServerError
	case KindRateLimit: // One request alone is more than a minute's tokens.
		return true
	default:
		return false
	}
}

func kindOfStatus(status int) Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return KindAuth
	case status == http.StatusPaymentRequired:
		return KindQuota
	case status == http.StatusRequestEntityTooLarge:
		return KindTooLong
	case status == http.StatusTooManyRequests:
		return KindRateLimit
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status >= http.StatusInternalServerError:
		return KindUnavailable
	default:
		return KindInvalidRequest
	}
}

// readProviderError parses {"error": {...}}, {"error": "text"}, [{"error": {...}}] and a bare {"message": "..."}.
func readProviderError(body []byte) (providerError, bool) {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var envelope struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return providerError{}, false
	}
	var pe providerError
	if json.Unmarshal(envelope.Error, &pe) == nil && len(envelope.Error) > 0 && envelope.Error[0] == '{' {
		return pe, true
	}
	var text string
	if json.Unmarshal(envelope.Error, &text) == nil && text != "" {
		return providerError{Message: text}, true
	}
	return providerError{Message: envelope.Message}, envelope.Message != ""
}

// code prefers the names to the numbers, which repeat the status.
func (pe providerError) code() string {
	if pe.Status != "" {
		return pe.Status
	}
	var name string
	if json.Unmarshal(pe.Code, &name) == nil && name != "" {
		return name
	}
	return pe.Type
}

// httpStatus returns the HTTP status that corresponds to an error object in a body with status 200.
func (pe providerError) httpStatus() int {
	var n int
	if json.Unmarshal(pe.Code, &n) == nil && n >= 400 && n < 600 {
		return n
	}
	return http.StatusInternalServerError
}

// retryAfter reads Retry-After (seconds or a date) and Retry-After-Ms, which is more precise.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now))
}

func head(body []byte) string {
	words := strings.Fields(string(body[:min(len(body), 4*maxMessage)]))
	return text.Clip(strings.ToValidUTF8(strings.Join(words, " "), ""), maxMessage)
}
