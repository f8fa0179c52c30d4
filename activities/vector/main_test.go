package vector

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	language "axiommind/activities/text"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// words is an embedder that hashes words into dimensions, so that texts that share words are similar.
type words struct {
	version string
	dims    int
	// refuse is a part of a text that makes the embedder refuse the request permanently, and fail is the error of every
	// request.
	refuse string
	fail   error
	// calls and texts count the requests and their texts.
	calls, texts int
}

type refused struct{ error }

func (refused) Retryable() bool { return false }

func (w *words) Version() string { return w.version }
func (w *words) Dimensions() int { return w.dims }

func (w *words) Embed(_ context.Context, texts []string) ([][]float32, error) {
	w.calls++
	w.texts += len(texts)
	if w.fail != nil {
		return nil, w.fail
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if w.refuse != "" && strings.Contains(text, w.refuse) {
			return nil, refused{fmt.Errorf("a text of the batch is not allowed")}
		}
		v := make([]float32, w.dims)
		for term := range strings.FieldsSeq(language.Terms(text)) {
			h := fnv.New64a()
			_, _ = h.Write([]byte(term))
			v[h.Sum64()%uint64(w.dims)]++
		}
		sum := 1e-9
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for d := range v {
			v[d] = float32(float64(v[d]) / math.Sqrt(sum))
		}
		v[0] += 1e-3
		out[i] = v
	}
	return out, nil
}

func (w *words) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := w.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// counted is a connection that records its statements.
type counted struct {
	driver.Conn
	mu         sync.Mutex
	statements []string
}

func (c *counted) add(statement string) {
	if strings.Contains(statement, "projection_offsets_raw") {
		return // A log saves them in the background, at any time.
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statements = append(c.statements, strings.Join(strings.Fields(statement), " "))
}

// take returns the statements since its last call.
func (c *counted) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.statements
	c.statements = nil
	return out
}

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.add(query)
	return c.Conn.Query(ctx, query, args...)
}

func (c *counted) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	c.add(query)
	return c.Conn.QueryRow(ctx, query, args...)
}

func (c *counted) Exec(ctx context.Context, query string, args ...any) error {
	c.add(query)
	return c.Conn.Exec(ctx, query, args...)
}

func (c *counted) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.add(query)
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// bench is a writer over real servers.
type bench struct {
	conn      *counted
	log       *projection.Store
	client    *Client
	embedder  *words
	entries   *entry.Projector
	projector *OutboxProjector
	writer    *Writer
	now       time.Time
	made      int
}

func newClient(t testing.TB) *Client {
	t.Helper()
	client, err := NewClient(ClientConfig{URL: "http://" + stacktest.Weaviate(t), APIKey: stacktest.WeaviateKey(t), Writer: weaviate.Open})
	require.NoError(t, err)
	return client
}

// version returns an embedding version, and so a collection, that is unique to the test and run.
func version(t testing.TB) string {
	return fmt.Sprintf("test-%d-%x", time.Now().UnixNano(), schema.HashText(t.Name())[:8])
}

func newBench(t testing.TB) *bench {
	t.Helper()
	conn := &counted{Conn: stacktest.Migrated(t)}
	b := &bench{
		conn: conn, log: projection.New(conn, eventlog.Options{}), client: newClient(t), now: start,
		embedder: &words{version: version(t), dims: 64}, entries: entry.NewProjector(conn),
	}
	b.projector = NewOutboxProjector(conn, b.embedder.version)
	b.writer = b.newWriter(t, b.log)
	t.Cleanup(func() { _ = b.client.DeleteCollection(context.Background(), b.writer.Collection()) })
	return b
}

func (b *bench) newWriter(t testing.TB, log Log) *Writer {
	t.Helper()
	w, err := NewWriter(b.conn, log, b.projector, b.client, b.embedder, []Source{NewEntrySource(b.conn, b.log)}, Options{
		BatchSize: 4, MaxAttempts: 3, Now: func() time.Time { return b.now },
	})
	require.NoError(t, err)
	return w
}

// add materializes entries with the titles and projects them and their requests.
func (b *bench) add(t testing.TB, project string, titles ...string) []schema.Entry {
	t.Helper()
	var entries []schema.Entry
	for _, title := range titles {
		entries = append(entries, b.entry(project, title))
	}
	b.materialize(t, "s-"+project, entries)
	return entries
}

func (b *bench) entry(project, title string) schema.Entry {
	b.made++
	return schema.Entry{
		ID: schema.DerivedID("entry", project, title), Type: schema.EntryFact, CanonicalKey: title,
		SessionID: "s-" + project, Scope: schema.Scope{Project: project, User: "ann"}, Title: title,
		Stage: schema.StageRaw, Status: schema.StatusActive, EvidenceAligned: true,
		Evidence: []schema.Evidence{{Quote: title, Aligned: true}}, OccurredAt: start.Add(time.Duration(b.made) * time.Minute),
	}
}

func (b *bench) materialize(t testing.TB, session string, entries []schema.Entry) {
	t.Helper()
	events := make([]schema.Event, len(entries))
	for i, e := range entries {
		events[i] = b.materialized(t, e, schema.EntryMaterializedKey(e.ID))
	}
	b.append(t, session, events)
}

func (b *bench) materializeAs(t testing.TB, session string, e schema.Entry, key string) {
	t.Helper()
	b.append(t, session, []schema.Event{b.materialized(t, e, key)})
}

func (b *bench) materialized(t testing.TB, e schema.Entry, key string) schema.Event {
	t.Helper()
	payload, err := json.Marshal(schema.EntryMaterializedPayload{Entry: e})
	require.NoError(t, err)
	return schema.Event{
		Type: schema.EntryMaterialized, TS: b.now, Actor: "test", SessionID: e.SessionID, Project: e.Project, BuildID: buildID,
		DedupeKey: key, Payload: payload, Sensitivity: schema.SensitivityNormal,
	}
}

// buildID is the build of every event.
const buildID = "b"

func (b *bench) input(session string) IndexRequest {
	key := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: session}
	return IndexRequest{SessionKey: key, BuildID: buildID, EmbeddingVersion: b.embedder.version, Head: b.log.Head(key.Stream())}
}

func (b *bench) append(t testing.TB, session string, events []schema.Event) {
	t.Helper()
	ctx := t.Context()
	stream := b.input(session).Stream()
	_, err := b.log.AppendAll(ctx, stream, events)
	require.NoError(t, err)
	_, err = b.log.Project(ctx, b.entries, stream)
	require.NoError(t, err)
	_, err = b.log.Project(ctx, b.projector, stream)
	require.NoError(t, err)
}

// rows returns the outbox.
func (b *bench) rows(t testing.TB) []Row {
	t.Helper()
	rows, err := NewOutbox(b.conn, b.embedder.version).After(t.Context(), "", 100_000)
	require.NoError(t, err)
	return rows
}

func (b *bench) statuses(t testing.TB) map[string]schema.OutboxStatus {
	t.Helper()
	out := map[string]schema.OutboxStatus{}
	for _, r := range b.rows(t) {
		out[r.ID] = r.Status
	}
	return out
}

func (b *bench) index(t testing.TB, limit int) Result {
	t.Helper()
	r, err := b.writer.IndexPending(t.Context(), limit)
	require.NoError(t, err)
	return r
}

func (b *bench) count(t testing.TB, project string) int {
	t.Helper()
	n, err := b.client.Count(t.Context(), b.writer.Collection(), project)
	require.NoError(t, err)
	return n
}
