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

	"axiommind/activities/clickhouse"
	"axiommind/activities/graduate"
	"axiommind/activities/queue"
	"axiommind/activities/vector"
)

const (
	// metricPrefix begins the names of the metrics. A measure of health follows.
	metricPrefix = "axiommind_memory_"
	// metricsEvery is how old the counts may be that are served: they cost the database three queries, one over all entries.
	metricsEvery = time.Minute
	// metricsTimeout bounds each of these queries. Scrapers give up after some seconds.
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
	// errs has the error of each group, or nil: those of health, the outbox and the queues.
	errs map[string]error
}

// Groups of counts, which are read separately.
const ofHealth, ofOutbox, ofQueues = "health", "outbox", "queues"

// databaseGauges are the gauges of the counts of the database.
type databaseGauges struct {
	measures         []graduate.Measure
	health           []metric.Int64ObservableGauge
	up               metric.Int64ObservableGauge
	rows, contexts   metric.Int64ObservableGauge
	rowsAge, waiting metric.Float64ObservableGauge
}

func newDatabaseGauges(meter metric.Meter) (g databaseGauges, observed []metric.Observable, err error) {
	var errs []error
	gauge := func(name, means string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge(name, metric.WithDescription(means))
		errs, observed = append(errs, err), append(observed, g)
		return g
	}
	age := func(name, means string) metric.Float64ObservableGauge {
		g, err := meter.Float64ObservableGauge(name, metric.WithDescription(means), metric.WithUnit("s"))
		errs, observed = append(errs, err), append(observed, g)
		return g
	}
	g.measures = graduate.Measures()
	for _, measure := range g.measures {
		g.health = append(g.health, gauge(metricPrefix+measure.Name, "Memories of a project: "+measure.Meaning+"."))
	}
	g.up = gauge("axiommind_counts_up", "1 if the counts of the database could be read, else 0: of health, the outbox or the queues.")
	g.rows = gauge("axiommind_outbox_rows", "Items that are not in the vector store: pending, or failed for good.")
	g.rowsAge = age("axiommind_outbox_age", "Age of the oldest pending item of the outbox, or 0.")
	g.contexts = gauge("axiommind_queue_contexts", "Contexts in queues that wait to be processed.")
	g.waiting = age("axiommind_queue_age", "Age of the oldest waiting context, or 0.")
	return g, observed, errors.Join(errs...)
}

// set observes the groups that could be read.
func (g databaseGauges) set(o metric.Observer, c counted, now time.Time) {
	for of, err := range c.errs {
		up := int64(1)
		if err != nil {
			up = 0
		}
		o.ObserveInt64(g.up, up, metric.WithAttributes(attribute.String("of", of)))
	}
	if c.errs[ofHealth] == nil {
		for _, h := range c.projects {
			of := metric.WithAttributes(attribute.String("project", h.Project))
			for i, measure := range g.measures {
				o.ObserveInt64(g.health[i], int64(measure.Count(h)), of)
			}
		}
	}
	if c.errs[ofOutbox] == nil {
		o.ObserveInt64(g.rows, int64(c.outbox.Pending), metric.WithAttributes(attribute.String("status", "pending")))
		o.ObserveInt64(g.rows, int64(c.outbox.Permanent), metric.WithAttributes(attribute.String("status", "failed")))
		o.ObserveFloat64(g.rowsAge, ageOf(c.outbox.Oldest, now))
	}
	if c.errs[ofQueues] == nil {
		o.ObserveInt64(g.contexts, int64(c.queue.Pending))
		o.ObserveFloat64(g.waiting, ageOf(c.queue.Oldest, now))
	}
}

// warn logs the groups that could not be read, if they are fresh.
func (c counted) warn(fresh bool, logger *slog.Logger) {
	for of, err := range c.errs {
		if fresh && err != nil {
			logger.Warn("counts of metrics can't be read", "of", of, "reason", err)
		}
	}
}

// database is the source of the counts.
type database struct {
	conn clickhouse.Conn
	// versions returns the embedding versions in use.
	versions func(context.Context) ([]string, error)
	now      func() time.Time
}

// observe adds gauges of the counts of the database. They are read while someone asks for metrics, and once a minute at most. A group
// that can't be read is left out, and its axiommind_counts_up is 0. Once ctx ends nothing is read.
func (m *meters) observe(ctx context.Context, from database, logger *slog.Logger) error {
	gauges, observed, err := newDatabaseGauges(m.meter)
	if err != nil {
		return fmt.Errorf("set up metrics: %w", err)
	}
	counts := &cachedCounts{from: from}
	_, err = m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		// A caller that gives up must not cancel the read for the next one.
		c, fresh := counts.read(ctx)
		if ended := ctx.Err() != nil; !ended {
			gauges.set(o, c, from.now())
			c.warn(fresh, logger)
		}
		return nil //nolint:nilerr // the other metrics are served while the worker ends
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
	from database

	mu    sync.Mutex
	at    time.Time
	known counted
}

// read returns the counts as they were within the last minute. fresh is true if it asked for them.
func (c *cachedCounts) read(ctx context.Context) (known counted, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.from.now()
	if ctx.Err() != nil || !c.at.IsZero() && now.Sub(c.at) < metricsEvery {
		return c.known, false
	}
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	c.known, c.at = c.from.read(ctx), now
	return c.known, true
}

// read reads the groups at once, so that a slow one takes no time from the others.
func (d database) read(ctx context.Context) (c counted) {
	var health, outbox, queues error
	var wait sync.WaitGroup
	wait.Go(func() {
		c.projects, health = graduate.ReadHealth(ctx, d.conn, graduate.HealthQuery{AllProjects: true, Now: d.now()})
	})
	wait.Go(func() {
		var versions []string
		if versions, outbox = d.versions(ctx); outbox == nil {
			c.outbox, outbox = vector.ReadBacklog(ctx, d.conn, versions)
		}
	})
	wait.Go(func() { c.queue, queues = queue.ReadBacklog(ctx, d.conn) })
	wait.Wait()
	c.errs = map[string]error{ofHealth: health, ofOutbox: outbox, ofQueues: queues}
	return c
}
