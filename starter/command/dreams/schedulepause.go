package dreams

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"axiommind/activities/build"
	"axiommind/starter/command"
)

func schedulePauseCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause [SCHEDULE]", Short: "pause a schedule until it is resumed",
	}
	f := cmd.Flags()
	note := f.String("note", "", "reason, kept as the schedule's note")
	a.Answers(cmd, &Schedule{})
	return onSchedule(a, cmd, func(ctx context.Context, c client.Client, s *Schedule) error {
		if *note == "" {
			*note = "paused with starter on " + time.Now().Format(time.DateOnly)
		}
		if err := c.ScheduleClient().GetHandle(ctx, s.ID).Pause(ctx, client.SchedulePauseOptions{Note: *note}); err != nil {
			return fmt.Errorf("pause schedule %q: %w", s.ID, err)
		}
		s.Paused, s.Note, s.Next = true, *note, nil
		return sayOf(a, s, "paused %s: %s; resume it with: %s", s.ID, *note, build.Command("schedule", "resume", s.ID))
	})
}
