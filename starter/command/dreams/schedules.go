package dreams

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/starter/command"
	"axiommind/worker/service"
)

// withSchedule runs fn with the schedule that the arguments select.
func withSchedule(ctx context.Context, a *command.App, args []string, fn func(client.Client, *Schedule) error) error {
	c, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	s, err := findSchedule(ctx, c, args)
	if err != nil {
		return err
	}
	return fn(c, &s)
}

// onSchedule completes a command that acts on the schedule that its argument selects.
func onSchedule(a *command.App, cmd *cobra.Command, act func(context.Context, client.Client, *Schedule) error) *cobra.Command {
	cmd.ValidArgsFunction = a.Arguments(scheduleIDs)
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		return withSchedule(ctx, a, args, func(c client.Client, s *Schedule) error { return act(ctx, c, s) })
	})
}

// sayOf prints one line, or v as JSON.
func sayOf(a *command.App, v any, format string, args ...any) error {
	return a.Print(v, func(b *strings.Builder) {
		fmt.Fprintln(b, command.Unbroken(fmt.Sprintf(format, args...)))
	})
}

// learn reads how the recent runs ended.
func (s *Schedule) learn(ctx context.Context, c client.Client) error {
	for i := range s.Recent {
		if err := s.Recent[i].learn(ctx, c, s.Workflow); err != nil {
			return err
		}
	}
	return nil
}

// triggerPatience is how long trigger waits for the run to begin.
const triggerPatience = 30 * time.Second

// begun waits for the start of a run that is newer than the schedule's description.
func (s *Schedule) begun(ctx context.Context, c client.Client) (run scheduleRun, err error) {
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

// between returns the interval to backfill. Days are in the schedule's time zone, and the last day is included. Times in the
// future are excluded.
func (s *Schedule) between(from, to string, now time.Time) (begin, end time.Time, err error) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return begin, end, fmt.Errorf("read schedule %q: %w", s.ID, err)
	}
	if begin, err = time.ParseInLocation(time.DateOnly, from, zone); err != nil {
		if begin, err = command.ParseTime("from", from); err != nil {
			return begin, end, err
		}
	}
	end = now
	if to != "" {
		if end, err = time.ParseInLocation(time.DateOnly, to, zone); err == nil {
			end = end.AddDate(0, 0, 1).Add(-time.Second)
		} else if end, err = command.ParseTime("to", to); err != nil {
			return begin, end, err
		}
	}
	if end.After(now) {
		end = now
	}
	if !begin.Before(end) {
		return begin, end, command.Usagef("--from %s: want a time before that of --to and before now", from)
	}
	return begin, end, nil
}

// see records that the runs missed and skipped until now have been backfilled.
func (s *Schedule) see(ctx context.Context, handle client.ScheduleHandle) error {
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

// CheckSchedules checks that no run of a schedule was lost. Having no schedule is allowed.
func CheckSchedules(ctx context.Context, c client.Client) command.Check {
	schedules, err := listSchedules(ctx, c)
	if err != nil {
		return command.FailedCheck("schedules", err, command.StartAll)
	}
	if len(schedules) == 0 {
		return command.Check{Name: "schedules", OK: true, Note: noSchedule}
	}
	found := command.Check{Name: "schedules", OK: true}
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
func scheduleIDs(ctx context.Context, r command.Request) []command.Suggestion {
	ctx, cancel := context.WithTimeout(ctx, r.App.Completion)
	defer cancel()
	cfg := &r.App.Cfg // The flags write into it.
	if cfg.Load(r.Flags, r.App.Getenv, service.LocalConfigFile()) != nil {
		return nil
	}
	cfg.ConnectTimeout = r.App.Completion
	c, err := r.App.Temporal(ctx)
	if err != nil {
		return nil
	}
	schedules, err := listSchedules(ctx, c)
	if err != nil {
		return nil
	}
	var out []command.Suggestion
	for _, s := range schedules {
		out = append(out, command.Suggestion{Value: s.ID, Description: "dreams of " + s.scope() + ", " + s.plan()})
	}
	return out
}
