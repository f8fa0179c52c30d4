package retrieve

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// versioned is an embedder under a name of its own, and so with a collection of its own.
type versioned struct {
	vector.Embedder
	version string
}

func (v versioned) Version() string { return v.version }

func (v versioned) SimilarityFloor() (float64, bool) {
	if e, ok := v.Embedder.(Floored); ok {
		return e.SimilarityFloor()
	}
	return 0, false
}

// bench is a searcher over real servers.
type bench struct {
	conn     driver.Conn
	log      *eventlog.Store
	client   *vector.Client
	embedder vector.Embedder
	outbox   *vector.OutboxProjector
	writer   *vector.Writer
	searcher *Searcher
}

func newBench(t testing.TB, embedder vector.Embedder) *bench {
	t.Helper()
	conn := stacktest.Migrated(t, stacktest.Database(t))
	b := &bench{conn: conn, log: eventlog.New(conn, eventlog.Options{})}
	var err error
	b.client, err = vector.NewClient(vector.ClientConfig{URL: "http://" + stacktest.Weaviate(t), APIKey: stacktest.WeaviateKey(t)})
	require.NoError(t, err)
	b.embedder = versioned{embedder, fmt.Sprintf("find-%d-%s", time.Now().UnixNano(), schema.HashText(t.Name())[:8])}
	b.outbox = vector.NewOutboxProjector(conn, b.embedder.Version())
	b.writer, err = vector.NewWriter(conn, b.log, b.outbox, b.client, b.embedder,
		[]vector.Source{vector.NewEntrySource(conn, b.log)}, vector.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.client.DeleteCollection(context.Background(), b.writer.Collection()) })
	b.searcher = NewSearcher(conn, b.client, b.embedder, Options{Now: func() time.Time { return start }})
	return b
}

// newHashBench uses the embedder that needs no network.
func newHashBench(t testing.TB) *bench { return newBench(t, llm.Hash{}) }

// complete fills in the fields of an entry that the test left empty.
func complete(e schema.Entry) schema.Entry {
	set := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	set(&e.Project, "red")
	set(&e.SessionID, "s1")
	set((*string)(&e.Type), string(schema.EntryFact))
	set((*string)(&e.Stage), string(schema.StageRaw))
	set((*string)(&e.Status), string(schema.StatusActive))
	if e.OccurredAt.IsZero() {
		e.OccurredAt = start
	}
	e.EvidenceAligned = true
	e.Evidence = []schema.Evidence{{
		EventID: "event", MessageIndex: 3, Quote: e.Title, Aligned: true, Method: schema.MethodExact, Confidence: 1,
		Span: schema.Span{ByteEnd: len(e.Title), RuneEnd: len([]rune(e.Title))}, Text: e.Title,
	}}
	set(&e.CanonicalKey, entry.CanonicalKey(e))
	set(&e.ID, schema.DerivedID("entry", e.Project, e.User, e.Agent, e.SessionID, string(e.Type), e.Title))
	return e
}

// add materializes the entries and indexes them.
func (b *bench) add(t testing.TB, entries ...schema.Entry) []schema.Entry {
	t.Helper()
	ctx := t.Context()
	byStream := map[string][]schema.Event{}
	for i := range entries {
		entries[i] = complete(entries[i])
		e := entries[i]
		payload, err := json.Marshal(schema.EntryMaterializedPayload{Entry: e})
		require.NoError(t, err)
		byStream[e.Session().Stream()] = append(byStream[e.Session().Stream()], schema.Event{
			Type: schema.EntryMaterialized, TS: start, Actor: "test", SessionID: e.SessionID, Project: e.Project,
			DedupeKey: schema.EntryMaterializedKey(e.ID), Payload: payload, Sensitivity: schema.SensitivityNormal,
		})
	}
	for stream, events := range byStream {
		_, err := b.log.AppendAll(ctx, stream, events)
		require.NoError(t, err)
		for _, p := range []eventlog.Projector{entry.NewProjector(b.conn), b.outbox} {
			_, err = b.log.Project(ctx, p, stream)
			require.NoError(t, err)
		}
	}
	for {
		result, err := b.writer.IndexPending(ctx, 1000)
		require.NoError(t, err)
		require.Zero(t, result.Failed)
		if !result.More {
			return entries
		}
	}
}

func (b *bench) search(t testing.TB, q Query) Result {
	t.Helper()
	if q.Project == "" {
		q.Project = "red"
	}
	result, err := b.searcher.Search(t.Context(), q)
	require.NoError(t, err)
	return result
}

func titles(hits []Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.Title
	}
	return out
}
