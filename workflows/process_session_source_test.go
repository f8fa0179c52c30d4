package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/batch"
	"axiommind/activities/build"
	"axiommind/schema"
)

// killed makes the rooms kill the worker in the first runs of the activity.
func (r *rooms) killed(activity string, times int) *rooms {
	r.before = func(_ context.Context, called string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if delete(r.fail, activity); called == activity && times > 0 {
			times--
			// The test environment, unlike a server, retries after a timeout regardless of the policy.
			late := temporal.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil)
			r.fail[activity] = temporal.NewNonRetryableApplicationError("late", schema.ErrorTimeout, late)
		}
	}
	return r
}

// A source that kills three workers is refused by name, and a worker that dies for another reason costs an attempt.
func TestProcessSessionRefusesSourceThatKills(t *testing.T) {
	t.Parallel()
	r := newRooms().killed("IngestSession", 2)
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, schema.BuildSuccess, result.Status)
	require.Equal(t, append([]string{"OpenBuild", "IngestSession", "IngestSession"}, steps[1:]...), r.order())
	require.Equal(t, []bool{false, true, true}, r.alone, "the derivation may be what kills")

	r = newRooms().killed("IngestSession", 10)
	_, err = process(t, r, sessionInput())
	var failed *temporal.ApplicationError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, schema.ErrorSourceKills, failed.Type())
	require.Contains(t, failed.Message(), "3 workers died while they read file:///sessions/s1.jsonl")
	require.Equal(t, []string{"OpenBuild", "IngestSession", "IngestSession", "IngestSession", "CloseBuild"}, r.order())
	end := inputsOf[build.CloseInput](r, "CloseBuild")[0].Finished
	require.Equal(t, []string{schema.StepIngest, schema.ErrorSourceKills}, []string{end.FailedStep, end.ErrorType})

	in := sessionInput()
	in.SessionID = ""
	r = newRooms().killed("IdentifySession", 10)
	_, err = process(t, r, in)
	require.ErrorAs(t, err, &failed)
	require.Equal(t, schema.ErrorSourceKills, failed.Type())
	require.Equal(t, []string{"IdentifySession", "IdentifySession", "IdentifySession"}, r.order())
	require.Equal(t, []bool{false, false, false}, r.within["IdentifySession"])
}

// The queue gives up a source that kills workers at once, and one that takes too long after some tries. The next
// session is then processed.
func TestQueueGivesUpSources(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.session = func(_ workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		switch in.SessionID {
		case "deadly":
			return schema.ProcessSessionResult{}, temporal.NewNonRetryableApplicationError("3 workers died", schema.ErrorSourceKills, nil)
		case "slow":
			return schema.ProcessSessionResult{}, temporal.NewNonRetryableApplicationError("timeout", schema.ErrorTimeout, nil)
		}
		return schema.ProcessSessionResult{}, nil
	}
	for _, thread := range []string{"deadly", "deadly", "slow", "next"} {
		b.enqueue(0, b.context(thread, thread))
	}
	require.NoError(t, b.execute())
	require.Empty(t, b.room.waiting())
	require.Equal(t, []string{"deadly", "deadly", "slow", "next", "slow", "slow", "slow", "slow", "slow", "slow", "slow"}, b.threads())
	require.Less(t, b.starts[3].at, time.Minute)
	failed := map[string]string{}
	for _, end := range b.room.ends {
		failed[end.Thread] = end.ErrorType
	}
	require.Equal(t, []uint64{1, 2}, []uint64{b.room.ends[0].To, b.room.ends[1].To}, "the second context is given again: it may name another transcript")
	require.Equal(t, map[string]string{"deadly": schema.ErrorSourceKills, "slow": schema.ErrorTimeout, "next": ""}, failed)
}

// An import whose listing kills workers continues, and passes the number of dead workers to the next attempt.
func TestImportCountsKilledLists(t *testing.T) {
	t.Parallel()
	r, s := newRooms().killed("ListSessions", 4), newSessionsRun()
	r.batch = batchRoom{items: itemsOf(numbered(2)...), pageSize: 2}
	result, err := runBatch(t, r, s, schema.ImportSessionsInput{URI: "file:///sessions"})
	require.NoError(t, err)
	require.Equal(t, 2, result.Items)
	var killed []int
	for _, in := range inputsOf[batch.ListInput[schema.ImportSessionsInput]](r, "ListSessions") {
		killed = append(killed, in.Killed)
	}
	require.Equal(t, []int{0, 1, 2, 3, 4}, killed)
}
