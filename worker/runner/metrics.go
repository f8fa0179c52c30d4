package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"axiommind/activities/graduate"
	"axiommind/activities/table"
)

const (
	// metricPrefix begins the names of the metrics. A measure of health follows.
	metricPrefix = "axiommind_memory_"
	// metricsEvery is how old the counts may be that are served: they cost the database a query over all entries.
	metricsEvery = time.Minute
	// metricsTimeout bounds that query. Scrapers give up after some seconds.
	metricsTimeout = 8 * time.Second
)

// serveMetrics serves the metrics at the address until ctx ends. It returns once the address is taken, and the address.
func serveMetrics(ctx context.Context, address string, conn table.Conn, logger *slog.Logger) (string, error) {
	handler, err := newMetrics(conn, time.Now, logger)
	if err != nil {
		return "", err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return "", fmt.Errorf("serve metrics at %q: %w: give another --metrics-address", address, err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		logger.Warn("metrics show the names of projects to everyone who can reach the address: give --metrics-address a loopback address, such as 127.0.0.1, or let a firewall guard it",
			"address", at.String())
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: metricsTimeout, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			logger.Warn("metrics are no longer served", "reason", err)
		}
	}()
	return listener.Addr().String(), nil
}

// newMetrics returns a handler that serves the health of each project as gauges. The counts are read on request, and
// once a minute at most.
func newMetrics(conn table.Conn, now func() time.Time, logger *slog.Logger) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("set up metrics: %w", err)
	}
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)).Meter("axiommind")
	measures := graduate.Measures()
	gauges := make([]metric.Int64ObservableGauge, len(measures))
	observed := make([]metric.Observable, len(measures))
	for i, m := range measures {
		if gauges[i], err = meter.Int64ObservableGauge(metricPrefix+m.Name, metric.WithDescription("Memories of a project: "+m.Meaning+".")); err != nil {
			return nil, fmt.Errorf("set up the metric of %s: %w", m.Name, err)
		}
		observed[i] = gauges[i]
	}
	counts := &cachedHealth{conn: conn, now: now}
	_, err = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		projects, err := counts.read(ctx)
		if err != nil {
			return err
		}
		for _, h := range projects {
			of := metric.WithAttributes(attribute.String("project", h.Project))
			for i, m := range measures {
				o.ObserveInt64(gauges[i], int64(m.Count(h)), of)
			}
		}
		return nil
	}, observed...)
	if err != nil {
		return nil, fmt.Errorf("set up metrics: %w", err)
	}
	served := promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, Registry: registry})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The exporter would omit unreadable counts, as if there were none.
		if _, err := counts.read(r.Context()); err != nil {
			logger.Warn("metrics can't be read", "reason", err)
			http.Error(w, "the counts can't be read: see the worker's log", http.StatusServiceUnavailable)
			return
		}
		served.ServeHTTP(w, r)
	}), nil
}

// cachedHealth remembers the last counts.
type cachedHealth struct {
	conn table.Conn
	now  func() time.Time

	mu    sync.Mutex
	at    time.Time
	known []graduate.Health
	err   error
}

// read returns the health of all projects as it was within the last minute, or the error of asking for it.
func (c *cachedHealth) read(ctx context.Context) ([]graduate.Health, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !c.at.IsZero() && now.Sub(c.at) < metricsEvery {
		return c.known, c.err
	}
	// A caller that gives up must not cancel the read for the next one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), metricsTimeout)
	defer cancel()
	c.known, c.err = graduate.ReadHealth(ctx, c.conn, graduate.HealthQuery{AllProjects: true, Now: now})
	c.at = now
	return c.known, c.err
}
