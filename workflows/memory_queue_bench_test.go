package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"axiommind/activities/queue"
	"axiommind/schema"
	"axiommind/workflows"
	"axiommind/workflows/workflowtest"
)

// queueRoom replaces the activities of queues. It contains one queue.
type queueRoom struct {
	mu       sync.Mutex
	contexts []schema.ContextEnqueuedPayload
	// at is the time when each arrived, ended is true for a processed one, and ends are the outcomes of sessions.
	at    []time.Time
	ended []bool
	ends  []schema.ContextProcessedPayload
	// fail contains the errors of the next calls.
	fail []error
	// page bounds the contexts of a page.
	page int
}

func (r *queueRoom) failure() error {
	if len(r.fail) == 0 {
		return nil
	}
	err := r.fail[0]
	r.fail = r.fail[1:]
	return err
}

func (r *queueRoom) StoreContexts(_ context.Context, in queue.StoreInput) (queue.StoreResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.failure(); err != nil {
		return queue.StoreResult{}, err
	}
	var out queue.StoreResult
	for _, c := range in.Contexts {
		i := slices.IndexFunc(r.contexts, func(o schema.ContextEnqueuedPayload) bool { return o.ID == c.ID && o.Refused == c.Refused })
		if i < 0 {
			i = len(r.contexts)
			r.contexts, r.at, r.ended = append(r.contexts, c), append(r.at, in.At), append(r.ended, c.Refused != "")
		}
		out.Positions = append(out.Positions, uint64(i+1))
	}
	out.Head = at(uint64(len(r.contexts)))
	return out, nil
}

func (r *queueRoom) EndContexts(_ context.Context, in queue.EndInput) (schema.StreamHead, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.failure(); err != nil {
		return schema.StreamHead{}, err
	}
	for i, c := range r.contexts {
		r.ended[i] = r.ended[i] || c.Project == in.End.Project && c.Thread == in.End.Thread && uint64(i+1) <= in.End.To
	}
	for _, ended := range r.ended[:in.End.Since] {
		if !ended {
			return schema.StreamHead{}, fmt.Errorf("something waits up to %d", in.End.Since)
		}
	}
	r.ends = append(r.ends, in.End)
	return at(uint64(len(r.contexts))), nil
}

func (r *queueRoom) LoadQueue(_ context.Context, in queue.LoadInput) (queue.LoadResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.failure(); err != nil {
		return queue.LoadResult{}, err
	}
	out := queue.LoadResult{Head: at(uint64(len(r.contexts))), Since: in.Since}
	places := map[string]int{}
	for i, c := range r.contexts {
		position := uint64(i + 1)
		if r.ended[i] || position <= in.After {
			continue
		}
		if r.page > 0 && len(places) == r.page {
			out.More = true
			break
		}
		place, listed := places[c.Project+"/"+c.Thread]
		if !listed {
			place = len(out.Threads)
			places[c.Project+"/"+c.Thread] = place
			out.Threads = append(out.Threads, schema.QueuedThread{Project: c.Project, Thread: c.Thread})
		}
		queue.Add(&out.Threads[place], c.QueuedContext, position, r.at[i])
		out.Debounce, out.After = c.Debounce, position
	}
	return out, nil
}

// waiting returns the texts of the pending messages, in order.
func (r *queueRoom) waiting() (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.contexts {
		if !r.ended[i] {
			texts = append(texts, c.Messages[0].Content)
		}
	}
	return texts
}

func (r *queueRoom) clone() *queueRoom {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &queueRoom{contexts: slices.Clone(r.contexts), at: slices.Clone(r.at), ended: slices.Clone(r.ended)}
}

// queueStart is a session that a queue started.
type queueStart struct {
	at     time.Duration
	thread string
	queued []uint64
}

// queueBench runs a queue in the test environment. The times are since its start.
type queueBench struct {
	*testsuite.TestWorkflowEnvironment
	room   *queueRoom
	in     schema.MemoryQueueInput
	starts []queueStart
	began  time.Time
	n      int
	// session is the work of a session. Nil means none.
	session func(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error)
}

func newQueueBench(room *queueRoom, in schema.MemoryQueueInput) *queueBench {
	b := &queueBench{TestWorkflowEnvironment: workflowtest.New(), room: room, in: in}
	b.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: schema.WorkflowID(in.Stream()), TaskQueue: schema.QueueMain, WorkflowExecutionTimeout: 1000 * time.Hour})
	workflows.Register(queueRegistry{b.TestWorkflowEnvironment})
	b.RegisterWorkflowWithOptions(b.processSession, workflow.RegisterOptions{Name: schema.WorkflowProcessSession})
	b.RegisterActivity(room)
	b.began = b.Now()
	return b
}

// queueRegistry leaves out process_session, because a bench has its own.
type queueRegistry struct {
	*testsuite.TestWorkflowEnvironment
}

func (r queueRegistry) RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions) {
	if options.Name != schema.WorkflowProcessSession {
		r.TestWorkflowEnvironment.RegisterWorkflowWithOptions(w, options)
	}
}

func (b *queueBench) processSession(ctx workflow.Context, in schema.ProcessSessionInput) (schema.ProcessSessionResult, error) {
	b.starts = append(b.starts, queueStart{workflow.Now(ctx).Sub(b.began), in.SessionID, in.Queued})
	result := schema.ProcessSessionResult{Status: schema.BuildSuccess, QueuedTo: in.Queued[len(in.Queued)-1]}
	if b.session == nil {
		return result, nil
	}
	given, err := b.session(ctx, in)
	if given.Status != "" {
		result = given
	}
	return result, err
}

// context returns a context with one message of the text.
func (b *queueBench) context(thread, text string) schema.QueuedContext {
	b.n++
	return schema.QueuedContext{
		ID: fmt.Sprint("c", b.n), Scope: schema.Scope{Project: "p", User: b.in.User, Agent: b.in.Agent}, Thread: thread, At: b.Now(),
		Messages: []schema.InlineMessage{{Role: "user", Content: text}},
	}
}

// enqueue sends the context at the time.
func (b *queueBench) enqueue(at time.Duration, c schema.QueuedContext) {
	b.RegisterDelayedCallback(func() { b.SignalWorkflow(schema.SignalEnqueue, c) }, at)
}

// state asks for the state at the time.
func (b *queueBench) state(t *testing.T, at time.Duration, check func(schema.QueueState)) {
	b.RegisterDelayedCallback(func() {
		value, err := b.QueryWorkflow(schema.QueryState)
		require.NoError(t, err)
		var s schema.QueueState
		require.NoError(t, value.Get(&s))
		check(s)
	}, at)
}

func (b *queueBench) execute() error {
	b.ExecuteWorkflow(schema.WorkflowMemoryQueue, b.in)
	return b.GetWorkflowError()
}

// threads returns the sessions in the order of their starts.
func (b *queueBench) threads() (threads []string) {
	for _, s := range b.starts {
		threads = append(threads, s.thread)
	}
	return threads
}
