package schema

import "time"

// BuildStatus is how a build stands or ended.
type BuildStatus string

// Build statuses. Unchanged is answered, never stored: such a build writes nothing.
const (
	BuildRunning   BuildStatus = "running"
	BuildSuccess   BuildStatus = "success"
	BuildPartial   BuildStatus = "partial"
	BuildEmpty     BuildStatus = "empty"
	BuildFailed    BuildStatus = "failed"
	BuildUnchanged BuildStatus = "unchanged"
)

// BuildStatuses are those that are stored.
func BuildStatuses() []BuildStatus {
	return []BuildStatus{BuildRunning, BuildSuccess, BuildPartial, BuildEmpty, BuildFailed}
}

// Completed reports whether the build came to its end.
func (s BuildStatus) Completed() bool {
	return s == BuildSuccess || s == BuildPartial || s == BuildEmpty
}

// Names of the steps of process_session, in order, and of the first one of realign_session, whose others have
// the same names.
const (
	StepOpenBuild   = "open_build"
	StepIngest      = "ingest"
	StepExtract     = "extract"
	StepAlign       = "align"
	StepMaterialize = "materialize"
	StepTasks       = "resolve_tasks"
	StepFacts       = "update_facts"
	StepProject     = "project"
	StepIndex       = "index"
	StepCloseBuild  = "close_build"
	StepFailBuild   = "fail_build"
	StepRealign     = "realign"
)

// BuildSpec is what a build is made with.
type BuildSpec struct {
	Extractor        Extractor `json:"extractor"`
	EmbedderModel    string    `json:"embedder_model"`
	EmbeddingVersion string    `json:"embedding_version"`
	// IdrisVersion is "unavailable" where idris2 is not installed.
	IdrisVersion  string `json:"idris_version"`
	SchemaVersion string `json:"schema_version"`
}

// BuildStartedPayload opens a build.
type BuildStartedPayload struct {
	BuildID string `json:"build_id"`
	SessionKey
	// Ordinal counts the session's builds from 1.
	Ordinal int       `json:"ordinal"`
	Source  Source    `json:"source"`
	Spec    BuildSpec `json:"spec"`
}

// Event is the event that opens the build.
func (p BuildStartedPayload) Event(at time.Time) (Event, error) {
	return buildEvent(p, BuildStartedKey(p.BuildID), Event{TS: at, SessionID: p.SessionID, Project: p.Project, BuildID: p.BuildID})
}

// OpenedBuild is a build that may run. Nothing of it is in the log until there is something to do.
type OpenedBuild struct {
	BuildID string `json:"build_id"`
	Ordinal int    `json:"ordinal"`
	SessionKey
	Spec BuildSpec `json:"spec"`
	// Completed is true when the build before did all there was to do, with the same extractor.
	Completed bool `json:"completed"`
	// First is true when the session has no build yet.
	First bool `json:"first"`
}

// Started is the payload of the event that opens the build over the source.
func (b OpenedBuild) Started(source Source) BuildStartedPayload {
	return BuildStartedPayload{BuildID: b.BuildID, SessionKey: b.SessionKey, Ordinal: b.Ordinal, Source: source, Spec: b.Spec}
}

// BuildCounts is what a build did.
type BuildCounts struct {
	Messages     int `json:"messages"`
	NewMessages  int `json:"new_messages"`
	SkippedLines int `json:"skipped_lines"`
	Windows      int `json:"windows"`
	// Quarantined counts the windows that have no whole answer: those put aside, and those whose answer
	// broke off.
	Quarantined int `json:"quarantined"`
	Entries     int `json:"entries"`
	NewEntries  int `json:"new_entries"`
	Rejected    int `json:"rejected"`
	// AlignedEntries and ProvenEntries are those of Entries whose evidence is, GainedEntries those that gained
	// evidence, of this session or another.
	AlignedEntries int `json:"aligned_entries"`
	ProvenEntries  int `json:"proven_entries"`
	GainedEntries  int `json:"gained_entries"`
	Indexed        int `json:"indexed"`
	IndexFailed    int `json:"index_failed"`
}

// StepMetric is one row of pipeline_metrics.
type StepMetric struct {
	Step      string    `json:"step"`
	StartedAt time.Time `json:"started_at"`
	LatencyMS float64   `json:"latency_ms"`
	Success   bool      `json:"success"`
	Error     string    `json:"error,omitempty"`
}

// BuildFinishedPayload closes a build.
type BuildFinishedPayload struct {
	BuildID   string      `json:"build_id"`
	SessionID string      `json:"session_id"`
	Status    BuildStatus `json:"status"`
	// FailedStep and Error are set when Status is failed.
	FailedStep string `json:"failed_step,omitempty"`
	Error      string `json:"error,omitempty"`
	// ExtractorID is that of the build's Spec; the next build of the session compares it.
	ExtractorID string       `json:"extractor_id"`
	Counts      BuildCounts  `json:"counts"`
	Usage       Usage        `json:"usage"`
	Metrics     []StepMetric `json:"metrics"`
}

// Event is the event that closes the build of a session of the project.
func (p BuildFinishedPayload) Event(project string, at time.Time) (Event, error) {
	return buildEvent(p, BuildFinishedKey(p.BuildID), Event{TS: at, SessionID: p.SessionID, Project: project, BuildID: p.BuildID})
}

func buildEvent(payload any, key string, e Event) (Event, error) {
	e.Actor, e.DedupeKey = "pipeline", key
	return NewEvent(payload, e)
}
