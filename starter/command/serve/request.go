package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"axiommind/starter/command"
)

// given are the parameters of a request, by their names. A list has several values.
type given map[string][]string

// read reads the parameters of a request: those of a read or a deletion from its address, all others from its body.
func (e *endpoint) read(r *http.Request) (given, []byte, error) {
	values := given{}
	for _, p := range e.params {
		if p.inPath {
			values[p.name] = []string{r.PathValue(p.name)}
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, nil, command.Usagef("the query of the address: %w", err)
	}
	inBody := e.method != http.MethodGet && e.method != http.MethodDelete
	for name, list := range query {
		switch {
		case inBody:
			return nil, nil, command.Usagef("%s is in the address: send the parameters in the body, as JSON", command.OneLine(name, maxShown))
		case e.param(name) == nil:
			return nil, nil, e.unknown(name)
		}
		values[name] = list
	}
	if !inBody {
		return values, nil, nil
	}
	input, err := e.readBody(r, values)
	return values, input, err
}

func (e *endpoint) unknown(name string) error {
	return command.Usagef("there is no parameter %q; there are: %s", command.OneLine(name, maxShown), strings.Join(e.names(), ", "))
}

// readBody reads the parameters of a body, which is a JSON object or empty.
func (e *endpoint) readBody(r *http.Request, values given) (input []byte, err error) {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, command.Usagef("the body is %q: send JSON, as application/json", command.OneLine(kind, maxShown))
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(body)) > 0 {
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, command.Usagef("the body is no JSON object: %w", err)
		}
	}
	for name, raw := range fields {
		p := e.param(name)
		switch {
		case p == nil:
			return nil, e.unknown(name)
		case name == e.input:
			var items []json.RawMessage
			if err := json.Unmarshal(raw, &items); err != nil {
				return nil, command.Usagef("%s: want a list", name)
			}
			input = linesOf(items)
			values[name] = []string{""}
		case string(raw) != "null":
			if values[name], err = textsOf(p, raw); err != nil {
				return nil, err
			}
		}
	}
	return input, nil
}

// linesOf returns the items one a line, as a command reads them.
func linesOf(items []json.RawMessage) []byte {
	var lines bytes.Buffer
	for _, item := range items {
		_ = json.Compact(&lines, item) // It was part of valid JSON.
		lines.WriteByte('\n')
	}
	return lines.Bytes()
}

// textsOf returns the value of a property as a flag takes it. Its JSON type must be the parameter's.
func textsOf(p *param, raw json.RawMessage) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, command.Usagef("%s: %w", p.name, err)
	}
	kind := "string"
	if p.flag != nil {
		kind = p.flag.Value.Type()
	}
	switch v := value.(type) {
	case string:
		if !slices.Contains([]string{"bool", "int", "uint64", "float64"}, kind) && !(p.flag != nil && lists(p.flag)) {
			return []string{v}, nil
		}
	case bool:
		if kind == "bool" {
			return []string{strconv.FormatBool(v)}, nil
		}
	case json.Number:
		if slices.Contains([]string{"int", "uint64", "float64"}, kind) || p.name == "version" {
			return []string{v.String()}, nil
		}
	case []any:
		if p.flag != nil && lists(p.flag) {
			texts := make([]string, len(v))
			for i, item := range v {
				text, is := item.(string)
				if !is {
					return nil, command.Usagef("%s: item %d is no text", p.name, i+1)
				}
				texts[i] = text
			}
			return texts, nil
		}
	}
	return nil, command.Usagef("%s: want %s", p.name, p.kind())
}

// kind names the values of the parameter.
func (p *param) kind() string {
	switch {
	case p.flag == nil:
		return "a text"
	case lists(p.flag):
		return "a list of texts"
	}
	return command.Kind(p.flag)
}

// actorOf names who asks, for the histories.
func actorOf(r *http.Request) string {
	if name := strings.TrimSpace(r.Header.Get(headerActor)); name != "" {
		return "api:" + command.OneLine(name, maxActor)
	}
	return "api"
}

// maxActor bounds the name of who asks, in characters.
const maxActor = 60

type requestKey struct{}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// plainID reports whether a client's id of a request may stand in a log.
func plainID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// numbered gives each request an id, and logs and counts it.
func (s *server) numbered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(headerRequest)
		if !plainID(id) {
			id = uuid.NewString()
		}
		w.Header().Set(headerRequest, id)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		began := time.Now()
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		func() {
			defer func() {
				if fault := recover(); fault != nil {
					s.logger.ErrorContext(r.Context(), "a request panicked", "request", id, "reason", fault, "stack", string(debug.Stack()))
					refuse(seen, r, problem{Status: http.StatusInternalServerError, Detail: "the server has a fault, which its log names"})
				}
			}()
			next.ServeHTTP(seen, r)
		}()
		took := time.Since(began)
		endSpan(trace.SpanFromContext(r.Context()), cmp.Or(r.Pattern, r.Method), seen.status)
		s.took.WithLabelValues(r.Pattern, strconv.Itoa(seen.status)).Observe(took.Seconds())
		s.logger.DebugContext(r.Context(), "answered", "request", id, "endpoint", r.Pattern, "status", seen.status, "took", took)
	})
}

// traced begins a request's span, in the trace that the request names if it is a client's that was admitted. [server.numbered] ends
// the span, so it is set in the request itself.
func (s *server) traced(next http.Handler, admitted bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if admitted {
			ctx = s.app.Tracing.Received(ctx, r.Header)
		}
		ctx, _ = s.app.Tracing.Begin(ctx, "request", trace.SpanKindServer)
		*r = *r.WithContext(ctx)
		next.ServeHTTP(w, r)
	})
}

func endSpan(s trace.Span, name string, status int) {
	if !s.IsRecording() {
		return
	}
	s.SetName(name)
	s.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets streams be flushed.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
