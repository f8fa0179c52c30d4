package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stack"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/service"
)

// fromVariable returns the number that an environment variable gives, or the other one.
func fromVariable(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// site is a stack of its own with data on disk, whose servers are started again when they end. Its benches have a
// database and a namespace each, and share the vector store one after the other.
type site struct {
	*stack.Stack
	admin driver.Conn
	// dir is where the servers keep their data.
	dir string
	n   int
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	s, err := stack.Start(t.Context(), stack.Options{Dir: dir, Temporal: true, ClickHouse: true, Weaviate: true})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Supervise(ctx, func(name, what string) { t.Logf("%s: %s", name, what) }, func() {})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		s.Stop()
	})
	admin, err := clickhouse.Connect(t.Context(), s.Addresses().ClickHouseDSN, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = admin.Close() })
	return &site{Stack: s, admin: admin, dir: dir}
}

// bench makes a bench with nothing in any of its stores. drop removes its data. All benches have the same project, of
// which ids are made.
func (s *site) bench(t *testing.T) (b *bench, drop func()) {
	t.Helper()
	s.n++
	name := fmt.Sprintf("run_%d", s.n)
	require.NoError(t, s.admin.Exec(t.Context(), "CREATE DATABASE "+name))
	at := s.Addresses()
	stacktest.RegisterNamespace(t, at.Temporal, name)
	dsn, err := url.Parse(at.ClickHouseDSN)
	require.NoError(t, err)
	dsn.Path = "/" + name
	b = &bench{project: "crashes"}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	b.cfg.Flags(flags)
	b.cfg.WorkerFlags(flags)
	require.NoError(t, flags.Parse([]string{
		"--temporal-address", at.Temporal, "--temporal-namespace", name, "--clickhouse-dsn", dsn.String(),
		"--weaviate-url", "http://" + at.WeaviateHost, "--stop-timeout", "5s",
		"--source-root", os.TempDir(), "--memory-root", t.TempDir(),
	}))
	b.cfg.WeaviateAPIKey, b.cfg.Timing = at.WeaviateKey, timing()
	b.Stores, err = service.Connect(t.Context(), b.cfg, weaviate.Open, quiet)
	require.NoError(t, err)
	require.NoError(t, b.Weaviate.DeleteCollection(t.Context(), schema.VectorCollection(b.Embedder.Version())))
	_, err = clickhouse.Migrate(t.Context(), b.ClickHouse)
	require.NoError(t, err)
	return b, func() {
		b.Close()
		require.NoError(t, s.admin.Exec(t.Context(), "DROP DATABASE "+name+" SYNC"))
	}
}

// kill kills a server.
func (s *site) kill(t *testing.T, server string) {
	t.Helper()
	require.NoError(t, syscall.Kill(s.Servers()[server], syscall.SIGKILL))
}

// place is where imports run one after the other, each on a bench with nothing in any of its stores.
type place interface {
	bench(t *testing.T) (b *bench, drop func())
	kill(t *testing.T, server string)
}

// imported awaits the end of an import, whatever is away meanwhile, and of all that follows from it.
func (b *bench) imported(t *testing.T, in schema.ImportSessionsInput, atMost time.Duration) schema.BatchResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), atMost)
	defer cancel()
	var result schema.BatchResult
	for {
		err := b.Temporal.GetWorkflow(ctx, in.WorkflowID(), "").Get(ctx, &result)
		if err == nil {
			break
		}
		require.NoError(t, ctx.Err(), "the import did not end: %v", err)
	}
	var pending uint64
	var err error
	if !within(ctx, func() bool {
		err = b.ClickHouse.QueryRow(ctx, "SELECT count() FROM vector_outbox WHERE status = 'pending' OR status = 'failed' AND attempts = 0").Scan(&pending)
		return err == nil && pending == 0
	}) {
		t.Fatalf("%d rows wait for the vector store: %v", pending, err)
	}
	b.awaitGraduated(ctx, t)
	return result
}

// Columns and fields with a moment, a duration, or a place in a stream that several sessions write: these come in
// another order each time. The id of a job is derived from that of its item, which for the title of a task ends with
// such a place. The hash of a title's content depends on the creation time of the task.
const momentaryColumns = `(seq|_at|_ts)$|^(ts|version|latency_ms|metrics_json|job_id|content_hash)$`

var (
	momentaryField = regexp.MustCompile(`"(?:metrics|latency_ms|at|ts|version|[a-z_]*seq|[a-z_]+_at)":(?:"[^"]*"|[0-9.]+|\[[^]]*\])`)
	placeInStream  = regexp.MustCompile(`(task[-_][0-9a-z-]+|[0-9a-f-]{36})/[0-9]+`)
)

// lasting returns the text without its momentary parts.
func lasting(text string) string {
	return placeInStream.ReplaceAllString(momentaryField.ReplaceAllString(text, ""), "$1/")
}

// state is all that an import leaves: the rows of every projection, the events and the vectors.
func (b *bench) state(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for name, sql := range graduated {
		out[name] = column(t, b.ClickHouse, sql)
	}
	for _, p := range b.projections() {
		if p.Name() == graduate.NewProjector(b.ClickHouse).Name() {
			continue // Its rows name positions in the stream of graduation.
		}
		for _, table := range p.Tables() {
			columns := column(t, b.ClickHouse, `SELECT name FROM system.columns
				WHERE database = currentDatabase() AND table = ? AND NOT has(?, name) AND NOT match(name, ?) ORDER BY position`,
				table.Name, append([]string{""}, table.Varying...), momentaryColumns)
			where := "1"
			if table.Name == "entry_changes_raw" {
				where = "NOT startsWith(stream, 'graduate/')"
			}
			if table.Hidden != "" {
				where = "NOT (" + table.Hidden + ")"
			}
			out["table "+table.Name] = column(t, b.ClickHouse, "SELECT toString(tuple("+strings.Join(columns, ", ")+")) AS row FROM "+table.Name+" FINAL WHERE "+where+" ORDER BY row")
		}
	}
	for event, err := range b.Log.Replay(t.Context(), eventlog.ReplayOptions{}) {
		require.NoError(t, err)
		if strings.HasPrefix(event.Stream, "batch/") || strings.HasPrefix(event.Stream, "vector/") || strings.HasPrefix(event.Stream, "graduate/") {
			continue // The name of a batch is made of when it began, and jobs and sessions are taken in groups as they come.
		}
		seq := uint64(0)
		if strings.HasPrefix(event.Stream, "session/") {
			seq = event.Seq
		}
		out["events"] = append(out["events"], fmt.Sprint(event.Stream, " ", seq, " ", event.Type, " ", event.DedupeKey, " ", string(event.Payload)))
	}
	out["objects"] = b.objects(t)
	for _, rows := range out {
		for i := range rows {
			rows[i] = lasting(rows[i])
		}
		slices.Sort(rows)
	}
	return out
}

// objects returns the objects of the project in the vector store, with their vectors.
func (b *bench) objects(t *testing.T) []string {
	t.Helper()
	class := schema.VectorCollection(b.Embedder.Version())
	tenants, err := b.Weaviate.Tenants(t.Context(), class)
	require.NoError(t, err)
	var out []string
	for _, tenant := range tenants {
		query := url.Values{"class": {class}, "tenant": {tenant}, "include": {"vector"}, "limit": {"10000"}}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.cfg.WeaviateURL+"/v1/objects?"+query.Encode(), nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+b.cfg.WeaviateAPIKey)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, "%s", text)
		var page struct {
			Objects []struct {
				ID         string
				Vector     []float32
				Properties map[string]any
			}
		}
		require.NoError(t, json.Unmarshal(text, &page))
		for _, o := range page.Objects {
			if o.Properties[schema.PropertyItemKind] != schema.ItemEntry {
				o.ID = "" // It is made of the item's.
				delete(o.Properties, schema.PropertyContentHash)
				delete(o.Properties, schema.PropertyOccurredAt)
			}
			data, err := json.Marshal(o.Properties)
			require.NoError(t, err)
			out = append(out, fmt.Sprint(tenant, " ", o.ID, " ", string(data), " ", o.Vector))
		}
	}
	return out
}

// requireState compares the results of two imports, and checks the tables against the log as `rebuild --verify` does.
func requireState(t *testing.T, want, got map[string][]string, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for name := range want {
		missing, more := without(want[name], got[name]), without(got[name], want[name])
		require.True(t, len(missing)+len(more) == 0 && len(want[name]) == len(got[name]), "%s: %s: %d rows, not %d\nmissing:\n%s\nmore:\n%s",
			what, name, len(got[name]), len(want[name]), strings.Join(missing, "\n"), strings.Join(more, "\n"))
	}
}

// without returns up to three of the rows that are not among the others.
func without(rows, others []string) (out []string) {
	known := map[string]bool{}
	for _, row := range others {
		known[row] = true
	}
	for _, row := range rows {
		if !known[row] && len(out) < 3 {
			out = append(out, row)
		}
	}
	return out
}

// requireVerified checks the tables against the events: rebuilt tables are the same.
func (b *bench) requireVerified(t *testing.T, what string) {
	t.Helper()
	b.awaitGraduated(t.Context(), t)
	before := b.digests(t)
	b.rebuild(t)
	require.Equal(t, before, b.digests(t), "%s: the tables are not what the log says", what)
}

// Variables that say how many crashes a campaign has, and where its random numbers begin.
const (
	crashRuns = "AXIOMMIND_CRASH_RUNS"
	crashSeed = "AXIOMMIND_CRASH_SEED"
)

// victims are the processes to kill: the worker, and the servers by their names in the stack.
var victims = []string{"worker", "temporal", "weaviate", "clickhouse"}

// An import during which the worker or a server is killed at any moment, and restarted, leaves the same state as an
// undisturbed one: every row, every event, every vector. Here it is a worker; TestI2ForgetKilled kills ClickHouse.
func crashMatrix(t *testing.T, at place, sessions, runs int, victims ...string) {
	t.Helper()
	seed := uint64(fromVariable(t, crashSeed, int(time.Now().UnixNano()&0xffffffff)))
	t.Logf("%d runs: %s=%d", runs, crashSeed, seed)
	random := rand.New(rand.NewPCG(seed, 15))
	dir := crashDirectory(t, sessions)
	calm := importOnce(t, at, dir, nil)
	t.Logf("the undisturbed import took %.1f s", calm.took.Seconds())
	first := random.IntN(len(victims))
	for i := range runs {
		victim := victims[(first+i)%len(victims)]
		after := time.Duration(random.Int64N(int64(calm.took)))
		what := fmt.Sprintf("run %d: kill %s after %.2f s", i, victim, after.Seconds())
		run := importOnce(t, at, dir, &crash{victim, after})
		t.Logf("%s: the import took %.1f s, all %.1f s", what, run.took.Seconds(), run.all.Seconds())
		require.Equal(t, calm.result.Statuses, run.result.Statuses, what)
		requireState(t, calm.state, run.state, what)
		t.Logf("survived: %s killed in an import", victim)
	}
}

// crash is the process to kill, and the time after the start of the import.
type crash struct {
	victim string
	after  time.Duration
}

// crashOutcome is the state after an import, its duration, and the duration of the whole run.
type crashOutcome struct {
	result    schema.BatchResult
	state     map[string][]string
	took, all time.Duration
}

func importOnce(t *testing.T, at place, dir string, c *crash) (out crashOutcome) {
	t.Helper()
	began := time.Now()
	b, drop := at.bench(t)
	defer drop()
	worker := buildWorker(t, b)
	w := worker.launch(t)
	defer func() { w.kill() }()
	in := b.importing(t, dir)
	in.AtOnce = 6
	started := time.Now()
	_, err := b.startBatch(t.Context(), in.WorkflowID(), in)
	require.NoError(t, err)
	if c != nil {
		<-time.After(c.after)
		if c.victim == "worker" {
			w.kill()
			w = worker.launch(t)
		} else {
			at.kill(t, c.victim)
		}
	}
	out.result = b.imported(t, in, 3*time.Minute)
	out.took = time.Since(started)
	eventually(t, func() bool { // The last victim may not be up again.
		_, err := b.Weaviate.Tenants(t.Context(), schema.VectorCollection(b.Embedder.Version()))
		return err == nil
	})
	out.state = b.state(t)
	w.kill() // Its cached checkpoints are older than the tables that are rebuilt now.
	b.requireVerified(t, fmt.Sprint(c))
	out.all = time.Since(began)
	return out
}

// chores are alike in nothing: a task keeps which others it could be, among those that were there before it.
var chores = []string{
	"paint the garden fence", "renew my passport", "translate chapter nine", "order replacement batteries", "calibrate the spectrometer",
	"archive old invoices", "rehearse a violin concerto", "benchmark compression codecs", "water tomato seedlings", "negotiate office lease",
	"sharpen kitchen knives", "migrate mailing lists", "draft wedding speech", "audit firewall rules", "repair bicycle chain",
	"photograph museum exhibits", "book dentist appointment", "prune apple orchard", "encrypt laptop backups", "taste olive oils",
}

// crashDirectory holds sessions whose memories, facts and tasks do not depend on which session comes first.
func crashDirectory(t *testing.T, sessions int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range sessions {
		writeSession(t, filepath.Join(dir, fmt.Sprintf("세션 '%02d'.jsonl", i)), fmt.Sprint("session-", i),
			fmt.Sprintf("We decided to use database number %d for part %d.", i, i), fmt.Sprintf("I prefer tea number %d over the others.", i),
			"TODO: "+chores[i%len(chores)]+".")
	}
	return dir
}

// writeSession writes a session with an id of its own, in which a user says something.
func writeSession(t *testing.T, path, id string, texts ...string) {
	t.Helper()
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = strings.Replace(said(i+1, "user", text), `"sessionId":"c"`, fmt.Sprintf(`"sessionId":%q`, id), 1)
	}
	write(t, path, lines...)
}
