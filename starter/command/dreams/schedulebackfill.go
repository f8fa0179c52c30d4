package dreams

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"axiommind/activities/build"
	"axiommind/starter/command"
)

// maxNights bounds the runs of one backfill: Temporal queues a thousand.
const maxNights = 500

// backfilled is the result of backfill.
type backfilled struct {
	ID     string      `json:"id"`
	Nights []time.Time `json:"nights"`
}

func scheduleBackfillCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backfill [SCHEDULE]", Short: "run a schedule for past nights, one after the other",
		Example: "starter schedule backfill --from 2026-06-01 --to 2026-06-07",
	}
	f := cmd.Flags()
	from := f.String("from", "", "first day, in the schedule's time zone, or time")
	to := f.String("to", "", "last day or time (default: now)")
	cmd.ValidArgsFunction = a.Arguments(scheduleIDs)
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if *from == "" {
			return command.Usagef("--from is empty: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z")
		}
		for _, given := range [][2]string{{"from", *from}, {"to", *to}} {
			if given[1] == "" {
				continue
			}
			if _, err := command.ParseTime(given[0], given[1]); err != nil {
				return err
			}
		}
		return withSchedule(ctx, a, args, func(c client.Client, s *Schedule) error { return backfill(ctx, a, c, s, *from, *to) })
	})
}

// backfill runs the schedule for each of its times from from to to, one run after the other.
func backfill(ctx context.Context, a *command.App, c client.Client, s *Schedule, from, to string) error {
	begin, end, err := s.between(from, to, time.Now())
	if err != nil {
		return err
	}
	before := begin.Add(-time.Millisecond) // The server excludes the start time itself.
	answer, err := c.WorkflowService().ListScheduleMatchingTimes(ctx, &workflowservice.ListScheduleMatchingTimesRequest{
		Namespace: a.Cfg.TemporalNamespace, ScheduleId: s.ID, StartTime: timestamppb.New(before), EndTime: timestamppb.New(end),
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
		return command.Usagef("%s has no run from %s to %s", s.ID, s.when(begin), s.when(end))
	case n > maxNights:
		return command.Usagef("%s has %d runs from %s to %s, more than %d: give fewer days", s.ID, n, s.when(begin), s.when(end), maxNights)
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
	return sayOf(a, result, "%s queued, one after the other: %s to %s; to see their progress: %s", command.Plural(n, "night", "nights"),
		s.when(result.Nights[0]), s.when(result.Nights[n-1]), build.Command("schedule", "show", s.ID))
}
