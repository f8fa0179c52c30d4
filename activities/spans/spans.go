// Package spans times the requests of a piece of work, as spans of OpenTelemetry. It knows nothing of the project. A span is made
// only below another one, so a program that does not trace makes none.
package spans

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// scope names the tracer of the project's spans.
const scope = "axiommind"

// On reports whether a span of the context is recorded. Use it before computing attributes.
func On(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// Start begins a span below that of the context, for a request to a server. Names and attributes have few values, and contain no
// text of users and no secret. The caller ends it by [End].
func Start(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, trace.SpanFromContext(context.Background())
	}
	return above.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

// End ends a span. Of an error it keeps the type, because its text may quote one of a user.
func End(s trace.Span, err error) {
	Fail(s, err)
	s.End()
}

// Fail marks a span as failed, unless err is nil.
func Fail(s trace.Span, err error) {
	if err != nil && s.IsRecording() {
		s.SetStatus(codes.Error, "")
		s.SetAttributes(attribute.String("error.type", typeOf(err)))
	}
}

// failure is an error of an activity's border, and typed one of Temporal.
type (
	failure interface{ FailureType() string }
	typed   interface{ Type() string }
)

func typeOf(err error) string {
	var known failure
	var named typed
	switch {
	case errors.As(err, &known) && known.FailureType() != "":
		return known.FailureType()
	case errors.As(err, &named) && named.Type() != "":
		return named.Type()
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner // The innermost one says most.
	}
	return fmt.Sprintf("%T", err)
}

// TraceID returns the id of the trace that the context belongs to, or "" if that trace is not sent.
func TraceID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.HasTraceID() && c.IsSampled() {
		return c.TraceID().String()
	}
	return ""
}

// Logged returns a handler that adds trace_id and span_id to the records of a context with a span that is sent.
func Logged(h slog.Handler) slog.Handler { return logged{h} }

type logged struct{ slog.Handler }

func (l logged) Handle(ctx context.Context, r slog.Record) error {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() && c.IsSampled() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", c.TraceID().String()), slog.String("span_id", c.SpanID().String()))
	}
	return l.Handler.Handle(ctx, r)
}

func (l logged) WithAttrs(attrs []slog.Attr) slog.Handler { return logged{l.Handler.WithAttrs(attrs)} }

func (l logged) WithGroup(name string) slog.Handler { return logged{l.Handler.WithGroup(name)} }

// Model begins the span of a call of a model, by the conventions for generative AI. The operation is chat or embeddings.
func Model(ctx context.Context, operation, provider, model string) (context.Context, trace.Span) {
	if !On(ctx) {
		return Start(ctx, operation)
	}
	return Start(ctx, operation+" "+model, attribute.String("gen_ai.operation.name", operation),
		attribute.String("gen_ai.provider.name", provider), attribute.String("gen_ai.request.model", model))
}

// Embedding is [Model] for an embedder, whose version begins with its provider.
func Embedding(ctx context.Context, version string) (context.Context, trace.Span) {
	provider, _, _ := strings.Cut(version, "-")
	return Model(ctx, "embeddings", provider, version)
}

// Transport adds a span for each request of an HTTP client. Its name is the method and the first element of the path after the
// version: the others name data.
func Transport(system string, next http.RoundTripper) http.RoundTripper {
	return transport{system, next}
}

type transport struct {
	system string
	next   http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !On(r.Context()) {
		return t.next.RoundTrip(r)
	}
	elements := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	does := r.Method + " " + elements[min(1, len(elements)-1)]
	_, s := Start(r.Context(), t.system+" "+does, attribute.String("db.system.name", t.system),
		attribute.String("db.operation.name", does), attribute.String("http.request.method", r.Method))
	response, err := t.next.RoundTrip(r)
	if err == nil {
		s.SetAttributes(attribute.Int("http.response.status_code", response.StatusCode))
		if response.StatusCode >= http.StatusBadRequest {
			s.SetStatus(codes.Error, "")
		}
	}
	End(s, err)
	return response, err
}
