package build_test

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var (
	spec = schema.BuildSpec{
		Extractor:     schema.Extractor{Provider: "rules", Model: "rules-v4", PromptHash: "h"},
		EmbedderModel: "hash", EmbeddingVersion: "hash-v1", IdrisVersion: "unavailable", SchemaVersion: "1",
	}
	at = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
)

// A finished build is followed by another one. An interrupted one is resumed.
func TestNextOrdinal(t *testing.T) {
	t.Parallel()
	started := schema.BuildStartedPayload{Ordinal: 3, Spec: spec}
	id := spec.Extractor.ID()
	for name, c := range map[string]struct {
		last      build.Last
		ordinal   int
		completed bool
	}{
		"none":      {build.Last{}, 1, false},
		"broke off": {build.Last{Started: started}, 3, false},
		"failed":    {build.Last{Started: started, Finished: finished(schema.BuildFailed, id)}, 4, false},
		"succeeded": {build.Last{Started: started, Finished: finished(schema.BuildSuccess, id)}, 4, true},
		"empty":     {build.Last{Started: started, Finished: finished(schema.BuildEmpty, id)}, 4, true},
		"a window without a whole answer": {build.Last{Started: started, Finished: &schema.BuildFinishedPayload{
			Status: schema.BuildPartial, ExtractorID: id, Counts: schema.BuildCounts{Quarantined: 1},
		}}, 4, false},
		"a window that was given up": {build.Last{Started: started, Finished: &schema.BuildFinishedPayload{
			Status: schema.BuildPartial, ExtractorID: id, Counts: schema.BuildCounts{Quarantined: 1, GivenUp: 1},
		}}, 4, true},
		"a vector that failed": {build.Last{Started: started, Finished: &schema.BuildFinishedPayload{
			Status: schema.BuildPartial, ExtractorID: id, Counts: schema.BuildCounts{IndexFailed: 1},
		}}, 4, true},
		"another extractor": {build.Last{
			Started: started, Finished: finished(schema.BuildSuccess, "other"),
		}, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.ordinal, c.last.NextOrdinal())
			require.Equal(t, c.completed, c.last.Completed(id))
		})
	}
}

func finished(status schema.BuildStatus, extractor string) *schema.BuildFinishedPayload {
	return &schema.BuildFinishedPayload{Status: status, ExtractorID: extractor}
}

// The rows of builds and their steps are the same whether they are projected event by event or
// rebuilt (I3, I4), and say where a build failed.
func TestI4Builds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	conn := stacktest.Migrated(t)
	log, projector := projection.New(conn, eventlog.Options{}), build.NewProjector(conn)

	for ordinal, status := range []schema.BuildStatus{schema.BuildFailed, schema.BuildSuccess, schema.BuildRunning} {
		for _, event := range buildEvents(t, ordinal+1, status) {
			_, err := log.Append(ctx, session.Stream(), []schema.Event{event})
			require.NoError(t, err)
			_, err = log.Project(ctx, projector, session.Stream())
			require.NoError(t, err)
		}
	}
	runs, err := build.List(ctx, conn, build.Filter{All: true, Limit: 10})
	require.NoError(t, err)
	require.Len(t, runs, 3)
	require.Equal(t, schema.BuildRunning, runs[0].Status)
	require.Nil(t, runs[0].FinishedAt)
	failed, err := build.Show(ctx, conn, build.ID(session, 1)[:12])
	require.NoError(t, err)
	require.Equal(t, schema.StepAlign, failed.FailedStep)
	require.Equal(t, "no luck", failed.Error)
	require.Equal(t, schema.ErrorTimeout, failed.ErrorType)
	require.Equal(t, schema.FailurePassing, failed.Class)
	require.Equal(t, "rules/rules-v4", failed.ExtractorModel)
	require.Equal(t, []schema.StepMetric{
		{Step: schema.StepIngest, StartedAt: at.Add(time.Hour + 123456*time.Microsecond), LatencyMS: 1.5, Success: true},
		{Step: schema.StepAlign, StartedAt: at.Add(time.Hour + time.Second), LatencyMS: 2, Error: "no luck"},
	}, failed.Metrics[:2])
	require.Equal(t, schema.StepFailBuild, failed.Metrics[2].Step)
	require.Positive(t, failed.Metrics[2].LatencyMS, "from its time to that of its event in the log")
	running, err := build.Show(ctx, conn, build.ID(session, 3))
	require.NoError(t, err)
	require.Empty(t, running.Metrics)
	require.Equal(t, schema.Source{URI: "file:///s.jsonl", Format: "messages", Bytes: 12}, failed.Source)
	require.Equal(t, schema.BuildCounts{Entries: 7}, failed.Counts)
	digest := func() projection.Digest {
		d, err := log.Digest(ctx, projector.Tables()[0])
		require.NoError(t, err)
		return d
	}
	want := digest()
	require.Equal(t, []build.Problem{{
		Kind: build.ProblemLine, Where: "line 7", Reason: "not JSON", Retry: "mend the source where it matters, and process it again",
	}}, failed.Problems)
	_, err = build.Show(ctx, conn, "nosuch")
	require.ErrorIs(t, err, build.ErrNotFound)

	_, err = stacktest.Rebuild(ctx, conn, projector)
	require.NoError(t, err)
	require.Equal(t, want, digest())
	again, err := build.List(ctx, conn, build.Filter{All: true, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, runs, again)
	detail, err := build.Show(ctx, conn, build.ID(session, 1))
	require.NoError(t, err)
	require.Equal(t, failed, detail)
	last, err := build.ReadLast(context.WithoutCancel(ctx), log.Store, session)
	require.NoError(t, err)
	require.Equal(t, 3, last.NextOrdinal())
}

// counted counts the requests of a connection.
type counted struct {
	driver.Conn
	queries, inserts int
}

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.queries++
	return c.Conn.Query(ctx, query, args...)
}

func (c *counted) QueryRow(ctx context.Context, query string, args ...any) driver.Row {
	c.queries++
	return c.Conn.QueryRow(ctx, query, args...)
}

func (c *counted) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.inserts++
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// The end of a build is one insert, whichever page its start was in.
func TestOneInsert(t *testing.T) {
	t.Parallel()
	conn := &counted{Conn: stacktest.Migrated(t)}
	projector := build.NewProjector(conn)
	for _, event := range buildEvents(t, 2, schema.BuildSuccess) {
		conn.queries, conn.inserts = 0, 0
		require.NoError(t, projector.Apply(t.Context(), []schema.Event{event}))
		require.Equal(t, [2]int{0, 1}, [2]int{conn.queries, conn.inserts}, event.Type)
	}
	runs, err := build.List(t.Context(), conn, build.Filter{All: true, SessionID: "s", Status: schema.BuildSuccess, Limit: 1})
	require.NoError(t, err)
	require.Len(t, runs, 1)
	require.Equal(t, uint32(2), runs[0].Ordinal)
	require.Equal(t, at.Add(2*time.Hour), runs[0].StartedAt)
	require.Equal(t, at.Add(2*time.Hour+time.Minute), *runs[0].FinishedAt)
}

var session = schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}

// buildEvents are the events of one build; of a running one there is no end yet.
func buildEvents(t *testing.T, ordinal int, status schema.BuildStatus) []schema.Event {
	t.Helper()
	id, start := build.ID(session, ordinal), at.Add(time.Duration(ordinal)*time.Hour)
	opened, err := build.Opened{BuildID: id, SessionKey: session, Ordinal: ordinal, Spec: spec}.
		Started(schema.Source{URI: "file:///s.jsonl", Format: "messages", Bytes: 12}).Event(start)
	require.NoError(t, err)
	events := []schema.Event{opened}
	if ordinal == 1 {
		events = append(events, schema.Event{
			Type: schema.SessionIngested, TS: start, Actor: "pipeline", SessionID: "s", Project: "p", BuildID: id,
			DedupeKey: "ingested", Payload: []byte(`{"skipped":[{"line":7,"reason":"not JSON"}]}`),
		})
	}
	if status == schema.BuildRunning {
		return events
	}
	end := schema.BuildFinishedPayload{
		BuildID: id, SessionID: "s", Status: status, ExtractorID: spec.Extractor.ID(),
		Counts: schema.BuildCounts{Entries: 7},
		Metrics: []schema.StepMetric{
			{Step: schema.StepIngest, StartedAt: start.Add(123456789), LatencyMS: 1.5, Success: true},
			{Step: schema.StepAlign, StartedAt: start.Add(time.Second), LatencyMS: 2, Error: "no luck"},
		},
	}
	if status == schema.BuildFailed {
		end.FailedStep, end.Error, end.ErrorType = schema.StepAlign, "no luck", schema.ErrorTimeout
	}
	closed, err := end.Event("p", start.Add(time.Minute))
	require.NoError(t, err)
	return append(events, closed)
}
