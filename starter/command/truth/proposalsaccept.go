package truth

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

func proposalsAcceptCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept PROPOSAL…", Short: "correct or retire memories as proposed",
		Example: "starter proposals accept 0a1b2c3d --project demo --because 'the contract of May'",
	}
	return decideCommand(a, cmd, accept)
}
