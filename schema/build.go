package schema

import "time"

// BuildStatus is the state of a build.
type BuildStatus string

// Build statuses. Unchanged is only ever returned, never stored, because such a build writes no events.
const (
	BuildRunning   BuildStatus = "running"
	BuildSuccess   BuildStatus = "success"
	BuildPartial   BuildStatus = "partial"
	BuildEmpty     BuildStatus = "empty"
	BuildFailed    BuildStatus = "failed"
	BuildUnchanged BuildStatus = "unchanged"
)

// BuildStatuses returns the statuses that are stored.
func BuildStatuses() []BuildStatus {
	return []BuildStatus{BuildRunning, BuildSuccess, BuildPartial, BuildEmpty, BuildFailed}
}

// Completed reports whether the build finished without failing.
func (s BuildStatus) Completed() bool {
	return s == BuildSuccess || s == BuildPartial || s == BuildEmpty
}

// Step names of process_session, in order, and the name of the first step of realign_session. The other steps of
// realign_session have the same names as here.
const (
	StepOpenBuild   = "open_build"
	StepIngest      = "ingest"
	StepExtract     = "extract"
	StepAlign       = "align"
	StepMaterialize = "materialize"
	StepCheck       = "check"
	StepTasks       = "resolve_tasks"
	StepMemory      = "update_memory"
	StepProject     = "project"
	StepIndex       = "index"
	StepCloseBuild  = "close_build"
	StepFailBuild   = "fail_build"
	StepRealign     = "realign"
)

// BuildSpec describes the software that a build runs with.
type BuildSpec struct {
	Extractor        Extractor `json:"extractor"`
	EmbedderModel    string    `json:"embedder_model"`
	EmbeddingVersion string    `json:"embedding_version"`
	// IdrisVersion is "unavailable" if idris2 is not installed.
	IdrisVersion  string `json:"idris_version"`
	SchemaVersion string `json:"schema_version"`
}

// BuildStartedPayload records the start of a build.
type BuildStartedPayload struct {
	BuildID string `json:"build_id"`
	SessionKey
	// Ordinal counts the session's builds from 1.
	Ordinal int       `json:"ordinal"`
	Source  Source    `json:"source"`
	Spec    BuildSpec `json:"spec"`
	// Statement is set, in each build of the session, if the session is a statement.
	Statement *Statement `json:"statement,omitempty"`
	// Input is the input of the workflow, so that the build can be retried. It contains the messages only if the log
	// does not. If Retry is set, the rest is the input of the build that Retry names.
	Input ProcessSessionInput `json:"input"`
	// Messages is the number of messages in the log once all messages of the Source are stored. It is unknown if the
	// Source has no hash, because then the build failed before it read the source.
	Messages int `json:"messages,omitempty"`
	// Unread is the reason why the source could not be read again. The build then works on the messages in the log.
	Unread string `json:"unread,omitempty"`
	// Redacted counts the redactions in the new messages by rule. They were made before the messages were stored.
	Redacted map[string]int `json:"redacted,omitempty"`
	// Resumed is the build that this one continues, if any.
	Resumed *ResumedBuild `json:"resumed,omitempty"`
}

// ResumedBuild is an unfinished build. Its completed steps are not repeated, because their input has not changed.
type ResumedBuild struct {
	BuildID string `json:"build_id"`
	// Step is the first step that is repeated.
	Step string `json:"step"`
}

// ResumableBuild is a build that the next one can continue if the source has not changed.
type ResumableBuild struct {
	ResumedBuild
	// SHA256 is the hash of the source as the build read it.
	SHA256 string `json:"sha256"`
	// Counts are the results of the steps that need not be repeated.
	Counts BuildCounts `json:"counts"`
}

// Event returns the event that starts the build.
func (p BuildStartedPayload) Event(at time.Time) (Event, error) {
	return buildEvent(p, BuildStartedKey(p.BuildID), Event{TS: at, SessionID: p.SessionID, Project: p.Project, BuildID: p.BuildID})
}

// OpenedBuild is a build that is about to run. The log contains none of its events until the build has something to do.
type OpenedBuild struct {
	BuildID string `json:"build_id"`
	Ordinal int    `json:"ordinal"`
	SessionKey
	Spec BuildSpec `json:"spec"`
	// Statement is set if the session is a statement.
	Statement *Statement `json:"statement,omitempty"`
	// Completed is true if the previous build finished all the work with the same extractor.
	Completed bool `json:"completed"`
	// First is true if the session has no build yet.
	First bool `json:"first"`
	// Retried is the input of the build that is retried, if any. It contains no messages.
	Retried *ProcessSessionInput `json:"retried,omitempty"`
	// Refused is the previous build, if workers died while they read its source. No file is read for the session until
	// a person retries that build.
	Refused string `json:"refused,omitempty"`
	// Resumable is the build to continue, if there is one.
	Resumable *ResumableBuild `json:"resumable,omitempty"`
	// Head is the head of the session's stream.
	Head StreamHead `json:"head,omitzero"`
}

// Started returns the payload of the event that starts the build for the source.
func (b OpenedBuild) Started(source Source) BuildStartedPayload {
	return BuildStartedPayload{
		BuildID: b.BuildID, SessionKey: b.SessionKey, Ordinal: b.Ordinal, Source: source, Spec: b.Spec, Statement: b.Statement,
	}
}

// BuildCounts counts the results of a build.
type BuildCounts struct {
	Messages     int `json:"messages"`
	NewMessages  int `json:"new_messages"`
	SkippedLines int `json:"skipped_lines"`
	// Redacted counts the secrets and private passages that were taken out of the new messages.
	Redacted int `json:"redacted,omitempty"`
	Windows  int `json:"windows"`
	// Quarantined counts the windows without a complete answer: those that were quarantined and those whose answer
	// was truncated.
	Quarantined int `json:"quarantined"`
	// GivenUp counts those of the Quarantined windows that no later build with the same extractor asks about again
	// unless it is forced to.
	GivenUp    int `json:"given_up,omitempty"`
	Entries    int `json:"entries"`
	NewEntries int `json:"new_entries"`
	Rejected   int `json:"rejected"`
	// TaskNotes and Facts count the Entries for the writer of the project's tasks and for that of the user's memory.
	TaskNotes int `json:"task_notes"`
	Facts     int `json:"facts"`
	// AlignedEntries and ProvenEntries count the Entries whose evidence is aligned or proven. GainedEntries counts
	// the entries, of this session or another, that gained evidence.
	AlignedEntries int `json:"aligned_entries"`
	ProvenEntries  int `json:"proven_entries"`
	GainedEntries  int `json:"gained_entries"`
	// SupersededEntries counts the entries of other extractors that this build's extractor no longer states.
	// RestoredEntries counts those that it states again.
	SupersededEntries int `json:"superseded_entries,omitempty"`
	RestoredEntries   int `json:"restored_entries,omitempty"`
	// CandidateEntries and VerifiedEntries count the Entries that have reached at least that stage by the session's own
	// evidence. PromotedEntries counts those that this build promoted.
	CandidateEntries int `json:"candidate_entries,omitempty"`
	VerifiedEntries  int `json:"verified_entries,omitempty"`
	PromotedEntries  int `json:"promoted_entries,omitempty"`
	Indexed          int `json:"indexed"`
	IndexFailed      int `json:"index_failed"`
}

// StepMetric is one row of pipeline_metrics.
type StepMetric struct {
	Step      string    `json:"step"`
	StartedAt time.Time `json:"started_at"`
	LatencyMS float64   `json:"latency_ms"`
	Success   bool      `json:"success"`
	Error     string    `json:"error,omitempty"`
}

// BuildFinishedPayload records the end of a build.
type BuildFinishedPayload struct {
	BuildID   string      `json:"build_id"`
	SessionID string      `json:"session_id"`
	Status    BuildStatus `json:"status"`
	// FailedStep, Error and ErrorType are set if Status is failed. [ClassOf] returns the class of the type.
	FailedStep string `json:"failed_step,omitempty"`
	Error      string `json:"error,omitempty"`
	ErrorType  string `json:"error_type,omitempty"`
	// ExtractorID is the id of the Spec's extractor. The session's next build compares it with its own.
	ExtractorID string       `json:"extractor_id"`
	Counts      BuildCounts  `json:"counts"`
	Usage       Usage        `json:"usage"`
	Metrics     []StepMetric `json:"metrics"`
}

// Event returns the event that ends the build of a session of the project.
func (p BuildFinishedPayload) Event(project string, at time.Time) (Event, error) {
	return buildEvent(p, BuildFinishedKey(p.BuildID), Event{TS: at, SessionID: p.SessionID, Project: project, BuildID: p.BuildID})
}

func buildEvent(payload any, key string, e Event) (Event, error) {
	e.Actor, e.DedupeKey = "pipeline", key
	return NewEvent(payload, e)
}
