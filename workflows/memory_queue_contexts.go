package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/queue"
	"axiommind/schema"
)

const (
	// maxStored and maxStoredBytes bound the contexts that are stored at once.
	maxStored      = 200
	maxStoredBytes = 48 << 10
	// pagesAtOnce is how many pages are loaded in one workflow task. Its response to the server contains them all, in
	// at most 4 MB.
	pagesAtOnce = 20
	// logAgain is the longest pause before a retry to reach the log.
	logAgain = 10 * time.Minute
)

// callUntilSuccess calls an activity of the queue until it succeeds. It must not give up, because the signals of a queue are
// stored nowhere else.
func callUntilSuccess[In, Out any](ctx workflow.Context, what string, activity func(ctx workflow.Context, in In) (Out, error), in In) Out {
	for pause := time.Second; ; pause = min(2*pause, logAgain) {
		out, err := activity(storeWork(ctx, what), in)
		if err == nil {
			return out
		}
		workflow.GetLogger(ctx).Error("the queue can't go on", "with", what, "reason", err)
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("Can't go on with %s, and tries again: %v", what, err))
		_ = workflow.Sleep(ctx, pause) // Nothing cancels it.
	}
}

func loadQueue(ctx workflow.Context, in queue.LoadInput) (queue.LoadResult, error) {
	return quickly(ctx, queues.LoadQueue, in)
}

func storeContexts(ctx workflow.Context, in queue.StoreInput) (queue.StoreResult, error) {
	return quickly(ctx, queues.StoreContexts, in)
}

func endContexts(ctx workflow.Context, in queue.EndInput) (schema.StreamHead, error) {
	return quickly(ctx, queues.EndContexts, in)
}

// load loads the pending contexts from the log.
func (q *memoryQueue) load(ctx workflow.Context) {
	in := queue.LoadInput{User: q.input.User, Agent: q.input.Agent, Since: q.since}
	var debounce time.Duration
	for n, more := 1, true; more; n++ {
		page := callUntilSuccess(ctx, "pending contexts", loadQueue, in)
		for _, t := range page.Threads {
			q.merge(t)
		}
		if n%pagesAtOnce == 0 {
			_ = workflow.Sleep(ctx, time.Millisecond) // Nothing cancels it. It ends the workflow task.
		}
		if q.head, q.since = page.Head, page.Since; len(page.Threads) > 0 {
			debounce = page.Debounce
		}
		in.Since, in.After, more = page.Since, page.After, page.More
	}
	if c := q.input.Continued; c != nil {
		for _, t := range q.order {
			t.batch = t.tries == 0 && t.Positions[0] <= c.FiringTo
		}
	}
	q.sortOrder()
	if n := len(q.order); n > 0 {
		debounce, _ = schema.QueuedContext{Debounce: debounce}.Waits()
		q.quietAt = q.order[n-1].LastAt.Add(debounce)
	}
}

// merge adds a session, or more contexts of one, from the log.
func (q *memoryQueue) merge(more schema.QueuedThread) {
	k := queueKey{more.Project, more.Thread}
	t, known := q.threads[k]
	if !known {
		t = &queuedThread{QueuedThread: schema.QueuedThread{Project: more.Project, Thread: more.Thread}}
		if a, failed := q.again[k]; failed {
			t.tries, t.notBefore = a.Attempts, a.At
		}
		q.threads[k], q.order = t, append(q.order, t)
	}
	t.join(more)
}

// join adds contexts to the pending ones.
func (t *queuedThread) join(more schema.QueuedThread) {
	if t.Due.IsZero() || more.Due.Before(t.Due) {
		t.Due = more.Due
	}
	if t.FirstAt.IsZero() || more.FirstAt.Before(t.FirstAt) {
		t.FirstAt = more.FirstAt
	}
	if more.LastAt.After(t.LastAt) {
		t.LastAt = more.LastAt
	}
	t.Positions = append(t.Positions, more.Positions...)
	slices.Sort(t.Positions)
	t.Contexts = len(t.Positions)
	t.Now, t.Correction, t.Reinforcement = t.Now || more.Now, t.Correction || more.Correction, t.Reinforcement || more.Reinforcement
	t.Statement = cmp.Or(t.Statement, more.Statement)
	t.IncludeTools, t.Flush = t.IncludeTools || more.IncludeTools, cmp.Or(more.Flush, t.Flush)
}

// receive stores received contexts for as long as the run lives.
func (q *memoryQueue) receive(ctx workflow.Context) {
	for {
		_ = workflow.Await(ctx, func() bool { return q.contexts.Len() > 0 }) // Nothing cancels it.
		q.storing, q.storedTo = true, q.head.Seq
		for q.contexts.Len() > 0 {
			q.store(ctx, q.receiveSome(ctx))
			q.publishFull(ctx)
		}
		q.storing, q.changed = false, true
	}
}

// receiveSome returns received contexts, as many as are stored at once. It refuses contexts of other sessions while the
// queue is full.
func (q *memoryQueue) receiveSome(ctx workflow.Context) (contexts []schema.ContextEnqueuedPayload) {
	ids, fresh := map[string]bool{}, map[queueKey]bool{}
	for size := 0; len(contexts) < maxStored && size < maxStoredBytes; {
		var c schema.QueuedContext
		if !q.contexts.ReceiveAsync(&c) {
			break
		}
		err := c.Validate()
		if err == nil && c.Queue().Stream() != q.input.Stream() {
			err = errOtherWriter(c.Queue().Stream())
		}
		if err != nil { // The door refuses such contexts, so this one was sent in another way.
			workflow.GetLogger(ctx).Error("a signal is no context of this queue", "reason", err)
			continue
		}
		if ids[c.ID] {
			continue
		}
		ids[c.ID] = true
		p := schema.ContextEnqueuedPayload{QueuedContext: c}
		if k := (queueKey{c.Project, c.Thread}); q.threads[k] == nil && !fresh[k] {
			if waiting := len(q.threads) + len(fresh); waiting >= schema.MaxQueuedThreads && !c.Admitted() {
				p.Refused = fmt.Sprintf("%d sessions waited", waiting)
				q.refused++
			} else {
				fresh[k] = true
			}
		}
		contexts, size = append(contexts, p), size+jsonSize(p)
	}
	return contexts
}

// store stores the contexts and adds them to the pending ones. A repeated context is already there.
func (q *memoryQueue) store(ctx workflow.Context, contexts []schema.ContextEnqueuedPayload) {
	if len(contexts) == 0 {
		return
	}
	now, before := workflow.Now(ctx).UTC(), q.head.Seq
	q.storedTo = before
	stored := callUntilSuccess(ctx, fmt.Sprintf("%d contexts", len(contexts)), storeContexts, queue.StoreInput{
		User: q.input.User, Agent: q.input.Agent, At: now, Contexts: contexts, Head: q.head,
	})
	q.head = q.head.Highest(stored.Head)
	for i, c := range contexts {
		if stored.Positions[i] > before && c.Refused == "" {
			q.add(c.QueuedContext, stored.Positions[i], now)
		}
	}
}

// add adds a context to the pending ones. Its session moves to the end of the order.
func (q *memoryQueue) add(c schema.QueuedContext, position uint64, now time.Time) {
	k := queueKey{c.Project, c.Thread}
	t := q.threads[k]
	if t == nil {
		t = &queuedThread{QueuedThread: schema.QueuedThread{Project: c.Project, Thread: c.Thread}}
		q.threads[k] = t
	}
	queue.Add(&t.QueuedThread, c, position, now)
	q.order = append(slices.DeleteFunc(q.order, func(o *queuedThread) bool { return o == t }), t)
	if t.tries == 0 || c.Now {
		t.notBefore = time.Time{} // A failed session waits for its time, whatever arrives meanwhile.
	}
	if debounce, _ := c.Waits(); !c.Alone() || q.quietAt.IsZero() {
		q.quietAt = now.Add(debounce)
	}
}
