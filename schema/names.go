package schema

import "time"

// Task queues, one for each resource with a limit of its own.
const (
	QueueMain   = "axiommind"
	QueueModel  = "axiommind-model"
	QueueVector = "axiommind-vector"
	// QueueMemory is the task queue of memory_queue. A worker that has memory switched off does not poll it.
	QueueMemory = "axiommind-memory"
)

// TaskQueues returns all task queues.
func TaskQueues() []string {
	return []string{QueueMain, QueueModel, QueueVector, QueueMemory, QueueErase}
}

// Workflow types.
const (
	WorkflowProcessSession = "process_session"
	WorkflowRealignSession = "realign_session"
	WorkflowVectorWriter   = "vector_writer"
	WorkflowProjectTasks   = "project_tasks"
	WorkflowMemoryWriter   = "memory_writer"
	WorkflowGraduation     = "graduation"
	WorkflowMemoryQueue    = "memory_queue"
	WorkflowDeepDream      = "deep_dream"
	WorkflowDreamNight     = "dream_night"
	WorkflowNotifySummary  = "notify_summary"
	// These process many sessions, each by process_session.
	WorkflowImportSessions   = "import_sessions"
	WorkflowRetryBuilds      = "retry_builds"
	WorkflowBackfillSessions = "backfill_sessions"
	// WorkflowRebuild rebuilds projections.
	WorkflowRebuild = "rebuild"
)

// Signals, updates and queries.
const (
	// SignalWake notifies vector_writer of rows to index, and graduation of new entries in a session.
	SignalWake = "wake"
	// SignalSummary carries a [Summary] to the workflow that asked for it.
	SignalSummary = "context_summary"
	// UpdateSession asks the writer of a stream to process a session. UpdateCommand asks it to run a person's
	// command.
	UpdateSession = "session"
	UpdateCommand = "command"
	// UpdateDream asks memory_writer to commit a dream. UpdateFiles asks it to compare the files of the memory with the
	// log, to record a person's edits and to write missing content.
	UpdateDream = "dream"
	UpdateFiles = "files"
	// UpdateRestore asks memory_writer to make an earlier version of core memory the current one.
	UpdateRestore = "restore"
	// UpdateRebuild asks vector_writer to rebuild its collection next to the one in use, and to switch to it.
	UpdateRebuild = "rebuild"
	// UpdateReconcile asks vector_writer to compare its collection with the log and to repair it.
	UpdateReconcile = "reconcile"
	// UpdateGraduate asks graduation to consider new entries of its project's sessions now, and to demote entries by
	// the policy.
	UpdateGraduate = "graduate"
	// UpdateAsk asks graduation to ask a model whether entries are stated.
	UpdateAsk = "ask"
	// UpdateFind asks graduation to ask a model whether entries contradict each other.
	UpdateFind = "find"
	// SignalEnqueue carries a [QueuedContext] to memory_queue. UpdateFlush makes it process the pending contexts and
	// then returns a [FlushResult]. QueryState returns its [QueueState].
	SignalEnqueue = "enqueue"
	UpdateFlush   = "flush"
	QueryState    = "state"
	// QueryQueue returns the [WriterQueue] of a stream's writer.
	QueryQueue = "queue"
	// QueryProgress returns a [Progress].
	QueryProgress = "progress"
)

// Search attributes. People filter workflows by them. They contain no personal data. The system works on a server
// without them.
const (
	AttributeProject = "AxiomMindProject"
	AttributeSession = "AxiomMindSession"
)

// Types of the application errors that activities return. Retry policies and people see them.
const (
	ErrorInvalidInput     = "InvalidInput"
	ErrorSourceUnreadable = "SourceUnreadable"
	ErrorSourceForbidden  = "SourceForbidden"
	// ErrorSourceKills: workers repeatedly died while they read the source.
	ErrorSourceKills   = "SourceKills"
	ErrorUnknownFormat = "UnknownFormat"
	// ErrorScopeMismatch: a writer was asked to process data of another scope.
	ErrorScopeMismatch    = "ScopeMismatch"
	ErrorModelRefused     = "ModelRefused"
	ErrorModelRateLimited = "ModelRateLimited"
	ErrorModelUnavailable = "ModelUnavailable"
	// ErrorModelTooLong: the request is too long for the model. ErrorModelBlocked: the model refuses to answer, or a
	// safety filter stopped the request or the answer.
	ErrorModelTooLong = "ModelTooLong"
	ErrorModelBlocked = "ModelBlocked"
	// ErrorModelCut: the answer broke off at the model's limit. ErrorModelUnreadable: neither the answer nor its repair
	// can be read. ErrorModelRejected: the model ended without an answer.
	ErrorModelCut        = "ModelCut"
	ErrorModelUnreadable = "ModelUnreadable"
	ErrorModelRejected   = "ModelRejected"
	// ErrorModelMalformed: the response is no message of the provider's protocol, such as a page of a proxy.
	ErrorModelMalformed    = "ModelMalformed"
	ErrorStoreUnavailable  = "StoreUnavailable"
	ErrorStoreRejected     = "StoreRejected"
	ErrorCorruptLog        = "CorruptLog"
	ErrorConcurrentWriter  = "ConcurrentWriter"
	ErrorVectorUnavailable = "VectorUnavailable"
	ErrorVectorRejected    = "VectorRejected"
	ErrorTaskRefused       = "TaskRefused"
	ErrorTaskNotFound      = "TaskNotFound"
	ErrorFactRefused       = "FactRefused"
	ErrorFactNotFound      = "FactNotFound"
	// ErrorFactStale: a command expects another version of the fact or section that it changes.
	ErrorFactStale = "FactStale"
	// ErrorGraduationRefused: a person's request does not fit the state of the entries.
	ErrorGraduationRefused = "GraduationRefused"
	ErrorEntryNotFound     = "EntryNotFound"
	// ErrorFilesUnavailable: the files of the memory can't be read or written now. ErrorFilesRefused: a retry fails,
	// too.
	ErrorFilesUnavailable = "FilesUnavailable"
	ErrorFilesRefused     = "FilesRefused"
	ErrorVersionNotFound  = "VersionNotFound"
	// ErrorNotifyUnavailable and ErrorNotifyRefused: the receiver of summaries did not take one.
	ErrorNotifyUnavailable = "NotifyUnavailable"
	ErrorNotifyRefused     = "NotifyRefused"
	// ErrorTemporalUnavailable: an activity's request to Temporal itself failed. ErrorTemporalRefused: a retry fails,
	// too.
	ErrorTemporalUnavailable = "TemporalUnavailable"
	ErrorTemporalRefused     = "TemporalRefused"
	// ErrorDraining is returned by a workflow that is about to continue as new: send the request again.
	ErrorDraining = "Draining"
	// ErrorWorkerStopped: a worker was stopped while it ran the activity. Another worker takes over.
	ErrorWorkerStopped = "WorkerStopped"
	ErrorInternal      = "Internal"
)

// Progress is the answer of process_session, realign_session and deep_dream to QueryProgress.
type Progress struct {
	// SessionID and BuildID are empty for a dream.
	SessionID string      `json:"session_id,omitempty"`
	BuildID   string      `json:"build_id,omitempty"`
	Step      string      `json:"step"`
	Status    BuildStatus `json:"status"`
	// WindowsDone and WindowsTotal count the windows of the extraction, or the questions of the dream, that are known so
	// far.
	WindowsDone  int         `json:"windows_done"`
	WindowsTotal int         `json:"windows_total"`
	Counts       BuildCounts `json:"counts"`
}

// InlineMessage is a message given in a workflow's input.
type InlineMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// ID is the sender's own id of the message, if it has one. A session contains one message with an id.
	ID string `json:"id,omitempty"`
	// At is when the message was written, if that is known.
	At time.Time `json:"at,omitzero"`
}

// MaxInlineBytes is the maximum size of the contents of all inline messages. A longer session is given by URI.
const MaxInlineBytes = 256 << 10

// ProcessSessionInput is the input of process_session: one session, by URI, inline, or from the log.
type ProcessSessionInput struct {
	// URI names the source: file:///path or a plain path, below one of the worker's source roots.
	URI string `json:"uri,omitempty"`
	// Grant permits a URI outside the source roots. The starter creates it if a person names the file.
	Grant    string          `json:"grant,omitempty"`
	Messages []InlineMessage `json:"messages,omitzero"`
	// Statement is set if the only message is a statement by a person or an agent.
	Statement *Statement `json:"statement,omitempty"`
	// Format is one of transcript.Formats. If it is empty, the format is detected.
	Format  string `json:"format,omitempty"`
	Project string `json:"project"`
	User    string `json:"user,omitempty"`
	Agent   string `json:"agent,omitempty"`
	// SessionID is the session's id. If it is empty, the source's own id is used, or one derived from the URI.
	SessionID string `json:"session_id,omitempty"`
	// Date is the date of the session, as 2006-01-02 or RFC 3339. If it is empty, the source's date is used.
	Date string `json:"date,omitempty"`
	// Flush is the reason why the session is submitted: it ended, or its context was trimmed. It is the heading in the
	// daily record.
	Flush FlushReason `json:"flush,omitempty"`
	// Notify is the id of a running workflow that gets the signal [SignalSummary] with the text that the daily record
	// gained, once that is stored. Empty for none.
	Notify string `json:"notify,omitempty"`
	// IncludeTools extracts from tool calls and their results too.
	IncludeTools bool `json:"include_tools,omitempty"`
	// FromLog takes the session's messages from the log and reads no source, to extract from them with another
	// extractor.
	FromLog bool `json:"from_log,omitempty"`
	// Queued takes the contexts at these positions of the stream of the session's queue, in order. memory_queue sets it.
	Queued []uint64 `json:"queued,omitempty"`
	// Retry is the id of the session's build to retry, with the input of that build. Of the other fields, only those
	// that identify the session are then given.
	Retry string `json:"retry,omitempty"`
	// AskGivenUp makes a retry ask once more about the windows that were given up, because they had no answer and were
	// too small to be halved.
	AskGivenUp bool `json:"ask_given_up,omitempty"`
}

// Key identifies the session of the input.
func (in ProcessSessionInput) Key() SessionKey {
	return SessionKey{Scope: Scope{Project: in.Project, User: in.User, Agent: in.Agent}, SessionID: in.SessionID}
}

// Source returns the source that the input names, before it is read.
func (in ProcessSessionInput) Source() Source {
	switch {
	case in.FromLog:
		return Source{Format: FormatLog}
	case len(in.Queued) > 0:
		return Source{Format: FormatQueue}
	case in.URI == "":
		return Source{Format: FormatInline}
	default:
		return Source{URI: in.URI, Format: in.Format}
	}
}

// ProcessSessionResult is the result of process_session.
type ProcessSessionResult struct {
	SessionID string      `json:"session_id"`
	BuildID   string      `json:"build_id,omitempty"`
	Status    BuildStatus `json:"status"`
	Counts    BuildCounts `json:"counts,omitzero"`
	Usage     Usage       `json:"usage,omitzero"`
	// QueuedTo is the position of the last context of the queue that the session now contains, if the input has Queued.
	QueuedTo uint64 `json:"queued_to,omitempty"`
}

// RealignSessionResult is the result of realign_session, whose input is a [SessionKey].
type RealignSessionResult struct {
	SessionID string `json:"session_id"`
	// Pieces counts the quotes that were judged again, Proven those that became proven, and Unproven those that no
	// longer are.
	Pieces   int `json:"pieces"`
	Proven   int `json:"proven"`
	Unproven int `json:"unproven"`
}

// WriterInput is the input of a workflow that is the only writer of a stream. The workflow's id is
// WorkflowID(Stream()).
type WriterInput interface {
	// Workflow is the workflow's type.
	Workflow() string
	Stream() string
}

// ProjectTasksInput is the input of project_tasks.
type ProjectTasksInput struct {
	Project string `json:"project"`
}

// Workflow returns the type of the workflow that takes the input.
func (in ProjectTasksInput) Workflow() string { return WorkflowProjectTasks }

// Stream returns the stream that the workflow writes.
func (in ProjectTasksInput) Stream() string { return ProjectStream(in.Project) }

// MemoryWriterInput is the input of memory_writer.
type MemoryWriterInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
}

// Workflow returns the type of the workflow that takes the input.
func (in MemoryWriterInput) Workflow() string { return WorkflowMemoryWriter }

// Stream returns the stream that the workflow writes.
func (in MemoryWriterInput) Stream() string { return MemoryStream(in.User, in.Agent) }

// GraduationInput is the input of graduation.
type GraduationInput struct {
	Project string `json:"project"`
}

// Workflow returns the type of the workflow that takes the input.
func (in GraduationInput) Workflow() string { return WorkflowGraduation }

// Stream returns the stream that the workflow writes.
func (in GraduationInput) Stream() string { return GraduateStream(in.Project) }

// VectorWriterInput is the input of vector_writer.
type VectorWriterInput struct {
	Collection string `json:"collection"`
}

// Workflow returns the type of the workflow that takes the input.
func (in VectorWriterInput) Workflow() string { return WorkflowVectorWriter }

// Stream returns the stream that the workflow writes.
func (in VectorWriterInput) Stream() string { return VectorStream(in.Collection) }

// WriterQueue is the answer of a stream's writer to QueryQueue.
type WriterQueue struct {
	// Running is the request in progress. Waiting lists the next ones, in order.
	Running string   `json:"running,omitempty"`
	Waiting []string `json:"waiting"`
	// Long is the long request that runs in turns between the others, with its progress.
	Long string `json:"long,omitempty"`
	// LongSeen counts the items that it has examined, of about LongTotal, once that is known.
	LongSeen  int `json:"long_seen,omitempty"`
	LongTotal int `json:"long_total,omitempty"`
	// Done counts the requests that this run has completed.
	Done int `json:"done"`
}

// Heartbeat contains the heartbeat details of an activity.
type Heartbeat struct {
	// WaitsFor is the id of the workflow that does the work for the activity.
	WaitsFor string `json:"waits_for,omitempty"`
}
