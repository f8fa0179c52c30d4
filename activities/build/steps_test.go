package build_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// The steps of dreams, rebuilds and passes of graduation are measured as those of builds are, from their own events.
func TestStepsOfAllRuns(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t, stacktest.MigratedDatabase(t))
	recorded := at.Add(4 * time.Second)
	log, projector := eventlog.New(conn, eventlog.Options{Now: func() time.Time { return recorded }}), build.NewProjector(conn)
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
