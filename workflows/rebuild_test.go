package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/workflows"
	"axiommind/workflows/workflowtest"
)

// rebuildRoom contains the results of the activities of rebuilds.
type rebuildRoom struct {
	// slices is the number of calls that fill a projection, and late the number of events that arrived meanwhile, by
	// call.
	slices int
	late   []int
	// differs is the result of a comparison.
	differs *schema.TableDifference
	// seen is the progress of the workflow at the start of each activity.
	seen []rebuildSeen
}

type rebuildSeen struct {
	phase         string
	events, total int
}

func (r *rooms) PrepareRebuild(ctx context.Context, in build.PrepareInput) (build.RebuildPlan, error) {
	return called(ctx, r, "PrepareRebuild", in, func() (build.RebuildPlan, error) {
		return build.RebuildPlan{Projections: []build.PlannedProjection{{Name: "entries", Events: 20}, {Name: "facts", Events: 20}}}, nil
	})
}

func (r *rooms) FillShadow(ctx context.Context, in build.FillInput) (build.FillResult, error) {
	return called(ctx, r, "FillShadow", in, func() (build.FillResult, error) {
		next := in.After.Seq + 1
		return build.FillResult{After: eventlog.Place{Stream: "s", Seq: next}, Done: int(next) >= r.rebuild.slices, Events: 10}, nil
	})
}

func (r *rooms) CatchUpShadow(ctx context.Context, in build.ShadowInput) (build.CatchUpResult, error) {
	return called(ctx, r, "CatchUpShadow", in, func() (build.CatchUpResult, error) {
		if len(r.rebuild.late) == 0 {
			return build.CatchUpResult{}, nil
		}
		n := r.rebuild.late[0]
		r.rebuild.late = r.rebuild.late[1:]
		return build.CatchUpResult{Events: n}, nil
	})
}

func (r *rooms) SwitchShadow(ctx context.Context, in build.SwitchInput) (build.SwitchResult, error) {
	return called(ctx, r, "SwitchShadow", in, func() (build.SwitchResult, error) {
		return build.SwitchResult{Generation: 17, Waited: 11 * time.Second}, nil
	})
}

func (r *rooms) CompareShadow(ctx context.Context, in build.CompareInput) (build.CompareResult, error) {
	return called(ctx, r, "CompareShadow", in, func() (build.CompareResult, error) {
		t := schema.RebuiltTable{Name: in.Projection + "_raw", Rows: 3}
		if in.Compare {
			t.Before, t.After, t.Difference = &schema.TableDigest{Rows: 3}, &schema.TableDigest{Rows: 3}, r.rebuild.differs
		}
		return build.CompareResult{Tables: []schema.RebuiltTable{t}}, nil
	})
}

func (r *rooms) FinishRebuild(ctx context.Context, in build.ShadowInput) error {
	_, err := called(ctx, r, "FinishRebuild", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) RecordRebuild(ctx context.Context, in build.RecordInput) error {
	_, err := called(ctx, r, "RecordRebuild", in, func() (any, error) { return nil, nil })
	return err
}

func (r *rooms) RebuildVectors(ctx context.Context, in vector.RebuildInput) (vector.RebuildResult, error) {
	return called(ctx, r, "RebuildVectors", in, func() (vector.RebuildResult, error) {
		return vector.RebuildResult{Collection: "C", Items: 5, Copied: 4, Embedded: 1, Changed: 1, Examples: []string{"one"}, Switched: !in.DryRun}, nil
	})
}

// The collection is rebuilt alone or after projections.
func TestRebuildOfVectors(t *testing.T) {
	t.Parallel()
	for _, projections := range [][]string{nil, {"facts"}} {
		r := newRooms()
		result, err := runRebuild(t, r, schema.RebuildInput{Collections: true, Projections: projections, Verify: true})
		require.NoError(t, err)
		require.Equal(t, &schema.RebuiltVectors{Collection: "C", Items: 5, Copied: 4, Embedded: 1, Changed: 1, Examples: []string{"one"}, Switched: true}, result.Vectors)
		require.Equal(t, 1, result.Differing())
		require.Equal(t, vector.RebuildInput{Verify: true}, inputsOf[vector.RebuildInput](r, "RebuildVectors")[0])
		order := r.order()
		require.Equal(t, []string{"RebuildVectors", "RecordRebuild"}, order[len(order)-2:])
		require.Equal(t, projections == nil, len(order) == 2)
		metrics := inputsOf[build.RecordInput](r, "RecordRebuild")[0].Metrics
		require.Equal(t, schema.RebuildVectors, metrics[len(metrics)-1].Step)
	}
}

func runRebuild(t *testing.T, r *rooms, in schema.RebuildInput) (schema.RebuildResult, error) {
	t.Helper()
	env := workflowtest.New()
	progress := func() (p schema.RebuildProgress) {
		value, err := env.QueryWorkflow(schema.QueryProgress)
		require.NoError(t, err)
		require.NoError(t, value.Get(&p))
		return p
	}
	env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
		p := progress()
		require.LessOrEqual(t, p.Events, p.Total)
		r.rebuild.seen = append(r.rebuild.seen, rebuildSeen{p.Phase, p.Events, p.Total})
	})
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: schema.RebuildWorkflowID, TaskQueue: schema.QueueMain})
	workflows.Register(env)
	env.RegisterActivity(r)
	env.ExecuteWorkflow(schema.WorkflowRebuild, in)
	require.True(t, env.IsWorkflowCompleted())
	var result schema.RebuildResult
	err := env.GetWorkflowError()
	if err == nil {
		require.NoError(t, env.GetWorkflowResult(&result))
		require.Equal(t, schema.RebuildDone, progress().Phase)
	}
	return result, err
}

// Each slice continues where the previous one stopped, and new events are applied until few are left.
func TestRebuild(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.rebuild = rebuildRoom{slices: 2, late: []int{9000, 4500, 500, 7}}
	result, err := runRebuild(t, r, schema.RebuildInput{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"PrepareRebuild", "FillShadow", "FillShadow", "FillShadow", "FillShadow", "CatchUpShadow", "CatchUpShadow", "CatchUpShadow",
		"SwitchShadow", "CompareShadow", "CompareShadow", "FinishRebuild", "RecordRebuild",
	}, r.order())
	fills := inputsOf[build.FillInput](r, "FillShadow")
	require.Equal(t, []uint64{0, 1, 0, 1}, []uint64{fills[0].After.Seq, fills[1].After.Seq, fills[2].After.Seq, fills[3].After.Seq})
	require.Equal(t, "facts", fills[2].Projection)
	require.Equal(t, schema.RebuildResult{
		Projections: []schema.RebuiltProjection{
			{Name: "entries", Events: 20, Rows: 3, Tables: []schema.RebuiltTable{{Name: "entries_raw", Rows: 3}}},
			{Name: "facts", Events: 20, Rows: 3, Tables: []schema.RebuiltTable{{Name: "facts_raw", Rows: 3}}},
		}, Waited: 11,
	}, result)
	id := inputsOf[build.SwitchInput](r, "SwitchShadow")[0].ID
	require.Regexp(t, `^[0-9]+$`, id)
	finish := inputsOf[build.RecordInput](r, "RecordRebuild")[0]
	require.Equal(t, id, finish.ID)
	var phases []string
	for _, m := range finish.Metrics {
		require.True(t, m.Success)
		phases = append(phases, m.Step)
	}
	require.Equal(t, []string{
		schema.RebuildPrepare, schema.RebuildFill, schema.RebuildCatchUp, schema.RebuildSwitch, schema.RebuildCompare, schema.RebuildFinish,
	}, phases)
	require.Less(t, r.largest, 64<<10)
}

// The progress never exceeds the total, which grows with new events and shrinks if there were fewer.
func TestRebuildProgress(t *testing.T) {
	t.Parallel()
	for calls, filled := range map[int]int{1: 10, 2: 20, 3: 30} { // 20 are planned of each of two projections.
		r := newRooms()
		r.rebuild = rebuildRoom{slices: calls, late: []int{600, 7}}
		_, err := runRebuild(t, r, schema.RebuildInput{})
		require.NoError(t, err)
		all := 2 * filled
		seen := r.rebuild.seen
		require.Equal(t, rebuildSeen{schema.RebuildPrepare, 0, 0}, seen[0])
		require.Equal(t, rebuildSeen{schema.RebuildFill, 0, 40}, seen[1])
		require.Equal(t, rebuildSeen{schema.RebuildFill, filled, filled + 20}, seen[1+calls])
		require.Equal(t, []rebuildSeen{
			{schema.RebuildCatchUp, all, all}, {schema.RebuildCatchUp, all + 600, all + 600}, {schema.RebuildSwitch, all + 607, all + 607},
			{schema.RebuildCompare, all + 607, all + 607}, {schema.RebuildCompare, all + 607, all + 607}, {schema.RebuildFinish, all + 607, all + 607}, {schema.RebuildFinish, all + 607, all + 607},
		}, seen[1+2*calls:])
	}
}

// Rounds of catching up end once a round finds more than half as many events as the previous one, however slow the
// machine is.
func TestRebuildCatchUpEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late   []int
		rounds int
	}{
		{[]int{0}, 1},
		{[]int{500, 500}, 1},
		{[]int{501, 501, 501, 501}, 2},
		{[]int{9000, 4501, 9, 9}, 2},
		{[]int{9000, 4500, 2250, 1125, 562, 281, 9}, 6},
		{[]int{100_000, 120_000, 9}, 2},
	} {
		r := newRooms()
		r.rebuild = rebuildRoom{slices: 1, late: c.late}
		_, err := runRebuild(t, r, schema.RebuildInput{})
		require.NoError(t, err)
		require.Len(t, inputsOf[build.ShadowInput](r, "CatchUpShadow"), c.rounds, c.late)
	}
}

func TestRebuildDryRun(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.rebuild = rebuildRoom{slices: 1, differs: &schema.TableDifference{Changed: 1}}
	result, err := runRebuild(t, r, schema.RebuildInput{DryRun: true, Projections: []string{"entries"}})
	require.NoError(t, err)
	require.Equal(t, 2, result.Differing())
	require.True(t, result.DryRun)
	in := inputsOf[build.SwitchInput](r, "SwitchShadow")[0]
	require.True(t, in.DryRun && in.Compare)
	require.NotContains(t, r.order(), "RecordRebuild")
	require.Equal(t, []string{"entries"}, inputsOf[build.PrepareInput](r, "PrepareRebuild")[0].Names)
}

// Whatever fails, the shadow tables are dropped, and writers do not wait for them.
func TestRebuildFails(t *testing.T) {
	t.Parallel()
	for _, activity := range []string{"PrepareRebuild", "FillShadow", "CatchUpShadow", "SwitchShadow", "CompareShadow", "FinishRebuild"} {
		r := newRooms().failing(activity, schema.ErrorStoreRejected)
		r.rebuild.slices = 1
		_, err := runRebuild(t, r, schema.RebuildInput{})
		var application *temporal.ApplicationError
		require.ErrorAs(t, err, &application)
		require.Equal(t, schema.ErrorStoreRejected, application.Type())
		require.ErrorContains(t, err, activity+" can't")
		order := r.order()
		require.Equal(t, []string{"FinishRebuild", "RecordRebuild"}, order[len(order)-2:], activity)
		metrics := inputsOf[build.RecordInput](r, "RecordRebuild")[0].Metrics
		require.Contains(t, metrics[len(metrics)-1].Error, activity+" can't")
	}
}

// A rebuild does not fail if its phases can't be recorded.
func TestRebuildIsNotRecorded(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("RecordRebuild", schema.ErrorStoreRejected)
	r.rebuild.slices = 1
	_, err := runRebuild(t, r, schema.RebuildInput{})
	require.NoError(t, err)
}
