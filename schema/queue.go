package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// MaxSignalBytes is the maximum size of the contents of messages that a signal carries. Temporal ends a workflow
	// whose history passes 50 MB, and keeps up to 10,000 signals that no worker has received. Longer contexts are
	// stored first, and named by [QueuedContext.Held].
	MaxSignalBytes = 4 << 10
	// MaxHeldBytes is the maximum size of the contents of messages of one context.
	MaxHeldBytes = 1 << 20
	// MaxQueuedThreads is the maximum number of threads in a queue. A context of another thread is then refused, unless
	// [QueuedContext.Admitted] reports true.
	MaxQueuedThreads = 10_000
	// QueueNearlyFull is the number of pending threads at which senders are told that the queue is full. They must know
	// before the first context is refused, because a signal has no reply.
	QueueNearlyFull = MaxQueuedThreads * 9 / 10
	// QueueMemoFull is the field of memory_queue's memo that tells senders whether the queue is full.
	QueueMemoFull = "full"
)

// Defaults and bounds of how long a context waits.
const (
	DefaultDebounce = 30 * time.Second
	DefaultMaxWait  = 5 * time.Minute
	MaxDebounce     = time.Hour
	MaxMaxWait      = 24 * time.Hour
)

// QueuePause is the pause between two sessions of a queue, so that a model is not asked too much at once.
const QueuePause = 500 * time.Millisecond

// QueuedContext is a part of a session, to be remembered once the session is quiet: messages, or a transcript that has
// grown. It is the payload of [SignalEnqueue].
type QueuedContext struct {
	// ID names the act of enqueueing: contexts with the same id are one, however often they are delivered.
	ID string `json:"id"`
	Scope
	// Thread is the session's id.
	Thread string `json:"thread"`
	// At is when it was enqueued. It is the date of messages that have no time of their own.
	At time.Time `json:"at"`
	// URI names a transcript of the whole session, and Grant permits one outside of the worker's source roots.
	URI    string `json:"uri,omitempty"`
	Grant  string `json:"grant,omitempty"`
	Format string `json:"format,omitempty"`
	// Messages are messages of the session, including all that were not enqueued before. Repeated ones are recognized
	// by their ids, and by their overlap with the session if the messages begin in the middle of it.
	Messages []InlineMessage `json:"messages,omitzero"`
	// Held is the hash of messages that are stored in [ContextStream] of the thread.
	Held string `json:"held,omitempty"`
	// Statement is set if the only message is a statement by a person or an agent. Its thread is
	// [ProcessSessionInput.StatementSessionID].
	Statement *Statement  `json:"statement,omitempty"`
	Flush     FlushReason `json:"flush,omitempty"`
	// IncludeTools extracts from tool calls and their results too.
	IncludeTools bool `json:"include_tools,omitempty"`
	// Now makes the queue process its threads at once.
	Now bool `json:"now,omitempty"`
	// Correction and Reinforcement are true if the user corrects or confirms something. Such a context is admitted to a
	// full queue.
	Correction    bool `json:"correction,omitempty"`
	Reinforcement bool `json:"reinforcement,omitempty"`
	// Debounce is how long the queue waits after this context for another one, and MaxWait how long a context waits at
	// most. 0 means the default.
	Debounce time.Duration `json:"debounce,omitempty"`
	MaxWait  time.Duration `json:"max_wait,omitempty"`
}

// Key identifies the session of the context.
func (c QueuedContext) Key() SessionKey { return SessionKey{Scope: c.Scope, SessionID: c.Thread} }

// Alone reports whether the context is processed at once and without the other threads, because a statement needs no
// other session.
func (c QueuedContext) Alone() bool { return c.Now && c.Statement != nil }

// Admitted reports whether a full queue takes the context. An agent's statement is not so urgent.
func (c QueuedContext) Admitted() bool {
	return c.Now && (c.Statement == nil || c.Statement.By == "") || c.Correction || c.Reinforcement
}

// Queue returns the input of the workflow whose queue the context goes to.
func (c QueuedContext) Queue() MemoryQueueInput {
	return MemoryQueueInput{User: c.User, Agent: c.Agent}
}

// Waits returns the times to wait, with the defaults filled in.
func (c QueuedContext) Waits() (debounce, maxWait time.Duration) {
	debounce = cmp.Or(c.Debounce, DefaultDebounce)
	return debounce, max(cmp.Or(c.MaxWait, DefaultMaxWait), debounce)
}

// Validate returns an error if the context is invalid.
func (c QueuedContext) Validate() error {
	size := 0
	for _, m := range c.Messages {
		size += len(m.Content)
	}
	given := 0
	for _, is := range []bool{c.URI != "", c.Messages != nil, c.Held != ""} {
		if is {
			given++
		}
	}
	switch {
	case c.ID == "":
		return errors.New("id is missing: it names the act of enqueueing")
	case len(c.ID) > MaxNameBytes:
		return fmt.Errorf("id has %d bytes, more than %d", len(c.ID), MaxNameBytes)
	case c.At.IsZero():
		return errors.New("at is missing: when the context was enqueued")
	case given != 1:
		return errors.New("give one of uri, messages and held")
	case c.Messages != nil && len(c.Messages) == 0:
		return errors.New("messages is empty: there is nothing to remember")
	case size > MaxSignalBytes:
		return fmt.Errorf("messages hold %d bytes, more than %d, which a signal carries: hold them first", size, MaxSignalBytes)
	case !slices.Contains(FlushReasons(), c.Flush):
		return fmt.Errorf("flush %q: want one of %q", c.Flush, FlushReasons())
	case c.Debounce < 0 || c.Debounce > MaxDebounce:
		return fmt.Errorf("debounce %v: want 0 to %v", c.Debounce, MaxDebounce)
	case c.MaxWait < 0 || c.MaxWait > MaxMaxWait:
		return fmt.Errorf("max_wait %v: want 0 to %v", c.MaxWait, MaxMaxWait)
	}
	if c.Statement != nil {
		in := ProcessSessionInput{
			Project: c.Project, User: c.User, Agent: c.Agent, SessionID: c.Thread, URI: c.URI, Format: c.Format, Grant: c.Grant,
			Messages: c.Messages, Statement: c.Statement, IncludeTools: c.IncludeTools,
		}
		if err := in.CheckStatement(); err != nil {
			return err
		}
	}
	return c.Key().Validate()
}

// MemoryQueueInput is the input of memory_queue: the contexts of one user and agent, of all projects.
type MemoryQueueInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// Continued is the state that a run passes to the next one. The workflow itself sets it.
	Continued *QueueContinued `json:"continued,omitempty"`
}

// QueueContinued is the state that a run of memory_queue passes to the next one. The pending contexts are in the log.
type QueueContinued struct {
	// Since is the position in the queue's stream up to which nothing is pending.
	Since uint64 `json:"since"`
	// Again are the failed threads to retry.
	Again []QueueRetry `json:"again,omitempty"`
	// NotBefore is when the next session may start.
	NotBefore time.Time `json:"not_before,omitzero"`
	// FiringTo is the position up to which threads were being processed, 0 for none.
	FiringTo uint64       `json:"firing_to,omitempty"`
	Last     *QueueResult `json:"last,omitempty"`
}

// QueueRetry is a thread whose processing failed.
type QueueRetry struct {
	Project  string    `json:"project"`
	Thread   string    `json:"thread"`
	Attempts int       `json:"attempts"`
	At       time.Time `json:"at"`
}

// Workflow returns the type of the workflow that takes the input.
func (in MemoryQueueInput) Workflow() string { return WorkflowMemoryQueue }

// Stream returns the stream that the workflow writes.
func (in MemoryQueueInput) Stream() string { return QueueStream(in.User, in.Agent) }

// QueuedThread is a session with pending contexts.
type QueuedThread struct {
	Project string `json:"project"`
	Thread  string `json:"thread"`
	// Positions are those of its contexts in the queue's stream, in order. The answer to a query leaves them out.
	Positions []uint64 `json:"positions,omitempty"`
	// Contexts is their number.
	Contexts int `json:"contexts"`
	// FirstAt and LastAt are when the queue took the first and the last of them.
	FirstAt time.Time `json:"first_at"`
	LastAt  time.Time `json:"last_at"`
	// Due is the latest time at which the thread is processed.
	Due time.Time `json:"due"`
	// Now is true if the thread is processed at once.
	Now           bool       `json:"now,omitempty"`
	Correction    bool       `json:"correction,omitempty"`
	Reinforcement bool       `json:"reinforcement,omitempty"`
	Statement     *Statement `json:"statement,omitempty"`
	// Flush is the reason of the last context that has one, and IncludeTools is set if it is in any of them.
	Flush        FlushReason `json:"flush,omitempty"`
	IncludeTools bool        `json:"include_tools,omitempty"`
}

// Alone is [QueuedContext.Alone] of the session.
func (t QueuedThread) Alone() bool { return t.Now && t.Statement != nil }

// QueueState is the answer of memory_queue to [QueryState].
type QueueState struct {
	// Pending lists the first pending threads, in the order in which they are processed, and Threads is the number of
	// all.
	Pending []QueuedThread `json:"pending"`
	Threads int            `json:"threads"`
	// Running lists the threads in progress. All but the last are slow ones that the others do not wait for.
	Running []QueuedThread `json:"running,omitempty"`
	// NextAt is when the queue is processed, or zero if only sessions in progress have pending contexts.
	NextAt time.Time `json:"next_at,omitzero"`
	// Last is the outcome of the thread that was processed last.
	Last *QueueResult `json:"last,omitempty"`
	// Again lists the failed threads to retry.
	Again []QueueRetry `json:"again,omitempty"`
	// Full is true while senders are told that the queue is full: from [QueueNearlyFull] threads on. Refused counts the
	// contexts that this run has refused.
	Full    bool `json:"full,omitempty"`
	Refused int  `json:"refused,omitempty"`
}

// QueueResult is the outcome of the contexts of a thread.
type QueueResult struct {
	Project string      `json:"project"`
	Thread  string      `json:"thread"`
	At      time.Time   `json:"at"`
	Status  BuildStatus `json:"status"`
	BuildID string      `json:"build_id,omitempty"`
	// Error and ErrorType are set if Status is failed.
	Error     string `json:"error,omitempty"`
	ErrorType string `json:"error_type,omitempty"`
}

// FlushInput is the argument of [UpdateFlush].
type FlushInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// Project and Thread restrict the flush to one session. Empty for all.
	Project string `json:"project,omitempty"`
	Thread  string `json:"thread,omitempty"`
}

// Writer returns the input of the workflow that takes the update.
func (in FlushInput) Writer() WriterInput { return MemoryQueueInput{User: in.User, Agent: in.Agent} }

// Validate returns an error if the input is invalid.
func (in FlushInput) Validate() error {
	if in.Thread != "" && in.Project == "" {
		return errors.New("project is missing: sessions of different projects may have the same id")
	}
	return cmp.Or(requireName("user", in.User), CheckName("agent", in.Agent), CheckName("project", in.Project), CheckName("thread", in.Thread))
}

// FlushResult is the result of a flush. It counts each thread once.
type FlushResult struct {
	Processed int `json:"processed"`
	// Failed are those whose processing failed.
	Failed []QueueResult `json:"failed,omitempty"`
}

// ContextEnqueuedPayload records that a context was enqueued.
type ContextEnqueuedPayload struct {
	QueuedContext
	// Refused is the reason why the queue does not process the context. It may be sent again and then be admitted.
	Refused string `json:"refused,omitempty"`
}

// Words calls f with the texts of the messages.
func (p ContextEnqueuedPayload) Words(f func(string)) { wordsOf(p.Messages, f) }

// QueuedRead is the detail of the error of a process_session that failed after it had stored contexts of its queue. A
// failure without it has stored none.
type QueuedRead struct {
	// To is as [ProcessSessionResult.QueuedTo].
	To uint64 `json:"to"`
}

// ContextProcessedPayload records that the contexts of a thread were processed, or given up.
type ContextProcessedPayload struct {
	QueueResult
	// To is the position of the last of these contexts in the queue's stream. Since is the position up to which nothing
	// is pending.
	To    uint64 `json:"to"`
	Since uint64 `json:"since"`
}

// ContextHeldPayload contains the messages of a context that are too long for a signal.
type ContextHeldPayload struct {
	Messages []InlineMessage `json:"messages"`
}

// Words calls f with the texts of the messages.
func (p ContextHeldPayload) Words(f func(string)) { wordsOf(p.Messages, f) }

func wordsOf(messages []InlineMessage, f func(string)) {
	for _, m := range messages {
		f(m.Content)
	}
}
