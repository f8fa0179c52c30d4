package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"axiommind/activities/build"
	"axiommind/worker/service"
)

// withSchedule runs fn with the schedule that the arguments select.
func (a *app) withSchedule(ctx context.Context, args []string, fn func(client.Client, *schedule) error) error {
	c, err := a.temporal(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := findSchedule(ctx, c, args)
	if err != nil {
		return err
	}
	return fn(c, &s)
}

// sayOf prints one line, or v as JSON.
func (a *app) sayOf(v any, format string, args ...any) error {
	return a.print(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, unbroken(fmt.Sprintf(format, args...)))
		return err
	})
}

func (a *app) scheduleListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list the schedules, with their last and missed runs",
	}
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		c, err := a.temporal(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		schedules, err := listSchedules(ctx, c)
		if err != nil {
			return err
		}
		for i := range schedules {
			s := &schedules[i]
			s.Recent = s.Recent[:min(1, len(s.Recent))]
			if err := s.learn(ctx, c); err != nil {
				return err
			}
		}
		return a.print(schedules, func(w io.Writer) error { return printSchedules(w, schedules) })
	})
}

// learn reads how the recent runs ended.
func (s *schedule) learn(ctx context.Context, c client.Client) error {
	for i := range s.Recent {
		if err := s.Recent[i].learn(ctx, c, s.Workflow); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) scheduleShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show [SCHEDULE]", Short: "show a schedule and its latest runs",
	}
	cmd.ValidArgsFunction = a.arguments(scheduleIDs)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withSchedule(ctx, args, func(c client.Client, s *schedule) error {
			if err := s.learn(ctx, c); err != nil {
				return err
			}
			return a.print(s, func(w io.Writer) error { return printSchedule(w, s) })
		})
	})
}

func (a *app) schedulePauseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause [SCHEDULE]", Short: "start no more runs until it is resumed",
	}
	f := cmd.Flags()
	note := f.String("note", "", "reason, kept as the schedule's note")
	cmd.ValidArgsFunction = a.arguments(scheduleIDs)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withSchedule(ctx, args, func(c client.Client, s *schedule) error {
			if *note == "" {
				*note = "paused with starter on " + time.Now().Format(time.DateOnly)
			}
			if err := c.ScheduleClient().GetHandle(ctx, s.ID).Pause(ctx, client.SchedulePauseOptions{Note: *note}); err != nil {
				return fmt.Errorf("pause schedule %q: %w", s.ID, err)
			}
			s.Paused, s.Note, s.Next = true, *note, nil
			return a.sayOf(s, "paused %s: %s; resume it with: %s", s.ID, *note, build.Command("schedule", "resume", s.ID))
		})
	})
}

func (a *app) scheduleResumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume [SCHEDULE]", Short: "start runs again",
	}
	f := cmd.Flags()
	note := f.String("note", "", "reason, kept as the schedule's note")
	cmd.ValidArgsFunction = a.arguments(scheduleIDs)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withSchedule(ctx, args, func(c client.Client, s *schedule) error {
			if *note == "" {
				*note = "resumed with starter on " + time.Now().Format(time.DateOnly)
			}
			if err := c.ScheduleClient().GetHandle(ctx, s.ID).Unpause(ctx, client.ScheduleUnpauseOptions{Note: *note}); err != nil {
				return fmt.Errorf("resume schedule %q: %w", s.ID, err)
			}
			resumed, _, err := describeSchedule(ctx, c, s.ID)
			if err != nil {
				return err
			}
			return a.sayOf(resumed, "resumed %s; next %s", s.ID, resumed.next())
		})
	})
}

func (a *app) scheduleDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete [SCHEDULE]", Short: "delete a schedule",
	}
	cmd.ValidArgsFunction = a.arguments(scheduleIDs)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withSchedule(ctx, args, func(c client.Client, s *schedule) error {
			if err := c.ScheduleClient().GetHandle(ctx, s.ID).Delete(ctx); err != nil {
				return fmt.Errorf("delete schedule %q: %w", s.ID, err)
			}
			return a.sayOf(s, "deleted %s, which dreamt of %s at '%s' in %s; make it again with: %s",
				s.ID, s.scope(), s.Cron, s.TimeZone, s.applyCommand())
		})
	})
}

// triggered is the result of trigger.
type triggered struct {
	ID         string `json:"id"`
	WorkflowID string `json:"workflow_id,omitempty"`
	// After is the workflow that must end before this run begins.
	After   string `json:"after,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

// triggerPatience is how long trigger waits for the run to begin.
const triggerPatience = 30 * time.Second

func (a *app) scheduleTriggerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "trigger [SCHEDULE]", Short: "run it now",
	}
	f := cmd.Flags()
	wait := f.Bool("wait", false, "wait until the run has ended")
	cmd.ValidArgsFunction = a.arguments(scheduleIDs)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withSchedule(ctx, args, func(c client.Client, s *schedule) error { return a.trigger(ctx, c, s, *wait) })
	})
}

// trigger runs the schedule now. If a run is active, the new one begins after it, because it may be needed for later
// sessions.
func (a *app) trigger(ctx context.Context, c client.Client, s *schedule, wait bool) error {
	options := client.ScheduleTriggerOptions{Overlap: enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE}
	if err := c.ScheduleClient().GetHandle(ctx, s.ID).Trigger(ctx, options); err != nil {
		return fmt.Errorf("trigger schedule %q: %w", s.ID, err)
	}
	t := triggered{ID: s.ID, After: s.running}
	if s.running != "" && !wait {
		return a.sayOf(t, "%s runs already, as workflow %s; it runs again when that has ended", s.ID, s.running)
	}
	if s.running != "" {
		_, _ = fmt.Fprintf(a.errOut, "waits for workflow %s\n", s.running)
		_ = c.GetWorkflow(ctx, s.running, "").Get(ctx, nil) // Its result is irrelevant.
	}
	run, err := s.begun(ctx, c)
	if err != nil {
		return err
	}
	t.WorkflowID = run.WorkflowID
	if !wait {
		return a.sayOf(t, "started workflow %s; see its progress: %s", t.WorkflowID, build.Command("schedule", "show", s.ID))
	}
	line, failed, err := runOutcome(ctx, c.GetWorkflow(ctx, run.WorkflowID, run.RunID), s.Workflow)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("stopped waiting: %w; workflow %s goes on", ctx.Err(), t.WorkflowID)
	}
	if err != nil {
		return fmt.Errorf("workflow %s: %s", t.WorkflowID, failureText(err))
	}
	t.Outcome = line
	if err := a.sayOf(t, "%s", line); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s failed; see workflow %s", plural(failed, "dream", "dreams"), t.WorkflowID)
	}
	return nil
}

// begun waits for the start of a run that is newer than the schedule's description.
func (s *schedule) begun(ctx context.Context, c client.Client) (run scheduleRun, err error) {
	waiting, cancel := context.WithTimeout(ctx, triggerPatience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		now, ok, err := describeSchedule(ctx, c, s.ID)
		switch {
		case err != nil:
			return run, err
		case !ok:
			return run, fmt.Errorf("schedule %q was deleted meanwhile", s.ID)
		case len(now.Recent) > 0 && now.Runs > s.Runs:
			return now.Recent[0], nil
		}
		select {
		case <-waiting.Done():
			return run, fmt.Errorf("schedule %q did not start a run within %s; see %s", s.ID, triggerPatience, build.Command("schedule", "show", s.ID))
		case <-tick.C:
		}
	}
}

// maxNights bounds the runs of one backfill: Temporal queues a thousand.
const maxNights = 500

// backfilled is the result of backfill.
type backfilled struct {
	ID     string      `json:"id"`
	Nights []time.Time `json:"nights"`
}

func (a *app) scheduleBackfillCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backfill [SCHEDULE]", Short: "run it for past nights, one after the other",
		Example: "starter schedule backfill --from 2026-06-01 --to 2026-06-07",
	}
	f := cmd.Flags()
	from := f.String("from", "", "first day, in the schedule's time zone, or time")
	to := f.String("to", "", "last day or time (default: now)")
	cmd.ValidArgsFunction = a.arguments(scheduleIDs)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if *from == "" {
			return usagef("--from is empty: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z")
		}
		for _, given := range [][2]string{{"from", *from}, {"to", *to}} {
			if given[1] == "" {
				continue
			}
			if _, err := parseTime(given[0], given[1]); err != nil {
				return err
			}
		}
		return a.withSchedule(ctx, args, func(c client.Client, s *schedule) error { return a.backfill(ctx, c, s, *from, *to) })
	})
}

// backfill runs the schedule for each of its times from from to to, one run after the other.
func (a *app) backfill(ctx context.Context, c client.Client, s *schedule, from, to string) error {
	begin, end, err := s.between(from, to, time.Now())
	if err != nil {
		return err
	}
	before := begin.Add(-time.Millisecond) // The server excludes the start time itself.
	answer, err := c.WorkflowService().ListScheduleMatchingTimes(ctx, &workflowservice.ListScheduleMatchingTimesRequest{
		Namespace: a.cfg.TemporalNamespace, ScheduleId: s.ID, StartTime: timestamppb.New(before), EndTime: timestamppb.New(end),
	})
	if err != nil {
		return fmt.Errorf("find the nights of schedule %q: %w", s.ID, err)
	}
	result := backfilled{ID: s.ID}
	for _, at := range answer.GetStartTime() {
		result.Nights = append(result.Nights, at.AsTime())
	}
	n := len(result.Nights)
	switch {
	case n == 0:
		return usagef("%s has no run from %s to %s", s.ID, s.when(begin), s.when(end))
	case n > maxNights:
		return usagef("%s has %d runs from %s to %s, more than %d: give fewer days", s.ID, n, s.when(begin), s.when(end), maxNights)
	}
	handle := c.ScheduleClient().GetHandle(ctx, s.ID)
	err = handle.Backfill(ctx, client.ScheduleBackfillOptions{Backfill: []client.ScheduleBackfill{
		{Start: before, End: end, Overlap: enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL},
	}})
	if err != nil {
		return fmt.Errorf("backfill schedule %q: %w", s.ID, err)
	}
	if err := s.see(ctx, handle); err != nil {
		return err
	}
	return a.sayOf(result, "%s queued, one after the other: %s to %s; to see their progress: %s", plural(n, "night", "nights"),
		s.when(result.Nights[0]), s.when(result.Nights[n-1]), build.Command("schedule", "show", s.ID))
}

// between returns the interval to backfill. Days are in the schedule's time zone, and the last day is included. Times in the
// future are excluded.
func (s *schedule) between(from, to string, now time.Time) (begin, end time.Time, err error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return begin, end, fmt.Errorf("read schedule %q: %w", s.ID, err)
	}
	if begin, err = time.ParseInLocation(time.DateOnly, from, zone); err != nil {
		if begin, err = parseTime("from", from); err != nil {
			return begin, end, err
		}
	}
	end = now
	if to != "" {
		if end, err = time.ParseInLocation(time.DateOnly, to, zone); err == nil {
			end = end.AddDate(0, 0, 1).Add(-time.Second)
		} else if end, err = parseTime("to", to); err != nil {
			return begin, end, err
		}
	}
	if end.After(now) {
		end = now
	}
	if !begin.Before(end) {
		return begin, end, usagef("--from %s: want a time before that of --to and before now", from)
	}
	return begin, end, nil
}

// see records that the runs missed and skipped until now have been backfilled.
func (s *schedule) see(ctx context.Context, handle client.ScheduleHandle) error {
	if s.Missed == 0 && s.Skipped == 0 {
		return nil
	}
	err := handle.Update(ctx, client.ScheduleUpdateOptions{DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
		changed := in.Description.Schedule
		action, ok := changed.Action.(*client.ScheduleWorkflowAction)
		if !ok {
			return nil, fmt.Errorf("its action is a %T", changed.Action)
		}
		action.Memo = seenRuns{s.Missed + s.seen.Missed, s.Skipped + s.seen.Skipped}.memo()
		return &client.ScheduleUpdate{Schedule: &changed}, nil
	}})
	if err != nil {
		return fmt.Errorf("note the backfill of schedule %q: %w", s.ID, err)
	}
	return nil
}

// checkSchedules checks that no run of a schedule was lost. Having no schedule is allowed.
func checkSchedules(ctx context.Context, c client.Client) check {
	schedules, err := listSchedules(ctx, c)
	if err != nil {
		return bad("schedules", err, startAll)
	}
	if len(schedules) == 0 {
		return check{Name: "schedules", OK: true, Note: noSchedule}
	}
	found := check{Name: "schedules", OK: true}
	var notes, lost, mend []string
	for i := range schedules {
		s := &schedules[i]
		if text := s.lost(); text != "" {
			lost, mend = append(lost, s.ID+": "+text), append(mend, s.mend())
		}
		notes = append(notes, s.ID+" next "+s.next())
	}
	found.Note = strings.Join(notes[:min(len(notes), maxNames)], ", ")
	if len(lost) > 0 {
		found.OK, found.Note, found.Mend = false, strings.Join(lost, "; "), strings.Join(mend, "; ")
	}
	return found
}

// scheduleIDs complete the ids of schedules.
func scheduleIDs(ctx context.Context, r request) []suggestion {
	ctx, cancel := context.WithTimeout(ctx, r.app.completion)
	defer cancel()
	cfg := &r.app.cfg // The flags write into it.
	if cfg.Load(r.flags, r.app.getenv, service.LocalConfigFile()) != nil {
		return nil
	}
	cfg.ConnectTimeout = r.app.completion
	c, err := r.app.temporal(ctx)
	if err != nil {
		return nil
	}
	defer c.Close()
	schedules, err := listSchedules(ctx, c)
	if err != nil {
		return nil
	}
	var out []suggestion
	for _, s := range schedules {
		out = append(out, suggestion{s.ID, "dreams of " + s.scope() + ", " + s.plan()})
	}
	return out
}
