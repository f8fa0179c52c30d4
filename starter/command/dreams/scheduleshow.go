package dreams

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"axiommind/starter/command"
)

func scheduleShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show [SCHEDULE]", Short: "show a schedule and its latest runs",
	}
	cmd.ValidArgsFunction = a.Arguments(scheduleIDs)
	a.Answers(cmd, &Schedule{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		return withSchedule(ctx, a, args, func(c client.Client, s *Schedule) error {
			if err := s.learn(ctx, c); err != nil {
				return err
			}
			return a.Print(s, func(b *strings.Builder) { printSchedule(b, s) })
		})
	})
}
