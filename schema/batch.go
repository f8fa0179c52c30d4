package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// BatchItem is a session to process as one of many.
type BatchItem struct {
	// Index counts the items of a batch from 0.
	Index int `json:"index"`
	// Name is the item's name for people: a file, or a build.
	Name string `json:"name"`
	// Format is that of the source, if it has been read.
	Format string              `json:"format,omitempty"`
	Input  ProcessSessionInput `json:"input"`
	// Refused is the reason why nothing is started for the item, and RefusedType the type of the error.
	Refused     string `json:"refused,omitempty"`
	RefusedType string `json:"refused_type,omitempty"`
}

// PassedOver is an item that a batch skips, with the reason: a file that is no transcript, or a build that would only
// fail again.
type PassedOver struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Class is that of the failure of a build.
	Class FailureClass `json:"class,omitempty"`
}

// BatchListedPayload is a page of the items of a batch. The pages, in order of seq, contain all of them.
type BatchListedPayload struct {
	Batch string `json:"batch"`
	// Page counts the pages from 0.
	Page       int          `json:"page"`
	Items      []BatchItem  `json:"items,omitempty"`
	PassedOver []PassedOver `json:"passed_over,omitempty"`
	// Cursor is the position in the list at which a worker continues after a crash.
	Cursor string `json:"cursor,omitempty"`
	// Last is true for the last page.
	Last bool `json:"last,omitempty"`
}

// Remains clears the erased items, but keeps their places, because the batch's workflow counts by them.
func (p BatchListedPayload) Remains(f Forgetting) Remainder {
	changed := false
	p.Items = slices.Clone(p.Items)
	for i, item := range p.Items {
		in := item.Input
		searched := f.Searches(Scope{Project: in.Project, User: in.User})
		said := func(m InlineMessage) bool { return f.Contains(m.Content) }
		switch {
		case item.RefusedType == ErrorErased:
		case f.Owns(Scope{Project: in.Project, User: in.User}), f.OwnsSession(in.Key()), searched && slices.ContainsFunc(in.Messages, said):
			p.Items[i] = BatchItem{Index: item.Index, Name: ForgottenName, Refused: "it was forgotten", RefusedType: ErrorErased}
			changed = true
		case searched && item.Refused != ForgottenText && f.Contains(item.Refused):
			p.Items[i].Refused, changed = ForgottenText, true
		}
		if searched {
			f.Note(searchedNote(item.Index), "")
		}
		if p.Items[i].RefusedType == ErrorErased {
			f.Note(itemNote(item.Index), "")
		}
	}
	return remainder(p, changed)
}

func searchedNote(index int) string { return "searched " + strconv.Itoa(index) }

func itemNote(index int) string { return "item " + strconv.Itoa(index) }

// BatchOutcome is the outcome of one item.
type BatchOutcome struct {
	Index     int         `json:"index"`
	SessionID string      `json:"session_id"`
	BuildID   string      `json:"build_id,omitempty"`
	Status    BuildStatus `json:"status"`
	// Error and ErrorType are set if Status is failed.
	Error     string      `json:"error,omitempty"`
	ErrorType string      `json:"error_type,omitempty"`
	Counts    BuildCounts `json:"counts"`
	Usage     Usage       `json:"usage"`
}

// BatchReportedPayload contains outcomes of a batch, in the order in which the items ended.
type BatchReportedPayload struct {
	Batch    string         `json:"batch"`
	Outcomes []BatchOutcome `json:"outcomes"`
}

// Remains removes the outcomes of erased items, and errors that quote the erased text.
func (p BatchReportedPayload) Remains(f Forgetting) Remainder {
	n, changed := len(p.Outcomes), false
	p.Outcomes = slices.DeleteFunc(slices.Clone(p.Outcomes), func(o BatchOutcome) bool {
		_, erased := f.Noted(itemNote(o.Index))
		return erased
	})
	for i, o := range p.Outcomes {
		if _, searched := f.Noted(searchedNote(o.Index)); searched && o.Error != ForgottenText && f.Contains(o.Error) {
			p.Outcomes[i].Error, changed = ForgottenText, true
		}
	}
	return remainder(p, changed || len(p.Outcomes) < n)
}

// MaxNamedBuilds bounds the ids in the input of retry_builds, which must stay small.
const MaxNamedBuilds = 1000

// Bounds on the concurrency and the rate of a batch.
const (
	// DefaultAtOnce is how many sessions of a batch run at a time.
	DefaultAtOnce = 8
	MaxAtOnce     = 64
	// MaxPerMinute is the largest allowed number of sessions started per minute.
	MaxPerMinute = 60_000
)

// BatchBusy is the status of a session that was skipped because another run was processing it.
const BatchBusy BuildStatus = "already running"

// BatchState is the progress of a batch. Its workflow passes it to the run that continues the batch.
type BatchState struct {
	Batch string `json:"batch"`
	// At is when the batch began: the time of its events.
	At time.Time `json:"at"`
	// Next is the index of the next item, Page a page of the list that is not after it.
	Next int `json:"next"`
	Page int `json:"page"`
	// Left are the items before Next that have not ended.
	Left []int `json:"left,omitempty"`
	// NotBefore is when the next session may start.
	NotBefore time.Time `json:"not_before,omitzero"`
	// Head is the head of the batch's stream.
	Head StreamHead `json:"head,omitzero"`
	// Result is the result of the items that have ended.
	Result BatchResult `json:"result"`
}

// Pace bounds how many sessions of a batch run at a time and how many are started per minute. A PerMinute of 0 means no
// bound.
type Pace struct{ AtOnce, PerMinute int }

// BatchInput is the input of a workflow that processes many sessions.
type BatchInput interface {
	// Workflow is the workflow's type.
	Workflow() string
	// WorkflowID is the id under which the batch is started, so that it has one run at a time however often it is
	// started. The workflow itself runs under any id.
	WorkflowID() string
	Pace() Pace
	Validate() error
}

// ImportSessionsInput is the input of import_sessions: all sessions of a directory, or of a file with several.
type ImportSessionsInput struct {
	// URI names the directory or file, Grant permits one outside of the worker's source roots.
	URI          string      `json:"uri"`
	Grant        string      `json:"grant,omitempty"`
	Format       string      `json:"format,omitempty"`
	Project      string      `json:"project,omitempty"`
	User         string      `json:"user,omitempty"`
	Agent        string      `json:"agent,omitempty"`
	Date         string      `json:"date,omitempty"`
	Flush        FlushReason `json:"flush,omitempty"`
	Notify       string      `json:"notify,omitempty"`
	IncludeTools bool        `json:"include_tools,omitempty"`
	// AtOnce is how many sessions run at a time. 0 means [DefaultAtOnce].
	AtOnce int `json:"at_once,omitempty"`
	// NoWait skips a session that another run is processing.
	NoWait bool `json:"no_wait,omitempty"`
	// Continued is the progress of an earlier run of the workflow. The workflow itself sets it.
	Continued *BatchState `json:"continued,omitempty"`
}

// Source returns the input of process_session for the URI, as far as the batch determines it. A grant for the
// directory is bound to its URI, Project, User and Agent.
func (in ImportSessionsInput) Source() ProcessSessionInput {
	return ProcessSessionInput{
		URI: in.URI, Grant: in.Grant, Format: in.Format, Project: in.Project, User: in.User, Agent: in.Agent, Date: in.Date,
		Flush: in.Flush, Notify: in.Notify, IncludeTools: in.IncludeTools,
	}
}

// Workflow returns the type of the workflow that takes the input.
func (in ImportSessionsInput) Workflow() string { return WorkflowImportSessions }

// WorkflowID is the same for each import of the same source into the same memory in the same way.
func (in ImportSessionsInput) WorkflowID() string {
	return batchID(in.Workflow(), Scope{Project: in.Project, User: in.User, Agent: in.Agent},
		in.URI, in.Format, in.Date, string(in.Flush), in.Notify, strconv.FormatBool(in.IncludeTools))
}

// Pace returns the bounds of the import.
func (in ImportSessionsInput) Pace() Pace { return Pace{AtOnce: in.AtOnce} }

// Validate returns an error if the input can be no import.
func (in ImportSessionsInput) Validate() error {
	switch {
	case in.URI == "":
		return errors.New("uri is empty: name a directory or a file")
	case !slices.Contains(FlushReasons(), in.Flush):
		return fmt.Errorf("flush %q: want one of %q", in.Flush, FlushReasons())
	}
	if err := CheckWorkflowID(in.Notify); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	if n := len(in.WorkflowID()); n > maxWorkflowID {
		return fmt.Errorf("project, user and agent make a workflow id of %d bytes, more than %d: shorten them", n, maxWorkflowID)
	}
	return cmp.Or(Scope{Project: in.Project, User: in.User, Agent: in.Agent}.Validate(), in.Pace().validate())
}

// RetryBuildsInput is the input of retry_builds. It takes only the latest build of each session, because work that a
// later build has done needs no retry.
type RetryBuildsInput struct {
	// Builds are ids or prefixes of ids. If there are none, Failed and Partial select the builds.
	Builds []string `json:"builds,omitempty"`
	// Force retries a build of Builds although its input was invalid, for use after its source was repaired. It also
	// asks once more about the windows that were given up.
	Force bool `json:"force,omitempty"`
	// Failed selects builds that failed for a reason of one of the Classes. No classes mean passing. Interrupted builds
	// have failed, too.
	Failed  bool           `json:"failed,omitempty"`
	Classes []FailureClass `json:"classes,omitempty"`
	// Partial selects builds with windows without a complete answer, or with vectors that could not be written.
	Partial bool `json:"partial,omitempty"`
	// Project, User, Agent and SessionID narrow the selection, and so does Since: the start of the oldest build.
	Project   string    `json:"project,omitempty"`
	User      string    `json:"user,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	AtOnce    int       `json:"at_once,omitempty"`
	// Continued is the progress of an earlier run of the workflow. The workflow itself sets it.
	Continued *BatchState `json:"continued,omitempty"`
}

// Workflow returns the type of the workflow that takes the input.
func (in RetryBuildsInput) Workflow() string { return WorkflowRetryBuilds }

// WorkflowID is the same for each retry of the same selection.
func (in RetryBuildsInput) WorkflowID() string {
	classes := make([]string, len(in.Classes))
	for i, class := range in.Classes {
		classes[i] = string(class)
	}
	return batchID(in.Workflow(), Scope{Project: in.Project, User: in.User, Agent: in.Agent}, in.SessionID, HashParts(in.Builds...), strconv.FormatBool(in.Force),
		strconv.FormatBool(in.Failed), strconv.FormatBool(in.Partial), HashParts(classes...), in.Since.UTC().Format(time.RFC3339Nano))
}

// Pace returns the bounds of the retry.
func (in RetryBuildsInput) Pace() Pace { return Pace{AtOnce: in.AtOnce} }

// Validate returns an error if the input selects no builds.
func (in RetryBuildsInput) Validate() error {
	for _, class := range in.Classes {
		if !slices.Contains(FailureClasses(), class) {
			return fmt.Errorf("class %q: want one of %q", class, FailureClasses())
		}
	}
	switch all := in.Failed || in.Partial; {
	case len(in.Builds) == 0 && !all:
		return errors.New("give builds, failed or partial: no build is selected")
	case len(in.Builds) > 0 && (all || len(in.Classes) > 0 || in.Project+in.User+in.Agent+in.SessionID != "" || !in.Since.IsZero()):
		return errors.New("give builds or a selection of them, not both")
	case len(in.Builds) > MaxNamedBuilds:
		return fmt.Errorf("%d builds: give %d at most", len(in.Builds), MaxNamedBuilds)
	case in.Force && len(in.Builds) == 0:
		return errors.New("force is for builds that are given by their ids: of others the classes decide")
	}
	return cmp.Or(checkNames(in.Project, in.User, in.Agent, in.SessionID), in.Pace().validate())
}

// BackfillSessionsInput is the input of backfill_sessions: sessions of the log, to be extracted with another extractor.
type BackfillSessionsInput struct {
	// Extractor is the provider and model of the worker, such as gemini/gemini-2.5-flash. A worker with another
	// extractor refuses. Empty means the worker's own.
	Extractor string `json:"extractor,omitempty"`
	Project   string `json:"project,omitempty"`
	User      string `json:"user,omitempty"`
	Agent     string `json:"agent,omitempty"`
	// Since is the date of the oldest session.
	Since time.Time `json:"since,omitzero"`
	// PerMinute bounds how many sessions are started in a minute. 0 means no bound.
	PerMinute int `json:"per_minute,omitempty"`
	AtOnce    int `json:"at_once,omitempty"`
	// Continued is the progress of an earlier run of the workflow. The workflow itself sets it.
	Continued *BatchState `json:"continued,omitempty"`
}

// Workflow returns the type of the workflow that takes the input.
func (in BackfillSessionsInput) Workflow() string { return WorkflowBackfillSessions }

// WorkflowID is the same for each backfill of the same sessions by the same extractor.
func (in BackfillSessionsInput) WorkflowID() string {
	return batchID(in.Workflow(), Scope{Project: in.Project, User: in.User, Agent: in.Agent}, in.Extractor,
		in.Since.UTC().Format(time.RFC3339Nano))
}

// Pace returns the bounds of the backfill.
func (in BackfillSessionsInput) Pace() Pace { return Pace{AtOnce: in.AtOnce, PerMinute: in.PerMinute} }

// Validate returns an error if the input can be no backfill.
func (in BackfillSessionsInput) Validate() error {
	return cmp.Or(checkNames(in.Project, in.User, in.Agent, ""), in.Pace().validate())
}

func (p Pace) validate() error {
	switch {
	case p.AtOnce < 0 || p.AtOnce > MaxAtOnce:
		return fmt.Errorf("at_once %d: want 1 to %d", p.AtOnce, MaxAtOnce)
	case p.PerMinute < 0 || p.PerMinute > MaxPerMinute:
		return fmt.Errorf("per_minute %d: want 0 to %d", p.PerMinute, MaxPerMinute)
	}
	return nil
}

func checkNames(project, user, agent, session string) error {
	return cmp.Or(CheckName("project", project), CheckName("user", user), CheckName("agent", agent), CheckName("session_id", session))
}

// batchID is {workflow}/{project}/{user}/{agent}/{hash of the rest of the input}.
func batchID(workflow string, s Scope, rest ...string) string {
	return WorkflowID(streamName(workflow+"/", s.Project, s.User, s.Agent, HashParts(rest...)[:20]))
}

// BatchResult is the result of import_sessions, retry_builds and backfill_sessions. The stream of the batch contains
// the items and the outcome of each.
type BatchResult struct {
	Batch      string `json:"batch"`
	Items      int    `json:"items"`
	PassedOver int    `json:"passed_over"`
	// Statuses counts the items by their outcome.
	Statuses map[BuildStatus]int `json:"statuses"`
	Counts   BuildCounts         `json:"counts"`
	Usage    Usage               `json:"usage"`
}

// Ended counts the items that have ended.
func (r BatchResult) Ended() int {
	n := 0
	for _, count := range r.Statuses {
		n += count
	}
	return n
}

// BatchProgress is the answer of these workflows to QueryProgress.
type BatchProgress struct {
	BatchResult
	// Listing is true while the items are being listed.
	Listing bool `json:"listing,omitempty"`
	// Done counts the items that ended. Running lists the sessions in progress.
	Done    int      `json:"done"`
	Running []string `json:"running,omitempty"`
}
