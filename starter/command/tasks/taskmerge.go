package tasks

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
)

func taskMergeCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "merge TASK INTO", Short: "make a task part of another one",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the tasks")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	a.Answers(cmd, task.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		c.TaskID, c.MergeInto = args[0], args[1]
		return changeTask(ctx, a, c)
	})
}
