package tasks

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
)

func blockedCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "blocked", Short: "list blocked tasks and their blockers",
	}
	o := &taskFlags{}
	o.add(cmd.Flags())
	return listing(o, printBlocked, func(ctx context.Context, q *task.Queries, s task.Selection) ([]task.View, string, error) {
		views, err := q.ListBlockedTasks(ctx, s)
		return views, "nothing is blocked in " + o.place(), err
	}).Command(a, cmd)
}

func printBlocked(b *strings.Builder, views []task.View) {
	for _, v := range views {
		command.Say(b, "%s  %s%s\n", command.ShortID(v.Task.ID), command.OneLine(v.Task.Title, 120), DoneText(v.Task.DoneReport))
		for _, blocker := range v.Blockers {
			command.Say(b, "          waits for %s\n", BlockerText(blocker, 100))
		}
		for _, suggestion := range v.Suggestions {
			command.Say(b, "          perhaps for %s\n", BlockerText(suggestion, 100))
		}
	}
}
