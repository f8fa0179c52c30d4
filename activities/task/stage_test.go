package task_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/task"
	"axiommind/schema"
)

// materialize stores the reports as entries of sessions of their own.
func (b *bundle) materialize(t testing.TB, entries ...schema.Entry) {
	t.Helper()
	for i, e := range entries {
		e.SessionID, e.Stage, e.Status, e.CanonicalKey = fmt.Sprint("s", i), schema.StageWorking, schema.StatusActive, "task_note:"+e.Title+"@1"
		e.EvidenceProven = true
		b.tell(t, e.Session().Stream(), schema.EntryMaterializedKey(e.ID), schema.EntryMaterializedPayload{Entry: e})
	}
}

// tell appends an event about entries, and projects it.
func (b *bundle) tell(t testing.TB, stream, key string, payload any) {
	t.Helper()
	event, err := schema.NewEvent(payload, schema.Event{TS: noon, Actor: "test", DedupeKey: key})
	require.NoError(t, err)
	_, err = b.log.Append(t.Context(), stream, []schema.Event{event})
	require.NoError(t, err)
	_, err = b.log.Project(t.Context(), entry.NewProjector(b.conn), stream)
	require.NoError(t, err)
}

// A task has the current stage of its best entry. Retired entries do not count, and for an earlier time only the
// entries that had observed the task by then.
func TestTasksCarryTheBestStage(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const project = `p/'"\ 한`
	reports := []schema.Entry{
		b.report(project, "Deploy", schema.TaskInProgress), b.report(project, "deploy!", schema.TaskBlocked, "the keys"),
		b.report(project, "Write it up", schema.TaskPending), b.report(project, "Hear of it", schema.TaskPending),
	}
	reports[1].OccurredAt = noon.Add(time.Hour)
	reports[3].EvidenceAligned, reports[3].Evidence[0].Aligned = false, false
	b.materialize(t, reports[:3]...)
	b.apply(t, project, reports...)
	stages := func(s task.Selection) map[string]schema.Stage {
		s.Project = project
		views, err := b.queries.ListTasks(t.Context(), s, "")
		require.NoError(t, err)
		out := map[string]schema.Stage{}
		for _, v := range views {
			out[v.Task.Title] = v.Task.Stage
			detail, err := b.queries.GetTaskDetail(t.Context(), s, v.Task.ID)
			require.NoError(t, err)
			require.Equal(t, v.Task.Stage, detail.Task.Stage)
		}
		return out
	}
	want := map[string]schema.Stage{"Deploy": schema.StageWorking, "Write it up": schema.StageWorking, "Hear of it": schema.StageRaw}
	require.Equal(t, want, stages(task.Selection{}))

	graduated := func(n uint64, id string, to schema.Stage) {
		b.tell(t, schema.GraduateStream(project), schema.GraduationKey(project, "stage", id, n), schema.EntryGraduatedPayload{EntryID: id, To: to})
	}
	graduated(1, reports[1].ID, schema.StageCertified)
	graduated(1, reports[0].ID, schema.StageVerified)
	want["Deploy"] = schema.StageCertified
	require.Equal(t, want, stages(task.Selection{}))
	want["Deploy"] = schema.StageVerified
	require.Equal(t, want, stages(task.Selection{AsOf: noon.Add(time.Minute)}), "nobody had said the other one yet")

	b.tell(t, schema.GraduateStream(project), schema.GraduationKey(project, "retire", reports[1].ID, 1),
		schema.EntryRetiredPayload{EntryID: reports[1].ID, Status: schema.StatusDeprecated, Because: "so", By: "ann"})
	require.Equal(t, want, stages(task.Selection{}), "what is retired lifts nothing")
}

// BenchmarkListTasks lists the tasks of a project whose entries have graduated.
func BenchmarkListTasks(b *testing.B) {
	room := newBundle(b)
	room.seed(b, "p", 10_000, 2)
	_, err := room.log.Project(b.Context(), task.NewProjector(room.conn), schema.ProjectStream("p"))
	require.NoError(b, err)
	for b.Loop() {
		views, err := room.queries.ListTasks(b.Context(), task.Selection{Project: "p", Limit: 50}, "")
		require.NoError(b, err)
		require.Len(b, views, 50)
	}
}
