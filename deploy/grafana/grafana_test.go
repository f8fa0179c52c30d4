package grafana_test

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"axiommind/deploy/local/stacktest"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/help"
	"axiommind/worker/runner/runnertest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// query is a query of a dashboard or a rule.
type query struct{ place, text string }

// dashboards returns the queries of the dashboards' panels.
func dashboards(t *testing.T) (queries []query) {
	t.Helper()
	files, err := filepath.Glob("dashboards/*.json")
	require.NoError(t, err)
	require.Len(t, files, 4)
	ids := map[string]string{}
	for _, file := range files {
		var d struct {
			UID, Title string
			Panels     []struct {
				ID          int
				Title, Type string
				GridPos     struct{ H, W, X, Y int }
				Targets     []struct{ Expr string }
			}
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &d), file)
		require.Empty(t, ids[d.UID], "two dashboards have the uid %q", d.UID)
		ids[d.UID] = file
		seen := map[int]bool{}
		for _, p := range d.Panels {
			require.False(t, seen[p.ID], "%s: two panels have the id %d", file, p.ID)
			seen[p.ID] = true
			require.True(t, p.Title != "" && p.GridPos.W > 0 && p.GridPos.X+p.GridPos.W <= 24, "%s: %+v", file, p)
			require.NotEmpty(t, p.Targets, "%s: %s", file, p.Title)
			for _, target := range p.Targets {
				queries = append(queries, query{d.Title + ": " + p.Title, target.Expr})
			}
		}
	}
	return queries
}

// rules returns the queries of the rules, and the topics that they link to.
func rules(t *testing.T) (queries []query, links []string) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
				Labels      map[string]string
			}
		}
	}
	text, err := os.ReadFile("rules.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			require.NotEmpty(t, r.Labels["severity"], r.Alert)
			require.NotEmpty(t, r.Annotations["summary"], r.Alert)
			queries, links = append(queries, query{r.Alert, r.Expr}), append(links, r.Annotations["runbook"])
		}
	}
	require.NotEmpty(t, queries)
	return queries, links
}

// Each rule links to a section of the help that is there.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	_, links := rules(t)
	for _, link := range links {
		const pages = "starter/help/"
		require.True(t, strings.HasPrefix(link, pages), link)
		page, section, _ := strings.Cut(strings.TrimPrefix(link, pages), "#")
		topic, known := help.Find(strings.TrimSuffix(page, ".md"))
		require.True(t, known, link)
		require.Contains(t, anchors(topic.Text), section, link)
	}
}

func anchors(page string) (all []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		plain := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

var (
	selector = regexp.MustCompile(`\b((?:axiommind|temporal|gen_ai|up)\w*)(\{[^}]*\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"`)
	grouping = regexp.MustCompile(`\b(?:by|without)\s*\(([^)]*)\)`)
	legend   = regexp.MustCompile(`\w+`)
	// scraped are the labels that Prometheus adds.
	scraped = []string{"job", "instance", "le"}
)

// rare has the labels of counters of Temporal's library that a worker exposes only once they count something, with its namespace and
// others. The names are constants of an internal package, internal/common/metrics, and the exporter ends them with _total.
var rare = map[string][]string{
	"temporal_activity_execution_failed_total":       {"activity_type", "task_queue", "workflow_type"},
	"temporal_local_activity_execution_failed_total": {"activity_type", "task_queue", "workflow_type"},
	"temporal_workflow_failed_total":                 {"task_queue", "workflow_type"},
	"temporal_workflow_task_execution_failed_total":  {"failure_reason", "task_queue", "workflow_type"},
	"temporal_workflow_task_queue_poll_empty_total":  {"task_queue"},
	"temporal_sticky_cache_miss_total":               {"task_queue"},
	"temporal_sticky_cache_forced_eviction_total":    {"task_queue"},
	"temporal_request_failure_total":                 {"operation", "status_code"},
	"temporal_long_request_failure_total":            {"operation", "status_code"},
}

// The names of the rare counters are those of Temporal's library: no session makes a worker expose them.
func TestRareCounters(t *testing.T) {
	t.Parallel()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/sdk").Output()
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal", "common", "metrics", "constants.go"))
	require.NoError(t, err)
	text := map[string]string{} // The constants' values.
	for _, c := range regexp.MustCompile(`(?m)^\s*(\w+)\s*= (?:(\w+) \+ )?"(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		text[c[1]] = text[c[2]] + c[3]
	}
	var values []string
	for value := range maps.Values(text) {
		values = append(values, strings.ReplaceAll(value, "_total", "")) // The exporter moves it to the end.
	}
	for name, labels := range rare {
		require.Contains(t, values, strings.TrimSuffix(name, "_total"))
		for _, label := range labels {
			require.Contains(t, values, label)
		}
	}
}

// perDatabase finds sums over a gauge that each worker reads from the same database.
var perDatabase = regexp.MustCompile(`\b(?:sum|avg|count)\s*(?:(?:by|without)\s*\([^)]*\)\s*)?\(\s*axiommind_(?:memory|outbox|queue)_`)

// A sum over the gauges of a database would count each worker.
func TestNoSumOfDatabaseGauges(t *testing.T) {
	t.Parallel()
	require.True(t, perDatabase.MatchString("sum by (project) (axiommind_memory_entries)"))
	queries, _ := rules(t)
	for _, q := range append(queries, dashboards(t)...) {
		require.False(t, perDatabase.MatchString(q.text), "%s: take the max of the workers first: %s", q.place, q.text)
	}
}

// Every metric and label in the dashboards and rules is one that a worker exposes after a session.
func TestQueriesHaveMetrics(t *testing.T) {
	t.Parallel()
	known := scrape(t)
	known["up"] = map[string]bool{}
	for name, labels := range rare {
		known[name] = map[string]bool{}
		for _, label := range labels {
			known[name][label] = true
		}
	}
	queries, _ := rules(t)
	queries = append(queries, dashboards(t)...)
	for _, q := range queries {
		labels := map[string]bool{}
		for _, label := range scraped {
			labels[label] = true
		}
		found := selector.FindAllStringSubmatch(grouping.ReplaceAllString(q.text, ""), -1)
		require.NotEmpty(t, found, "%s: no metric in %s", q.place, q.text)
		for _, m := range found {
			has, exposed := known[m[1]]
			require.True(t, exposed, "%s: a worker does not expose %s", q.place, m[1])
			for label := range has {
				labels[label] = true
			}
			for _, label := range matcher.FindAllStringSubmatch(m[2], -1) {
				require.True(t, has[label[1]] || label[1] == "job" || label[1] == "le", "%s: %s has no label %s", q.place, m[1], label[1])
			}
		}
		for _, g := range grouping.FindAllStringSubmatch(q.text, -1) {
			for _, label := range legend.FindAllString(g[1], -1) {
				require.True(t, labels[label], "%s: none of its metrics has the label %s", q.place, label)
			}
		}
	}
	t.Logf("%d queries use metrics that a worker exposes", len(queries))
}

// scrape returns the labels of each metric that a worker exposes once it has processed a session.
func scrape(t *testing.T) map[string]map[string]bool {
	t.Helper()
	c := commandtest.NewCLI(t)
	more := []string{"--eraser-dsn", c.Config(t).ClickHouseDSN, "--memory-root", t.TempDir()}
	var said runnertest.Log
	stop := runnertest.Start(t, c.Config(t, append(more, "--metrics-address", "127.0.0.1:0")...), slog.New(slog.NewTextHandler(&said, nil)))
	defer stop()
	for _, project := range []string{c.Project, c.Project + "-forgotten"} {
		o := c.Feed(`{"role":"user","content":"We decided to use Postgres for the ledger."}`, "process", "-", "--format", "messages", "--project", project)
		require.Zero(t, o.Code, o)
	}
	o := c.Run("forget", "--project", c.Project+"-forgotten", "--yes")
	require.Zero(t, o.Code, o)
	url := regexp.MustCompile(`http://[\d.:]+/metrics`).FindString(said.String())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var text strings.Builder
	known := map[string]map[string]bool{}
	lines := bufio.NewScanner(io.TeeReader(response.Body, &text))
	for lines.Scan() {
		name := regexp.MustCompile(`^\w+`).FindString(lines.Text())
		if name == "" {
			continue
		}
		if known[name] == nil {
			known[name] = map[string]bool{}
		}
		labels, _, _ := strings.Cut(lines.Text(), "} ")
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(labels, -1) {
			known[name][label[1]] = true
		}
	}
	if file := os.Getenv("AXIOMMIND_TEST_SCRAPE"); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	}
	return known
}
