package runner

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/service"
)

// countedConn counts queries.
type countedConn struct {
	clickhouse.Conn
	queries atomic.Int64
}

func (c *countedConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.queries.Add(1)
	return c.Conn.Query(ctx, query, args...)
}

// The worker serves each measure of health as a gauge of the same name, for each project, and asks the database once a
// minute at most, however often it is scraped.
func TestMetrics(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	insert := func(project, id string) {
		require.NoError(t, clickhouse.Insert(t.Context(), conn, "entries_raw (project, entry_id, entry_type, title, stage, status, created_ts)",
			[][]any{{project, id, "fact", "T", "working", "active", time.Unix(1, 0)}}))
	}
	insert("p", "1")
	insert("p", "2")
	insert(`q"\`, "3")
	counted, now := &countedConn{Conn: conn}, time.Now()
	m := newTestMeters(t)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	require.NoError(t, m.observe(ctx, testDatabase(counted, func() time.Time { return now }), slog.New(slog.DiscardHandler)))
	handler := m.handler()
	scrape := func() (int, string) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		return w.Code, w.Body.String()
	}
	code, text := scrape()
	require.Equal(t, http.StatusOK, code, text)
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^`+metricPrefix+`(\w+)\{project="p"\} `).FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	require.ElementsMatch(t, graduate.MeasureNames(), names)
	require.Contains(t, text, `axiommind_memory_entries{project="p"} 2`)
	require.Contains(t, text, `axiommind_memory_never_retrieved{project="q\"\\"} 1`)
	for _, m := range graduate.Measures() {
		require.Contains(t, text, m.Meaning)
	}

	insert("p", "4")
	now = now.Add(metricsEvery - time.Second)
	_, again := scrape()
	require.Equal(t, lines(text), lines(again))
	require.EqualValues(t, queriesOfCounts, counted.queries.Load())
	now = now.Add(2 * time.Second)
	_, later := scrape()
	require.Contains(t, later, `axiommind_memory_entries{project="p"} 3`)
	require.EqualValues(t, 2*queriesOfCounts, counted.queries.Load())
	require.Contains(t, later, `axiommind_counts_up{of="health"} 1`)

	require.NoError(t, conn.Exec(t.Context(), "DROP VIEW entries"))
	now = now.Add(2 * metricsEvery)
	code, text = scrape()
	require.Equal(t, http.StatusOK, code, "metrics of the worker itself are served while the database fails")
	require.Contains(t, text, `axiommind_counts_up{of="health"} 0`)
	require.NotContains(t, text, "axiommind_memory_entries{")
	for _, line := range []string{`axiommind_counts_up{of="outbox"} 1`, `axiommind_counts_up{of="queues"} 1`, "axiommind_outbox_rows{", "axiommind_queue_contexts"} {
		require.Contains(t, text, line, "the other counts stay")
	}
	require.Contains(t, text, `axiommind_builds_total{class="setup",status="failed"} 0`)

	asked := counted.queries.Load()
	now = now.Add(2 * metricsEvery)
	stop()
	_, text = scrape()
	require.Equal(t, asked, counted.queries.Load(), "nothing is read for the last metrics")
	require.NotContains(t, text, "axiommind_counts_up")
	require.Contains(t, text, `axiommind_builds_total{class="setup",status="failed"} 0`)
}

func testDatabase(conn clickhouse.Conn, now func() time.Time) database {
	return database{conn, func(context.Context) ([]string, error) { return []string{"v1"}, nil }, now}
}

// blockedConn answers no query before its context ends.
type blockedConn struct {
	clickhouse.Conn
	asked chan struct{}
}

func (c blockedConn) Query(ctx context.Context, _ string, _ ...any) (driver.Rows, error) {
	c.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A database that does not answer delays the end of a worker no more than the collector may.
func TestMetersClose(t *testing.T) {
	t.Parallel()
	m, conn := newTestMeters(t), blockedConn{asked: make(chan struct{}, queriesOfCounts)}
	require.NoError(t, m.start(t.Context(), &service.Config{}, testDatabase(conn, time.Now), slog.New(slog.DiscardHandler)))
	scraped := make(chan struct{})
	go func() {
		defer close(scraped)
		m.handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	}()
	for range queriesOfCounts {
		<-conn.asked
	}
	began := time.Now()
	m.close()
	<-scraped
	require.Less(t, time.Since(began), metricsTimeout/2)
}

// Only workers of the main task queue read the counts of the database.
func TestMetersOfOtherQueues(t *testing.T) {
	t.Parallel()
	m := newTestMeters(t)
	cfg := &service.Config{TaskQueues: []string{schema.QueueModel, schema.QueueVector}}
	require.NoError(t, m.start(t.Context(), cfg, testDatabase(nil, time.Now), slog.New(slog.DiscardHandler)))
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	require.Equal(t, http.StatusOK, w.Code)
	require.NotContains(t, w.Body.String(), "axiommind_counts_up")
}

// Each project has its own series, however many there are.
func TestMetricsOfManyProjects(t *testing.T) {
	t.Parallel()
	m := newTestMeters(t)
	counter, err := m.meter.Int64Counter("many")
	require.NoError(t, err)
	const projects = 2500
	for i := range projects {
		add(counter, 1, attribute.Int("project", i))
	}
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	require.Equal(t, projects, strings.Count(w.Body.String(), "many_total{project="))
	require.NotContains(t, w.Body.String(), "otel_metric_overflow")
}

// queriesOfCounts is the number of queries that read the counts of the database: of health, the outbox and the queues.
const queriesOfCounts = 3

func newTestMeters(t *testing.T) *meters {
	t.Helper()
	m, err := newMeters(t.Context(), &service.Config{MetricsAddress: "127.0.0.1:0"}, new(service.Config).Telemetry("worker", nil), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return m
}

// The gauges have the age and the number of the items that wait.
func TestMetricsOfBacklogs(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	now := time.Unix(1_000_000, 0)
	row := func(item, status string, permanent bool, created time.Time) []any {
		return []any{item, "entry", item, "v1", "p", status, permanent, created, uint64(1)}
	}
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "vector_outbox_raw (job_id, item_kind, item_id, embedding_version, project, status, permanent, created_at, version)",
		[][]any{
			row("1", "pending", false, now.Add(-time.Minute)), row("2", "failed", false, now.Add(-time.Hour)), row("3", "failed", true, now.Add(-time.Hour*9)),
			row("4", "done", false, now.Add(-time.Hour*9)),
		}))
	log := projection.New(conn, eventlog.Options{Now: func() time.Time { return now.Add(-time.Second * 90) }})
	stream, queued := schema.QueueStream("u", ""), func(id, refused string) schema.Event {
		e, err := schema.NewEvent(schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{ID: id}, Refused: refused},
			schema.Event{TS: now, Actor: "a", Project: "p", SessionID: "s", DedupeKey: id})
		require.NoError(t, err)
		return e
	}
	done, err := schema.NewEvent(schema.ContextProcessedPayload{To: 1}, schema.Event{TS: now, Actor: "a", Project: "p", SessionID: "s", DedupeKey: "k"})
	require.NoError(t, err)
	_, err = log.Append(t.Context(), stream, []schema.Event{queued("1", ""), done, queued("2", ""), queued("3", "full"), queued("4", "")})
	require.NoError(t, err)
	m := newTestMeters(t)
	require.NoError(t, m.observe(t.Context(), testDatabase(conn, func() time.Time { return now }), slog.New(slog.DiscardHandler)))
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	for _, line := range []string{
		`axiommind_outbox_rows{status="pending"} 2`, `axiommind_outbox_rows{status="failed"} 1`, "axiommind_outbox_age_seconds 3600",
		"axiommind_queue_contexts 2", "axiommind_queue_age_seconds 90",
	} {
		require.Contains(t, w.Body.String(), line+"\n")
	}
}

// The outcomes of events are counted once they are in the log, and no more often.
func TestMetricsOfEvents(t *testing.T) {
	t.Parallel()
	m, now := newTestMeters(t), time.Unix(1_000_000, 0)
	log := projection.New(stacktest.Migrated(t), eventlog.Options{Appended: m.product.appended})
	store := func(stream, key string, payload any, after time.Duration) {
		t.Helper()
		e, err := schema.NewEvent(payload, schema.Event{TS: now.Add(after), Actor: "a", Project: "p", SessionID: "s", DedupeKey: key})
		require.NoError(t, err)
		for range 2 {
			_, err = log.Append(t.Context(), stream, []schema.Event{e})
			require.NoError(t, err)
		}
	}
	session, memory := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}.Stream(), schema.MemoryStream("u", "")
	store(session, "b1", schema.BuildFinishedPayload{BuildID: "1", Status: schema.BuildSuccess, Metrics: []schema.StepMetric{{StartedAt: now}}}, 7*time.Second)
	store(session, "b2", schema.BuildFinishedPayload{BuildID: "2", Status: schema.BuildFailed, ErrorType: schema.ErrorModelRefused}, 0)
	store(session, "w1", schema.MemoryExtractedPayload{Quarantined: "unreadable"}, 0)
	store(session, "w2", schema.MemoryExtractedPayload{Truncated: true}, 0)
	store(session, "a1", schema.EvidenceAlignedPayload{Entries: []schema.AlignedEntry{{EvidenceProven: true}, {}, {EvidenceProven: true}}}, 0)
	dropped := []schema.DroppedItem{{Reason: schema.DroppedUngrounded}, {Reason: schema.DroppedDuplicate}}
	store(memory, "d1", schema.DreamFinishedPayload{Status: schema.DreamIsRefused, Dropped: dropped}, 0)
	store(memory, "c1", schema.CoreCommittedPayload{Version: 1, Origin: schema.OriginDream, Items: make([]schema.CoreItem, 4), Dropped: dropped}, 0)
	store(schema.ErasureStream("e"), "e1", schema.ErasureBegunPayload{ErasureID: "e"}, 0)
	store(schema.ErasureStream("e"), "e2", schema.ErasureFinishedPayload{ErasureID: "e", Left: 1}, 40*time.Second)
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	for _, line := range []string{
		`axiommind_builds_total{class="",status="success"} 1`, `axiommind_builds_total{class="setup",status="failed"} 1`,
		`axiommind_build_duration_seconds_sum{status="success"} 7`, `axiommind_windows_total{outcome="quarantined"} 1`,
		`axiommind_windows_total{outcome="cut"} 1`, `axiommind_windows_total{outcome="answered"} 0`,
		`axiommind_entries_total{proven="true"} 2`, `axiommind_entries_total{proven="false"} 1`,
		`axiommind_dreams_total{status="refused"} 1`, `axiommind_dream_items_total{outcome="grounded"} 4`,
		`axiommind_dream_items_total{outcome="ungrounded"} 2`, `axiommind_erasures_total{outcome="left"} 1`,
		`axiommind_erasure_duration_seconds_sum{outcome="left"} 40`,
	} {
		require.Contains(t, w.Body.String(), line+"\n")
	}
}

// lines are the samples of the gauges, sorted.
func lines(text string) []string {
	out := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.HasPrefix(line, metricPrefix) })
	slices.Sort(out)
	return out
}

// The address is taken before the worker works, and given back when it ends.
func TestMetricsAddress(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	logger := slog.New(slog.DiscardHandler)
	address, err := newTestMeters(t).serve(ctx, "127.0.0.1:0", logger)
	require.NoError(t, err)
	_, err = newTestMeters(t).serve(ctx, address, logger)
	require.ErrorContains(t, err, "give another --metrics-address")
	get := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/other", http.NoBody)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		require.Equal(t, http.StatusNotFound, response.StatusCode)
		return response.Body.Close()
	}
	require.NoError(t, get())
	stop()
	require.Eventually(t, func() bool { return get() != nil }, 10*time.Second, 10*time.Millisecond)
}

// Who serves the names of projects to the network is warned.
func TestMetricsAddressWarns(t *testing.T) {
	t.Parallel()
	for address, warns := range map[string]bool{"127.0.0.1:0": false, "localhost:0": false, "[::1]:0": false, ":0": true, "0.0.0.0:0": true} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			t.Cleanup(stop)
			var said strings.Builder
			_, err := newTestMeters(t).serve(ctx, address, slog.New(slog.NewTextHandler(&said, nil)))
			if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
				t.Skip("the machine has no IPv6")
			}
			require.NoError(t, err)
			require.Equal(t, warns, strings.Contains(said.String(), "metrics show the names of projects"), said.String())
		})
	}
}
