package dreams

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/schema"
	"axiommind/starter/command"
)

// Bounds and times of schedules.
const (
	maxScheduleID = 900
	minCatchUp    = 10 * time.Second // Temporal's own.
	// nightTime is the timeout of a night's workflow.
	nightTime = 24 * time.Hour
)

type applyOptions struct {
	ScheduleDefinition
	jitter, catchUp time.Duration
	atOnce          int
	paused          bool
	// changed reports whether a flag was given.
	changed func(flag string) bool
}

func scheduleApplyCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply", Short: "create or change the schedule of nightly dreams",
		Example: "starter schedule apply --cron '30 3 * * *' --time-zone Europe/Berlin\n" +
			"starter schedule apply --user ann --lookback 7",
	}
	f := cmd.Flags()
	o := &applyOptions{changed: f.Changed}
	f.StringVar(&o.User, "user", "", "dream of this user's memory only (default: of all memories)")
	f.StringVar(&o.Agent, "agent", "", "with --user, the agent that remembers it")
	f.StringVar(&o.Cron, "cron", "30 3 * * *", "when: minute, hour, day of month, month, day of week. A time that\nthe clocks skip in spring is skipped")
	f.StringVar(&o.TimeZone, "time-zone", "", "time zone of --cron, such as Europe/Berlin (default: the machine's)")
	f.DurationVar(&o.jitter, "jitter", 10*time.Minute, "longest random delay of a run, so that not all begin at once")
	f.DurationVar(&o.catchUp, "catch-up", 6*time.Hour, "make up for missed runs, if Temporal is back within this time")
	f.IntVar(&o.LookbackDays, "lookback", 0, "days to read (default: all that no dream has read)")
	f.IntVar(&o.atOnce, "at-once", schema.DreamsAtOnce, "memories at a time")
	f.BoolVar(&o.paused, "paused", false, "pause it, or with --paused=false resume it (default: leave that as it is)")
	a.Answers(cmd, appliedSchedule{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := o.check(a.Getenv); err != nil {
			return err
		}
		c, err := a.Temporal(ctx)
		if err != nil {
			return err
		}
		applied, err := o.apply(ctx, c)
		if err != nil {
			return err
		}
		return a.Print(applied, func(b *strings.Builder) { printApplied(b, applied) })
	})
}

// check validates the flags and completes the definition.
func (o *applyOptions) check(getenv func(string) string) error {
	o.Jitter, o.CatchUp, o.Cron = duration(o.jitter), duration(o.catchUp), strings.Join(strings.Fields(o.Cron), " ")
	switch {
	case o.Cron == "":
		return command.Usagef("--cron is empty")
	case strings.ContainsAny(o.Cron, "#"):
		return command.Usagef("--cron %q: want no comment in it", o.Cron)
	case strings.Contains(o.Cron, "TZ="):
		return command.Usagef("--cron %q: give the time zone with --time-zone", o.Cron)
	case o.Agent != "" && o.User == "":
		return command.Usagef("--agent %q: give --user too", o.Agent)
	case o.jitter < 0:
		return command.Usagef("--jitter %s: want 0 or more", o.jitter)
	case o.catchUp < minCatchUp:
		return command.Usagef("--catch-up %s: want %s or more", o.catchUp, minCatchUp)
	case o.LookbackDays < 0 || o.LookbackDays > schema.MaxLookbackDays:
		return command.Usagef("--lookback %d: want 0 to %d", o.LookbackDays, schema.MaxLookbackDays)
	case o.atOnce < 1 || o.atOnce > schema.MaxDreamsAtOnce:
		return command.Usagef("--at-once %d: want 1 to %d", o.atOnce, schema.MaxDreamsAtOnce)
	case o.User != "" && o.changed("at-once"):
		return command.Usagef("--at-once is for a schedule that dreams of all memories, not for one with --user")
	case len(schema.DreamScheduleID(o.User, o.Agent)) > maxScheduleID:
		return command.Usagef("--user and --agent make the id of a schedule longer than %d bytes: they are too long", maxScheduleID)
	}
	o.Workflow = schema.WorkflowDeepDream
	if o.User == "" {
		o.Workflow, o.AtOnce = schema.WorkflowDreamNight, o.atOnce
	}
	if o.TimeZone == "" {
		o.TimeZone = machineZone(getenv("TZ"), "/etc")
	}
	if _, err := time.LoadLocation(o.TimeZone); err != nil || o.TimeZone == "Local" {
		return command.Usagef("--time-zone %q: want a name such as Europe/Berlin, or UTC", o.TimeZone)
	}
	return nil
}

// machineZone returns the IANA name of the machine's time zone, or UTC if it is unknown. etc is the directory with the
// machine's settings.
func machineZone(variable, etc string) string {
	names := []string{strings.TrimPrefix(variable, ":")}
	if target, err := filepath.EvalSymlinks(filepath.Join(etc, "localtime")); err == nil {
		_, name, _ := strings.Cut(filepath.ToSlash(target), "/zoneinfo/")
		names = append(names, name)
	}
	if data, err := os.ReadFile(filepath.Join(etc, "timezone")); err == nil {
		names = append(names, strings.TrimSpace(string(data)))
	}
	for _, name := range names {
		if _, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
			return name
		}
	}
	return "UTC"
}

// spec returns the times of the schedule. The comment makes the server keep the original expression.
func (d ScheduleDefinition) spec() client.ScheduleSpec {
	cron := d.Cron
	if !strings.HasPrefix(cron, "@every") {
		cron += " # " + cron
	}
	return client.ScheduleSpec{CronExpressions: []string{cron}, TimeZoneName: d.TimeZone, Jitter: time.Duration(d.Jitter)}
}

// action returns the workflow that the schedule starts.
func (d ScheduleDefinition) action(seen seenRuns) *client.ScheduleWorkflowAction {
	action := &client.ScheduleWorkflowAction{
		ID: schema.DreamScheduleID(d.User, d.Agent), Workflow: d.Workflow, TaskQueue: schema.QueueMain, Memo: seen.memo(),
		StaticSummary: "dream of " + d.scope(),
	}
	if d.User == "" {
		action.WorkflowExecutionTimeout = nightTime
		action.Args = []any{schema.DreamNightInput{LookbackDays: d.LookbackDays, AtOnce: d.AtOnce}}
	} else {
		action.WorkflowExecutionTimeout = schema.DreamTime
		action.Args = []any{schema.DeepDreamInput{User: d.User, Agent: d.Agent, LookbackDays: d.LookbackDays}}
	}
	return action
}

// Outcomes of apply.
const (
	applyCreated   = "created"
	applyChanged   = "changed"
	applyUnchanged = "unchanged"
)

// appliedSchedule is the result of apply.
type appliedSchedule struct {
	Outcome string `json:"outcome"`
	Schedule
}

// apply creates the schedule, or updates an existing one.
func (o *applyOptions) apply(ctx context.Context, c client.Client) (applied appliedSchedule, err error) {
	id := schema.DreamScheduleID(o.User, o.Agent)
	options := client.ScheduleOptions{
		ID: id, Spec: o.spec(), Action: o.action(seenRuns{}), Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: o.catchUp, Paused: o.paused,
	}
	applied.Outcome = applyCreated
	handle, err := c.ScheduleClient().Create(ctx, options)
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		handle = c.ScheduleClient().GetHandle(ctx, id)
		applied.Outcome, err = o.update(ctx, handle)
	}
	if err != nil {
		return applied, o.refused(id, err)
	}
	d, err := handle.Describe(ctx)
	if err != nil {
		return applied, fmt.Errorf("read schedule %q: %w", id, err)
	}
	applied.Schedule, _, err = parseSchedule(id, d)
	return applied, err
}

// update changes the schedule to the new definition. It keeps the pause, the note and the seen runs. Only the server can
// expand an expression, so its descriptions before and after are compared.
func (o *applyOptions) update(ctx context.Context, handle client.ScheduleHandle) (outcome string, err error) {
	var before client.ScheduleDescription
	err = handle.Update(ctx, client.ScheduleUpdateOptions{DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
		before = in.Description
		was, ok, err := parseSchedule(handle.GetID(), &before)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, errors.New("there is a schedule of this id that does something else: delete it first, in Temporal's UI")
		}
		state := *before.Schedule.State
		if o.changed("paused") {
			state.Paused = o.paused
		}
		spec := o.spec()
		return &client.ScheduleUpdate{Schedule: &client.Schedule{
			Spec: &spec, Action: o.action(was.seen), State: &state,
			Policy: &client.SchedulePolicies{Overlap: enums.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: o.catchUp},
		}}, nil
	}})
	if err != nil {
		return "", err
	}
	after, err := handle.Describe(ctx)
	if err != nil {
		return "", err
	}
	if sameSchedule(before.Schedule, after.Schedule) {
		return applyUnchanged, nil
	}
	return applyChanged, nil
}

// sameSchedule reports whether two descriptions are of equal schedules.
func sameSchedule(a, b client.Schedule) bool {
	return reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Policy, b.Policy) && reflect.DeepEqual(a.State, b.State) &&
		actionText(a.Action) == actionText(b.Action)
}

// actionText formats the whole action of a schedule as text.
func actionText(action client.ScheduleAction) string {
	a, ok := action.(*client.ScheduleWorkflowAction)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("%s %v %s %s %s", a.ID, a.Workflow, a.TaskQueue, a.WorkflowExecutionTimeout, a.StaticSummary)
	for _, arg := range a.Args {
		text += " " + fmt.Sprint(arg)
	}
	return text
}

// refused explains in plain words why the server rejected the schedule.
func (o *applyOptions) refused(id string, err error) error {
	var invalid *serviceerror.InvalidArgument
	if !errors.As(err, &invalid) {
		return fmt.Errorf("apply schedule %q: %w", id, err)
	}
	message := strings.TrimPrefix(invalid.Message, "Invalid schedule spec: ")
	return command.Usagef("--cron %q, --time-zone %q: Temporal refuses them: %s; want five fields like '30 3 * * *': minute, hour, day of month, month, day of week",
		o.Cron, o.TimeZone, message)
}
