package recall

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/graduate"
	"axiommind/starter/command"
)

func entryRetireCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "retire ENTRY…", Short: "retire memories, with a reason",
		Example: "starter entry retire 04a5ad1b --because 'the service was switched off'",
	}
	f := cmd.Flags()
	c := graduate.Command{Op: graduate.OpRetire}
	f.StringVar(&c.Project, "project", "default", "project of the entries")
	f.StringVar(&c.Because, "because", "", "why they are not believed any longer (needed)")
	a.Answers(cmd, graduate.CommandResult{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := needsText("because", c.Because); err != nil {
			return err
		}
		return ruleOnEntries(ctx, a, c, args)
	})
}
