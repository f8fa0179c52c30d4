package tasks

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
)

func taskConfirmCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm [TASK…]", Short: "close tasks that are reported done",
		Example: "starter task confirm 0a1b2c3d 4e5f6071\n" +
			"starter task confirm --all",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the tasks")
	f.BoolVar(&c.ConfirmAll, "all", false, "every task that is reported done")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	a.Answers(cmd, task.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		c.Confirm = args
		if c.ConfirmAll == (len(args) > 0) {
			return command.Usagef("give the tasks to confirm, or --all; tasks --reported-done lists them")
		}
		return changeTask(ctx, a, c)
	})
}
