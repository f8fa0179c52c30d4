// Package tracing sends the spans of a program to a collector of OpenTelemetry. It is off unless the standard variables name a
// collector: it then makes no span and opens no connection.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"axiommind/activities/spans"
)

// scope names the tracer of the spans that begin a trace, and of those of Temporal.
const scope = "axiommind"

// DefaultPatience is the default of [Program.Patience].
const DefaultPatience = 2 * time.Second

// Tracing is the tracing of a program. A nil Tracing is off.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	temporal interceptor.Interceptor
	patience time.Duration
}

// Program describes the traced program.
type Program struct {
	// Name is the service's name, unless OTEL_SERVICE_NAME gives another one.
	Name, Version string
	Getenv        func(string) string
	// Patience is how long [Tracing.Close] waits for the collector. Default [DefaultPatience].
	Patience time.Duration
	// Failed is told of spans that can't be sent. Default: no one.
	Failed func(error)
}

// Start begins tracing if the variables ask for it, see [Program.Sends]. The caller closes it.
func Start(ctx context.Context, p Program) (*Tracing, error) {
	url, err := p.Sends(Traces)
	if err != nil || url == "" {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(url))
	if err != nil {
		return nil, fmt.Errorf("set up traces: %w", err)
	}
	of, err := p.Resource(ctx)
	if err != nil {
		return nil, err
	}
	p.heed()
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(of))
	t := &Tracing{provider: provider, tracer: provider.Tracer(scope), patience: cmp.Or(p.Patience, DefaultPatience)}
	t.temporal, err = opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{
		Tracer: t.tracer, DisableBaggage: true, AllowInvalidParentSpans: true, DisableQueryTracing: true,
		SpanStarter: func(ctx context.Context, t trace.Tracer, name string, options ...trace.SpanStartOption) trace.Span {
			_, s := t.Start(ctx, name, options...)
			return quiet{s}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set up traces: %w", err)
	}
	return t, nil
}

// heed reports the exporter's errors, which are global to a process.
func (p Program) heed() {
	report := p.Failed
	if report == nil {
		report = func(error) {}
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(report))
}

// Resource describes the program to the collector, with the additions of OTEL_RESOURCE_ATTRIBUTES.
func (p Program) Resource(ctx context.Context) (*resource.Resource, error) {
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", p.Name), attribute.String("service.version", p.Version)), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("describe the program to the collector: %w", err)
	}
	return of, nil
}

// quiet is a span of Temporal that keeps the type of an error, and not its text.
type quiet struct{ trace.Span }

func (q quiet) RecordError(err error, _ ...trace.EventOption) { spans.Fail(q.Span, err) }

func (q quiet) SetStatus(code codes.Code, _ string) { q.Span.SetStatus(code, "") }

// Interceptor adds spans to a Temporal client and its workers. It is nil if tracing is off.
func (t *Tracing) Interceptor() interceptor.Interceptor {
	if t == nil {
		return nil
	}
	return t.temporal
}

// Begin begins the span of a command, a hook or a request: a trace, unless the context has one. The caller ends it by [spans.End].
func (t *Tracing) Begin(ctx context.Context, name string, kind trace.SpanKind) (context.Context, trace.Span) {
	if t == nil {
		return ctx, trace.SpanFromContext(context.Background())
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind))
}

// Received returns a context with the trace that the headers of a request name, if they name one.
func (t *Tracing) Received(ctx context.Context, h http.Header) context.Context {
	if t == nil {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
}

// Close sends the last spans.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // The error handler has the reason.
}
