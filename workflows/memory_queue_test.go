package workflows_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"axiommind/schema"
)

var annQueue = schema.MemoryQueueInput{User: "ann"}

func TestQueueWaitsForQuiet(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.enqueue(0, b.context("t1", "a"))
	b.enqueue(20*time.Second, b.context("t2", "b"))
	b.enqueue(45*time.Second, b.context("t1", "c"))
	b.state(t, 46*time.Second, func(s schema.QueueState) {
		require.Equal(t, 2, s.Threads)
		require.Equal(t, []string{"t2", "t1"}, []string{s.Pending[0].Thread, s.Pending[1].Thread})
		require.Equal(t, 2, s.Pending[1].Contexts)
		require.Equal(t, b.began.Add(75*time.Second), s.NextAt.In(b.began.Location()))
	})
	require.NoError(t, b.execute())
	require.Equal(t, []queueStart{{75 * time.Second, "t2", []uint64{2}}, {75*time.Second + schema.QueuePause, "t1", []uint64{1, 3}}}, b.starts)
	require.Empty(t, b.room.waiting())
	require.EqualValues(t, 3, b.room.ends[1].Since)
}

func TestQueueIsNotStarved(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	c := b.context("quiet", "once")
	c.MaxWait = time.Minute
	b.enqueue(0, c)
	for i := range 60 {
		busy := b.context("busy", fmt.Sprint(i))
		busy.MaxWait = time.Minute
		b.enqueue(time.Duration(i)*5*time.Second, busy)
	}
	require.NoError(t, b.execute())
	require.Equal(t, queueStart{time.Minute, "quiet", []uint64{1}}, b.starts[0])
	last := time.Duration(0)
	for _, s := range b.starts[1:] {
		require.LessOrEqual(t, s.at-last, time.Minute+5*time.Second+time.Second)
		last = s.at
	}
	require.Empty(t, b.room.waiting())
}

func TestQueueAtOnce(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.enqueue(0, b.context("t1", "a"))
	now := b.context("t2", "b")
	now.Now = true
	b.enqueue(time.Second, now)
	require.NoError(t, b.execute())
	require.Equal(t, []queueStart{{time.Second, "t2", []uint64{2}}, {time.Second + schema.QueuePause, "t1", []uint64{1}}}, b.starts)
}

// A statement that is due at once is processed alone and delays nothing else. An agent's statement is not admitted to a
// full queue.
func TestQueueStatementAlone(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	waits := b.context("t1", "a")
	b.enqueue(0, waits)
	now := b.context("t2", "b")
	now.Messages = []schema.InlineMessage{{Role: "assistant", Content: "The user likes tea."}}
	now.Now, now.Statement = true, &schema.Statement{Type: schema.EntryFact, By: "mcp:x"}
	require.False(t, now.Admitted())
	b.enqueue(time.Second, now)
	require.NoError(t, b.execute())
	debounce, _ := waits.Waits()
	require.Equal(t, []queueStart{{time.Second, "t2", []uint64{2}}, {debounce, "t1", []uint64{1}}}, b.starts)
}

func TestQueueFlush(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.session = func(_ workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		if in.SessionID == "bad" {
			return schema.ProcessSessionResult{}, temporal.NewNonRetryableApplicationError("no such file", schema.ErrorSourceUnreadable, nil)
		}
		return schema.ProcessSessionResult{}, nil
	}
	for _, thread := range []string{"t1", "bad", "t2"} {
		b.enqueue(0, b.context(thread, thread))
	}
	var results []schema.FlushResult
	flush := func(in schema.FlushInput) {
		b.UpdateWorkflow(schema.UpdateFlush, fmt.Sprint("flush-", in.Project, in.Thread), &updateCallback{
			t: t, done: func(result any) {
				var r schema.FlushResult
				data, err := converter.GetDefaultDataConverter().ToPayload(result)
				require.NoError(t, err)
				require.NoError(t, converter.GetDefaultDataConverter().FromPayload(data, &r))
				results = append(results, r)
			},
		}, in)
	}
	b.RegisterDelayedCallback(func() { flush(schema.FlushInput{User: "ann", Project: "p", Thread: "t2"}) }, time.Second)
	b.RegisterDelayedCallback(func() { flush(schema.FlushInput{User: "ann"}) }, 10*time.Second)
	b.RegisterDelayedCallback(func() { flush(schema.FlushInput{User: "ann", Project: "nothing"}) }, 20*time.Second)
	require.NoError(t, b.execute())
	require.Equal(t, []string{"t2", "t1", "bad"}, b.threads())
	require.Equal(t, time.Second, b.starts[0].at)
	require.Len(t, results, 3)
	require.Equal(t, schema.FlushResult{Processed: 1}, results[0])
	require.Equal(t, 2, results[1].Processed)
	require.Equal(t, "no such file", results[1].Failed[0].Error)
	require.Equal(t, schema.FlushResult{}, results[2])
}

// updateCallback passes on the result of an update.
type updateCallback struct {
	t    *testing.T
	done func(any)
}

func (c *updateCallback) Accept()          {}
func (c *updateCallback) Reject(err error) { require.NoError(c.t, err) }
func (c *updateCallback) Complete(result any, err error) {
	require.NoError(c.t, err)
	c.done(result)
}

// A session is processed as its contexts say.
func TestQueueHandsOnWhatContextsSay(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	var got []schema.ProcessSessionInput
	b.session = func(_ workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		got = append(got, in)
		return schema.ProcessSessionResult{}, nil
	}
	trimmed, last := b.context("t1", "a"), b.context("t1", "b")
	trimmed.Flush, trimmed.IncludeTools = schema.FlushTrim, true
	b.enqueue(0, trimmed)
	b.enqueue(time.Second, last)
	require.NoError(t, b.execute())
	require.Len(t, got, 1)
	require.Equal(t, schema.FlushTrim, got[0].Flush)
	require.True(t, got[0].IncludeTools)
}

// A flush at the very start of a run waits until the pending contexts are loaded.
func TestQueueFlushesWhatWaited(t *testing.T) {
	t.Parallel()
	room := &queueRoom{}
	first := newQueueBench(room, annQueue)
	first.enqueue(0, first.context("t1", "a"))
	first.RegisterDelayedCallback(first.CancelWorkflow, time.Second)
	require.Error(t, first.execute())
	for range 6 { // The log is unavailable for a while.
		room.fail = append(room.fail, temporal.NewNonRetryableApplicationError("read only", schema.ErrorStoreRejected, nil))
	}
	b := newQueueBench(room, annQueue)
	processed := 0
	b.RegisterDelayedCallback(func() {
		b.UpdateWorkflow(schema.UpdateFlush, "flush", &updateCallback{t: t, done: func(result any) {
			processed = result.(schema.FlushResult).Processed
		}}, schema.FlushInput{User: "ann"})
	}, 0)
	require.NoError(t, b.execute())
	require.Equal(t, 1, processed)
}

// A run whose backlog makes the server suggest continuing as new at once still processes something.
func TestQueueHandsOverNoEarlierThanItWorks(t *testing.T) {
	t.Parallel()
	room := &queueRoom{}
	first := newQueueBench(room, annQueue)
	for i := range 3 {
		first.enqueue(0, first.context(fmt.Sprint("t", i), "a"))
	}
	first.RegisterDelayedCallback(first.CancelWorkflow, time.Second)
	require.Error(t, first.execute())
	b := newQueueBench(room, schema.MemoryQueueInput{User: "ann", Continued: &schema.QueueContinued{FiringTo: 2}})
	b.SetContinueAsNewSuggested(true)
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, b.execute(), &again)
	require.Equal(t, []queueStart{{0, "t0", []uint64{1}}}, b.starts, "the first that was being processed")
	next := annQueue
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	require.EqualValues(t, 2, next.Continued.FiringTo, "the third waits until it is quiet")
}

// A session that takes only some of its contexts gets the rest at once.
func TestQueueGivesTheRest(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.session = func(_ workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		return schema.ProcessSessionResult{Status: schema.BuildSuccess, QueuedTo: in.Queued[0]}, nil
	}
	for _, text := range []string{"a", "b", "c"} {
		b.enqueue(0, b.context("t1", text))
	}
	require.NoError(t, b.execute())
	require.Equal(t, [][]uint64{{1, 2, 3}, {2, 3}, {3}}, [][]uint64{b.starts[0].queued, b.starts[1].queued, b.starts[2].queued})
	require.Empty(t, b.room.waiting())
}

// The log may be unavailable for longer than an activity is retried.
func TestQueueStoresInTheEnd(t *testing.T) {
	t.Parallel()
	room := &queueRoom{}
	for range 6 {
		room.fail = append(room.fail, temporal.NewNonRetryableApplicationError("read only", schema.ErrorStoreRejected, nil))
	}
	b := newQueueBench(room, annQueue)
	b.enqueue(0, b.context("t1", "a"))
	require.NoError(t, b.execute())
	require.Equal(t, []string{"t1"}, b.threads())
}

func TestQueueRefuses(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.ExecuteWorkflow(schema.WorkflowMemoryQueue, schema.MemoryQueueInput{User: "bob"})
	require.ErrorContains(t, b.GetWorkflowError(), `the queue of this user and agent is the workflow "queue/bob/"`)

	b = newQueueBench(&queueRoom{}, annQueue)
	other := b.context("t1", "a")
	other.User = "bob"
	b.enqueue(0, other)
	b.enqueue(0, schema.QueuedContext{})
	b.enqueue(0, b.context("t2", "b"))
	require.NoError(t, b.execute())
	require.Equal(t, []string{"t2"}, b.threads())
}

func TestQueueIsCancelled(t *testing.T) {
	t.Parallel()
	b := newQueueBench(&queueRoom{}, annQueue)
	b.enqueue(0, b.context("t1", "a"))
	b.RegisterDelayedCallback(func() {
		b.SignalWorkflow(schema.SignalEnqueue, b.context("t2", "b"))
		b.CancelWorkflow()
	}, time.Second)
	var cancelled *temporal.CanceledError
	require.ErrorAs(t, b.execute(), &cancelled)
	require.Equal(t, []string{"a", "b"}, b.room.waiting(), "it waits for the next run")
}

// A full queue refuses other sessions, except for corrections, urgent contexts and contexts of known sessions.
func TestQueueIsFull(t *testing.T) {
	t.Parallel()
	room := &queueRoom{}
	for i := range schema.MaxQueuedThreads {
		room.contexts = append(room.contexts, schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{
			ID: fmt.Sprint("old", i), Scope: schema.Scope{Project: "p", User: "ann"}, Thread: fmt.Sprint("old", i),
		}})
		room.at, room.ended = append(room.at, time.Now().Add(time.Hour)), append(room.ended, false)
	}
	b := newQueueBench(room, annQueue)
	b.session = func(ctx workflow.Context, _ schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		return schema.ProcessSessionResult{}, workflow.Sleep(ctx, time.Hour)
	}
	correction, again := b.context("t2", "b"), b.context("old7", "more")
	correction.Correction = true
	b.enqueue(0, b.context("t1", "a"))
	b.enqueue(0, correction)
	b.enqueue(0, again)
	b.state(t, 20*time.Second, func(s schema.QueueState) {
		require.True(t, s.Full)
		require.Equal(t, 1, s.Refused)
		require.Equal(t, schema.MaxQueuedThreads+1, s.Threads)
		require.Len(t, s.Pending, 100)
		b.CancelWorkflow()
	})
	require.Error(t, b.execute())
	require.NotEmpty(t, room.contexts[schema.MaxQueuedThreads].Refused)
}

// Whatever contexts arrive, in any order and however often, each is given to its session, and a run that continues as
// new loses nothing.
func TestQueueProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		room := &queueRoom{page: rapid.IntRange(0, 3).Draw(rt, "page")}
		in, sent, n := annQueue, map[string][]string{}, 0
		var got []queueStart
		for run := 0; run == 0 || in.Continued != nil || len(room.waiting()) > 0; run++ {
			require.Less(rt, run, 60)
			b := newQueueBench(room, in)
			b.n = n
			fails := rapid.IntRange(0, 2).Draw(rt, "fails")
			b.session = func(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
				if err := workflow.Sleep(ctx, time.Duration(len(in.Queued))*700*time.Millisecond); err != nil {
					return schema.ProcessSessionResult{}, err
				}
				if fails--; fails >= 0 {
					return schema.ProcessSessionResult{}, temporal.NewApplicationError("away", schema.ErrorStoreUnavailable)
				}
				got = append(got, queueStart{thread: in.SessionID, queued: in.Queued})
				return schema.ProcessSessionResult{}, nil
			}
			if run < 4 {
				for range rapid.IntRange(1, 12).Draw(rt, "contexts") {
					c := b.context(fmt.Sprint("t", rapid.IntRange(1, 4).Draw(rt, "thread")), fmt.Sprint(b.n))
					c.Now = rapid.IntRange(0, 9).Draw(rt, "now") == 0
					c.Debounce = time.Duration(rapid.IntRange(1, 40).Draw(rt, "debounce")) * time.Second
					for range rapid.IntRange(1, 2).Draw(rt, "times") {
						at := time.Duration(rapid.IntRange(0, 90_000).Draw(rt, "at")) * time.Millisecond
						b.RegisterDelayedCallback(func() { b.SignalWorkflow(schema.SignalEnqueue, c) }, at)
						b.RegisterDelayedCallback(func() {
							// A server passes signals that arrive while a run ends to the next one. The test
							// environment does not.
							if !b.IsWorkflowCompleted() && !slices.Contains(sent[c.Thread], c.ID) {
								sent[c.Thread] = append(sent[c.Thread], c.ID)
							}
						}, at+time.Millisecond)
					}
				}
				b.RegisterDelayedCallback(func() { b.SetContinueAsNewSuggested(true) }, time.Duration(rapid.IntRange(0, 100).Draw(rt, "long"))*time.Second)
			}
			n = b.n + 100
			err := b.execute()
			in = annQueue
			var again *workflow.ContinueAsNewError
			if errors.As(err, &again) {
				require.NoError(rt, converter.GetDefaultDataConverter().FromPayloads(again.Input, &in))
			} else {
				require.NoError(rt, err)
			}
		}
		processed := map[string][]string{}
		for _, s := range got {
			for _, position := range s.queued {
				c := room.contexts[position-1]
				require.Equal(rt, s.thread, c.Thread)
				processed[s.thread] = append(processed[s.thread], c.ID)
			}
		}
		for _, c := range room.contexts {
			if !slices.Contains(sent[c.Thread], c.ID) {
				sent[c.Thread] = append(sent[c.Thread], c.ID)
			}
		}
		for thread, ids := range sent {
			have := slices.Clone(processed[thread])
			slices.Sort(have)
			have = slices.Compact(have) // A session that a run left is started again, although it took its contexts already.
			slices.Sort(ids)
			require.Equal(rt, strings.Join(ids, " "), strings.Join(have, " "), thread)
		}
	})
}

// A refused context is admitted when it is sent again under the same id and there is room. Senders know that the queue
// is full before it refuses anything, also while a session is in progress.
func TestQueueAdmitsWhatItRefused(t *testing.T) {
	t.Parallel()
	room := &queueRoom{}
	for i := range schema.QueueNearlyFull - 1 {
		room.contexts = append(room.contexts, schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{
			ID: fmt.Sprint("old", i), Scope: schema.Scope{Project: "p", User: "ann"}, Thread: fmt.Sprint("old", i),
		}})
		room.at, room.ended = append(room.at, time.Now().Add(time.Hour)), append(room.ended, false)
	}
	b := newQueueBench(room, annQueue)
	b.session = func(ctx workflow.Context, _ schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
		return schema.ProcessSessionResult{}, workflow.Sleep(ctx, 9*time.Minute)
	}
	urgent := b.context("urgent", "u")
	urgent.Now = true
	b.enqueue(0, urgent)
	full := false
	// While an activity runs, the clock is the real one: a slow machine has not started the session within a second.
	b.state(t, time.Minute, func(s schema.QueueState) {
		full = len(s.Running) > 0 && s.Full
	})
	for second := range 11 { // The environment accepts up to 1000 signals at once.
		b.RegisterDelayedCallback(func() {
			for i := range schema.MaxQueuedThreads / 100 {
				b.SignalWorkflow(schema.SignalEnqueue, b.context(fmt.Sprint("new", second, "/", i), "n"))
			}
		}, time.Minute+time.Duration(1+second)*time.Second)
	}
	var refused schema.QueuedContext
	wasRefused := false
	b.RegisterDelayedCallback(func() {
		refused = room.contexts[len(room.contexts)-1].QueuedContext
		wasRefused = room.contexts[len(room.contexts)-1].Refused != ""
	}, 2*time.Minute)
	b.RegisterDelayedCallback(func() { b.SignalWorkflow(schema.SignalEnqueue, refused) }, 11*time.Minute)
	b.RegisterDelayedCallback(b.CancelWorkflow, 12*time.Minute)
	require.Error(t, b.execute())
	require.True(t, full)
	require.True(t, wasRefused)
	last := room.contexts[len(room.contexts)-1]
	require.Equal(t, refused.ID, last.ID)
	require.Empty(t, last.Refused)
}
