package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/serve"
)

// identity matches the columns that tell the copies of a row apart.
var identity = regexp.MustCompile(`^(stream|dedupe_key|canonical_key|ref|id|older_id|newer_id|kept|\w+_id)$`)

// BenchmarkServe measures how long each read of the API and each page takes, one at a time, in a project of AXIOMMIND_ENTRIES
// entries (100,000). The worker makes them of 100 sessions, the database copies the rows: no copy is in the index of
// vectors, and none is found by its title.
func BenchmarkServe(b *testing.B) {
	want := 100_000
	if n, err := strconv.Atoi(os.Getenv("AXIOMMIND_ENTRIES")); err == nil {
		want = n
	}
	c := commandtest.NewCLI(b)
	c.Work(b, "--memory-root", b.TempDir())
	entries := fillStore(b, c, 100, want)
	for i, server := range c.Servers { // One thread is right for many tests at once.
		c.Servers[i] = strings.ReplaceAll(server, "max_threads=1", "max_threads=0")
	}
	a := start(c, b, "--project", c.Project)
	operations, _, err := serve.Describe(&command.App{Groups: program.Groups()})
	require.NoError(b, err)
	known := knownItems(b, a)
	var asked []string
	for _, o := range operations {
		if at, is := known.fill(o.Path); is && o.Method == http.MethodGet && !slices.Contains(unmeasured, o.Path) {
			asked = append(asked, at)
		}
	}
	for _, at := range pages {
		if at, is := known.fill(at); is {
			asked = append(asked, at)
		}
	}
	jar, err := cookiejar.New(nil)
	require.NoError(b, err)
	browser := &http.Client{Jar: jar}
	visit(b, browser, a, strings.TrimPrefix(a.entrance, a.url))
	for b.Loop() {
		for _, at := range asked {
			var took []time.Duration
			for range 24 {
				began := time.Now()
				status, text := visit(b, browser, a, at)
				took = append(took, time.Since(began))
				require.Less(b, status, 400, "%s: %.300s", at, text)
			}
			took = took[4:] // The first ones warm up.
			slices.Sort(took)
			fmt.Printf("%-60.60s p50 %6.1f ms   p95 %6.1f ms\n", at, ms(took[len(took)/2]), ms(took[len(took)-2])) //nolint:forbidigo // A log would be cut.
		}
	}
	b.ReportMetric(float64(entries), "entries")
}

// visit reads an address to its end. The token admits to the API, and the cookie to the pages.
func visit(b *testing.B, browser *http.Client, a *api, at string) (status int, text []byte) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, a.url+at, nil)
	require.NoError(b, err)
	r.Header.Set("Authorization", "Bearer "+a.token)
	response, err := browser.Do(r)
	require.NoError(b, err)
	defer func() { _ = response.Body.Close() }()
	text, err = io.ReadAll(response.Body)
	require.NoError(b, err)
	return response.StatusCode, text
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// unmeasured are reads of all sources, and of things that the benchmark does not make.
var unmeasured = []string{"/v1/verify", "/v1/batches", "/v1/schedules", "/v1/queue", "/v1/forget"}

// pages are the addresses of the pages.
var pages = []string{
	"/", "/counts", "/sessions", "/sessions/{session}", "/search?query=decided", "/entries/{entry}", "/memory", "/memory/versions", "/memory/diff?from=0&to=1",
	"/dreams", "/dreams/{dream}", "/tasks", "/tasks/{task}", "/facts", "/facts/{fact}", "/changes", "/conflicts", "/proposals", "/decisions", "/builds", "/steps",
	"/builds/{build}", "/queue", "/health",
}

// known are items by the word of a path that names them.
type known map[string]string

func (k known) fill(path string) (string, bool) {
	for word, id := range k {
		path = strings.ReplaceAll(path, "{"+word+"}", url.PathEscape(id))
	}
	switch path {
	case "/v1/search":
		path += "?query=decided"
	case "/v1/memory/diff":
		path += "?from=0&to=1"
	}
	return path, !strings.Contains(path, "{")
}

func knownItems(b *testing.B, a *api) known {
	b.Helper()
	first := func(path, id string, of ...string) string {
		asked := map[string]any{"limit": 1}
		if of != nil {
			asked["session"] = of[0]
		}
		list := items(b, a.get(path, nil, asked))
		require.NotEmpty(b, list, path)
		if task, is := list[0]["task"].(map[string]any); is {
			list[0] = task
		}
		return list[0][id].(string)
	}
	hit := a.get("/v1/search", nil, map[string]any{"query": "decided"})["hits"].([]any)[0].(map[string]any)
	build := first("/v1/builds", "build_id", "bench-0") // A copied build has no events.
	return known{
		"entry": hit["entry_id"].(string), "session": "bench-0", "build": build, "other": build,
		"task": first("/v1/tasks", "entity_id"), "fact": first("/v1/facts", "id"), "dream": "1", "decision": first("/v1/decisions", "decision_id"),
	}
}

// serviceName returns a name for each number below 1,000. It has no digits: statements that differ by a number contradict each
// other.
func serviceName(n int) string {
	syllables := []string{"ba", "ke", "lo", "mi", "nu", "pa", "re", "so", "ti", "vu"}
	return "the service " + syllables[n/100%10] + syllables[n/10%10] + syllables[n%10]
}

// fillStore makes entries of so many sessions, and copies all rows but those of core memory and of facts until there are as many entries as
// wanted. It returns how many there are.
func fillStore(b *testing.B, c *commandtest.CLI, sessions, want int) int {
	b.Helper()
	dir := b.TempDir()
	for n := range sessions {
		var lines strings.Builder
		name := serviceName(n)
		for i, line := range []string{
			"We decided to keep the records of " + name + " in Postgres because its failures are easy to see.",
			"I prefer tests of " + name + " that use real servers.",
			"TODO: write the runbook of " + name + ".",
			"Done: " + name + " answers in ten milliseconds.",
			"We decided against caching in " + name + " since it hides faults.",
			name + " must never log the names of its users.",
			"TODO: measure " + name + " under load.",
			"The release of " + name + " is blocked by the legal review.",
		} {
			lines.WriteString(commandtest.InSession(fmt.Sprint("bench-", n), i+1, line))
		}
		require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", n)), []byte(lines.String()), 0o600))
	}
	run := func(args ...string) {
		got := c.Run(append(args, "--project", c.Project)...)
		require.Zero(b, got.Code, got)
	}
	run("process", dir)
	run("facts", "add", "The team sits in Porto.", "--category", "context")
	run("graduate")
	require.Zero(b, c.Run("dream").Code)
	require.Zero(b, c.Run("reconcile").Code)
	conn, _ := c.LogOf(b)
	count := func() (n uint64) {
		require.NoError(b, conn.QueryRow(b.Context(), "SELECT count() FROM entries_raw").Scan(&n))
		return n
	}
	copies := max(1, want/int(count()))
	rows, err := conn.Query(b.Context(), "SELECT table, groupArray(name), groupArray(type) FROM system.columns WHERE database = currentDatabase()"+
		" AND table LIKE '%\\_raw' AND default_kind NOT IN ('MATERIALIZED', 'ALIAS') AND NOT match(table, '^(records|core_versions|dreams|memory_files|facts|profile)')"+
		" GROUP BY table")
	require.NoError(b, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table string
		var names, types []string
		require.NoError(b, rows.Scan(&table, &names, &types))
		values := make([]string, len(names))
		for i, name := range names {
			values[i] = name
			if identity.MatchString(name) && strings.Contains(types[i], "String") {
				of := "concat(toString(number), '-', %[1]s)"
				if name == "stream" || name == "dedupe_key" { // Their kind is at their beginning.
					of = "concat(%[1]s, '-', toString(number))"
				}
				values[i] = fmt.Sprintf("if(%[1]s = '', '', "+of+")", name)
			}
		}
		require.NoError(b, conn.Exec(b.Context(), fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s CROSS JOIN numbers(1, %d) AS copies",
			table, strings.Join(names, ", "), strings.Join(values, ", "), table, copies-1)))
	}
	require.NoError(b, rows.Err())
	return int(count())
}
