package truth

import (
	"context"

	"github.com/spf13/cobra"

	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/recall"
	"axiommind/starter/command/tasks"
)

func decisionsRecordCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "record TEXT", Short: "record a decision and the verified memories it rests on",
		Example: "starter decisions record 'Move the event log to ClickHouse' --because-of 04a5ad1b --because-of 7c20e9f4 --confidence 0.9",
	}
	f := cmd.Flags()
	c := graduate.Command{Op: graduate.OpDecide}
	f.StringVar(&c.Project, "project", "default", "project of the decision")
	grounds := f.StringArray("because-of", nil, "a verified memory that the decision rests on (may be repeated; needed)")
	taskGrounds := f.StringArray("because-of-task", nil, "a task, stated by a verified memory, that the decision rests on, too (may be repeated)")
	confidence := f.Float64("confidence", 0, "how sure you are, from 0 to 1")
	a.Complete(cmd, "because-of", command.EntryIDs)
	a.Complete(cmd, "because-of-task", command.EntityIDs(schema.EntityTask))
	a.Answers(cmd, graduate.CommandResult{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		switch {
		case len(*grounds) == 0:
			return command.Usagef("say with --because-of which verified memories the decision rests on")
		case !(*confidence >= 0 && *confidence <= 1):
			return command.Usagef("--confidence %v: want 0 to 1", *confidence)
		}
		if f.Changed("confidence") {
			c.Confidence = confidence
		}
		rows, err := recall.NamedEntries(ctx, a, c.Project, *grounds)
		if err != nil {
			return err
		}
		if c.TaskIDs, err = tasks.NamedTasks(ctx, a, c.Project, *taskGrounds); err != nil {
			return err
		}
		// A decision belongs to the user and agent of its grounds.
		c.Action, c.EntryIDs, c.User, c.Agent = args[0], recall.IDsOfRows(rows), rows[0].User, rows[0].Agent
		return recall.Rule(ctx, a, c)
	})
}
