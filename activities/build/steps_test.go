package build_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// The steps of dreams, rebuilds and passes of graduation are measured as those of builds are, from their own events.
func TestStepsOfAllRuns(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	recorded := at.Add(4 * time.Second)
	log, projector := projection.New(conn, eventlog.Options{Now: func() time.Time { return recorded }}), build.NewProjector(conn)
	add := func(stream string, e schema.Event, payload any) {
		event, err := schema.NewEvent(payload, e)
		require.NoError(t, err)
		_, err = log.Append(t.Context(), stream, []schema.Event{event})
		require.NoError(t, err)
	}
	for _, event := range buildEvents(t, 1, schema.BuildFailed) {
		_, err := log.Append(t.Context(), session.Stream(), []schema.Event{event})
		require.NoError(t, err)
	}
	_, err := log.Project(t.Context(), projector, session.Stream())
	require.NoError(t, err)

	ms := func(step string, latency float64, err string) schema.StepMetric {
		return schema.StepMetric{Step: step, StartedAt: at, LatencyMS: latency, Success: err == "", Error: err}
	}
	add(schema.MemoryStream("u'", "a"), schema.Event{TS: at.Add(3 * time.Second), Actor: "dream", BuildID: "run", DedupeKey: schema.DreamFinishedKey("u'", "a", 1)},
		schema.DreamFinishedPayload{Ordinal: 1, Metrics: []schema.StepMetric{ms("gather", 10, ""), ms("ask", 20, "")}})
	add(schema.RebuildStream("17"), schema.Event{TS: at, Actor: "rebuild", BuildID: "17", DedupeKey: schema.RebuildFinishedKey("17")},
		schema.RebuildFinishedPayload{RebuildID: "17", Metrics: []schema.StepMetric{ms("fill", 30, ""), ms("switch", 40, "no 'luck'")}})
	for i, id := range []string{"one", "two"} { // Two sessions are one pass.
		p := schema.SessionGraduatedPayload{SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p/'"}, SessionID: id}, Seq: uint64(i)}
		add(schema.GraduateStream("p/'"), schema.Event{TS: at.Add(time.Second), Actor: "graduation", Project: "p/'", DedupeKey: schema.SessionGraduatedKey(p)}, p)
	}
	steps, err := build.Steps(t.Context(), conn, build.StepFilter{})
	require.NoError(t, err)
	got := map[string][3]float64{}
	for _, s := range steps {
		got[s.Step] = [3]float64{float64(s.Runs), float64(s.Failed), s.MedianMS}
	}
	require.Contains(t, got, schema.StepFailBuild)
	delete(got, schema.StepFailBuild)
	require.Equal(t, map[string][3]float64{
		schema.StepIngest: {1, 0, 1.5}, schema.StepAlign: {1, 1, 2},
		"dream/gather": {1, 0, 10}, "dream/ask": {1, 0, 20}, "dream/commit": {1, 0, 1000},
		"rebuild/fill": {1, 0, 30}, "rebuild/switch": {1, 1, 40}, "graduation": {1, 0, 3000},
	}, got)
	steps, err = build.Steps(t.Context(), conn, build.StepFilter{Project: "p/'", Since: at})
	require.NoError(t, err)
	require.Len(t, steps, 1)
}

// Days sum up the builds of a scope, and how long its queues waited.
func TestDays(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	key := schema.SessionKey{Scope: schema.Scope{Project: "p/'", User: "u'", Agent: "a"}, SessionID: "s"}
	other := schema.SessionKey{Scope: schema.Scope{Project: "p/'", User: "u'", Agent: "a2"}, SessionID: "s"}
	next := at.AddDate(0, 0, 1)
	storeRuns(t, conn, []selectedRun{
		{SessionKey: key, ordinal: 1, start: at, status: schema.BuildFailed, errType: schema.ErrorTimeout},
		{SessionKey: key, ordinal: 2, start: at, status: schema.BuildSuccess, counts: schema.BuildCounts{NewEntries: 3}},
		{SessionKey: key, ordinal: 3, start: next, status: schema.BuildRunning},
		{SessionKey: other, ordinal: 1, start: next, status: schema.BuildEmpty},
	})
	log := projection.New(conn, eventlog.Options{})
	queue := func(of schema.SessionKey, id string, after time.Duration) {
		p := schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{ID: id, Scope: of.Scope, Thread: of.SessionID, At: at}}
		event, err := schema.NewEvent(p, schema.Event{TS: at, Actor: "queue", SessionID: of.SessionID, Project: of.Project, DedupeKey: "queued " + id + of.Agent})
		require.NoError(t, err)
		stream := schema.QueueStream(of.User, of.Agent)
		stored, err := log.Append(t.Context(), stream, []schema.Event{event})
		require.NoError(t, err)
		event, err = schema.NewEvent(schema.ContextProcessedPayload{To: stored.Events[0].Seq}, schema.Event{
			TS: at.Add(after), Actor: "queue", SessionID: of.SessionID, Project: of.Project, DedupeKey: "processed " + id + of.Agent,
		})
		require.NoError(t, err)
		_, err = log.Append(t.Context(), stream, []schema.Event{event})
		require.NoError(t, err)
	}
	queue(key, "1", time.Minute)
	queue(key, "2", 3*time.Minute)
	queue(other, "1", 24*time.Hour)
	for i, step := range []struct {
		id, to  string
		demotes bool
		of      schema.SessionKey
		at      time.Time
	}{
		{"e1", "candidate", false, key, at}, {"e1", "verified", false, key, at}, {"e2", "verified", false, key, at}, {"e2", "verified", false, key, at},
		{"e2", "candidate", true, key, at}, {"e3", "certified", false, other, next},
	} {
		require.NoError(t, clickhouse.Insert(t.Context(), conn, "promotions_raw (project, user, agent, entry_id, event_id, ts, to_stage, demotes, version)",
			[][]any{{step.of.Project, step.of.User, step.of.Agent, step.id, fmt.Sprint(i), step.at, step.to, step.demotes, uint64(1)}}))
	}
	rose := map[schema.Stage]int{schema.StageCertified: 1}
	first := build.Day{Reached: map[schema.Stage]int{schema.StageCandidate: 1, schema.StageVerified: 2}, Date: "2026-11-01", Failed: 1, Success: 1, NewEntries: 3, MedianSeconds: 60, P95Seconds: 60, Queued: 2, MedianWait: 180, MaxWait: 180}
	for name, test := range map[string]struct {
		filter build.Filter
		want   []build.Day
	}{
		"one agent": {build.Filter{Project: "p/'", User: "u'", Agent: "a"}, []build.Day{first, {Date: "2026-11-02", Unfinished: 1}}},
		"a user": {build.Filter{Project: "p/'", User: "u'"}, []build.Day{first, {
			Reached: rose, Date: "2026-11-02", Unfinished: 1, Empty: 1, MedianSeconds: 60, P95Seconds: 60, Queued: 1, MedianWait: 86400, MaxWait: 86400,
		}}},
		"an agent of any user": {build.Filter{All: true, Agent: "a2"}, []build.Day{{
			Reached: rose, Date: "2026-11-02", Empty: 1, MedianSeconds: 60, P95Seconds: 60, Queued: 1, MedianWait: 86400, MaxWait: 86400,
		}}},
		"of late":         {build.Filter{All: true, Since: next.Add(time.Hour)}, []build.Day{}},
		"another project": {build.Filter{All: true, Project: "p"}, []build.Day{}},
	} {
		got, err := build.Days(t.Context(), conn, test.filter)
		require.NoError(t, err, name)
		require.ElementsMatch(t, test.want, got, name)
	}
}
