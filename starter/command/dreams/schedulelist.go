package dreams

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

func scheduleListCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "list the schedules, with their last and missed runs",
	}
	a.Answers(cmd, []Schedule{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		c, err := a.Temporal(ctx)
		if err != nil {
			return err
		}
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
		return a.Print(schedules, func(b *strings.Builder) { printSchedules(b, schedules) })
	})
}
