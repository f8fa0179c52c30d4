package dreams

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
)

// Schedule is a Temporal Schedule that runs dreams.
type Schedule struct {
	ID string `json:"id"`
	ScheduleDefinition
	Paused bool   `json:"paused"`
	Note   string `json:"note,omitempty"`
	// Next is the time of the next run. It is nil if the schedule is paused or has no further run.
	Next *time.Time `json:"next,omitempty"`
	// Runs counts all runs. Missed counts the runs that Temporal could not start within the catch-up window. Skipped counts
	// those that were not started because another run was active. Both count since the last backfill.
	Runs    int `json:"runs"`
	Missed  int `json:"missed"`
	Skipped int `json:"skipped"`
	// Recent are the latest runs, the newest first.
	Recent []scheduleRun `json:"recent"`

	// running is the id of a running workflow, or "".
	running string
	seen    seenRuns
}

// ScheduleDefinition contains the settings that a person chooses.
type ScheduleDefinition struct {
	Workflow string `json:"workflow"`
	// User and Agent select the only memory to dream of. An empty user means all memories.
	User         string   `json:"user,omitempty"`
	Agent        string   `json:"agent,omitempty"`
	Cron         string   `json:"cron"`
	TimeZone     string   `json:"time_zone"`
	Jitter       duration `json:"jitter"`
	CatchUp      duration `json:"catch_up"`
	LookbackDays int      `json:"lookback_days"`
	AtOnce       int      `json:"at_once,omitempty"`
}

// duration is a [time.Duration] that is text in JSON, such as 10m.
type duration time.Duration

func (d duration) String() string {
	text := time.Duration(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// MarshalText implements encoding.TextMarshaler.
func (d duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = duration(v)
	return err
}

// seenRuns are the numbers of lost runs that a person has backfilled.
type seenRuns struct{ Missed, Skipped int }

// Keys of the memo that stores [seenRuns].
const (
	memoMissed  = "axiommind_missed_seen"
	memoSkipped = "axiommind_skipped_seen"
)

func (s seenRuns) memo() map[string]any {
	if s == (seenRuns{}) {
		return nil
	}
	return map[string]any{memoMissed: s.Missed, memoSkipped: s.Skipped}
}

// scope describes the memories to dream of.
func (d ScheduleDefinition) scope() string {
	if d.User == "" {
		return "all memories"
	}
	return (&command.Owner{User: d.User, Agent: d.Agent}).String()
}

// applyCommand returns the command that creates the schedule.
func (d ScheduleDefinition) applyCommand() string {
	args := []string{"schedule", "apply", "--cron", d.Cron, "--time-zone", d.TimeZone, "--jitter", d.Jitter.String(), "--catch-up", d.CatchUp.String()}
	if d.User != "" {
		args = append(args, "--user", d.User)
	}
	if d.Agent != "" {
		args = append(args, "--agent", d.Agent)
	}
	if d.LookbackDays != 0 {
		args = append(args, "--lookback", strconv.Itoa(d.LookbackDays))
	}
	if d.AtOnce != 0 {
		args = append(args, "--at-once", strconv.Itoa(d.AtOnce))
	}
	return build.Command(args...)
}

// parseSchedule parses the server's description of a schedule. ok is false if the schedule does not dream.
func parseSchedule(id string, d *client.ScheduleDescription) (s Schedule, ok bool, err error) {
	action, is := d.Schedule.Action.(*client.ScheduleWorkflowAction)
	if !is {
		return s, false, nil
	}
	workflow, _ := action.Workflow.(string)
	s = Schedule{ID: id, ScheduleDefinition: ScheduleDefinition{Workflow: workflow}}
	switch workflow {
	case schema.WorkflowDreamNight:
		in, err := inputOf[schema.DreamNightInput](action)
		if err != nil {
			return s, true, fmt.Errorf("read schedule %q: %w", id, err)
		}
		s.LookbackDays, s.AtOnce = in.LookbackDays, in.AtOnce
	case schema.WorkflowDeepDream:
		in, err := inputOf[schema.DeepDreamInput](action)
		if err != nil {
			return s, true, fmt.Errorf("read schedule %q: %w", id, err)
		}
		s.User, s.Agent, s.LookbackDays = cmp.Or(in.User, "default"), in.Agent, in.LookbackDays
	default:
		return s, false, nil
	}
	if spec := d.Schedule.Spec; spec != nil {
		s.Cron, s.TimeZone, s.Jitter = cronOf(spec), cmp.Or(spec.TimeZoneName, "UTC"), duration(spec.Jitter)
	}
	if policy := d.Schedule.Policy; policy != nil {
		s.CatchUp = duration(policy.CatchupWindow)
	}
	s.seen = seenRuns{memoNumber(action.Memo[memoMissed]), memoNumber(action.Memo[memoSkipped])}
	s.Runs = d.Info.NumActions
	s.Missed = d.Info.NumActionsMissedCatchupWindow - s.seen.Missed
	s.Skipped = d.Info.NumActionsSkippedOverlap - s.seen.Skipped
	if state := d.Schedule.State; state != nil {
		s.Paused, s.Note = state.Paused, state.Note
	}
	if len(d.Info.NextActionTimes) > 0 && !s.Paused {
		s.Next = &d.Info.NextActionTimes[0]
	}
	for _, running := range d.Info.RunningWorkflows {
		s.running = running.WorkflowID
	}
	s.Recent = []scheduleRun{}
	for _, r := range slices.Backward(d.Info.RecentActions) {
		if r.StartWorkflowResult != nil {
			s.Recent = append(s.Recent, scheduleRun{
				Scheduled: r.ScheduleTime, Started: r.ActualTime,
				WorkflowID: r.StartWorkflowResult.WorkflowID, RunID: r.StartWorkflowResult.FirstExecutionRunID,
			})
		}
	}
	return s, true, nil
}

// cronOf returns the cron expression. The server converts expressions to calendars and intervals but keeps their comments,
// which contain the original.
func cronOf(spec *client.ScheduleSpec) string {
	for _, c := range spec.Calendars {
		if c.Comment != "" {
			return c.Comment
		}
	}
	for _, i := range spec.Intervals {
		return "@every " + duration(i.Every).String()
	}
	return "(made elsewhere)"
}

func inputOf[T any](action *client.ScheduleWorkflowAction) (in T, err error) {
	if len(action.Args) == 0 {
		return in, nil
	}
	payload, ok := action.Args[0].(*commonpb.Payload)
	if !ok {
		return in, fmt.Errorf("its input is a %T", action.Args[0])
	}
	if err := json.Unmarshal(payload.GetData(), &in); err != nil {
		return in, fmt.Errorf("its input: %w", err)
	}
	return in, nil
}

func memoNumber(v any) (n int) {
	if payload, ok := v.(*commonpb.Payload); ok {
		_ = json.Unmarshal(payload.GetData(), &n)
	}
	return n
}

// describeSchedule reads one schedule. ok is false if no schedule with the id dreams.
func describeSchedule(ctx context.Context, c client.Client, id string) (s Schedule, ok bool, err error) {
	d, err := c.ScheduleClient().GetHandle(ctx, id).Describe(ctx)
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &missing):
		return s, false, nil
	case err != nil:
		return s, false, fmt.Errorf("read schedule %q: %w", id, err)
	}
	return parseSchedule(id, d)
}

// listSchedules reads all schedules that dream, by id.
func listSchedules(ctx context.Context, c client.Client) ([]Schedule, error) {
	it, err := c.ScheduleClient().List(ctx, client.ScheduleListOptions{PageSize: 100})
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	schedules := []Schedule{}
	for it.HasNext() {
		entry, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("list schedules: %w", err)
		}
		if w := entry.WorkflowType.Name; w != schema.WorkflowDreamNight && w != schema.WorkflowDeepDream {
			continue
		}
		s, ok, err := describeSchedule(ctx, c, entry.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			schedules = append(schedules, s)
		}
	}
	slices.SortFunc(schedules, func(a, b Schedule) int { return cmp.Compare(a.ID, b.ID) })
	return schedules, nil
}

const noSchedule = "there is no schedule of nightly dreams; create one with: starter schedule apply"

// findSchedule returns the schedule with the given id or beginning of an id. Without arguments it returns the only schedule.
func findSchedule(ctx context.Context, c client.Client, args []string) (Schedule, error) {
	given := ""
	if len(args) > 0 {
		given = strings.TrimSpace(args[0])
		// Temporal's client rejects ids that are not printable ASCII. No schedule made here has such an id.
		if given == schema.WorkflowID(given) {
			s, ok, err := describeSchedule(ctx, c, given)
			if ok || err != nil {
				return s, err
			}
		}
	}
	all, err := listSchedules(ctx, c)
	if err != nil {
		return Schedule{}, err
	}
	return pickSchedule(all, given)
}

func pickSchedule(all []Schedule, given string) (Schedule, error) {
	var found []Schedule
	var names []string
	for _, s := range all {
		names = append(names, s.ID)
		if strings.HasPrefix(s.ID, given) {
			found = append(found, s)
		}
	}
	switch {
	case len(all) == 0:
		return Schedule{}, command.Missingf(noSchedule)
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return Schedule{}, command.Missingf("there is no schedule %q; there %s", given, areNames(names))
	case given == "":
		return Schedule{}, command.Usagef("say which schedule: there %s", areNames(names))
	}
	names = names[:0]
	for _, s := range found {
		names = append(names, s.ID)
	}
	return Schedule{}, command.Usagef("schedule %q is ambiguous: there %s", given, areNames(names))
}

// maxNames bounds the names in an error.
const maxNames = 10

func areNames(names []string) string {
	more := ""
	if len(names) > maxNames {
		names, more = names[:maxNames], ", …"
	}
	verb := "are "
	if len(names) == 1 {
		verb = "is "
	}
	return verb + strings.Join(names, ", ") + more
}

// scheduleRun is one run of a schedule.
type scheduleRun struct {
	Scheduled  time.Time `json:"scheduled"`
	Started    time.Time `json:"started"`
	WorkflowID string    `json:"workflow_id"`
	// RunID is the run id of the workflow's first run.
	RunID  string `json:"run_id"`
	Status string `json:"status"`
	// Summary describes the result in one line.
	Summary string `json:"summary,omitempty"`
}

// statuses are the words for the final states of a workflow.
var statuses = map[enums.WorkflowExecutionStatus]string{
	enums.WORKFLOW_EXECUTION_STATUS_RUNNING:    "running",
	enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:  "completed",
	enums.WORKFLOW_EXECUTION_STATUS_FAILED:     "failed",
	enums.WORKFLOW_EXECUTION_STATUS_CANCELED:   "cancelled",
	enums.WORKFLOW_EXECUTION_STATUS_TERMINATED: "terminated",
	enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:  "timed out",
}

// learn reads how the run ended.
func (r *scheduleRun) learn(ctx context.Context, c client.Client, workflow string) error {
	d, err := c.DescribeWorkflowExecution(ctx, r.WorkflowID, r.RunID)
	if d.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
		d, err = c.DescribeWorkflowExecution(ctx, r.WorkflowID, "")
	}
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &missing):
		r.Status = "no longer kept"
		return nil
	case err != nil:
		return fmt.Errorf("read workflow %q: %w", r.WorkflowID, err)
	}
	status := d.GetWorkflowExecutionInfo().GetStatus()
	r.Status = cmp.Or(statuses[status], strings.ToLower(status.String()))
	if status != enums.WORKFLOW_EXECUTION_STATUS_COMPLETED && status != enums.WORKFLOW_EXECUTION_STATUS_FAILED {
		return nil
	}
	summary, _, err := runOutcome(ctx, c.GetWorkflow(ctx, r.WorkflowID, r.RunID), workflow)
	if err != nil {
		summary = command.FailureText(err)
	}
	r.Summary = summary
	return ctx.Err()
}

// runOutcome waits for a workflow that dreams and describes its result in one line. failed counts the failed dreams.
func runOutcome(ctx context.Context, run client.WorkflowRun, workflow string) (line string, failed int, err error) {
	if workflow == schema.WorkflowDreamNight {
		var result schema.DreamNightResult
		err := run.Get(ctx, &result)
		return result.Line(), result.Failed, err
	}
	var result schema.DeepDreamResult
	err = run.Get(ctx, &result)
	return dreamLine(result), 0, err
}

// dreamLine describes in one line how a dream ended.
func dreamLine(r schema.DeepDreamResult) string {
	switch r.Status {
	case schema.DreamCommitted:
		return fmt.Sprintf("dream of %s: version %d of %s, %d added, %d dropped", r.Date, r.Version, command.Plural(r.Items, "item", "items"), r.Added, r.Dropped)
	case schema.DreamUnchanged:
		return fmt.Sprintf("dream of %s: unchanged", r.Date)
	}
	return fmt.Sprintf("dream of %s: %s: %s", r.Date, r.Status, r.Reason)
}
