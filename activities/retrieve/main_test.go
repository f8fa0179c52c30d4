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
	"axiommind/activities/projection"
	"axiommind/activities/vector"
	"axiommind/activities/vector/store/weaviate"
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

func (v versioned) Chance() llm.Chance { return v.Embedder.(llm.Calibrated).Chance() }

func (v versioned) Baseline() float64 {
	if e, ok := v.Embedder.(llm.Baselined); ok {
		return e.Baseline()
	}
	return 0
}

func (v versioned) Alpha() float64 {
	if e, ok := v.Embedder.(Weighted); ok {
		return e.Alpha()
	}
	return DefaultAlpha
}

// bench is a searcher over real servers.
type bench struct {
	conn     driver.Conn
	log      *projection.Store
	client   *vector.Client
	embedder vector.Embedder
	outbox   *vector.OutboxProjector
	writer   *vector.Writer
	searcher *Searcher
}

func newBench(t testing.TB, embedder vector.Embedder) *bench {
	t.Helper()
	conn := stacktest.Migrated(t)
	b := &bench{conn: conn, log: projection.New(conn, eventlog.Options{})}
	var err error
	b.client, err = vector.NewClient(vector.ClientConfig{URL: "http://" + stacktest.Weaviate(t), APIKey: stacktest.WeaviateKey(t), Writer: weaviate.Open})
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

// newWholeBench indexes titles of tasks and facts, too.
func newWholeBench(t testing.TB) *bench {
	t.Helper()
	b := newHashBench(t)
	var err error
	b.writer, err = vector.NewWriter(b.conn, b.log, b.outbox, b.client, b.embedder,
		[]vector.Source{vector.NewEntrySource(b.conn, b.log), vector.NewTitleSource(b.conn), vector.NewFactSource(b.conn, b.log)}, vector.Options{})
	require.NoError(t, err)
	return b
}

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
	// Nothing else is verified.
	e.EvidenceProven = e.Stage == schema.StageVerified || e.Stage == schema.StageCertified
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
	}
	b.project(t, entry.NewProjector(b.conn), b.outbox)
	for {
		result, err := b.writer.IndexPending(ctx, 1000)
		require.NoError(t, err)
		require.Zero(t, result.Failed)
		if !result.More {
			return entries
		}
	}
}

// project brings the tables of the projectors up to date.
func (b *bench) project(t testing.TB, projectors ...projection.Projector) {
	t.Helper()
	for _, p := range projectors {
		_, err := b.log.ProjectAll(t.Context(), p)
		require.NoError(t, err)
	}
}

// graduate appends graduation's payloads on entries of the project, at the time.
func (b *bench) graduate(t testing.TB, at time.Time, project string, payloads ...any) {
	t.Helper()
	var events []schema.Event
	for _, p := range payloads {
		data, err := json.Marshal(p)
		require.NoError(t, err)
		event, err := schema.NewEvent(p, schema.Event{
			TS: at, Actor: "test", Project: project, DedupeKey: schema.GraduateOfCommandKey(project, schema.HashText(string(data)+at.String()), 0),
		})
		require.NoError(t, err)
		events = append(events, event)
	}
	b.appendTo(t, schema.GraduateStream(project), events)
}

// promote appends the promotions of a session's own check.
func (b *bench) promote(t testing.TB, to schema.Stage, entries ...schema.Entry) {
	t.Helper()
	for _, e := range entries {
		p := schema.EntriesPromotedPayload{SessionID: e.SessionID, Promotions: []schema.Promotion{{EntryID: e.ID, From: e.Stage, To: to, Number: 1}}}
		event, err := schema.NewEvent(p, schema.Event{
			TS: start, Actor: "test", SessionID: e.SessionID, Project: e.Project, DedupeKey: schema.EntriesPromotedKey(e.Session(), p.Promotions),
		})
		require.NoError(t, err)
		b.appendTo(t, e.Session().Stream(), []schema.Event{event})
	}
}

// appendTo appends the events and projects them.
func (b *bench) appendTo(t testing.TB, stream string, events []schema.Event) {
	t.Helper()
	_, err := b.log.AppendAll(t.Context(), stream, events)
	require.NoError(t, err)
	_, err = b.log.Project(t.Context(), entry.NewProjector(b.conn), stream)
	require.NoError(t, err)
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
