package main_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/evidence"
	"axiommind/activities/llm/rules"
	"axiommind/activities/session"
	"axiommind/activities/transcript"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/runner/runnertest"
	"axiommind/worker/service"
)

var quiet = slog.New(slog.DiscardHandler)

// bench is the whole system on real servers: a database and a namespace of its own, and a project of its own in the
// shared vector store.
type bench struct {
	*service.Stores
	cfg     service.Config
	project string
}

// timing has sessions share the work that follows them. Most tests end before it, and that is half a session's.
func timing() schema.Timing {
	timing := stacktest.Timing()
	timing.Graduation, timing.Messages, timing.Files = 2*time.Second, 1500*time.Millisecond, time.Second
	timing.Lease, timing.Embedder = 4*time.Second, 5*time.Second // They are asked for as often.
	return timing
}

// newBench connects to the servers; start starts a worker in this process.
func newBench(t testing.TB) *bench {
	t.Helper()
	name := stacktest.Namespace(t)
	b := &bench{project: name}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	b.cfg.Flags(flags)
	b.cfg.WorkerFlags(flags)
	require.NoError(t, flags.Parse([]string{
		"--temporal-address", stacktest.Temporal(t), "--temporal-namespace", name, "--clickhouse-dsn", stacktest.MigratedDatabase(t),
		"--weaviate-url", "http://" + stacktest.Weaviate(t), "--stop-timeout", "5s",
		"--source-root", os.TempDir(), "--memory-root", t.TempDir(), "--model", rules.Version,
	}))
	if data := sharedtest.Data.Dir(t); data != "" {
		b.cfg.SourceRoots = append(b.cfg.SourceRoots, data)
	}
	b.cfg.Timing = timing()
	var err error
	b.cfg.WeaviateAPIKey = stacktest.WeaviateKey(t)
	b.Stores, err = service.Connect(t.Context(), b.cfg, weaviate.Open, quiet)
	require.NoError(t, err)
	t.Cleanup(b.Close)
	return b
}

// start runs a worker until it is stopped, or the test ends.
func (b *bench) start(t testing.TB) (stop func()) {
	t.Helper()
	return b.startLogging(t, quiet)
}

// startLogging runs a worker that logs.
func (b *bench) startLogging(t testing.TB, logger *slog.Logger) (stop func()) {
	t.Helper()
	return runnertest.Start(t, b.cfg, logger)
}

func (b *bench) input(session, uri string) schema.ProcessSessionInput {
	return schema.ProcessSessionInput{SessionID: session, URI: uri, Project: b.project, User: "u"}
}

// submit starts a session's workflow without waiting for it.
func (b *bench) submit(ctx context.Context, in schema.ProcessSessionInput) (client.WorkflowRun, error) {
	return b.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: in.Key().WorkflowID(), TaskQueue: schema.QueueMain,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, schema.WorkflowProcessSession, in)
}

func (b *bench) try(ctx context.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
	var result schema.ProcessSessionResult
	run, err := b.submit(ctx, in)
	if err != nil {
		return result, err
	}
	return result, run.Get(ctx, &result)
}

func (b *bench) process(t testing.TB, in schema.ProcessSessionInput) schema.ProcessSessionResult {
	t.Helper()
	result, err := b.try(t.Context(), in)
	require.NoError(t, err)
	return result
}

// tables are the projections, which can be dropped and rebuilt from the events.
var tables = []string{
	"entries", "build_runs", "pipeline_metrics", "vector_outbox",
	"entities", "entity_aliases", "edges", "entity_events", "facts", "facts_gone", "facts_skipped", "profile",
}

// patience is how long a test waits for a condition on a busy machine.
const patience = 3 * time.Minute

// eventually waits until the condition holds.
func eventually(t testing.TB, holds func() bool, why ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.True(t, within(ctx, holds), why...)
}

// within reports whether the condition holds before the context ends. It looks often at first and then less: each look
// costs the servers that all tests share.
func within(ctx context.Context, holds func() bool) bool {
	for pause := 20 * time.Millisecond; !holds(); pause = min(2*pause, 500*time.Millisecond) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
	return true
}

// inCampaign reports whether the test is part of a campaign, which leaves nothing out.
func inCampaign(t testing.TB) bool { return strings.HasPrefix(t.Name(), "TestCampaign") }

// some returns those of the items that a test always has and n others at random, in the order of the items. A campaign
// has all items.
func some[T comparable](t testing.TB, items []T, n int, always ...T) (sample []T) {
	t.Helper()
	others := slices.DeleteFunc(slices.Clone(items), func(item T) bool { return slices.Contains(always, item) })
	stacktest.Random(t).Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	others = others[:min(n, len(others))]
	for _, item := range items {
		if slices.Contains(always, item) || slices.Contains(others, item) {
			sample = append(sample, item)
		}
	}
	t.Logf("%v of %d", sample, len(items))
	return sample
}

// awaitIndexed waits until the vector writer has done all that was asked of it. Sessions wait for
// their entries alone.
func (b *bench) awaitIndexed(t testing.TB) {
	t.Helper()
	eventually(t, func() bool {
		return len(column(t, b.ClickHouse, "SELECT job_id FROM vector_outbox WHERE status = 'pending' OR status = 'failed' AND attempts = 0")) == 0
	})
}

// rows returns the rows of tables and of the event log as text, in order.
func (b *bench) rows(t testing.TB) map[string][]string {
	t.Helper()
	b.awaitIndexed(t)
	queries := map[string]string{}
	for _, table := range append([]string{"events"}, tables...) {
		queries[table] = "SELECT toString(tuple(*)) AS row FROM " + table
	}
	return columns(t, b.ClickHouse, queries)
}

// columns asks several queries, each of one column named row, in one request. It returns the rows by the queries' names,
// in their own order.
func columns(t testing.TB, conn driver.Conn, queries map[string]string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(queries)) {
		out[name] = []string{}
		parts = append(parts, fmt.Sprintf("SELECT %s AS query, toString(row) AS row FROM (%s)", clickhouse.Literal(name), queries[name]))
	}
	rows, err := conn.Query(t.Context(), "SELECT query, row FROM ("+strings.Join(parts, " UNION ALL ")+") ORDER BY query, row")
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, row string
		require.NoError(t, rows.Scan(&name, &row))
		out[name] = append(out[name], row)
	}
	require.NoError(t, rows.Err())
	return out
}

func column(t testing.TB, conn driver.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	out := []string{}
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		out = append(out, text)
	}
	require.NoError(t, rows.Err())
	return out
}

// requireProven checks each entry of the session: every aligned span is the source's text, by the
// verifier that knows nothing of how it was found. It returns the entries.
func (b *bench) requireProven(t testing.TB, id string) []entry.Row {
	t.Helper()
	logged, err := session.Open(t.Context(), b.Log.Store, b.input(id, "").Key())
	require.NoError(t, err)
	messages, err := logged.Range(t.Context(), 0, logged.Len())
	require.NoError(t, err)
	entries, err := entry.NewReader(b.ClickHouse).Read(t.Context(), entry.OfSession(b.input(id, "").Key()).OldestFirst(), entry.Whole)
	require.NoError(t, err)
	for _, e := range entries {
		require.NotEmpty(t, e.Evidence, e.Title)
		for _, proof := range e.Evidence {
			if !proof.Aligned {
				require.False(t, e.EvidenceAligned, e.Title)
				continue
			}
			text := messages[proof.MessageIndex].Text
			require.NoError(t, evidence.Verify(text, proof, e.EvidenceRule))
			require.Equal(t, logged.EventID(proof.MessageIndex), proof.EventID)
			require.Equal(t, text[proof.Span.ByteStart:proof.Span.ByteEnd], proof.Text)
			if proof.Method == schema.MethodExact {
				require.Equal(t, proof.Quote, proof.Text)
			}
		}
	}
	return entries
}

// write writes a file of lines and returns its URI.
func write(t testing.TB, path string, lines ...string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	uri, err := transcript.FileURI(path)
	require.NoError(t, err)
	return uri
}

// said is a line of a Claude Code session.
func said(n int, role, text string) string {
	at := time.Date(2026, 3, 1, 9, 0, n, 0, time.UTC).Format(time.RFC3339)
	return fmt.Sprintf(`{"type":%q,"uuid":"u-%s-%d","sessionId":"c","timestamp":%q,"message":{"role":%q,"content":%q}}`,
		role, role, n, at, role, text)
}

// fixtures lists every session of every transcript of the shared data, and of each format the session with the fewest
// messages.
func (b *bench) fixtures(t testing.TB) (inputs []schema.ProcessSessionInput, smallest map[string]schema.ProcessSessionInput) {
	t.Helper()
	smallest = map[string]schema.ProcessSessionInput{}
	fewest := map[string]int{}
	seen := map[string]bool{}
	err := filepath.WalkDir(sharedtest.Data.Path(t, "transcripts"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		uri, err := transcript.FileURI(path)
		if err != nil {
			return err
		}
		sessions, source, err := transcript.ReadSource(t.Context(), uri, "")
		if err != nil {
			return nil //nolint:nilerr // licences and such are no transcripts
		}
		for _, s := range sessions {
			if !seen[s.ID] {
				inputs = append(inputs, b.input(s.ID, uri))
				if n, ok := fewest[source.Format]; !ok || len(s.Messages) < n {
					fewest[source.Format], smallest[source.Format] = len(s.Messages), b.input(s.ID, uri)
				}
			}
			seen[s.ID] = true
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(inputs), 20)
	return inputs, smallest
}
