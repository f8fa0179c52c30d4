package dreams

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"axiommind/starter/command"
)

func scheduleDeleteCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete [SCHEDULE]", Short: "delete a schedule",
	}
	a.Answers(cmd, &Schedule{})
	return onSchedule(a, cmd, func(ctx context.Context, c client.Client, s *Schedule) error {
		if err := c.ScheduleClient().GetHandle(ctx, s.ID).Delete(ctx); err != nil {
			return fmt.Errorf("delete schedule %q: %w", s.ID, err)
		}
		return sayOf(a, s, "deleted %s, which dreamt of %s at '%s' in %s; make it again with: %s",
			s.ID, s.scope(), s.Cron, s.TimeZone, s.applyCommand())
	})
}
