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
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/graduate"
	"axiommind/activities/table"
	"axiommind/deploy/local/stacktest"
)

// countedConn counts queries.
type countedConn struct {
	table.Conn
	queries int
}

func (c *countedConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.queries++
	return c.Conn.Query(ctx, query, args...)
}

// The worker serves each measure of health as a gauge of the same name, for each project, and asks the database once a
// minute at most, however often it is scraped.
func TestMetrics(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t, stacktest.MigratedDatabase(t))
	insert := func(project, id string) {
		require.NoError(t, table.Insert(t.Context(), conn, "entries_raw (project, entry_id, entry_type, title, stage, status, created_ts)",
			[][]any{{project, id, "fact", "T", "working", "active", time.Unix(1, 0)}}))
	}
	insert("p", "1")
	insert("p", "2")
	insert(`q"\`, "3")
	counted, now := &countedConn{Conn: conn}, time.Now()
	handler, err := newMetrics(counted, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
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
	require.Equal(t, 1, counted.queries)
	now = now.Add(2 * time.Second)
	_, later := scrape()
	require.Contains(t, later, `axiommind_memory_entries{project="p"} 3`)
	require.Equal(t, 2, counted.queries)

	require.NoError(t, conn.Exec(t.Context(), "DROP VIEW entries"))
	now = now.Add(2 * metricsEvery)
	code, text = scrape()
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, text, "see the worker's log")
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
	address, err := serveMetrics(ctx, "127.0.0.1:0", nil, logger)
	require.NoError(t, err)
	_, err = serveMetrics(ctx, address, nil, logger)
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
			_, err := serveMetrics(ctx, address, nil, slog.New(slog.NewTextHandler(&said, nil)))
			if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
				t.Skip("the machine has no IPv6")
			}
			require.NoError(t, err)
			require.Equal(t, warns, strings.Contains(said.String(), "metrics show the names of projects"), said.String())
		})
	}
}
