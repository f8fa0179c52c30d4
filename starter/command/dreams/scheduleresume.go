package dreams

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"axiommind/starter/command"
)

func scheduleResumeCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume [SCHEDULE]", Short: "resume a paused schedule",
	}
	f := cmd.Flags()
	note := f.String("note", "", "reason, kept as the schedule's note")
	a.Answers(cmd, Schedule{}, &Schedule{})
	return onSchedule(a, cmd, func(ctx context.Context, c client.Client, s *Schedule) error {
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
		return sayOf(a, resumed, "resumed %s; next %s", s.ID, resumed.next())
	})
}
