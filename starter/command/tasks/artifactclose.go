package tasks

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
)

func artifactCloseCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "close ARTIFACT", Short: "close an artifact",
		Example: "starter artifact close https://git.example.com/shop/pulls/7",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the artifact")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	a.Answers(cmd, task.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		c.CloseArtifact = args[0]
		return changeTask(ctx, a, c)
	})
}
