package workflows_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/boundary"
	"axiommind/activities/vector"
	"axiommind/schema"
)

const (
	collection        = "Entry_hash"
	messageCollection = "Message_hash"
)

func vectorEnvironment(r *rooms) *testsuite.TestWorkflowEnvironment {
	return newEnvironment(r, schema.WorkflowID(schema.VectorStream(collection)))
}

func runVectorWriter(env *testsuite.TestWorkflowEnvironment) error {
	env.ExecuteWorkflow(schema.WorkflowVectorWriter, schema.VectorWriterInput{Collection: collection})
	return env.GetWorkflowError()
}

// The writer continues while rows remain, and ends once nothing has arrived for the idle time.
func TestVectorWriterEndsWhenIdle(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.pending = []vector.Result{{Indexed: 512, More: true}, {Indexed: 3}}
	env := vectorEnvironment(r)
	begin := env.Now()
	require.NoError(t, runVectorWriter(env))
	require.Len(t, r.order(), 2)
	require.Equal(t, vector.IndexInput{Collection: collection, Limit: 512}, inputsOf[vector.IndexInput](r, "IndexPending")[0])
	require.GreaterOrEqual(t, env.Now().Sub(begin), time.Minute)
}

// Messages wait for their sessions, and fewer are indexed at a time.
func TestMessagesAreIndexedLater(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.pending = []vector.Result{{Indexed: 256, More: true}, {Indexed: 3}}
	var at []time.Duration
	env := newEnvironment(r, schema.WorkflowID(schema.VectorStream(messageCollection)))
	begin := env.Now()
	r.before = func(context.Context, string) { at = append(at, env.Now().Sub(begin)) }
	env.ExecuteWorkflow(schema.WorkflowVectorWriter, schema.VectorWriterInput{Collection: messageCollection})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, vector.IndexInput{Collection: messageCollection, Limit: 256}, inputsOf[vector.IndexInput](r, "IndexPending")[0])
	require.Len(t, at, 2)
	require.GreaterOrEqual(t, at[0], 3*time.Second)
	require.Less(t, at[1], 4*time.Second, "what remains is done at once")
}

// A wake while the writer waits makes it work at once. A wake while it works is not lost.
func TestVectorWriterWakes(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := vectorEnvironment(r)
	begin := env.Now()
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(schema.SignalWake, nil) }, 30*time.Second)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(schema.SignalWake, nil) }, 50*time.Second)
	require.NoError(t, runVectorWriter(env))
	require.Len(t, r.order(), 3)
	require.GreaterOrEqual(t, env.Now().Sub(begin), 110*time.Second)
}

// A failed row is retried when it falls due, without a wake, however far off that is.
func TestVectorWriterRetries(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.pending = []vector.Result{{Failed: 1, NextRetry: time.Now()}}
	env := vectorEnvironment(r)
	require.NoError(t, runVectorWriter(env))
	require.Len(t, r.order(), 2)
}

func TestVectorWriterContinuesAsNew(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.pending = []vector.Result{{More: true}}
	env := vectorEnvironment(r)
	env.SetContinueAsNewSuggested(true)
	err := runVectorWriter(env)
	require.True(t, workflow.IsContinueAsNewError(err), "%v", err)
	require.Len(t, r.order(), 1)
}

func TestVectorWriterFails(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("IndexPending", schema.ErrorVectorRejected)
	err := runVectorWriter(vectorEnvironment(r))
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, schema.ErrorVectorRejected, application.Type())
}

// On request the writer compares the collection with the log between two rounds of indexing, and then rewrites the
// drifted objects.
func TestVectorWriterReconciles(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := vectorEnvironment(r)
	var u update
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(schema.UpdateReconcile, "1", u.callbacks(), vector.ReconcileInput{Collection: collection})
	}, time.Second)
	require.NoError(t, runVectorWriter(env))
	require.True(t, u.accepted)
	require.NoError(t, u.err)
	require.Equal(t, []string{"IndexPending", "ReconcileCollection", "IndexPending"}, r.order())
	require.Equal(t, []vector.ReconcileInput{{Collection: collection}}, inputsOf[vector.ReconcileInput](r, "ReconcileCollection"))
}

func TestVectorWriterRefusesAnotherCollection(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := vectorEnvironment(r)
	var u update
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(schema.UpdateReconcile, "1", u.callbacks(), vector.ReconcileInput{Collection: "Entry_other"})
	}, time.Second)
	require.NoError(t, runVectorWriter(env))
	require.False(t, u.accepted)
	require.ErrorContains(t, u.err, schema.ErrorScopeMismatch)
	require.Equal(t, []string{"IndexPending"}, r.order())
}

// A failing run still does an admitted update: the sender gets the error of the comparison, not that of a missing run.
func TestVectorWriterFailsAndAnswers(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("IndexPending", schema.ErrorModelRefused)
	asked := make(chan struct{})
	r.before = func(_ context.Context, name string) {
		if name == "IndexPending" {
			<-asked
		}
	}
	env := vectorEnvironment(r)
	var u update
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(schema.UpdateReconcile, "1", u.callbacks(), vector.ReconcileInput{Collection: collection})
		close(asked)
	}, time.Millisecond)
	var application *temporal.ApplicationError
	require.ErrorAs(t, runVectorWriter(env), &application)
	require.Equal(t, schema.ErrorModelRefused, application.Type())
	require.True(t, u.accepted)
	require.NoError(t, u.err)
	require.Equal(t, []string{"IndexPending", "ReconcileCollection"}, r.order())
}

// A failed comparison fails for its sender alone, with the activity's unwrapped error, because the type of a wrapped
// one would be lost.
func TestVectorWriterReconcileFails(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("ReconcileCollection", schema.ErrorVectorRejected)
	env := vectorEnvironment(r)
	var u update
	env.RegisterDelayedCallback(func() {
		env.UpdateWorkflow(schema.UpdateReconcile, "1", u.callbacks(), vector.ReconcileInput{Collection: collection})
	}, time.Second)
	require.NoError(t, runVectorWriter(env))
	_, ok := u.err.(*temporal.ActivityError) //nolint:errorlint // the outermost counts
	require.True(t, ok, "%T", u.err)
	require.ErrorContains(t, u.err, "ReconcileCollection can't")
}

// sendSessions sends updates for as many sessions as there are updates, all at once.
func sendSessions(env *testsuite.TestWorkflowEnvironment, updates []update) {
	for i := range updates {
		in := vector.IndexRequest{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: fmt.Sprintf("세션/%d \"a\"", i)},
			BuildID:    "b", EmbeddingVersion: "hash",
		}
		env.UpdateWorkflow(schema.UpdateSession, fmt.Sprint(i), updates[i].callbacks(), in)
	}
}

// The pending sessions are one batch. If nothing failed, the outbox is not read afterwards. The head of the stream is
// passed from one activity to the next.
func TestVectorWriterIndexesSessions(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.indexed = vector.SessionResult{Indexed: 3}
	env := vectorEnvironment(r)
	updates := make([]update, 21)
	env.RegisterDelayedCallback(func() { sendSessions(env, updates) }, time.Second)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(schema.SignalWake, nil) }, 30*time.Second)
	require.NoError(t, runVectorWriter(env))
	require.Equal(t, []string{"IndexPending", "IndexSessions", "IndexSessions", "IndexPending"}, r.order())
	for _, u := range updates {
		require.NoError(t, u.err)
		require.Equal(t, r.indexed, u.result)
	}
	batches := inputsOf[boundary.Batch[vector.IndexRequest]](r, "IndexSessions")
	require.Len(t, batches[0].Items, 1)
	require.Len(t, batches[1].Items, 20)
	require.Equal(t, schema.StreamHead{Known: true, Seq: 1000}, batches[0].Head)
	require.Equal(t, schema.StreamHead{Known: true, Seq: 1001}, batches[1].Head)
	require.Equal(t, schema.StreamHead{Known: true, Seq: 1021}, inputsOf[vector.IndexInput](r, "IndexPending")[1].Head)
}

// Failed items of a session are retried when they fall due, and the session does not wait for that.
func TestVectorWriterRetriesForSessions(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := vectorEnvironment(r)
	begin := env.Now()
	r.indexed = vector.SessionResult{Indexed: 1, Failed: 1, NextRetry: begin.Add(time.Hour)}
	updates := make([]update, 1)
	env.RegisterDelayedCallback(func() { sendSessions(env, updates) }, time.Second)
	require.NoError(t, runVectorWriter(env))
	require.NoError(t, updates[0].err)
	require.Equal(t, []string{"IndexPending", "IndexSessions", "IndexPending"}, r.order())
	require.GreaterOrEqual(t, env.Now().Sub(begin), time.Hour)
}

// A failed batch fails for each of its sessions, and the writer continues.
func TestVectorWriterSessionsFail(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("IndexSessions", schema.ErrorModelRefused)
	env := vectorEnvironment(r)
	updates := make([]update, 3)
	env.RegisterDelayedCallback(func() { sendSessions(env, updates) }, time.Second)
	require.NoError(t, runVectorWriter(env))
	for _, u := range updates {
		require.ErrorContains(t, u.err, "IndexSessions can't")
	}
}

// A session of another embedding version goes to another writer.
func TestVectorWriterRefusesAnotherVersion(t *testing.T) {
	t.Parallel()
	r := newRooms()
	env := vectorEnvironment(r)
	var u, empty update
	env.RegisterDelayedCallback(func() {
		in := vector.IndexRequest{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s"}, BuildID: "b", EmbeddingVersion: "other",
		}
		env.UpdateWorkflow(schema.UpdateSession, "1", u.callbacks(), in)
		env.UpdateWorkflow(schema.UpdateSession, "2", empty.callbacks(), vector.IndexRequest{})
	}, time.Second)
	require.NoError(t, runVectorWriter(env))
	require.False(t, u.accepted)
	require.ErrorContains(t, u.err, schema.ErrorScopeMismatch)
	require.False(t, empty.accepted)
	require.ErrorContains(t, empty.err, "is empty")
	require.Equal(t, []string{"IndexPending"}, r.order())
}

func rebuildUpdate(env *testsuite.TestWorkflowEnvironment, id string, u *update, in vector.RebuildInput) {
	env.UpdateWorkflow(schema.UpdateRebuild, id, u.callbacks(), in)
}

// A rebuild is done in turns. Between two turns, waiting sessions and pending rows are indexed. After the switch it
// waits before it deletes the old collection, and nothing else waits for that.
func TestVectorWriterRebuildsInTurns(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.anew = 5
	env := vectorEnvironment(r)
	var u, same, other update
	var q schema.WriterQueue
	sessions := make([]update, 3)
	turns := 0
	r.before = func(_ context.Context, name string) {
		if name != "RebuildCollection" {
			return
		}
		if turns++; turns == 2 {
			env.RegisterDelayedCallback(func() {
				sendSessions(env, sessions)
				env.SignalWorkflow(schema.SignalWake, nil)
				rebuildUpdate(env, "same", &same, vector.RebuildInput{Collection: collection})
				rebuildUpdate(env, "other", &other, vector.RebuildInput{Collection: collection, Verify: true})
				value, err := env.QueryWorkflow(schema.QueryQueue)
				require.NoError(t, err)
				require.NoError(t, value.Get(&q))
			}, 0)
		}
	}
	env.RegisterDelayedCallback(func() { rebuildUpdate(env, "1", &u, vector.RebuildInput{Collection: collection}) }, time.Second)
	begin := env.Now()
	require.NoError(t, runVectorWriter(env))
	for _, done := range append(sessions, u, same, other) {
		require.NoError(t, done.err)
	}
	require.Equal(t, 5, u.result.(vector.RebuildResult).Items)
	require.Equal(t, u.result, same.result, "it has been asked for already")
	require.Contains(t, q.Long, "rebuild the collection: ")
	require.Equal(t, []int{1, 5}, []int{q.LongSeen, q.LongTotal})
	order := r.order()
	require.Equal(t, []string{"IndexPending", "RebuildCollection", "RebuildCollection"}, order[:3])
	require.Len(t, inputsOf[vector.Rebuilding](r, "RebuildCollection"), 10, "one for both that asked the same, one for the other: %v", order)
	require.Equal(t, 16, inputsOf[vector.IndexInput](r, "IndexPending")[1].Limit, "the rebuild waits for few items")
	first := 0
	for i, name := range order {
		if name == "RebuildCollection" {
			first++
		}
		if name == "IndexSessions" {
			require.Less(t, first, 5, "sessions do not wait for the end: %v", order[:i+1])
		}
	}
	require.GreaterOrEqual(t, env.Now().Sub(begin), 2*schema.Timing{}.WithDefaults().Vectors)
}

// A run that has grown long leaves the rest to the next one, unless the switch is done.
func TestVectorWriterRebuildAcrossRuns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		turns int
		ends  bool
	}{{turns: 5}, {turns: 2, ends: true}} {
		r := newRooms()
		r.anew = tt.turns
		env := vectorEnvironment(r)
		var u update
		r.before = func(_ context.Context, name string) {
			if name == "RebuildCollection" {
				env.SetContinueAsNewSuggested(true)
			}
		}
		env.RegisterDelayedCallback(func() { rebuildUpdate(env, "1", &u, vector.RebuildInput{Collection: collection}) }, time.Second)
		err := runVectorWriter(env)
		require.True(t, workflow.IsContinueAsNewError(err), "%v", err)
		if tt.ends {
			require.NoError(t, u.err)
			require.Equal(t, 2, u.result.(vector.RebuildResult).Items)
			continue
		}
		var application *temporal.ApplicationError
		require.ErrorAs(t, u.err, &application)
		require.Equal(t, schema.ErrorDraining, application.Type())
		require.Len(t, inputsOf[vector.Rebuilding](r, "RebuildCollection"), 1)
	}
}

// A run that fails for another reason first completes the rebuild, which may be the remedy.
func TestVectorWriterFailsAndRebuilds(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("IndexPending", schema.ErrorVectorRejected)
	env := vectorEnvironment(r)
	asked := make(chan struct{})
	r.before = func(_ context.Context, name string) {
		if name == "IndexPending" {
			<-asked
		}
	}
	var u update
	env.RegisterDelayedCallback(func() {
		rebuildUpdate(env, "1", &u, vector.RebuildInput{Collection: collection})
		close(asked)
	}, time.Millisecond)
	require.Error(t, runVectorWriter(env))
	require.NoError(t, u.err)
	require.Equal(t, 4, u.result.(vector.RebuildResult).Items)
}

// A failed rebuild fails for its sender alone, and the next one begins.
func TestVectorWriterRebuildFails(t *testing.T) {
	t.Parallel()
	r := newRooms().failing("RebuildCollection", schema.ErrorVectorRejected)
	env := vectorEnvironment(r)
	var u, bad update
	env.RegisterDelayedCallback(func() {
		rebuildUpdate(env, "1", &u, vector.RebuildInput{Collection: collection})
		rebuildUpdate(env, "2", &bad, vector.RebuildInput{Collection: "Entry_other"})
	}, time.Second)
	require.NoError(t, runVectorWriter(env))
	require.ErrorContains(t, u.err, "RebuildCollection can't")
	require.False(t, bad.accepted)
	require.Equal(t, []string{"IndexPending", "RebuildCollection", "IndexPending"}, r.order())
}
