package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/batch"
	"axiommind/schema"
)

// faultSeconds is the variable that says how long a fault lasts.
const faultSeconds = "AXIOMMIND_FAULT_SECONDS"

// fault is a way in which a server is away.
type fault struct {
	server string
	mode   faultMode
}

// faults have each server and each mode once among the first four, as among the next four.
func faults() (all []fault) {
	servers := []string{"clickhouse", "weaviate", "temporal", "model"}
	modes := []faultMode{faultSlow, faultRefusing, faultGarbage, faultGone}
	for i := range len(servers) * len(modes) {
		all = append(all, fault{servers[i%len(servers)], modes[(i+i/len(servers))%len(modes)]})
	}
	return all
}

// faultBench is a bench whose worker reaches each server and the model through a proxy of its own.
type faultBench struct {
	*bench
	proxies map[string]*faulty
}

// newFaultBench puts a proxy before every server. The test itself reaches ClickHouse and Temporal without.
func newFaultBench(t *testing.T, m *model) *faultBench {
	t.Helper()
	b := m.use(newBench(t))
	modelURL, err := url.Parse(m.url)
	require.NoError(t, err)
	dsn, err := url.Parse(b.cfg.ClickHouseDSN)
	require.NoError(t, err)
	vectors, err := url.Parse(b.cfg.WeaviateURL)
	require.NoError(t, err)
	f := &faultBench{bench: b, proxies: map[string]*faulty{
		"clickhouse": newFaulty(t, dsn.Host), "weaviate": newFaulty(t, vectors.Host),
		"temporal": newFaulty(t, b.cfg.TemporalAddress), "model": newFaulty(t, modelURL.Host),
	}}
	dsn.Host, vectors.Host, modelURL.Host = f.proxies["clickhouse"].address, f.proxies["weaviate"].address, f.proxies["model"].address
	b.cfg.ClickHouseDSN, b.cfg.WeaviateURL, b.cfg.TemporalAddress = dsn.String(), vectors.String(), f.proxies["temporal"].address
	b.cfg.Model.BaseURL = modelURL.String()
	return f
}

// requireEnds holds every session of an import to an end that says why, and returns how many ended how.
func (b *bench) requireEnds(t *testing.T, result schema.BatchResult, what string) map[schema.BuildStatus]int {
	t.Helper()
	report, err := batch.Read(t.Context(), b.Log.Store, result.Batch)
	require.NoError(t, err, what)
	ends := map[schema.BuildStatus]int{}
	for i, item := range report.Items {
		o, ok := report.Outcomes[i]
		require.True(t, ok, "%s: %s has no end", what, item.Name)
		ends[o.Status]++
		switch o.Status {
		case schema.BuildSuccess, schema.BuildUnchanged, schema.BuildPartial:
		case schema.BuildFailed:
			require.NotEqual(t, schema.FailureBug, schema.ClassOf(o.ErrorType), "%s: %s: %s", what, item.Name, o.Error)
			requireClear(t, o.Error, what)
		default:
			require.Failf(t, "another end", "%s: %s: %+v", what, item.Name, o)
		}
	}
	return ends
}

// requireNothingTwice holds the log to one event for each key.
func (b *bench) requireNothingTwice(t *testing.T, what string) {
	t.Helper()
	require.Empty(t, column(t, b.ClickHouse, "SELECT stream || ' ' || dedupe_key AS k FROM events GROUP BY k HAVING count() > 1"), what)
	require.Empty(t, column(t, b.ClickHouse, "SELECT entry_id FROM entries GROUP BY entry_id HAVING count() > 1"), what)
}

// again processes the sessions of a directory until no build is left that failed or is partial, twice at most.
func (b *bench) again(t *testing.T, dir, what string) {
	t.Helper()
	for try := 0; ; try++ {
		unwell := column(t, b.ClickHouse, `SELECT session_id FROM (SELECT session_id, argMax(status, ordinal) AS last FROM build_runs GROUP BY session_id)
			WHERE last NOT IN ('success', 'unchanged', 'empty')`)
		if len(unwell) == 0 {
			return
		}
		require.Less(t, try, 2, "%s: %v", what, unwell)
		b.importAll(t, b.importing(t, dir))
	}
}

// While a server is slow, refuses connections, answers garbage or is gone, sessions go on or wait. Once it is well again
// they end as if nothing had been, and nothing is there twice.
func faultMatrix(t *testing.T, faults []fault, sessions int) {
	t.Helper()
	lasts := time.Duration(fromVariable(t, faultSeconds, 1)) * time.Second
	m := newModel(t)
	m.get(true)
	calm := m.use(newBench(t))
	calm.start(t)
	f := newFaultBench(t, m)
	f.project = calm.project // Ids are made of it.
	f.start(t)
	for i, fault := range faults {
		server, mode := fault.server, fault.mode
		what := fmt.Sprintf("%s %s %d", server, mode, i)
		dir := modelDirectory(t, sessions, what)
		began := time.Now()
		f.proxies[server].set(mode)
		timer := time.AfterFunc(lasts, func() { f.proxies[server].set(faultNone) })
		result := f.importAll(t, f.importing(t, dir))
		timer.Stop()
		f.proxies[server].set(faultNone)
		ends := f.requireEnds(t, result, what)
		took := time.Since(began)
		f.again(t, dir, what)
		t.Logf("%s for %s: %v after %.1f s", what, lasts, ends, took.Seconds())
		calm.importAll(t, calm.importing(t, dir))
	}
	f.awaitIndexed(t)
	calm.awaitIndexed(t)
	f.requireNothingTwice(t, "all faults")
	f.requireVerified(t, "all faults")
	for _, columns := range []string{"entry_id, title", "session_id, toString(status)"} {
		table := map[string]string{"entry_id, title": "entries", "session_id, toString(status)": "build_runs"}[columns]
		sql := "SELECT DISTINCT toString((" + columns + ")) AS row FROM " + table + " ORDER BY row"
		want, got := column(t, calm.ClickHouse, sql), column(t, f.ClickHouse, sql)
		if table == "build_runs" {
			got = onlyEnded(got)
		}
		require.NotEmpty(t, want)
		require.Equal(t, want, got, table)
	}
	for _, fault := range faults {
		t.Logf("survived: %s %s", fault.server, fault.mode)
	}
}

// onlyEnded leaves out builds that failed or were not complete: later ones of the same sessions are.
func onlyEnded(rows []string) (out []string) {
	for _, row := range rows {
		if !strings.Contains(row, "'failed'") && !strings.Contains(row, "'partial'") && !strings.Contains(row, "'unchanged'") {
			out = append(out, row)
		}
	}
	return out
}

// modelDirectory writes sessions for the model, each with an entry of every kind.
func modelDirectory(t *testing.T, n int, name string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		id := fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", "-"), i)
		writeSession(t, filepath.Join(dir, id+".jsonl"), id, fmt.Sprintf("We keep server %d for %s.", i, name), fmt.Sprintf("I prefer tea %d over %s.", i, name))
	}
	return dir
}

// moody is a proxy before the model. The given percentages of calls get an answer that is no JSON, or a refusal for too
// many requests.
type moody struct {
	malformed, limited   int64
	calls, spoilt, later atomic.Int64
}

func (m *moody) url(t *testing.T, target string) string {
	t.Helper()
	to, err := url.Parse(strings.TrimSuffix(target, "/v1"))
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Each hundredth has its turn, far from the one before.
		switch turn := m.calls.Add(1) * 37 % 100; {
		case turn < m.malformed:
			answers := []string{"I would rather not say.", `{"entries":[{"title": "a\`, "[[["}
			content := answers[m.spoilt.Add(1)%int64(len(answers))]
			_ = json.NewEncoder(w).Encode(map[string]any{
				"choices": []any{map[string]any{"message": map[string]any{"content": content}, "finish_reason": "stop"}},
				"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
			})
		case turn < m.malformed+m.limited:
			m.later.Add(1)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error": {"message": "too many requests"}}`)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// Three in ten calls of the model get an unreadable answer, and two in ten none at all. Every build ends with the
// results that it got and the reasons for the missing ones. After retries, which include windows that were given up,
// everything is there, and nothing twice.
func moodyModel(t *testing.T, sessions int) {
	t.Helper()
	m := newModel(t)
	m.get(true)
	b := m.use(newBench(t))
	mood := &moody{malformed: 30, limited: 20}
	b.cfg.Model.BaseURL = mood.url(t, m.url)
	b.start(t)
	dir := modelDirectory(t, sessions, "모델 'x'")
	began := time.Now()
	result := b.importAll(t, b.importing(t, dir))
	ends := b.requireEnds(t, result, "model")
	t.Logf("%d calls, %d malformed, %d refused for now: %v after %.1f s", mood.calls.Load(), mood.spoilt.Load(), mood.later.Load(), ends, time.Since(began).Seconds())
	require.Positive(t, mood.spoilt.Load())
	require.Positive(t, mood.later.Load())
	require.Zero(t, ends[schema.BuildFailed], "a model that answers some calls fails no build")
	b.requireNothingTwice(t, "model")

	mood.malformed, mood.limited = 0, 0
	report, err := batch.Read(t.Context(), b.Log.Store, result.Batch)
	require.NoError(t, err)
	for _, outcome := range report.Outcomes {
		if outcome.Status == schema.BuildSuccess {
			continue
		}
		again := b.input(outcome.SessionID, "")
		again.Retry, again.AskGivenUp = outcome.BuildID, true
		retried, err := b.try(t.Context(), again)
		require.NoError(t, err)
		require.Equal(t, schema.BuildSuccess, retried.Status, "%+v", retried)
	}
	b.requireNothingTwice(t, "model that is well")
	require.Len(t, column(t, b.ClickHouse, "SELECT entry_id FROM entries"), 2*sessions, "two of each session")
	b.awaitIndexed(t)
	b.requireVerified(t, "model that is well")
	t.Logf("survived: %d of %d calls of a model without a whole answer", mood.spoilt.Load()+mood.later.Load(), mood.calls.Load())
}
