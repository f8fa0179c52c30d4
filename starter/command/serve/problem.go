package serve

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"axiommind/activities/clickhouse"
	"axiommind/activities/spans"
	"axiommind/starter/command"
)

// problem is an error as programs read it (RFC 9457), with the step to take next.
type problem struct {
	Type   string `json:"type" doc:"always about:blank: the status is the kind"`
	Title  string `json:"title" doc:"the status in words"`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"the fault, and its place"`
	Next   string `json:"next,omitempty" doc:"the step to take next"`
	// RequestID finds the request in the server's log.
	RequestID string `json:"request_id" doc:"names the request in the server's log"`
	// Trace is the id of the request's trace.
	Trace string `json:"trace,omitempty" doc:"the id of the request's trace, if the server sends traces"`
}

// lateError is the error of a request that was not answered in time.
type lateError struct{ error }

// refuse answers with the problem.
func refuse(w http.ResponseWriter, r *http.Request, p problem) {
	p.Type, p.Title, p.RequestID = "about:blank", http.StatusText(p.Status), requestID(r.Context())
	p.Trace = spans.TraceID(r.Context())
	w.Header().Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	w.WriteHeader(p.Status)
	_ = command.Encode(w, p)
}

// flagName is a flag in the text of an error, which is a parameter here.
var flagName = regexp.MustCompile(`--([a-z]+(?:-[a-z]+)*)`)

// problemOf returns the problem of an error, in the words of the interface.
func (s *server) problemOf(e *endpoint, err error) problem {
	text := s.inWords(e, command.Reason(err))
	p := problem{Status: http.StatusInternalServerError, Next: "GET /v1/health names a server that is down; try again when it is up"}
	p.Detail, text, _ = strings.Cut(text, "\n")
	var refused forbidden
	var late lateError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &refused):
		p.Status, p.Next = http.StatusForbidden, "ask for the memory of this server, or ask a server of all: starter serve --all"
	case errors.As(err, &large):
		p.Status, p.Next = http.StatusRequestEntityTooLarge, "send less in one request"
	case errors.As(err, &late):
		p.Status, p.Next = http.StatusServiceUnavailable, "it may still be done: repeat it with the same "+headerIdempotency+", and see by GET /v1/health whether a worker runs"
	case command.IsMissing(err):
		p.Status, p.Next = http.StatusNotFound, s.listing(e)
		if !s.access.all && e.item() != "" && e.param("user") == nil { // The words of the command may tell that others have it.
			p.Detail, text = "it names nothing of this server's project and user", ""
		}
	case command.IsConflict(err):
		p.Status, p.Next = http.StatusConflict, "read the item again, and decide on its present state"
	case errors.Is(err, clickhouse.ErrAmbiguous):
		p.Status, p.Next = http.StatusBadRequest, "give more characters of the id"
		if !s.access.all && e.param("user") == nil {
			p.Detail, text = "several ids begin with it", ""
		}
	case command.IsUsage(err):
		p.Status, p.Next = http.StatusBadRequest, "correct the request: GET /openapi.json describes "+e.method+" "+e.path
	case command.Away(err), clickhouse.Retryable(err), errors.Is(err, context.DeadlineExceeded):
		p.Status = http.StatusServiceUnavailable
	}
	if text = strings.TrimSpace(text); text != "" {
		p.Next = text
		if p.Status == http.StatusInternalServerError { // A second line is about a server that is down.
			p.Status = http.StatusServiceUnavailable
		}
	}
	return p
}

// inWords returns the text with the endpoints of the commands that it names, and the parameters of their flags.
func (s *server) inWords(e *endpoint, text string) string {
	text = s.called.ReplaceAllStringFunc(text, func(call string) string { return s.calls[strings.TrimPrefix(call, "starter ")] })
	if e.input != "" {
		text = strings.ReplaceAll(text, `"-"`, e.input)
	}
	return flagName.ReplaceAllStringFunc(text, func(flag string) string {
		for _, p := range e.params {
			if p.flag != nil && p.flag.Name == flag[2:] {
				return p.name
			}
		}
		return flag // It is a flag of another program.
	})
}

// listing returns the step that finds ids.
func (s *server) listing(e *endpoint) string {
	for collection := e.item(); collection != ""; {
		collection = collection[:max(0, strings.LastIndex(collection, "/"))]
		if s.known[http.MethodGet+" "+collection] != nil {
			return "GET " + collection + " lists them"
		}
	}
	return "GET /v1/search finds ids"
}
