package schema

// Task queues: one for each resource that has a limit of its own.
const (
	QueueMain   = "axiommind"
	QueueModel  = "axiommind-model"
	QueueVector = "axiommind-vector"
)

// Workflow types.
const (
	WorkflowProcessSession = "process_session"
	WorkflowRealignSession = "realign_session"
	WorkflowVectorWriter   = "vector_writer"
	WorkflowProjectTasks   = "project_tasks"
	WorkflowMemoryWriter   = "memory_writer"
)

// Signals, updates and queries.
const (
	// SignalWake tells vector_writer that there are rows to index.
	SignalWake = "wake"
	// UpdateSession asks the writer of a stream to take in what a session says, UpdateCommand to do
	// what a person asks.
	UpdateSession = "session"
	UpdateCommand = "command"
	// UpdateReconcile asks vector_writer to compare its collection with the log and repair it.
	UpdateReconcile = "reconcile"
	// QueryQueue asks the writer of a stream for its [WriterQueue].
	QueryQueue = "queue"
	// QueryProgress answers a [Progress].
	QueryProgress = "progress"
)

// Search attributes. They are filters, never personal data; a server without them still works.
const (
	AttributeProject = "AxiomMindProject"
	AttributeSession = "AxiomMindSession"
)

// Types of the application errors that activities return: what a retry policy and a person see.
const (
	ErrorInvalidInput     = "InvalidInput"
	ErrorSourceUnreadable = "SourceUnreadable"
	ErrorSourceForbidden  = "SourceForbidden"
	ErrorUnknownFormat    = "UnknownFormat"
	// ErrorScopeMismatch: a writer was asked for what is of another scope.
	ErrorScopeMismatch     = "ScopeMismatch"
	ErrorModelRefused      = "ModelRefused"
	ErrorModelRateLimited  = "ModelRateLimited"
	ErrorModelUnavailable  = "ModelUnavailable"
	ErrorModelRejected     = "ModelRejected"
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
	// ErrorTemporalUnavailable: what an activity asked of Temporal itself failed.
	ErrorTemporalUnavailable = "TemporalUnavailable"
	// ErrorDraining is returned by a workflow that is about to continue as new: send it again.
	ErrorDraining = "Draining"
	ErrorInternal = "Internal"
)

// Progress is what process_session and realign_session answer to QueryProgress.
type Progress struct {
	SessionID string      `json:"session_id"`
	BuildID   string      `json:"build_id,omitempty"`
	Step      string      `json:"step"`
	Status    BuildStatus `json:"status"`
	// WindowsDone and WindowsTotal count what is known of the extraction.
	WindowsDone  int         `json:"windows_done"`
	WindowsTotal int         `json:"windows_total"`
	Counts       BuildCounts `json:"counts"`
}

// InlineMessage is a message given in a workflow's input.
type InlineMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// MaxInlineBytes bounds the contents of inline messages; a longer session is given by URI.
const MaxInlineBytes = 256 << 10

// ProcessSessionInput is the input of process_session: one session, by URI or inline.
type ProcessSessionInput struct {
	// URI names the source: file:///path, or a plain path, in a root of the worker.
	URI string `json:"uri,omitempty"`
	// Grant permits a URI outside the roots: the starter makes it where a person names a file.
	Grant    string          `json:"grant,omitempty"`
	Messages []InlineMessage `json:"messages,omitzero"`
	// Format is one of transcript.Formats; empty to detect it.
	Format  string `json:"format,omitempty"`
	Project string `json:"project"`
	User    string `json:"user,omitempty"`
	Agent   string `json:"agent,omitempty"`
	// SessionID is empty to take the source's own, or one derived from the URI.
	SessionID string `json:"session_id,omitempty"`
	// Date is when the session took place, as 2006-01-02 or RFC 3339; empty to take the source's.
	Date string `json:"date,omitempty"`
	// IncludeTools also extracts from tool calls and their results.
	IncludeTools bool `json:"include_tools,omitempty"`
}

// Key identifies the session of the input.
func (in ProcessSessionInput) Key() SessionKey {
	return SessionKey{Scope: Scope{Project: in.Project, User: in.User, Agent: in.Agent}, SessionID: in.SessionID}
}

// Source is what the input says of its source, before anything of it is read.
func (in ProcessSessionInput) Source() Source {
	if in.URI == "" {
		return Source{Format: FormatInline}
	}
	return Source{URI: in.URI, Format: in.Format}
}

// ProcessSessionResult is the result of process_session.
type ProcessSessionResult struct {
	SessionID string      `json:"session_id"`
	BuildID   string      `json:"build_id"`
	Status    BuildStatus `json:"status"`
	Counts    BuildCounts `json:"counts"`
	Usage     Usage       `json:"usage"`
}

// RealignSessionResult is the result of realign_session, whose input is a [SessionKey].
type RealignSessionResult struct {
	SessionID string `json:"session_id"`
	// Pieces are the quotes that were judged anew, Proven those that are proven since, Unproven those that are
	// not any more.
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

// Workflow is the type of the workflow that takes the input.
func (in ProjectTasksInput) Workflow() string { return WorkflowProjectTasks }

// Stream is the stream that the workflow writes.
func (in ProjectTasksInput) Stream() string { return ProjectStream(in.Project) }

// MemoryWriterInput is the input of memory_writer.
type MemoryWriterInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
}

// Workflow is the type of the workflow that takes the input.
func (in MemoryWriterInput) Workflow() string { return WorkflowMemoryWriter }

// Stream is the stream that the workflow writes.
func (in MemoryWriterInput) Stream() string { return MemoryStream(in.User, in.Agent) }

// VectorWriterInput is the input of vector_writer.
type VectorWriterInput struct {
	Collection string `json:"collection"`
}

// Workflow is the type of the workflow that takes the input.
func (in VectorWriterInput) Workflow() string { return WorkflowVectorWriter }

// Stream is the stream that the workflow writes.
func (in VectorWriterInput) Stream() string { return VectorStream(in.Collection) }

// WriterQueue is what the writer of a stream answers to QueryQueue.
type WriterQueue struct {
	// Running is what is being done, Waiting what comes next, in order.
	Running string   `json:"running,omitempty"`
	Waiting []string `json:"waiting"`
	// Done counts what this run has done.
	Done int `json:"done"`
}

// Heartbeat is what an activity says of itself while it runs.
type Heartbeat struct {
	// WaitsFor is the id of the workflow that does the activity's work.
	WaitsFor string `json:"waits_for,omitempty"`
}
