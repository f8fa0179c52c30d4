package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/fact"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/workflows"
)

func (r *rooms) CommitDream(ctx context.Context, in tier.CommitInput) (tier.CommitResult, error) {
	return called(ctx, r, "CommitDream", in, func() (tier.CommitResult, error) {
		status := schema.DreamCommitted
		if in.DryRun {
			status = schema.DreamDry
		}
		return tier.CommitResult{DeepDreamResult: schema.DeepDreamResult{Status: status}, Stale: in.Refused == "stale"}, nil
	})
}

func (r *rooms) RestoreCore(ctx context.Context, in tier.RestoreCommand) (tier.RestoreResult, error) {
	return called(ctx, r, "RestoreCore", in, func() (tier.RestoreResult, error) { return tier.RestoreResult{Version: 3}, nil })
}

func (r *rooms) SyncFiles(ctx context.Context, in tier.FilesInput) (tier.FilesResult, error) {
	return called(ctx, r, "SyncFiles", in, func() (tier.FilesResult, error) {
		if r.edits == 0 {
			return tier.FilesResult{Head: in.Head}, nil
		}
		return tier.FilesResult{Head: at(in.Head.Seq + r.edits)}, nil
	})
}

func filesInput() tier.FilesInput {
	return tier.FilesInput{User: "u", Agent: "a", At: time.Unix(0, 0).UTC()}
}

// syncs counts the comparisons of files.
func (r *rooms) syncs() int { return len(inputsOf[tier.FilesInput](r, "SyncFiles")) }

// failSyncs makes the comparisons fail, for ever or until the returned function is called.
func (r *rooms) failSyncs(err error) (heal func()) {
	r.fail["SyncFiles"] = err
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.fail, "SyncFiles")
	}
}

// A run begins with a comparison of the files, because a killed worker may have left work, and ends when idle.
func TestMemoryWriterComparesFilesFirst(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := newEnvironment(r, memoryWriter.id)
	begin := env.Now()
	require.NoError(t, memoryWriter.run(env))
	require.Equal(t, 1, r.syncs())
	in := inputsOf[tier.FilesInput](r, "SyncFiles")[0]
	require.Equal(t, tier.FilesInput{User: "u", Agent: "a", At: in.At}, in)
	require.False(t, in.At.IsZero())
	require.GreaterOrEqual(t, env.Now().Sub(begin), time.Minute)
}

// Only a change of a file makes the writer compare the files again.
func TestMemoryWriterComparesFilesWhenDue(t *testing.T) {
	t.Parallel()
	content := "x"
	for name, tt := range map[string]struct {
		update string
		arg    any
		result tier.SessionResult
		syncs  int
		// late is the time from the update to the comparison.
		late time.Duration
	}{
		"session that flushed nothing": {update: schema.UpdateSession, arg: sessionNamed("s"), syncs: 1},
		"session that flushed":         {update: schema.UpdateSession, arg: sessionNamed("s"), result: tier.SessionResult{FilesDue: time.Unix(0, 0)}, syncs: 2},
		"fact command": {
			update: schema.UpdateCommand, syncs: 1,
			arg: fact.Command{User: "u", Agent: "a", RequestID: "r", Actor: "ann", At: time.Unix(9, 0), Op: fact.OpCreate, Content: &content},
		},
		"dream":            {update: schema.UpdateDream, arg: tier.CommitInput{User: "u", Agent: "a", Gathered: "g"}, syncs: 2},
		"dry dream":        {update: schema.UpdateDream, arg: tier.CommitInput{User: "u", Agent: "a", Gathered: "g", DryRun: true}, syncs: 1},
		"stale dream":      {update: schema.UpdateDream, arg: tier.CommitInput{User: "u", Agent: "a", Gathered: "g", Refused: "stale"}, syncs: 1},
		"restore":          {update: schema.UpdateRestore, arg: tier.RestoreCommand{User: "u", Agent: "a", RequestID: "r", Actor: "ann", At: time.Unix(9, 0), Version: 1}, syncs: 2},
		"files, by itself": {update: schema.UpdateFiles, arg: filesInput(), syncs: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.remembered = tt.result
			env := newEnvironment(r, memoryWriter.id)
			var u update
			env.RegisterDelayedCallback(func() { env.UpdateWorkflow(tt.update, "1", u.callbacks(), tt.arg) }, time.Second)
			require.NoError(t, memoryWriter.run(env))
			require.NoError(t, u.err)
			require.True(t, u.accepted)
			require.Equal(t, tt.syncs, r.syncs())
		})
	}
}

// The comparison gets the head from the update, and passes on its own.
func TestMemoryWriterHandsOnHead(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.remembered, r.edits = tier.SessionResult{FilesDue: time.Unix(0, 0)}, 10
	env := newEnvironment(r, memoryWriter.id)
	var updates [2]update
	for i := range updates {
		env.RegisterDelayedCallback(func() { memoryWriter.send(env, fmt.Sprint(i), &updates[i]) }, time.Duration(i+1)*time.Second)
	}
	require.NoError(t, memoryWriter.run(env))
	var heads []schema.StreamHead
	for _, in := range inputsOf[tier.FilesInput](r, "SyncFiles") {
		heads = append(heads, in.Head)
	}
	require.Equal(t, []schema.StreamHead{{}, at(11), at(22)}, heads)
	require.Equal(t, []schema.StreamHead{at(10), at(21)}, r.heads("UpdateMemory"))
}

// A full disk neither ends the writer nor blocks updates. The writer retries the files after longer and longer pauses
// and shows the error until it is resolved.
func TestMemoryWriterOutlivesFiles(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"full":     temporal.NewApplicationError(`write "/srv/MEMORY.md": no space left on device`, schema.ErrorFilesUnavailable),
		"readonly": temporal.NewNonRetryableApplicationError(`write "/srv/MEMORY.md": no space left on device`, schema.ErrorFilesRefused, nil),
		"unknown":  errors.New(`no space left on device`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRooms()
			r.remembered = tier.SessionResult{FilesDue: time.Unix(0, 0)}
			heal := r.failSyncs(err)
			env := newEnvironment(r, memoryWriter.id)
			begin := env.Now()
			var times []time.Duration
			env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
				if info.ActivityType.Name == "SyncFiles" && info.Attempt == 1 {
					times = append(times, env.Now().Sub(begin))
				}
			})
			var u update
			var took time.Duration
			env.RegisterDelayedCallback(func() {
				sent := env.Now()
				env.UpdateWorkflow(schema.UpdateSession, "1", &testsuite.TestUpdateCallback{
					OnAccept: func() { u.accepted = true }, OnReject: func(err error) { u.err = err },
					OnComplete: func(_ any, err error) { u.err, took = err, env.Now().Sub(sent) },
				}, sessionNamed("s"))
			}, 100*time.Minute)
			details := func() string {
				value, err := env.QueryWorkflow("__temporal_workflow_metadata")
				require.NoError(t, err)
				var metadata sdkpb.WorkflowMetadata
				require.NoError(t, value.Get(&metadata))
				return metadata.GetCurrentDetails()
			}
			said := ""
			env.RegisterDelayedCallback(func() { said = details() }, 101*time.Minute)
			env.RegisterDelayedCallback(heal, 3*time.Hour)
			require.NoError(t, memoryWriter.run(env))
			require.True(t, u.accepted)
			require.NoError(t, u.err)
			require.Less(t, took, time.Minute)
			require.Contains(t, said, "no space left on device")
			require.Contains(t, said, "Next try at ")
			require.Empty(t, details())
			require.Less(t, env.Now().Sub(begin), 3*time.Hour+15*time.Minute, "it ends when the files are written")
			for i := range 5 {
				wait := times[i+1] - times[i]
				require.GreaterOrEqual(t, wait, time.Second<<i)
				require.Less(t, wait, time.Second<<i+5*time.Second)
			}
			for _, at := range times {
				require.Greater(t, (at - 100*time.Minute).Abs(), 10*time.Second, "the update brought the next try forward")
			}
			require.Less(t, len(times), 35, "in three hours")
			require.Greater(t, len(times), 15)
		})
	}
}

// A requested comparison fails for its sender alone.
func TestMemoryWriterFilesUpdateFails(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := newEnvironment(r, memoryWriter.id)
	var u, session update
	env.RegisterDelayedCallback(func() {
		heal := r.failSyncs(temporal.NewNonRetryableApplicationError("it is not UTF-8", schema.ErrorFilesRefused, nil))
		env.RegisterDelayedCallback(heal, time.Second)
		env.UpdateWorkflow(schema.UpdateFiles, "1", u.callbacks(), filesInput())
		memoryWriter.send(env, "2", &session)
	}, time.Second)
	require.NoError(t, memoryWriter.run(env))
	var application *temporal.ApplicationError
	require.ErrorAs(t, u.err, &application)
	require.Equal(t, schema.ErrorFilesRefused, application.Type())
	require.NoError(t, session.err)
}

// A writer that is cancelled while the files fail ends as cancelled. While it waits for its next try it can continue as
// new.
func TestMemoryWriterEndsWhileFilesFail(t *testing.T) {
	t.Parallel()
	failing := func() *rooms { return newRooms().failing("SyncFiles", schema.ErrorFilesRefused) }
	env := newEnvironment(failing(), memoryWriter.id)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	var cancelled *temporal.CanceledError
	require.ErrorAs(t, memoryWriter.run(env), &cancelled)

	env = newEnvironment(failing(), memoryWriter.id)
	env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, time.Hour)
	require.True(t, workflow.IsContinueAsNewError(memoryWriter.run(env)))
}

func TestLaterAndLater(t *testing.T) {
	t.Parallel()
	last := time.Duration(0)
	for failures := 1; failures < 100; failures++ {
		wait := workflows.LaterAndLater(schema.Timing{}.WithDefaults(), failures)
		require.GreaterOrEqual(t, wait, last)
		require.LessOrEqual(t, wait, 10*time.Minute)
		last = wait
	}
	require.Equal(t, time.Second, workflows.LaterAndLater(schema.Timing{}.WithDefaults(), 1))
	require.Equal(t, 10*time.Minute, last)
}
