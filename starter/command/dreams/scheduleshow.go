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
	a.Answers(cmd, &Schedule{})
	return onSchedule(a, cmd, func(ctx context.Context, c client.Client, s *Schedule) error {
		if err := s.learn(ctx, c); err != nil {
			return err
		}
		return a.Print(s, func(b *strings.Builder) { printSchedule(b, s) })
	})
}
