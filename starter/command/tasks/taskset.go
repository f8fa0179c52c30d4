package tasks

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/schema"
	"axiommind/starter/command"
)

func taskSetCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set TASK", Short: "change a task",
		Example: "starter task set 0a1b2c3d --status done --reason 'merged on Friday'\n" +
			"starter task set 0a1b2c3d --block PROJ-7 --block 'the legal review'",
	}
	f := cmd.Flags()
	c := task.Command{}
	f.StringVar(&c.Project, "project", "default", "project of the task")
	f.StringVar((*string)(&c.Status), "status", "", "pending, in_progress, blocked, done or cancelled")
	f.StringVar((*string)(&c.Priority), "priority", "", "low, medium, high or critical")
	f.StringVar(&c.Title, "title", "", "new title; the old one still leads to the task")
	f.StringArrayVar(&c.Block, "block", nil, "blocker to add: an address, an issue, a task or any text (may be repeated)")
	f.StringArrayVar(&c.Unblock, "unblock", nil, "blocker to remove (may be repeated)")
	f.StringVar(&c.Reason, "reason", "", "why, for the history")
	a.Complete(cmd, "status", command.Fixed(schema.TaskStatuses()...))
	a.Complete(cmd, "priority", command.Fixed(schema.TaskPriorities()...))
	blockers := command.EntityIDs(schema.EntityTask, schema.EntityCondition, schema.EntityArtifact)
	a.Complete(cmd, "block", blockers)
	a.Complete(cmd, "unblock", blockers)
	a.Answers(cmd, task.Result{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		err := cmp.Or(command.OneOfOrNone("status", c.Status, schema.TaskStatuses()), command.OneOfOrNone("priority", c.Priority, schema.TaskPriorities()))
		if err != nil {
			return err
		}
		c.TaskID = args[0]
		return changeTask(ctx, a, c)
	})
}
