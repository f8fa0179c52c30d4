package tasks

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
)

func conditionResolveCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolve CONDITION TARGET", Short: "resolve a condition to a task or an artifact",
		Example: "starter condition resolve 0a1b2c3d PROJ-7",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the condition")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	a.Answers(cmd, task.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		c.ConditionID, c.ResolveTo = args[0], args[1]
		return changeTask(ctx, a, c)
	})
}
