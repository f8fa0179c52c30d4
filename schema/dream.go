package schema

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Summary is the text that a session added to the daily record. The receiver may show it to the agent instead of the
// flushed messages.
type Summary struct {
	// EventID names the event that stores the summary. It is the same if the summary is sent twice.
	EventID   string      `json:"event_id"`
	Project   string      `json:"project"`
	User      string      `json:"user"`
	Agent     string      `json:"agent,omitempty"`
	SessionID string      `json:"session_id"`
	Reason    FlushReason `json:"reason,omitempty"`
	Date      string      `json:"date"`
	Clock     string      `json:"clock"`
	// Turns counts the messages of the user that were flushed.
	Turns int    `json:"turns"`
	Text  string `json:"text"`
	// Preface is the text for an agent that no longer has the messages. It belongs before its first message.
	Preface string `json:"preface"`
}

// NotifySummaryInput is the input of notify_summary.
type NotifySummaryInput struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// EventID names the context_flushed event.
	EventID string `json:"event_id"`
	// Workflow is the id of the workflow to signal, or empty. The webhook of the worker's settings is called in any case.
	Workflow string `json:"workflow,omitempty"`
}

// WorkflowID returns the id of the workflow that sends this summary.
func (in NotifySummaryInput) WorkflowID() string {
	return "notify/" + DerivedID("notify", in.EventID, in.Workflow)
}

// DreamSchedule is the id of the Temporal Schedule that dreams of all memories.
const DreamSchedule = "axiommind-dream"

// DreamScheduleID returns the id of the schedule that dreams of the memory, or of all memories if the user is empty.
// Different memories have different ids, which are printable ASCII.
func DreamScheduleID(user, agent string) string {
	if user == "" {
		return DreamSchedule
	}
	name := strings.TrimPrefix(WorkflowID(MemoryStream(user, agent)), MemoryPrefix)
	return DreamSchedule + "/" + strings.TrimSuffix(name, "/")
}

// ParseDreamScheduleID returns the memory of the schedule. It accepts exactly the results of [DreamScheduleID] for a memory.
func ParseDreamScheduleID(id string) (user, agent string, ok bool) {
	name, ok := strings.CutPrefix(id, DreamSchedule+"/")
	if !ok {
		return "", "", false
	}
	stream := MemoryPrefix + WorkflowStream(name)
	if !strings.Contains(name, "/") {
		stream += "/"
	}
	user, agent, err := ParseMemoryStream(stream)
	return user, agent, err == nil && DreamScheduleID(user, agent) == id
}

// MaxLookbackDays is the largest number of days that a dream looks back.
const MaxLookbackDays = 3660

// DeepDreamInput is the input of deep_dream.
type DeepDreamInput struct {
	User  string `json:"user,omitempty"`
	Agent string `json:"agent,omitempty"`
	// Date is the day for which to dream, as 2006-01-02. If it is empty, it is the day for which a schedule started the
	// workflow, or today.
	Date string `json:"date,omitempty"`
	// At is the time whose day is used if Date is empty. The workflow sets it for the child that it runs under the
	// memory's id.
	At time.Time `json:"at,omitzero"`
	// LookbackDays is the number of days to read, Date included. If it is 0, all days up to Date with content that no
	// dream has read are read.
	LookbackDays int `json:"lookback_days,omitempty"`
	// Force dreams even if there is nothing new. Without LookbackDays, the days of the last dream are read again.
	Force bool `json:"force,omitempty"`
	// DryRun commits nothing, and neither reads nor writes a file, so it does not see recent edits by a person. The
	// result names the gathered input and the answers.
	DryRun bool `json:"dry_run,omitempty"`
	// From and Done come from the run that this one continues: the first day that it left, and the result of its
	// dreams.
	From string          `json:"from,omitempty"`
	Done DeepDreamResult `json:"done,omitzero"`
}

// Validate returns an error if the input is invalid.
func (in DeepDreamInput) Validate() error {
	if err := cmp.Or(requireName("user", in.User), CheckName("agent", in.Agent)); err != nil {
		return err
	}
	if n := len(in.WorkflowID()); n > maxWorkflowID {
		return fmt.Errorf("user and agent make a workflow id of %d bytes, more than %d: shorten them", n, maxWorkflowID)
	}
	if _, err := time.Parse(DateLayout, in.Date); in.Date != "" && err != nil {
		return fmt.Errorf("date %q: want a day such as 2026-06-07", in.Date)
	}
	if in.LookbackDays < 0 || in.LookbackDays > MaxLookbackDays {
		return fmt.Errorf("lookback_days %d: want 1 to %d days, or 0 for all that no dream has read", in.LookbackDays, MaxLookbackDays)
	}
	return nil
}

// Writer returns the input of the writer of the memory.
func (in DeepDreamInput) Writer() MemoryWriterInput {
	return MemoryWriterInput{User: in.User, Agent: in.Agent}
}

// WorkflowID returns the id of the workflow that dreams of the memory. One runs at a time. A dry run, which changes
// nothing, has an id of its own and blocks no dream. Names contain no slash there, so no memory has the id of a dry
// run.
func (in DeepDreamInput) WorkflowID() string {
	id := WorkflowID(streamName(WorkflowDeepDream+"/", in.User, in.Agent))
	if in.DryRun {
		id += "/dry"
	}
	return id
}

// DeepDreamResult is the result of deep_dream.
type DeepDreamResult struct {
	User   string      `json:"user"`
	Agent  string      `json:"agent,omitempty"`
	Date   string      `json:"date"`
	Status DreamStatus `json:"status"`
	// Reason is the reason why the dream was skipped or refused.
	Reason string `json:"reason,omitempty"`
	// Ordinal is the number of the dream. Version is the version of core memory after it, 0 for none.
	Ordinal int `json:"ordinal,omitempty"`
	Parent  int `json:"parent"`
	Version int `json:"version"`
	// Items counts the items of the version, and Added those that its parent did not contain. Dropped counts the items
	// of the parent and of the answer that it does not contain. Carried counts the items that the answer left out but
	// that stayed. LeftOut counts the statements of the days that core memory has no room for.
	Items   int   `json:"items"`
	Added   int   `json:"added"`
	Dropped int   `json:"dropped"`
	Carried int   `json:"carried"`
	LeftOut int   `json:"left_out,omitempty"`
	Usage   Usage `json:"usage"`
	// Dreams counts the dreams that it took if the days were too much for one. They read the oldest days first. The
	// counts are of all of them, the other fields of the last one.
	Dreams int `json:"dreams,omitempty"`
	// Next is the first day left for another dream. Only a dry run leaves one.
	Next string `json:"next,omitempty"`
	// Gathered is the id of the event with the input of the dream, and Responses are the keys of the model's answers.
	Gathered  string   `json:"gathered,omitempty"`
	Responses []string `json:"responses,omitempty"`
	// Files is the reason why the files could not be written, although the version is stored. The memory's writer keeps
	// retrying.
	Files string `json:"files,omitempty"`
}

// Bounds of a night and of a dream.
const (
	// DreamsAtOnce is how many memories are dreamt of at a time by default.
	DreamsAtOnce = 4
	// MaxDreamsAtOnce is how many memories may be dreamt of at a time.
	MaxDreamsAtOnce = 64
	// DreamTime is the time limit of one dream, including retries while a server or a model is unavailable.
	DreamTime = 6 * time.Hour
)

// DreamNightInput is the input of dream_night, which dreams of all memories.
type DreamNightInput struct {
	// Date, LookbackDays and Force are as in [DeepDreamInput].
	Date         string `json:"date,omitempty"`
	LookbackDays int    `json:"lookback_days,omitempty"`
	Force        bool   `json:"force,omitempty"`
	// AtOnce is how many memories are dreamt of at a time. Default 4.
	AtOnce int `json:"at_once,omitempty"`
	// After and Done come from the run that this one continues.
	After string           `json:"after,omitempty"`
	Done  DreamNightResult `json:"done,omitzero"`
}

// DreamNightResult counts the memories of a night, by how their dreams ended.
type DreamNightResult struct {
	Date      string `json:"date,omitempty"`
	Memories  int    `json:"memories"`
	Committed int    `json:"committed"`
	Unchanged int    `json:"unchanged"`
	Refused   int    `json:"refused"`
	Skipped   int    `json:"skipped"`
	Failed    int    `json:"failed"`
	// Running counts the skipped memories that another workflow was dreaming of.
	Running int `json:"running,omitempty"`
	// Failures are the first of the dreams that failed or were refused, each with its reason.
	Failures []DreamFailure `json:"failures,omitempty"`
	Usage    Usage          `json:"usage"`
}

// Line returns the result of the night in one line.
func (r DreamNightResult) Line() string {
	parts := []string{
		fmt.Sprintf("night of %s: %s", r.Date, memories(r.Memories)),
		fmt.Sprintf("%d with a new version", r.Committed),
		fmt.Sprintf("%d unchanged", r.Unchanged),
	}
	for _, count := range []struct {
		n    int
		what string
	}{{r.Skipped, "skipped"}, {r.Running, "of them being dreamt of already"}, {r.Refused, "refused"}, {r.Failed, "failed"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	return strings.Join(parts, ", ")
}

func memories(n int) string {
	if n == 1 {
		return "1 memory"
	}
	return fmt.Sprintf("%d memories", n)
}

// DreamFailure is a dream of a night that failed or was refused.
type DreamFailure struct {
	User   string `json:"user"`
	Agent  string `json:"agent,omitempty"`
	Reason string `json:"reason"`
}
