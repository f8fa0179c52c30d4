package truth

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/graduate"
	"axiommind/starter/command"
)

func proposalsRejectCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reject PROPOSAL…", Short: "leave memories as they are",
		Example: "starter proposals reject 0a1b2c3d 4e5f6071 --project demo --because 'the limit is right'",
	}
	return decideCommand(a, cmd, func(ctx context.Context, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
		return reject(ctx, a, p, actor, because)
	})
}
