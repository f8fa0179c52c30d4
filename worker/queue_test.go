package main_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/activities/queue"
	"axiommind/activities/queue/door"
	"axiommind/activities/session"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// queued is a context of a thread of the user with the messages, by turns of the user and the assistant.
func (b *bench) queued(user, thread, id string, messages ...string) schema.QueuedContext {
	c := schema.QueuedContext{
		ID: id, Scope: schema.Scope{Project: b.project, User: user}, Thread: thread, At: time.Now().UTC(), Debounce: time.Second,
	}
	for i, text := range messages {
		role := []string{"user", "assistant"}[i%2]
		c.Messages = append(c.Messages, schema.InlineMessage{Role: role, Content: text})
	}
	return c
}

func (b *bench) enqueue(t testing.TB, c schema.QueuedContext) {
	t.Helper()
	require.NoError(t, door.Send(t.Context(), b.Temporal, c))
}

// flushQueue waits until all that was enqueued for the user is processed.
func (b *bench) flushQueue(t testing.TB, user string) schema.FlushResult {
	t.Helper()
	var result schema.FlushResult
	u := boundary.Update{Name: schema.UpdateFlush, ID: fmt.Sprint("flush-", rand.Uint64()), Arg: schema.FlushInput{User: user}}
	require.NoError(t, u.Send(t.Context(), b.Temporal, &result))
	return result
}

// texts are those of the messages that the log holds of the session.
func (b *bench) texts(t testing.TB, user, thread string) (texts []string) {
	t.Helper()
	key := schema.SessionKey{Scope: schema.Scope{Project: b.project, User: user}, SessionID: thread}
	logged, err := session.Open(t.Context(), b.Log.Store, key)
	require.NoError(t, err)
	messages, err := logged.Range(t.Context(), 0, logged.Len())
	require.NoError(t, err)
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return texts
}

// Contexts of a session overlap, come twice, and say "yes" twice: each message is remembered once, in its place.
func TestQueueRemembers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	const thread = `세션 "7"/\x`
	first := b.queued("ann", thread, "1", decision, "Noted. Shall I go on?", "yes", "Done.")
	b.enqueue(t, first)
	b.enqueue(t, first)
	b.enqueue(t, b.queued("ann", thread, "2", "yes", "Done.", "Shall I delete the old one?"))
	require.Empty(t, b.flushQueue(t, "ann").Failed)
	b.enqueue(t, b.queued("ann", thread, "3", "yes", "Done."))
	later := b.queued("ann", thread, "4", decision, "Noted. Shall I go on?", "yes", "Done.", "Shall I delete the old one?", "yes", "I prefer tabs over spaces.")
	b.enqueue(t, later)
	require.Empty(t, b.flushQueue(t, "ann").Failed)
	require.Equal(t, []string{decision, "Noted. Shall I go on?", "yes", "Done.", "Shall I delete the old one?", "yes", "Done."}, b.texts(t, "ann", thread)[:7])

	// The same again changes nothing.
	n := len(b.texts(t, "ann", thread))
	b.enqueue(t, first)
	b.enqueue(t, b.queued("ann", thread, "5", decision, "Noted. Shall I go on?"))
	require.Empty(t, b.flushQueue(t, "ann").Failed)
	require.Len(t, b.texts(t, "ann", thread), n)
	titles := column(t, b.ClickHouse, "SELECT title FROM entries WHERE user = 'ann' ORDER BY title")
	require.Contains(t, titles, decision)
}

// Transcripts and statements of persons take the same way through the queue as without it.
func TestQueueTakesFilesAndStatements(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	file := b.queued("bob", "c", "1")
	file.Messages, file.URI = nil, write(t, path, said(1, "user", decision))
	b.enqueue(t, file)
	stated := b.queued("bob", "", "2", "I prefer short answers.")
	stated.Statement = &schema.Statement{Type: schema.EntryFact, Category: "preference"}
	in := schema.ProcessSessionInput{Project: b.project, User: "bob", Statement: stated.Statement, Messages: stated.Messages}
	stated.Thread = in.StatementSessionID()
	b.enqueue(t, stated)
	missing := b.queued("bob", "gone", "3")
	missing.Messages, missing.URI = nil, "file://"+filepath.Join(t.TempDir(), "gone.jsonl")
	b.enqueue(t, missing)
	result := b.flushQueue(t, "bob")
	require.Equal(t, 3, result.Processed)
	require.Len(t, result.Failed, 1)
	require.Equal(t, "gone", result.Failed[0].Thread)
	require.Equal(t, []string{decision}, b.texts(t, "bob", "c"))
	require.Equal(t, []string{"I prefer short answers."}, column(t, b.ClickHouse, "SELECT content FROM facts WHERE user = 'bob'"))

	write(t, path, said(1, "user", decision), said(2, "assistant", "Noted."), said(3, "user", "We decided to use Kafka for the queue."))
	file.ID, file.At = "4", time.Now().UTC()
	b.enqueue(t, file)
	require.Empty(t, b.flushQueue(t, "bob").Failed)
	require.Len(t, b.texts(t, "bob", "c"), 3)
	starts, _ := b.builds(t, "c")
	require.Empty(t, starts, "it is a session of bob, not of u")
}

func TestDoorRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := b.queued("ann", "t", "1", string(make([]byte, schema.MaxSignalBytes+1)))
	require.ErrorContains(t, door.Send(t.Context(), b.Temporal, long), "messages hold 4097 bytes")
	require.ErrorContains(t, door.Send(t.Context(), b.Temporal, schema.QueuedContext{}), "id is missing")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	cancel()
	var late *serviceerror.Canceled
	err := door.Send(ctx, b.Temporal, b.queued("ann", "t", "1", "a"))
	require.True(t, errors.As(err, &late) || errors.Is(err, context.Canceled), err)
}

// queueLoad is the number of contexts and sessions to send, the least time to send them in, and the number of kills of
// a worker, each after one to three times its life.
type queueLoad struct {
	keys, contexts, kills int
	life, sending         time.Duration
}

func queueKilledWorker(t *testing.T, load queueLoad) {
	t.Helper()
	keys, contexts := load.keys, load.contexts
	users := max(3, keys/50)
	b := newBench(t)
	worker := buildWorker(t, b)
	type sending struct{ user, thread, text string }
	var all []sending
	for i := range contexts {
		key := i % keys
		all = append(all, sending{fmt.Sprint("user ", key%users), fmt.Sprint("thread ", key), fmt.Sprintf("TODO: write page %d of book %d.", i/keys, key)})
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	began := time.Now()
	sent := make(chan struct{})
	kills := 0
	var killing sync.WaitGroup
	killing.Go(func() {
		for {
			kill := worker.start(t)
			enough := sent
			if kills < load.kills {
				enough = nil
			}
			select {
			case <-enough:
				t.Cleanup(kill)
				return
			case <-time.After(load.life + rand.N(2*load.life)):
				kill()
				kills++
			}
		}
	})
	var senders sync.WaitGroup
	for part := range slices.Chunk(all, (len(all)+3)/4) {
		senders.Go(func() {
			for _, s := range part {
				id := s.user + s.thread + s.text
				c := b.queued(s.user, s.thread, id, s.text)
				c.Debounce = max(load.sending/7, time.Duration(contexts)*time.Millisecond)
				c.MaxWait = 10 * c.Debounce
				for range 1 + rand.IntN(2) { // Some are sent twice.
					require.NoError(t, door.Send(t.Context(), b.Temporal, c))
				}
				<-time.After(rand.N(2 * 4 * load.sending / time.Duration(contexts)))
			}
		})
	}
	senders.Wait()
	t.Logf("%d contexts of %d sessions and %d users sent in %.1f s", contexts, keys, users, time.Since(began).Seconds())
	close(sent)
	killing.Wait()
	var flushes sync.WaitGroup
	for u := range users {
		flushes.Go(func() { assert.Empty(t, b.flushQueue(t, fmt.Sprint("user ", u)).Failed) })
	}
	flushes.Wait()
	t.Logf("all processed after %.1f s and %d kills", time.Since(began).Seconds(), kills)
	want, got := map[string]int{}, map[string]int{}
	for _, s := range all {
		want[s.text]++
	}
	for key := range keys {
		for _, text := range b.texts(t, fmt.Sprint("user ", key%users), fmt.Sprint("thread ", key)) {
			got[text]++
		}
	}
	require.Equal(t, want, got)
	longest := column(t, b.ClickHouse, "SELECT toString(count()) FROM events WHERE event_type = 'context_enqueued'")
	require.Equal(t, []string{strconv.Itoa(contexts)}, longest)
	b.requireShortQueues(t, 10_000)
	t.Logf("survived: %d kills of a worker while contexts were queued", kills)
}

// requireShortQueues checks that no run of a queue has more events.
func (b *bench) requireShortQueues(t *testing.T, most int64) {
	t.Helper()
	longest, runs := int64(0), 0
	eventually(t, func() bool {
		longest, runs = 0, 0
		for info, err := range b.workflowsOf(t.Context(), schema.WorkflowMemoryQueue) {
			if err != nil {
				return false
			}
			d, err := b.Temporal.DescribeWorkflowExecution(t.Context(), info.WorkflowId, info.RunId)
			if err != nil {
				return false
			}
			longest, runs = max(longest, d.GetWorkflowExecutionInfo().GetHistoryLength()), runs+1
		}
		return runs > 0
	})
	t.Logf("%d runs of queues, the longest of %d events", runs, longest)
	require.Less(t, longest, most)
}

// workflowsOf lists the runs of the type.
func (b *bench) workflowsOf(ctx context.Context, kind string) iter.Seq2[*common.WorkflowExecution, error] {
	return func(yield func(*common.WorkflowExecution, error) bool) {
		var page []byte
		for {
			r, err := b.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
				Query: fmt.Sprintf("WorkflowType = %q", kind), NextPageToken: page,
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, info := range r.GetExecutions() {
				if !yield(info.GetExecution(), nil) {
					return
				}
			}
			if page = r.GetNextPageToken(); len(page) == 0 {
				return
			}
		}
	}
}

// However an attempt to read contexts ends, the next one reads the same contexts, and the next build reads the rest.
func TestI2QueuedContextsAreTakenOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	queues, err := queue.NewActivities(b.Log.Store, b.ClickHouse)
	require.NoError(t, err)
	access, err := transcript.NewAccess(transcript.AccessOptions{Roots: []string{os.TempDir()}})
	require.NoError(t, err)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet)
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(queues)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	file := b.queued("u", "s", "3")
	file.Messages, file.URI = nil, write(t, path, said(1, "user", "in a file"))
	store := queue.StoreInput{User: "u", At: time.Now().UTC()}
	for _, c := range []schema.QueuedContext{b.queued("u", "s", "1", "one"), b.queued("u", "s", "2", "two"), file, b.queued("u", "s", "4", "four")} {
		store.Contexts = append(store.Contexts, schema.ContextEnqueuedPayload{QueuedContext: c})
	}
	_, err = env.ExecuteActivity(queues.StoreContexts, store)
	require.NoError(t, err)
	ingest := func(ordinal int, positions ...uint64) transcript.IngestResult {
		// Each time another process, which remembers nothing.
		rooms, err := transcript.NewActivities(projection.New(b.ClickHouse, eventlog.Options{}).Store, access)
		require.NoError(t, err)
		in := transcript.IngestInput{Session: b.input("s", ""), At: time.Now().UTC()}
		in.Session.Queued = positions
		in.Build = build.Opened{BuildID: build.ID(in.Session.Key(), ordinal), Ordinal: ordinal, SessionKey: in.Session.Key()}
		result, err := transcript.Ingest(t.Context(), rooms, in)
		require.NoError(t, err)
		return result
	}
	for range 3 { // The last two are attempts whose predecessor has stored all, and was not heard.
		result := ingest(1, 1, 2, 3, 4)
		require.Equal(t, []int{2, 2, 2}, []int{int(result.QueuedTo), result.Messages, result.NewMessages})
	}
	for range 2 {
		result := ingest(2, 2, 3, 4)
		require.Equal(t, []int{3, 3, 1}, []int{int(result.QueuedTo), result.Messages, result.NewMessages})
	}
	for range 2 {
		result := ingest(3, 4)
		require.Equal(t, []int{4, 4, 1}, []int{int(result.QueuedTo), result.Messages, result.NewMessages})
	}
	result := ingest(4, 1, 2, 3, 4)
	require.Zero(t, result.NewMessages)
	require.Equal(t, []string{"one", "two", "in a file", "four"}, b.texts(t, "u", "s"))
	starts, _ := b.builds(t, "s")
	require.Equal(t, [][]uint64{{1, 2}, {2, 3}, {4}}, [][]uint64{starts[0].Input.Queued, starts[1].Input.Queued, starts[2].Input.Queued})
}
