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

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"axiommind/activities/graduate"
	"axiommind/activities/queue"
	"axiommind/activities/table"
	"axiommind/activities/vector"
)

const (
	// metricPrefix begins the names of the metrics. A measure of health follows.
	metricPrefix = "axiommind_memory_"
	// metricsEvery is how old the counts may be that are served: they cost the database three queries, one over all entries.
	metricsEvery = time.Minute
	// metricsTimeout bounds these queries. Scrapers give up after some seconds.
	metricsTimeout = 8 * time.Second
)

// serve serves the metrics at the address until ctx ends. It returns once the address is taken, and the address.
func (m *meters) serve(ctx context.Context, address string, logger *slog.Logger) (string, error) {
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
	mux.Handle("/metrics", m.handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: metricsTimeout, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			logger.Warn("metrics are no longer served", "reason", err)
		}
	}()
	return listener.Addr().String(), nil
}

func (m *meters) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, Registry: m.registry})
}

// counted are the counts of the database that are served as gauges.
type counted struct {
	projects []graduate.Health
	outbox   vector.Backlog
	queue    queue.Backlog
}

// observe adds gauges of the counts of the database. They are read while someone asks for metrics, and once a minute at most.
// If they can't be read, they are left out, and axiommind_counts_up is 0.
func (m *meters) observe(conn table.Conn, now func() time.Time, logger *slog.Logger) error {
	measures := graduate.Measures()
	gauges := make([]metric.Int64ObservableGauge, len(measures))
	var observed []metric.Observable
	var errs []error
	gauge := func(name, means string) metric.Int64ObservableGauge {
		g, err := m.meter.Int64ObservableGauge(name, metric.WithDescription(means))
		errs, observed = append(errs, err), append(observed, g)
		return g
	}
	age := func(name, means string) metric.Float64ObservableGauge {
		g, err := m.meter.Float64ObservableGauge(name, metric.WithDescription(means), metric.WithUnit("s"))
		errs, observed = append(errs, err), append(observed, g)
		return g
	}
	for i, measure := range measures {
		gauges[i] = gauge(metricPrefix+measure.Name, "Memories of a project: "+measure.Meaning+".")
	}
	up := gauge("axiommind_counts_up", "1 if the counts of the database could be read, else 0.")
	rows := gauge("axiommind_outbox_rows", "Items that are not in the vector store: pending, or failed for good.")
	rowsAge := age("axiommind_outbox_age", "Age of the oldest pending item of the outbox, or 0.")
	contexts := gauge("axiommind_queue_contexts", "Contexts in queues that wait to be processed.")
	contextsAge := age("axiommind_queue_age", "Age of the oldest waiting context, or 0.")
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("set up metrics: %w", err)
	}
	counts := &cachedCounts{conn: conn, now: now}
	_, err := m.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		c, fresh, err := counts.read(ctx)
		if err != nil {
			if fresh {
				logger.Warn("the counts of metrics can't be read", "reason", err)
			}
			o.ObserveInt64(up, 0)
			return nil
		}
		o.ObserveInt64(up, 1)
		for _, h := range c.projects {
			of := metric.WithAttributes(attribute.String("project", h.Project))
			for i, measure := range measures {
				o.ObserveInt64(gauges[i], int64(measure.Count(h)), of)
			}
		}
		o.ObserveInt64(rows, int64(c.outbox.Pending), metric.WithAttributes(attribute.String("status", "pending")))
		o.ObserveInt64(rows, int64(c.outbox.Permanent), metric.WithAttributes(attribute.String("status", "failed")))
		o.ObserveFloat64(rowsAge, ageOf(c.outbox.Oldest, now()))
		o.ObserveInt64(contexts, int64(c.queue.Pending))
		o.ObserveFloat64(contextsAge, ageOf(c.queue.Oldest, now()))
		return nil
	}, observed...)
	if err != nil {
		return fmt.Errorf("set up metrics: %w", err)
	}
	return nil
}

func ageOf(oldest, now time.Time) float64 {
	if oldest.IsZero() {
		return 0
	}
	return since(oldest, now)
}

// cachedCounts remembers the last counts.
type cachedCounts struct {
	conn table.Conn
	now  func() time.Time

	mu    sync.Mutex
	at    time.Time
	known counted
	err   error
}

// read returns the counts as they were within the last minute, or the error of asking for them. fresh is true if it asked.
func (c *cachedCounts) read(ctx context.Context) (known counted, fresh bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !c.at.IsZero() && now.Sub(c.at) < metricsEvery {
		return c.known, false, c.err
	}
	// A caller that gives up must not cancel the read for the next one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), metricsTimeout)
	defer cancel()
	c.known, c.err = readCounts(ctx, c.conn, now)
	c.at = now
	return c.known, true, c.err
}

func readCounts(ctx context.Context, conn table.Conn, now time.Time) (c counted, err error) {
	if c.projects, err = graduate.ReadHealth(ctx, conn, graduate.HealthQuery{AllProjects: true, Now: now}); err != nil {
		return c, err
	}
	if c.outbox, err = vector.ReadBacklog(ctx, conn); err != nil {
		return c, err
	}
	c.queue, err = queue.ReadBacklog(ctx, conn)
	return c, err
}
