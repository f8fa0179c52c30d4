package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/tracing"
)

// meters are the metrics of a worker: those of Temporal's library and the product's own. They are served to Prometheus, sent to a
// collector, or both. A nil meters measures nothing.
type meters struct {
	registry *prometheus.Registry
	provider *sdkmetric.MeterProvider
	meter    metric.Meter
	product  *product
	// stop ends the reads of the database.
	stop context.CancelFunc
}

// scope names the product's own metrics.
const scope = "axiommind"

// seconds are the bounds of histograms of durations: from a statement to a night's dream.
var seconds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

// newMeters returns the metrics that the settings and the variables of OpenTelemetry ask for, or nil if they ask for none.
func newMeters(ctx context.Context, cfg *service.Config, of tracing.Program, logger *slog.Logger) (*meters, error) {
	to, err := of.Sends(tracing.Metrics)
	if err != nil { // The variables may be for another program.
		logger.Warn("metrics are not sent to a collector", "reason", err)
	}
	if to == "" && cfg.MetricsAddress == "" {
		return nil, nil
	}
	var readers []sdkmetric.Option
	registry := prometheus.NewRegistry()
	if cfg.MetricsAddress != "" {
		exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
		if err != nil {
			return nil, fmt.Errorf("set up metrics: %w", err)
		}
		readers = append(readers, sdkmetric.WithReader(exporter))
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	if to != "" {
		exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(to))
		if err != nil {
			return nil, fmt.Errorf("set up metrics: %w", err)
		}
		readers = append(readers, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	resource, err := of.Resource(ctx)
	if err != nil {
		return nil, err
	}
	return metersOf(registry, append(readers, sdkmetric.WithResource(resource))...)
}

func metersOf(registry *prometheus.Registry, options ...sdkmetric.Option) (*meters, error) {
	inSeconds := sdkmetric.NewView(sdkmetric.Instrument{Name: "*", Kind: sdkmetric.InstrumentKindHistogram, Unit: "s"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: seconds}})
	// Without a limit: series of projects above it would be added up as one.
	options = append(options, sdkmetric.WithView(inSeconds), sdkmetric.WithCardinalityLimit(0))
	m := &meters{registry: registry, provider: sdkmetric.NewMeterProvider(options...), stop: func() {}}
	m.meter = m.provider.Meter(scope)
	var err error
	m.product, err = newProduct(m.meter)
	return m, err
}

// watch has the connections of the settings measured.
func (m *meters) watch(cfg *service.Config, logger *slog.Logger) {
	if m == nil {
		return
	}
	cfg.Appended = m.product.appended
	cfg.TemporalMetrics = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: m.provider.Meter("temporal"), UseMonotonicCounters: true,
		OnError: func(err error) { logger.Warn("a metric of temporal can't be measured", "reason", err) },
	})
}

// start adds the counts of the database if the worker serves the main task queue, so that workers of other ones do not read them too.
// It serves the metrics if the settings give an address.
func (m *meters) start(ctx context.Context, cfg *service.Config, from database, logger *slog.Logger) error {
	if m == nil {
		return nil
	}
	if serves(cfg, schema.QueueMain) {
		var reads context.Context
		reads, m.stop = context.WithCancel(ctx)
		if err := m.observe(reads, from, logger); err != nil {
			return err
		}
	}
	if cfg.MetricsAddress == "" {
		return nil
	}
	address, err := m.serve(ctx, cfg.MetricsAddress, logger)
	if err == nil {
		logger.Info("metrics are served", "url", "http://"+address+"/metrics")
	}
	return err
}

// close sends the last metrics, without the counts of the database.
func (m *meters) close() {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tracing.DefaultPatience)
	defer cancel()
	m.stop()
	_ = m.provider.Shutdown(ctx)
}

// instruments makes instruments, and keeps the errors.
type instruments struct {
	metric.Meter
	errs []error
}

func (i *instruments) counter(name, means string) metric.Int64Counter {
	c, err := i.Int64Counter(name, metric.WithDescription(means))
	i.errs = append(i.errs, err)
	return c
}

func (i *instruments) histogram(name, unit, means string, bounds ...float64) metric.Float64Histogram {
	h, err := i.Float64Histogram(name, metric.WithDescription(means), metric.WithUnit(unit), metric.WithExplicitBucketBoundaries(bounds...))
	i.errs = append(i.errs, err)
	return h
}

func (i *instruments) err() error {
	if err := errors.Join(i.errs...); err != nil {
		return fmt.Errorf("set up metrics: %w", err)
	}
	return nil
}

// since returns the seconds between two times.
func since(from, to time.Time) float64 { return max(0, to.Sub(from).Seconds()) }
