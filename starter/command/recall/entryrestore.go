package recall

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/graduate"
	"axiommind/starter/command"
)

func entryRestoreCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore ENTRY…", Short: "restore retired memories",
	}
	f := cmd.Flags()
	c := graduate.Command{Op: graduate.OpRestore}
	f.StringVar(&c.Project, "project", "default", "project of the entries")
	f.StringVar(&c.Because, "because", "", "why they are believed again, for the history")
	a.Answers(cmd, graduate.CommandResult{})
	return a.Online(cmd, func(ctx context.Context, args []string) error { return ruleOnEntries(ctx, a, c, args) })
}
