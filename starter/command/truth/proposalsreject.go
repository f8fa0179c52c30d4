package truth

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

func proposalsRejectCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reject PROPOSAL…", Short: "leave memories as they are",
		Example: "starter proposals reject 0a1b2c3d 4e5f6071 --project demo --because 'the limit is right'",
	}
	return decideCommand(a, cmd, reject)
}
